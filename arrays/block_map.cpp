// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/block_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Result;
using rma::Status;
using rma::TeamRank;

Status invalid(std::string what) {
  return Status::error(Code::invalid_argument, std::move(what));
}

Status check_blocks(const Extents& blocks, std::int64_t nranks) {
  if (nranks < 1 || nranks > std::numeric_limits<std::int32_t>::max()) {
    return invalid(fmt::format("{} ranks; 1 to {} are possible", nranks,
                               std::numeric_limits<std::int32_t>::max()));
  }
  return check_extents(blocks).context("assigning blocks to ranks");
}

// The coordinates of a linear index in a grid; `order` gives the fastest dimension.
Index unravel(std::int64_t index, const Extents& grid, MemoryOrder order) {
  const int ndims = grid.ndims();
  Index at = Index::zeros(ndims);
  for (int k = 0; k < ndims; ++k) {
    const int dim = order == MemoryOrder::row_major ? ndims - 1 - k : k;
    at[dim] = index % grid[dim];
    index /= grid[dim];
  }
  return at;
}

Status check_node_grid(const Extents& blocks, const Extents& node_grid) {
  if (node_grid.ndims() != blocks.ndims()) {
    return invalid(fmt::format("node grid {} and grid {} differ in dimensions",
                               to_string(node_grid), to_string(blocks)));
  }
  for (int dim = 0; dim < blocks.ndims(); ++dim) {
    if (node_grid[dim] < 1 || blocks[dim] % node_grid[dim] != 0) {
      return invalid(fmt::format("node grid {} does not divide the grid {}: {} in dimension {}",
                                 to_string(node_grid), to_string(blocks), node_grid[dim], dim));
    }
  }
  return {};
}

bool fits(const Extents& blocks, const Extents& grid) {
  for (int dim = 0; dim < blocks.ndims(); ++dim) {
    if (blocks[dim] > grid[dim]) {
      return false;
    }
  }
  return true;
}

}  // namespace

BlockMap::BlockMap(BlockMapKind kind, const Extents& blocks, const Extents& grid,
                   std::int64_t nranks, MemoryOrder order) noexcept
    : kind_(kind),
      order_(order),
      nranks_(nranks),
      blocks_(blocks),
      grid_(grid),
      block_strides_(dense_strides(blocks, order)),
      rank_strides_(dense_strides(grid, order)),
      by_nranks_(nranks) {
  for (int dim = 0; dim < blocks.ndims(); ++dim) {
    by_grid_[static_cast<std::size_t>(dim)] = FastDivider(std::max<std::int64_t>(grid[dim], 1));
  }
  if (kind == BlockMapKind::round_robin) {
    max_blocks_ = (volume(blocks) - 1) / nranks + 1;  // more blocks than ranks, so at least one
  } else if (kind != BlockMapKind::table) {
    Extents counts = blocks;
    for (int dim = 0; dim < blocks.ndims(); ++dim) {
      counts[dim] = count_along(dim, 0);
    }
    max_blocks_ = volume(counts);
  }
}

void BlockMap::set_node_grid(const Extents& node_grid) noexcept {
  if (volume(node_grid) <= 1 || node_grid == grid_) {
    return;
  }
  Extents nodes = grid_;
  for (int dim = 0; dim < ndims(); ++dim) {
    nodes[dim] /= node_grid[dim];
    by_node_[static_cast<std::size_t>(dim)] = FastDivider(node_grid[dim]);
  }
  Strides inside = dense_strides(node_grid, order_);
  node_strides_ = dense_strides(nodes, order_);
  bool is_plain = true;
  for (int dim = 0; dim < ndims(); ++dim) {
    node_strides_[dim] *= volume(node_grid);
    const bool crosses = nodes[dim] > 1;
    is_plain = is_plain && (node_grid[dim] == 1 || inside[dim] == rank_strides_[dim]) &&
               (!crosses || node_strides_[dim] == node_grid[dim] * rank_strides_[dim]);
  }
  // A node grid that doesn't change the order of ranks is dropped, so that equal block maps compare
  // equal.
  if (!is_plain) {
    node_grid_ = node_grid;
    rank_strides_ = inside;
  }
}

BlockMap BlockMap::reversed() const noexcept {
  BlockMap other = *this;
  other.order_ = arrays::reversed(order_);
  for (Extents* const numbers : {&other.blocks_, &other.grid_, &other.node_grid_}) {
    *numbers = numbers->reversed();
  }
  for (Strides* const strides :
       {&other.block_strides_, &other.rank_strides_, &other.node_strides_}) {
    *strides = strides->reversed();
  }
  for (auto* const dividers : {&other.by_grid_, &other.by_node_}) {
    std::reverse(dividers->begin(), dividers->begin() + ndims());
  }
  return other;
}

