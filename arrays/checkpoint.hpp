// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints: distributed arrays in HDF5 files, written and read by all ranks together.
//
//     auto writer = CheckpointWriter::create(job, "run.h5").value();
//     writer.add(a);                                  // a data set of the array's name
//     writer.add_attribute("step", std::int64_t{12});
//     writer.commit();                                // only now there is a new run.h5
//
//     auto file = Checkpoint::open(job, "run.h5").value();
//     auto a = file.read<double>("A").value();        // on any number of ranks
//     auto step = file.attribute<std::int64_t>("step").value();
//
// A file holds each array as a contiguous data set of its elements in row-major order of the global
// indices, which h5dump, h5py and others read as they are; docs/checkpoints.md tells the rest. The
// distribution goes with it, so that as many ranks as wrote it get the same one back.
//
// Invariants: 1. a file of the given name is there whole, the old one or the new one, whenever a
// program or a machine stops; 2. what was changed since it was written, by whatever accident, is
// refused by name and not read as data.
//
// The path means the same file to all ranks: nodes share its file system. One rank describes the
// arrays, by libhdf5; all ranks write and read elements, in pieces of
// CheckpointOptions::piece_bytes with a checksum each, two buffers of that size a rank.
//
// Threads: one at a time, as for all collectives. Errors, of all functions that are collective, on
// all members: invalid_argument (a path that can't be, names, types, extents, or arguments that
// differ among members), limit_exceeded (no space left), protocol (a damaged file), unsupported (a
// build without HDF5; a format of later versions), unreachable (the device fails), peer_lost.
// Ownership: move-only; keep their job running. Files of others: without the attributes and
// checksums above, they are read where the type is one of rma::Element's and the data set is
// contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arrays/array.hpp"
#include "rma/element.hpp"
#include "rma/job.hpp"

namespace tessera::arrays {

/// What a file tells besides its arrays.
using AttributeValue = std::variant<std::int64_t, double, std::string>;

struct CheckpointOptions {
  /// Bytes that are moved, and have a checksum, at a time; 1 to 2^30. An element is never cut.
  std::int64_t piece_bytes = std::int64_t{1} << 20;
};

/// What a file tells of one of its arrays.
struct StoredArrayInfo {
  std::string name;
  Extents extents;
  std::optional<rma::ElementType> type;  ///< none: elements of another type, of so many bytes
  std::int64_t element_bytes = 0;
  std::string type_name;                     ///< "float64"
  std::optional<Distribution> distribution;  ///< that it had; none in files of others
  bool has_checksums = false;
};

namespace detail {

class CheckpointWriterState;
class CheckpointState;

}  // namespace detail

class CheckpointWriter {
 public:
  /// Collective over all ranks of `job`, or over `team`. Begins a new file beside `path`; what
  /// writers that died have left there is removed. Other writers of the same path may be at work:
  /// the last to commit wins.
  static rma::Result<CheckpointWriter> create(const rma::Job& job, const std::string& path,
                                              const CheckpointOptions& options = {});
  static rma::Result<CheckpointWriter> create(const rma::Job& job, const rma::Team& team,
                                              const std::string& path,
                                              const CheckpointOptions& options = {});
  CheckpointWriter(CheckpointWriter&&) noexcept;
  CheckpointWriter& operator=(CheckpointWriter&&) noexcept;
  /// Gives up what was not committed, and removes it.
  ~CheckpointWriter();

  /// Collective. Writes the elements of an array, as a data set of its name or of `name`.
  /// Complete: the array may be changed; the file is not there before commit().
  /// Requires: the array's team has the same members in the same order.
  /// Errors: as told above; those of writing also end the writer, and commit() repeats them.
  rma::Status add(ArrayBase& array) { return add(array, array.name()); }
  rma::Status add(ArrayBase& array, const std::string& name);

  /// Collective. Tells something about the whole, the same on all members.
  rma::Status add_attribute(const std::string& name, const AttributeValue& value);

