// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints: distributed arrays in HDF5 files, written and read by all ranks together.
//
//     auto writer = CheckpointWriter::create(job, "run.h5").value();
//     writer.add(a);                                  // a data set named after the array
//     writer.add_attribute("step", std::int64_t{12});
//     writer.commit();                                // the new run.h5 exists from now on
//
//     auto file = Checkpoint::open(job, "run.h5").value();
//     auto a = file.read<double>("A").value();        // on any number of ranks
//     auto step = file.attribute<std::int64_t>("step").value();
//
// A file holds each array as a contiguous data set: its elements in row-major order of the global
// indices. h5dump, h5py and other programs read it; docs/checkpoints.md describes the format. The
// file also holds the distribution, so that the same number of ranks gets the same one back. For
// files with groups, parts of arrays, time steps and compression see arrays/output.hpp; Checkpoint
// reads those too.
//
// Invariants: 1. if a program or a machine stops, the file of the given name is complete: either
// the old one or the new one; 2. data that changed after it was written, by any accident, is
// refused with an error that names it, and is not read.
//
// The path must mean the same file on all ranks: their nodes share its file system. One rank
// describes the arrays, with libhdf5. All ranks write and read elements, in pieces of
// CheckpointOptions::piece_bytes with a checksum each. Each rank has two buffers of that size.
//
// Threads: one at a time, as for all collectives. Errors of all collective functions, on all
// members: invalid_argument (a bad path, name, type or extents, or arguments that differ among
// members), limit_exceeded (no space left), protocol (a damaged file), unsupported (a build without
// HDF5, or a format of a later version), unreachable (the device fails), peer_lost. Ownership:
// move-only; writers and files keep their job running.
//
// Files of other programs lack these attributes and checksums. Their data sets can be read if they
// are contiguous or chunked, with the filters deflate, shuffle and fletcher32 or none, and if the
// array's type holds every value of theirs: other byte orders and narrower types are converted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/attribute_value.hpp"
#include "arrays/selection.hpp"
#include "rma/element.hpp"
#include "rma/job.hpp"

namespace tessera::arrays {

/// Options for writing.
struct CheckpointOptions {
  /// The number of bytes that are moved, and have a checksum, together; 1 to 2^30. An element is
  /// never split.
  std::int64_t piece_bytes = std::int64_t{1} << 20;
};

/// What a file says about one of its arrays.
struct StoredArrayInfo {
  std::string name;
  Extents extents;
  /// The type of an array that holds its elements: theirs, or the smallest into which they are
  /// converted. Unset: elements of another type, of element_bytes.
  std::optional<rma::ElementType> type;
  std::int64_t element_bytes = 0;            ///< in the file
  std::string type_name;                     ///< "float64"
  std::optional<Distribution> distribution;  ///< unset in files of other programs
  bool has_checksums = false;
  Extents chunk;                  ///< extents of its chunks; no dimensions: contiguous
  bool is_extendible = false;     ///< along its first dimension, for time steps
  std::string unreadable_reason;  ///< empty if it can be read
};

namespace detail {

class CheckpointWriterState;
class CheckpointState;

}  // namespace detail

/// Writes a new checkpoint file; see above.
class CheckpointWriter {
 public:
  /// Collective over all ranks of `job`, or over `team`. Begins a new file next to `path`, and
  /// removes files that writers which died have left there. Other writers of the same path may work
  /// at the same time: the last one to commit wins.
  static rma::Result<CheckpointWriter> create(const rma::Job& job, const std::string& path,
                                              const CheckpointOptions& options = {});
  static rma::Result<CheckpointWriter> create(const rma::Job& job, const rma::Team& team,
                                              const std::string& path,
                                              const CheckpointOptions& options = {});
  CheckpointWriter(CheckpointWriter&&) noexcept;
  CheckpointWriter& operator=(CheckpointWriter&&) noexcept;
  /// Discards what was not committed, and removes its file.
  ~CheckpointWriter();

  /// Collective. Writes the elements of an array, as a data set with the array's name or with
  /// `name`. Complete: at return the array may be changed; the file exists only after commit().
  /// Requires: the array's team has the same members in the same order. Errors: see above. After a
  /// write error the writer can't be used any more, and commit() returns the error again.
  rma::Status add(ArrayBase& array) { return add(array, array.name()); }
  rma::Status add(ArrayBase& array, const std::string& name);

  /// Collective. Adds an attribute of the file, with the same value on all members. Errors: see
  /// above.
  rma::Status add_attribute(const std::string& name, const AttributeValue& value);

  /// Collective. Completes the file on its device, gives it its name, and so replaces an older file
  /// of that name. Nothing can be added afterwards. Errors: see above. The old file is then
  /// unchanged, with one exception: if the directory could not be written to the device, the code
  /// is unreachable and its hint says that the new file is in place.
  rma::Status commit();

