// SPDX-License-Identifier: BSD-3-Clause
//
// Output: results for analysis in HDF5 files: parts of arrays, groups, time steps, compression and
// attributes, written by all ranks together. h5py, ParaView and other programs read them, and so
// does Checkpoint (arrays/checkpoint.hpp).
//
//     auto out = Output::open(job, "run.h5").value();
//     out.set_grid({.origin = {0, 0}, .spacing = {0.1, 0.1}});          // also writes run.xdmf
//     out.write(mask, "mask");                                          // a data set
//     out.write(t, Box({0, 0}, {1, n}), "edges/top");                   // a part, in a group
//     for (int step = 0; step < steps; ++step) {
//       …
//       out.append(t, "fields/T", {.compression = 4, .time = step * dt});   // T[step, :, :]
//       out.flush();                                                    // now others can read it
//     }
//     out.set_attribute("fields/T", "unit", "K");
//     out.close();
//
// Each rank compresses chunks, which it takes from a shared counter, and writes them where another
// counter says; so compressed output scales with the ranks. One rank describes the data sets.
//
// Invariants: 1. at every instant the file is as the last flush() left it, or a later one, whatever
// crashes; 2. no file is overwritten unless OutputMode::replace says so; 3. data that changed after
// it was written is refused when Checkpoint reads it, unless another program changed it.
//
// Memory, on each rank: three chunks or, for a data set without chunks, two pieces of 1 MiB. On the
// first rank also 40 bytes for each chunk of the data set, and the description of the file.
//
// The path must mean the same file on all ranks: their nodes share its file system. Threads: one at
// a time, as for all collectives. Ownership: move-only; keeps its job running. Errors of all
// collective functions, on all members: invalid_argument (a bad path, name or option, arguments
// that differ among members), limit_exceeded (no space left), protocol (a damaged file),
// unsupported (a build without HDF5; an old file with objects that can't be kept), unreachable (the
// device fails), no_memory, peer_lost. After one, the file is as the last flush() left it, and what
// was written before the call is still written by the next flush().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays/array_base.hpp"
#include "arrays/attribute_value.hpp"
#include "arrays/selection.hpp"
#include "rma/job.hpp"

namespace tessera::arrays {

/// What Output::open() does with a file of that name.
enum class OutputMode : std::uint8_t {
  create,   ///< refuses to open if it exists
  replace,  ///< replaces it at the first flush()
  append,   ///< keeps it and adds to it; begins a new one if there is none
};

/// How a data set is stored.
struct DatasetOptions {
  /// The extents of the chunks in which its elements are stored. None: about 1 MiB, in steps of the
  /// array's blocks if possible; or no chunks if there is no compression and no time step.
  Extents chunk = {};
  int compression = 0;  ///< 0 none, 1 fast to 9 small (zlib's levels, as h5py's gzip)
  bool shuffle = true;  ///< sorts the bytes of elements before compression, which often helps
  /// append(): the time of the step, for the XDMF file and the attribute "time" of the data set. In
  /// the attribute, steps without a time have a NaN if a later step has one. write() ignores it.
  std::optional<double> time = {};
};

/// A grid with equal distances, for ParaView: the position of the first point, and the distances,
/// in the order of the arrays' dimensions.
struct UniformGrid {
  std::vector<double> origin;
  std::vector<double> spacing;
  /// The number of points along each dimension. Arrays of these extents are shown at the points;
  /// arrays with one element less along each dimension, in the cells between them. None: the
  /// extents of the first data set, whose elements are at the points.
  Extents points = {};
};

namespace detail {
class OutputState;
}

class Output {
 public:
  /// Collective over all ranks of `job`, or over `team`. Errors: see above; also invalid_argument
  /// if the file exists (OutputMode::create) or another Output writes it.
  static rma::Result<Output> open(const rma::Job& job, const std::string& path,
                                  OutputMode mode = OutputMode::create);
  static rma::Result<Output> open(const rma::Job& job, const rma::Team& team,
                                  const std::string& path, OutputMode mode = OutputMode::create);
  Output(Output&&) noexcept;
  Output& operator=(Output&&) noexcept;
  /// Collective, unless it was closed. Discards what was written since the last flush().
  ~Output();

  /// Collective. Writes an array, or a part of it, as a new data set `name`, for example
  /// "fields/T", whose groups are made. Its extents are those of the part. Complete: at return the
  /// array may be changed; the data set is in the file after flush(). Requires: the array's team
  /// has the same members in the same order. Errors: see above; out_of_range for a part outside the
  /// array.
  rma::Status write(ArrayBase& array, const std::string& name, const DatasetOptions& options = {});
  rma::Status write(ArrayBase& array, const Box& part, const std::string& name,
                    const DatasetOptions& options = {});
  rma::Status write(ArrayBase& array, const Section& part, const std::string& name,
                    const DatasetOptions& options = {});

  /// Collective. Writes the same as the next step of a data set, whose first dimension counts
  /// steps. The first call makes it; later ones need the same extents and type, and ignore its
  /// chunks and compression. Complete and errors: as write().
  rma::Status append(ArrayBase& array, const std::string& name, const DatasetOptions& options = {});
  rma::Status append(ArrayBase& array, const Box& part, const std::string& name,
                     const DatasetOptions& options = {});
  rma::Status append(ArrayBase& array, const Section& part, const std::string& name,
                     const DatasetOptions& options = {});

  /// Collective. Makes a group, and those that it is in. It may exist already.
  rma::Status create_group(const std::string& name);

  /// Collective. Sets an attribute of a data set, a group or, with "/", the file; the same on all
  /// members. Replaces an older value.
  rma::Status set_attribute(const std::string& object, const std::string& name,
                            const AttributeValue& value);

  /// Collective. From the next flush() on, an XDMF file beside the HDF5 file, run.xdmf for run.h5,
  /// describes its data sets of one to three dimensions, or one more for steps, on this grid. The
  /// grid is stored, so an Output that appends needn't set it again. Errors: see above; also
  /// invalid_argument for a file of that name that Tessera did not write.
  rma::Status set_grid(const UniformGrid& grid);

  /// Collective. Completes all that was written, on the device, so that others can read it. Cost:
  /// the first rank describes the whole file again, about two microseconds for each chunk in it.
  rma::Status flush();

  /// Collective. flush(), and the end of this object.
  rma::Status close();

  /// Local. The number of steps of a data set; 0 if there is no such data set.
  [[nodiscard]] std::int64_t steps(const std::string& name) const;

 private:
  explicit Output(std::unique_ptr<detail::OutputState> state) noexcept;
  std::unique_ptr<detail::OutputState> state_;
};

}  // namespace tessera::arrays