Result<BlockMap> BlockMap::grid(const Extents& blocks, std::int64_t nranks,
                                const GridOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_blocks(blocks, nranks));
  if (volume(blocks) > nranks) {
    return invalid(fmt::format("{} blocks ({}) for {} ranks, with at most one block on each",
                               volume(blocks), to_string(blocks), nranks))
        .hint("cut into fewer blocks, or use a cyclic grid");
  }
  BlockMap block_map(BlockMapKind::grid, blocks, blocks, nranks, options.order);
  if (!options.node_grid.is_empty()) {
    TESSERA_RETURN_IF_ERROR(check_node_grid(blocks, options.node_grid));
    block_map.set_node_grid(options.node_grid);
  }
  return block_map;
}

Result<BlockMap> BlockMap::cyclic_grid(const Extents& blocks, const Extents& grid,
                                       std::int64_t nranks, MemoryOrder order) {
  TESSERA_RETURN_IF_ERROR(check_blocks(blocks, nranks));
  TESSERA_RETURN_IF_ERROR(check_extents(grid).context("laying out a grid of ranks"));
  if (grid.ndims() != blocks.ndims()) {
    return invalid(fmt::format("a grid of {} ranks for {} blocks: the dimensions differ",
                               to_string(grid), to_string(blocks)));
  }
  if (volume(grid) < 1) {
    return invalid(fmt::format("a grid of {} ranks is empty", to_string(grid)));
  }
  if (volume(grid) > nranks) {
    return invalid(fmt::format("a grid of {} ranks needs {} ranks, but the team has {}",
                               to_string(grid), volume(grid), nranks));
  }
  const BlockMapKind kind = fits(blocks, grid) ? BlockMapKind::grid : BlockMapKind::cyclic_grid;
  return BlockMap(kind, blocks, grid, nranks, order);
}

Result<BlockMap> BlockMap::round_robin(const Extents& blocks, std::int64_t nranks,
                                       MemoryOrder order) {
  TESSERA_RETURN_IF_ERROR(check_blocks(blocks, nranks));
  const BlockMapKind kind =
      volume(blocks) <= nranks ? BlockMapKind::grid : BlockMapKind::round_robin;
  return BlockMap(kind, blocks, blocks, nranks, order);
}

Result<BlockMap> BlockMap::table(const Extents& blocks, std::span<const TeamRank> owners,
                                 std::int64_t nranks, MemoryOrder order) {
  TESSERA_RETURN_IF_ERROR(check_blocks(blocks, nranks));
  if (volume(blocks) != static_cast<std::int64_t>(owners.size())) {
    return invalid(fmt::format("{} owners are given for {} blocks ({})", owners.size(),
                               volume(blocks), to_string(blocks)));
  }
  auto table = std::make_shared<Table>();
  table->owners.assign(owners.begin(), owners.end());
  table->by_owner.resize(owners.size());
  std::iota(table->by_owner.begin(), table->by_owner.end(), std::int64_t{0});
  const auto owner_of = [&](std::int64_t b) { return owners[static_cast<std::size_t>(b)].value; };
  std::stable_sort(table->by_owner.begin(), table->by_owner.end(),
                   [&](std::int64_t a, std::int64_t b) { return owner_of(a) < owner_of(b); });

  BlockMap block_map(BlockMapKind::table, blocks, blocks, nranks, order);
  table->numbers.resize(owners.size());
  std::int64_t number = 0;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].value < 0 || owners[i].value >= nranks) {
      return invalid(fmt::format("owner {} of block {} is not a rank of the team, 0 to {}",
                                 owners[i].value, i, nranks - 1));
    }
    const std::int64_t block = table->by_owner[i];
    const bool is_same = i > 0 && owner_of(block) == owner_of(table->by_owner[i - 1]);
    number = is_same ? number + 1 : 0;
    table->numbers[static_cast<std::size_t>(block)] = number;
    block_map.max_blocks_ = std::max(block_map.max_blocks_, number + 1);
  }
  block_map.table_ = std::move(table);
  return block_map;
}

TeamRank BlockMap::owner_in_general(const Index& block) const noexcept {
  std::int64_t rank = 0;
  switch (kind_) {
    case BlockMapKind::grid:
      for (int dim = 0; dim < ndims(); ++dim) {
        const FastDivider::Parts at = by_node_[static_cast<std::size_t>(dim)].divide(block[dim]);
        rank += at.quotient * node_strides_[dim] + at.remainder * rank_strides_[dim];
      }
      break;
    case BlockMapKind::cyclic_grid:
      for (int dim = 0; dim < ndims(); ++dim) {
        rank += divide_by_grid(dim, block[dim]).remainder * rank_strides_[dim];
      }
      break;
    case BlockMapKind::round_robin:
      rank = by_nranks_.divide(linear(block)).remainder;
      break;
    case BlockMapKind::table:
      return table_->owners[static_cast<std::size_t>(linear(block))];
  }
  return {static_cast<std::int32_t>(rank)};
}

