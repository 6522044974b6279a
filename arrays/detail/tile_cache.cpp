// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/detail/tile_cache.hpp"

#include <algorithm>
#include <cstring>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/transfer.hpp"

namespace tessera::arrays::detail {

using rma::Handle;
using rma::Status;
using rma::detail::catch_bad_alloc;

namespace {

// Copies elements within this process's memory; the shape's remote side is `from`.
void copy_elements(std::byte* to, const std::byte* from, const rma::CopyShape& shape, int levels) {
  if (levels == 0) {
    std::memcpy(to, from, shape.run_bytes);
    return;
  }
  const auto& [count, step_to, step_from] = shape.level[static_cast<std::size_t>(levels - 1)];
  for (std::int64_t i = 0; i < count; ++i) {
    copy_elements(to + i * step_to, from + i * step_from, shape, levels - 1);
  }
}

// Small enough that a miss fetches few elements that were not requested.
constexpr std::int64_t tile_bytes = 16 << 10;

Extents tile_extents(const Distribution& distribution, std::int64_t element_bytes) {
  Extents tile = distribution.extents();
  if (volume(tile) == 0) {
    return Extents::filled(tile.ndims(), 1);  // the other extents may have any length
  }
  const std::int64_t most = std::max<std::int64_t>(1, tile_bytes / element_bytes);
  for (int dim = 0; dim < tile.ndims(); ++dim) {
    tile[dim] = std::max<std::int64_t>(tile[dim], 1);
  }
  for (int dim = 0; dim < tile.ndims() && volume(tile) > most; ++dim) {
    tile[dim] = std::clamp<std::int64_t>(most / (volume(tile) / tile[dim]), 1, tile[dim]);
  }
  return tile;
}

}  // namespace

TileCache::TileCache(const rma::Job& job, const rma::Region& region,
                     const Distribution& distribution, std::size_t element_bytes, std::size_t bytes)
    : job_(job),
      region_(region.borrow()),
      distribution_(distribution),
      element_bytes_(static_cast<std::int64_t>(element_bytes)),
      tile_(tile_extents(distribution, element_bytes_)),
      max_tiles_(static_cast<std::int64_t>(bytes) /
                 std::max<std::int64_t>(1, volume(tile_) * element_bytes_)) {
  tiles_along_ = Extents::zeros(tile_.ndims());
  for (int dim = 0; dim < tile_.ndims(); ++dim) {
    tiles_along_[dim] = (distribution.extents()[dim] + tile_[dim] - 1) / tile_[dim];
  }
}

Status TileCache::get(const Box& box, const LocalBuffer& to) {
  return catch_bad_alloc([&]() -> Status {
    for (const Patch& patch : distribution_.patches(box)) {
      std::byte* const at = static_cast<std::byte*>(to.data) +
                            distance(box.lo(), patch.box.lo(), to.strides) * element_bytes_;
      TESSERA_RETURN_IF_ERROR(get_patch(patch, {at, to.strides}));
    }
    return {};
  });
}

Status TileCache::get_patch(const Patch& patch, const LocalBuffer& to) {
  const bool is_near =
      region_.direct(patch.owner) != nullptr || patch.owner == region_.team().rank();
  std::vector<std::int64_t> wanted;
  if (!is_near) {
    wanted = tiles_of(patch.box);
  }
  if (is_near || std::ssize(wanted) > max_tiles_) {
    return rma::get(job_, address(patch), to.data,
                    copy_shape(patch, to.strides, static_cast<std::size_t>(element_bytes_)));
  }
  const std::lock_guard guard(mutex_);
  TESSERA_RETURN_IF_ERROR(fetch_missing(wanted));
  for (const std::int64_t number : wanted) {
    copy_out(tiles_.at(number), patch.box, to);
  }
  return {};
}

rma::RemoteAddress TileCache::address(const Patch& patch) const {
  return region_.at(patch.owner, static_cast<std::uint64_t>(patch.offset * element_bytes_));
}

std::vector<std::int64_t> TileCache::tiles_of(const Box& box) const {
  Box tiles = box;
  for (int dim = 0; dim < box.ndims(); ++dim) {
    tiles.set(dim, box.lo(dim) / tile_[dim], (box.hi(dim) - 1) / tile_[dim] + 1);
  }
  const Strides strides = dense_strides(tiles_along_);
  std::vector<std::int64_t> numbers;
  Index at = Index::zeros(box.ndims());
  do {
    numbers.push_back(distance(Index::zeros(box.ndims()), tiles.lo(), strides) +
                      distance(Index::zeros(box.ndims()), at, strides));
  } while (std::ssize(numbers) <= max_tiles_ &&
           advance(at, tiles.extents(), MemoryOrder::row_major));
  return numbers;
}

Box TileCache::box_of(std::int64_t number) const {
  Box box = Box::none(tile_.ndims());
  for (int dim = tile_.ndims() - 1; dim >= 0; --dim) {
    const std::int64_t lo = number % tiles_along_[dim] * tile_[dim];
    box.set(dim, lo, std::min(lo + tile_[dim], distribution_.extents()[dim]));
    number /= tiles_along_[dim];
  }
  return box;
}

// Fetches all missing tiles at the same time; the requested tiles are evicted last.
Status TileCache::fetch_missing(const std::vector<std::int64_t>& wanted) {
  std::vector<std::int64_t> missing;
  for (const std::int64_t number : wanted) {
    if (const auto found = tiles_.find(number); found != tiles_.end()) {
      order_.splice(order_.begin(), order_, found->second.used);
    } else {
      missing.push_back(number);
    }
  }
  make_room(std::ssize(missing));
  // Erases them unless all have come. Before the gets, whose handle waits for them.
  struct Erasure {
    ~Erasure() {
      for (const std::int64_t number : numbers) {
        cache.erase_tile(number);
      }
    }
    TileCache& cache;
    std::vector<std::int64_t> numbers;
  } erasure{*this, std::move(missing)};
  Handle gets;
  for (const std::int64_t number : erasure.numbers) {
    gets.collect(fetch(number));
  }
  TESSERA_RETURN_IF_ERROR(gets.wait());
  erasure.numbers.clear();
  return {};
}

// Also removes a tile whose allocation failed.
void TileCache::erase_tile(std::int64_t number) {
  tiles_.erase(number);
  order_.remove(number);
}

void TileCache::make_room(std::int64_t count) {
  while (!order_.empty() && std::ssize(order_) + count > max_tiles_) {
    tiles_.erase(order_.back());
    order_.pop_back();
  }
}

Handle TileCache::fetch(std::int64_t number) {
  order_.push_front(number);
  Tile& tile = tiles_[number];
  tile = {box_of(number), {}, order_.begin()};
  tile.elements.resize(static_cast<std::size_t>(tile.box.volume() * element_bytes_));
  const Strides strides = dense_strides(tile.box.extents());
  Handle gets;
  for (const Patch& patch : distribution_.patches(tile.box)) {
    std::byte* const at =
        tile.elements.data() + distance(tile.box.lo(), patch.box.lo(), strides) * element_bytes_;
    gets.collect(
        rma::get_async(job_, address(patch), at,
                       copy_shape(patch, strides, static_cast<std::size_t>(element_bytes_))));
  }
  return gets;
}

void TileCache::copy_out(const Tile& tile, const Box& box, const LocalBuffer& to) const {
  const Box common = intersect(tile.box, box);
  const Strides strides = dense_strides(tile.box.extents());
  const rma::CopyShape shape = copy_shape(common.extents(), MemoryOrder::row_major, to.strides,
                                          strides, static_cast<std::size_t>(element_bytes_));
  copy_elements(
      static_cast<std::byte*>(to.data) +
          distance(box.lo(), common.lo(), to.strides) * element_bytes_,
      tile.elements.data() + distance(tile.box.lo(), common.lo(), strides) * element_bytes_, shape,
      shape.levels);
}

}  // namespace tessera::arrays::detail
