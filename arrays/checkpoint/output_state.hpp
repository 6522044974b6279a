// SPDX-License-Identifier: BSD-3-Clause
//
// OutputState: the work of Output. All members know the catalog; the leader also collects the
// changes since the last flush, and knows the description of the file as it is.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/checkpoint/array_part.hpp"
#include "arrays/checkpoint/catalog.hpp"
#include "arrays/checkpoint/chunk_writer.hpp"
#include "arrays/checkpoint/file.hpp"
#include "arrays/checkpoint/file_changes.hpp"
#include "arrays/counter.hpp"
#include "arrays/output.hpp"
#include "rma/label.hpp"

namespace tessera::arrays::detail {

/// What the members know of the file.
struct KnownFile {
  Catalog catalog;
  FileChanges changes;  ///< since the last flush; of arrays and attributes only on the leader
};

class OutputState {
 public:
  OutputState(rma::Job job, const rma::Team& team, std::string path, OutputMode mode)
      : job_(std::move(job)), team_(team), path_(std::move(path)), mode_(mode) {}
  OutputState(const OutputState&) = delete;
  OutputState& operator=(const OutputState&) = delete;
  ~OutputState();

  /// Collective, like all functions here.
  rma::Status begin();
  rma::Status write(ArrayBase& array, const Section& part, const std::string& name,
                    const DatasetOptions& options, bool is_step);
  rma::Status create_group(const std::string& name);
  rma::Status set_attribute(const std::string& object, const std::string& name,
                            const AttributeValue& value);
  rma::Status set_grid(const UniformGrid& grid);
  rma::Status flush();
  rma::Status close();

  /// Local.
  [[nodiscard]] std::int64_t steps(std::string_view name) const noexcept;
  [[nodiscard]] std::string describe_file() const;

 private:
  /// What a call writes: the data set as it will be, the box of it that is new, and the groups that
  /// must be made for it.
  struct Plan {
    StoredArray stored;
    Box box;
    std::vector<std::string> groups;
    bool is_new = true;
  };

  [[nodiscard]] rma::Label call(std::string_view verb) const noexcept {
    return {.verb = verb, .kind = "output", .name = path_};
  }
  [[nodiscard]] rma::Status check_usable() const;
  rma::Status open_as_leader();
  rma::Status open_existing();
  rma::Status share_catalog();
  rma::Status set_end(std::uint64_t end);

  rma::Result<Plan> plan(const ArrayBase& array, const Section& part, const std::string& name,
                         const DatasetOptions& options, bool is_step) const;
  rma::Status plan_step(const StoredArray& old, Plan& plan) const;
  rma::Result<std::vector<ChunkPlace>> write_elements(Plan& plan, const ArrayPart& part);
  rma::Status write_pieces(Plan& plan, const ArrayPart& part, PlaceTable& table);
  rma::Status record(const Plan& plan, std::vector<ChunkPlace> places, std::optional<double> time);
  /// Changes what is known on all members, or on none: body(known, is_leader) returns a status.
  template <class Body>
  rma::Status change(const Body& body);

  [[nodiscard]] bool is_to_sync() const;
  rma::Status complete_as_leader();
  rma::Status put_in_place();
  rma::Status write_xdmf() const;

  rma::Job job_;
  rma::Team team_;
  std::string path_;
  OutputMode mode_;
  std::string file_path_;  // of the temporary file until it is in place
  std::string target_;     // on the leader only, as the next three
  std::optional<FileImage> image_;
  std::uint64_t end_of_file_ = 0;
  File file_;
  KnownFile known_;
  std::optional<Counter> next_chunk_;
  std::optional<Counter> end_;  // the end of all written elements, flushed or not, in bytes
  bool has_changes_ = true;     // a new file is written even if it is empty
  bool is_in_place_ = false;
  bool is_over_ = false;
  pid_t maker_ = 0;
};

}  // namespace tessera::arrays::detail
