// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. ReadSource: serves the gets of an array that no rank writes.
//
//     NodeCopy   a copy of the array, distributed over the ranks of each node
//     TileCache  tiles of the array that this rank has read; the least recently used is evicted
//
// Threads: get() from any thread; a NodeCopy is made and freed collectively.
#pragma once

#include <cstdint>
#include <memory>

#include "arrays/array_base.hpp"

namespace tessera::arrays::detail {

class ReadSource {
 public:
  virtual ~ReadSource() = default;
  /// Reads the elements of `box`, which is inside the array.
  virtual rma::Status get(const Box& box, const LocalBuffer& to) = 0;
  /// The array that has all elements where this rank can load them; null if there is none.
  [[nodiscard]] virtual const ArrayBase* copy() const noexcept { return nullptr; }
};

/// Collective over the array's team: the members of each node share one copy.
rma::Result<std::unique_ptr<ReadSource>> make_node_copy(const ArrayBase& array);

/// Local. Caches up to `bytes` of the array, which must outlive the cache and must not be moved.
std::unique_ptr<ReadSource> make_tile_cache(const rma::Job& job, const rma::Region& region,
                                            const Distribution& distribution,
                                            std::size_t element_bytes, std::size_t bytes);

}  // namespace tessera::arrays::detail
