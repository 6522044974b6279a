// SPDX-License-Identifier: BSD-3-Clause
//
// The index of a data set's chunks. libhdf5 is asked to read or write a chunk, but moves no element
// (image.hpp): only the index is used. Its own function that lists chunks takes time that grows
// with the square of their number.
#pragma once

#include <array>
#include <string>

#include "arrays/checkpoint/chunk_grid.hpp"
#include "arrays/checkpoint/chunk_place.hpp"
#include "arrays/checkpoint/hdf5_driver.hpp"
#include "rma/base/result.hpp"

namespace tessera::arrays::detail {

/// The first element of a chunk, for libhdf5.
std::array<hsize_t, max_dims> chunk_corner(const ChunkGrid& grid, std::int64_t number) noexcept;

/// The lengths of an open data set, and of its chunks. Requires: the reader accepted it.
Extents extents_of(hid_t set);
Extents chunk_of(hid_t set);

/// Finds chunks of an open data set. Requires: its file is in `image`; both outlive this object.
class ChunkFinder {
 public:
  ChunkFinder(hid_t set, FileImage& image, std::string name);
  [[nodiscard]] const ChunkGrid& grid() const noexcept { return grid_; }
  /// Errors: protocol for a chunk beyond the end of the file; internal, with libhdf5's message.
  [[nodiscard]] rma::Result<ChunkPlace> find(std::int64_t number) const;

 private:
  hid_t set_;
  FileImage* image_;
  std::string name_;
  ChunkGrid grid_;
  std::int64_t chunk_elements_;
  bool edges_are_unfiltered_ = false;
};

/// Enters a chunk, whose bytes the ranks write, into the index. Errors: internal.
rma::Status enter_chunk(hid_t set, FileImage& image, const ChunkGrid& grid,
                        const ChunkPlace& place);

}  // namespace tessera::arrays::detail