  /// Collective. Completes the file on its device and gives it its name; what had it is replaced.
  /// Nothing can be added after that. Errors: as told above; the old file is as it was,
  /// but where unreachable's hint says that the new one is in place: its directory could not be
  /// completed.
  rma::Status commit();

 private:
  explicit CheckpointWriter(std::unique_ptr<detail::CheckpointWriterState> state) noexcept;
  std::unique_ptr<detail::CheckpointWriterState> state_;
};

class Checkpoint {
 public:
  /// Collective over all ranks of `job`, or over `team`. Reads what the file tells of its arrays.
  /// The file stays open: that it is replaced doesn't change what is read.
  static rma::Result<Checkpoint> open(const rma::Job& job, const std::string& path);
  static rma::Result<Checkpoint> open(const rma::Job& job, const rma::Team& team,
                                      const std::string& path);
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  /// Local. The arrays of the file; data sets in groups are not among them.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Local. Errors: invalid_argument when there is none of that name.
  [[nodiscard]] rma::Result<StoredArrayInfo> info(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> attribute_names() const;
  /// Local. T is std::int64_t, double or std::string.
  /// Errors: invalid_argument when there is none, or it is of another kind.
  template <class T>
  [[nodiscard]] rma::Result<T> attribute(std::string_view name) const {
    TESSERA_ASSIGN_OR_RETURN(const AttributeValue value, find_attribute(name, kind_index<T>()));
    return std::get<T>(value);
  }

  /// Collective. Makes an array and reads it: with the distribution that it had when it was
  /// written, if there are as many ranks; else a regular one with the same order and ghost widths.
  /// Ghost cells are zero. Errors: those of opening and of Array::create.
  template <class T>
  rma::Result<Array<T>> read(const std::string& name) {
    return typed<T>(read(name, ElementKind::of<T>()));
  }
  rma::Result<ArrayBase> read(const std::string& name, const ElementKind& element);
  /// Collective. The same with any distribution over as many ranks as there are.
  template <class T>
  rma::Result<Array<T>> read(const std::string& name, const Distribution& distribution) {
    return typed<T>(read(name, distribution, ElementKind::of<T>()));
  }
  rma::Result<ArrayBase> read(const std::string& name, const Distribution& distribution,
                              const ElementKind& element);

  /// Collective. Reads into an array of the same extents and element type, however distributed.
  /// Complete: all elements are at their owners. Requires: the array's team has the same members
  /// in the same order. Errors: as told above; before anything is read nothing is changed, after
  /// an error of reading the elements are unspecified.
  rma::Status read_into(const std::string& name, ArrayBase& array);

  /// Collective. Reads an array's elements and compares their checksums; keeps nothing.
  /// Errors: as of reading; unsupported for an array without checksums.
  rma::Status verify(const std::string& name);

 private:
  /// How an array of the file is made.
  struct Plan {
    rma::Job job;
    Extents extents;
    std::optional<Distribution> distribution;
    ArrayOptions options;
  };

  explicit Checkpoint(std::unique_ptr<detail::CheckpointState> state) noexcept;
  rma::Result<Plan> plan_for(const std::string& name, const ElementKind& element);
  rma::Result<ArrayBase> filled(const std::string& name, rma::Result<ArrayBase> array);
  [[nodiscard]] rma::Result<AttributeValue> find_attribute(std::string_view name,
                                                           std::size_t kind) const;

  template <class T>
  static constexpr std::size_t kind_index() {
    static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                  std::is_same_v<T, std::string>);
    return AttributeValue(T()).index();
  }
  template <class T>
  static rma::Result<Array<T>> typed(rma::Result<ArrayBase> array) {
    TESSERA_RETURN_IF_ERROR(array.status());
    return Array<T>::of(std::move(array).take());
  }

  std::unique_ptr<detail::CheckpointState> state_;
};

}  // namespace tessera::arrays