std::int64_t BlockMap::number(const Index& block) const noexcept {
  switch (kind_) {
    case BlockMapKind::grid:
      break;
    case BlockMapKind::cyclic_grid: {
      std::int64_t index = 0;
      for (int k = 0; k < ndims(); ++k) {
        const int dim = order_ == MemoryOrder::row_major ? k : ndims() - 1 - k;
        const FastDivider::Parts at = divide_by_grid(dim, block[dim]);
        index = index * count_along(dim, at.remainder) + at.quotient;
      }
      return index;
    }
    case BlockMapKind::round_robin:
      return by_nranks_.divide(linear(block)).quotient;
    case BlockMapKind::table:
      return table_->numbers[static_cast<std::size_t>(linear(block))];
  }
  return 0;
}

bool BlockMap::is_in_grid(TeamRank rank) const noexcept {
  return rank.value < volume(grid_);
}

std::span<const std::int64_t> BlockMap::table_blocks(TeamRank rank) const noexcept {
  const auto owner_of = [&](std::int64_t block) {
    return table_->owners[static_cast<std::size_t>(block)];
  };
  const auto& all = table_->by_owner;
  const auto first = std::partition_point(
      all.begin(), all.end(), [&](std::int64_t block) { return owner_of(block) < rank; });
  const auto last = std::partition_point(
      first, all.end(), [&](std::int64_t block) { return owner_of(block) == rank; });
  return {first, last};
}

std::int64_t BlockMap::count(TeamRank rank) const noexcept {
  if (kind_ == BlockMapKind::table) {
    return static_cast<std::int64_t>(table_blocks(rank).size());
  }
  if (kind_ == BlockMapKind::round_robin) {
    const std::int64_t beyond = volume(blocks_) - rank.value - 1;
    return beyond < 0 ? 0 : beyond / nranks_ + 1;
  }
  if (!is_in_grid(rank)) {
    return 0;
  }
  const Index at = coordinates(rank);
  Extents counts = blocks_;
  for (int dim = 0; dim < ndims(); ++dim) {
    counts[dim] = count_along(dim, at[dim]);
  }
  return volume(counts);
}

Index BlockMap::coordinates(TeamRank rank) const noexcept {
  if (node_grid_.is_empty()) {
    return unravel(rank.value, grid_, order_);
  }
  const std::int64_t ranks_per_node = volume(node_grid_);
  Extents nodes = grid_;
  for (int dim = 0; dim < ndims(); ++dim) {
    nodes[dim] /= node_grid_[dim];
  }
  Index at = unravel(rank.value % ranks_per_node, node_grid_, order_);
  const Index node = unravel(rank.value / ranks_per_node, nodes, order_);
  for (int dim = 0; dim < ndims(); ++dim) {
    at[dim] += node[dim] * node_grid_[dim];
  }
  return at;
}

Index BlockMap::block(TeamRank rank, std::int64_t number) const noexcept {
  if (kind_ == BlockMapKind::table) {
    const std::int64_t index = table_blocks(rank)[static_cast<std::size_t>(number)];
    return unravel(index, blocks_, order_);
  }
  if (kind_ == BlockMapKind::round_robin) {
    return unravel(number * nranks_ + rank.value, blocks_, order_);
  }
  Index at = coordinates(rank);
  if (kind_ == BlockMapKind::grid) {
    return at;
  }
  Extents counts = blocks_;
  for (int dim = 0; dim < ndims(); ++dim) {
    counts[dim] = count_along(dim, at[dim]);
  }
  const Index turn = unravel(number, counts, order_);
  for (int dim = 0; dim < ndims(); ++dim) {
    at[dim] += turn[dim] * grid_[dim];
  }
  return at;
}

bool operator==(const BlockMap& a, const BlockMap& b) noexcept {
  return a.kind_ == b.kind_ && a.order_ == b.order_ && a.nranks_ == b.nranks_ &&
         a.blocks_ == b.blocks_ && a.grid_ == b.grid_ && a.node_grid_ == b.node_grid_ &&
         (a.table_ == b.table_ || (a.table_ && b.table_ && a.table_->owners == b.table_->owners));
}

std::string to_string(const BlockMap& block_map) {
  const std::string blocks = fmt::format("{} blocks", to_string(block_map.blocks()));
  switch (block_map.kind()) {
    case BlockMapKind::grid:
      return fmt::format("{}, at most one on each of {} ranks", blocks, block_map.nranks());
    case BlockMapKind::cyclic_grid:
      return fmt::format("{} on a grid of {} ranks, cyclic", blocks,
                         to_string(block_map.rank_grid()));
    case BlockMapKind::round_robin:
      return fmt::format("{} on {} ranks, round robin", blocks, block_map.nranks());
    case BlockMapKind::table:
      break;
  }
  return fmt::format("{} on {} ranks by a table", blocks, block_map.nranks());
}

}  // namespace tessera::arrays