 private:
  explicit CheckpointWriter(std::unique_ptr<detail::CheckpointWriterState> state) noexcept;
  std::unique_ptr<detail::CheckpointWriterState> state_;
};

/// Reads a checkpoint file; see above.
class Checkpoint {
 public:
  /// Collective over all ranks of `job`, or over `team`. Reads the descriptions of the arrays in
  /// the file. The file stays open: if another program replaces it, this object still reads the old
  /// one. Errors: see above.
  static rma::Result<Checkpoint> open(const rma::Job& job, const std::string& path);
  static rma::Result<Checkpoint> open(const rma::Job& job, const rma::Team& team,
                                      const std::string& path);
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;
  ~Checkpoint();

  /// Local. The names of the arrays in the file; those in groups have names such as "fields/T".
  [[nodiscard]] std::vector<std::string> names() const;
  /// Local. Errors: invalid_argument if the file has no array of that name.
  [[nodiscard]] rma::Result<StoredArrayInfo> info(std::string_view name) const;
  /// Local. The names of the attributes of an array or a group; "/" is the file itself. Errors:
  /// invalid_argument if the file has no such array or group.
  [[nodiscard]] rma::Result<std::vector<std::string>> attribute_names(
      std::string_view object = "/") const;
  /// Local. Returns an attribute of the file, or of an array or a group. T is a type of
  /// AttributeValue. Errors: invalid_argument if it does not exist, has another kind of type, or a
  /// number that T can't hold.
  template <class T>
  [[nodiscard]] rma::Result<T> attribute(std::string_view name) const {
    return attribute<T>("/", name);
  }
  template <class T>
  [[nodiscard]] rma::Result<T> attribute(std::string_view object, std::string_view name) const {
    TESSERA_ASSIGN_OR_RETURN(const AttributeValue value, find_attribute(object, name));
    std::optional<T> converted = value_as<T>(value);
    return converted ? rma::Result<T>(*std::move(converted))
                     : explain_kind(object, name, value, AttributeValue(T()));
  }
  /// Local. The same, with the type that it has in the file.
  [[nodiscard]] rma::Result<AttributeValue> find_attribute(std::string_view object,
                                                           std::string_view name) const;

  /// Collective. Makes an array and reads its elements. It gets the distribution that it had when
  /// it was written, if the number of ranks is the same; otherwise a regular one with the same
  /// order and ghost widths. Ghost cells are zero. Errors: those of opening and of Array::create.
  template <class T>
  rma::Result<Array<T>> read(const std::string& name) {
    return typed<T>(read(name, ElementKind::of<T>()));
  }
  rma::Result<ArrayBase> read(const std::string& name, const ElementKind& element);
  /// Collective. As above, with any distribution over as many ranks as the team has.
  template <class T>
  rma::Result<Array<T>> read(const std::string& name, const Distribution& distribution) {
    return typed<T>(read(name, distribution, ElementKind::of<T>()));
  }
  rma::Result<ArrayBase> read(const std::string& name, const Distribution& distribution,
                              const ElementKind& element);

  /// Collective. Reads into an array of the same extents, with any distribution, and of the same
  /// element type or one that holds every value of it. Complete: at return all elements are at
  /// their owners. Requires: the array's team has the same members in the same order. Errors: see
  /// above. An error before reading begins leaves the array unchanged; after an error while
  /// reading, its elements are unspecified. Memory: on each rank two pieces, or two chunks and a
  /// compressed one.
  rma::Status read_into(const std::string& name, ArrayBase& array);

  /// Collective. Reads the elements of box `from` of the stored array into box `to` of `array`.
  /// Their extents are the same except for those that are 1: a time step, Box({7, 0, 0}, {8, n,
  /// m}), is read into an n x m array. Errors: as read_into(); out_of_range.
  rma::Status read_part(const std::string& name, const Box& from, ArrayBase& array, const Box& to);

  /// Collective. Reads an array's elements and compares their checksums; stores nothing. Errors: as
  /// for reading; unsupported for an array without checksums.
  rma::Status verify(const std::string& name);

 private:
  /// How an array of the file is to be made.
  struct Plan {
    rma::Job job;
    Extents extents;
    std::optional<Distribution> distribution;
    ArrayOptions options;
  };

  explicit Checkpoint(std::unique_ptr<detail::CheckpointState> state) noexcept;
  rma::Result<Plan> plan_for(const std::string& name, const ElementKind& element);
  rma::Result<ArrayBase> filled(const std::string& name, rma::Result<ArrayBase> array);
  [[nodiscard]] rma::Status explain_kind(std::string_view object, std::string_view name,
                                         const AttributeValue& value,
                                         const AttributeValue& wanted) const;

  template <class T>
  static rma::Result<Array<T>> typed(rma::Result<ArrayBase> array) {
    TESSERA_RETURN_IF_ERROR(array.status());
    return Array<T>::of(std::move(array).take());
  }

  std::unique_ptr<detail::CheckpointState> state_;
};

}  // namespace tessera::arrays
