// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. TileCache: serves gets of an array that no rank writes from the tiles of other nodes
// that this rank has read; the least recently used tile is evicted.
//
// Threads: get() from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "arrays/distribution.hpp"
#include "arrays/view.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"

namespace tessera::arrays::detail {

class TileCache {
 public:
  /// Local. Caches up to `bytes` of the array that has this memory and distribution, and must
  /// outlive the cache.
  TileCache(const rma::Job& job, const rma::Region& region, const Distribution& distribution,
            std::size_t element_bytes, std::size_t bytes);
  /// Reads the elements of `box`, which is inside the array.
  rma::Status get(const Box& box, const LocalBuffer& to);

 private:
  struct Tile {
    Box box;
    std::vector<std::byte> elements;  // row-major
    std::list<std::int64_t>::iterator used;
  };

  rma::Status get_patch(const Patch& patch, const LocalBuffer& to);
  [[nodiscard]] rma::RemoteAddress address(const Patch& patch) const;
  [[nodiscard]] std::vector<std::int64_t> tiles_of(const Box& box) const;
  [[nodiscard]] Box box_of(std::int64_t number) const;
  rma::Status fetch_missing(const std::vector<std::int64_t>& wanted);
  void erase_tile(std::int64_t number);
  void make_room(std::int64_t count);
  rma::Handle fetch(std::int64_t number);
  void copy_out(const Tile& tile, const Box& box, const LocalBuffer& to) const;

  rma::Job job_;
  rma::Region region_;
  Distribution distribution_;
  std::int64_t element_bytes_;
  Extents tile_;
  Extents tiles_along_;
  std::int64_t max_tiles_;
  std::mutex mutex_;
  std::unordered_map<std::int64_t, Tile> tiles_;  // by their index in row-major order
  std::list<std::int64_t> order_;                 // most recently used first
};

}  // namespace tessera::arrays::detail
