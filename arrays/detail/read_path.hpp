// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. ReadPath: where the gets of an array that nobody writes are served from.
//
//     NodeCopy   a copy of the array, distributed over the ranks of each node
//     TileCache  tiles of the array that this rank got before, the longest unused go first
//
// Threads: get() from any thread; a NodeCopy is made and freed collectively.
#pragma once

#include <cstdint>
#include <memory>

#include "arrays/array_base.hpp"

namespace tessera::arrays::detail {

class ReadPath {
 public:
  virtual ~ReadPath() = default;
  /// Reads the elements of `box`, which lies inside.
  virtual rma::Status get(const Box& box, const LocalBuffer& to) = 0;
  /// The array that has all elements where this rank can read them; else null.
  [[nodiscard]] virtual const ArrayBase* copy() const noexcept { return nullptr; }
};

/// Collective over the array's team: of each node's members, that is, who have a copy together.
rma::Result<std::unique_ptr<ReadPath>> make_node_copy(const ArrayBase& array);

/// Local. Keeps up to `bytes` of `array`, which must outlive it where it is.
std::unique_ptr<ReadPath> make_tile_cache(const rma::Job& job, const rma::Region& region,
                                          const Distribution& distribution,
                                          std::size_t element_bytes, std::size_t bytes);

}  // namespace tessera::arrays::detail
