// SPDX-License-Identifier: BSD-3-Clause
//
// The named kinds of distributions in distribution.hpp with several blocks on a rank, or none.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arrays/distribution.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;
using rma::TeamRank;

namespace {

std::string attempt(const Extents& extents, std::string_view how) {
  return fmt::format("distributing {} {}", to_string(extents), how);
}

Status check_dims(const Extents& extents, int given, std::string_view what) {
  return given == extents.ndims()
             ? Status()
             : Status::error(Code::invalid_argument,
                             fmt::format("{} for {} dimensions, but the array has {}", what, given,
                                         extents.ndims()));
}

Result<std::vector<BlockPartition1D>> partitions_by_size(const Extents& extents,
                                                         const Extents& block) {
  TESSERA_RETURN_IF_ERROR(check_extents(extents));
  TESSERA_RETURN_IF_ERROR(check_dims(extents, block.ndims(), "block sizes"));
  std::vector<BlockPartition1D> partitions(static_cast<std::size_t>(extents.ndims()));
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    TESSERA_ASSIGN_OR_RETURN(partitions[static_cast<std::size_t>(dim)],
                             BlockPartition1D::by_size(extents[dim], block[dim]));
  }
  return partitions;
}

Result<std::vector<BlockPartition1D>> partitions_at_bounds(
    const Extents& extents, std::span<const std::vector<std::int64_t>> starts) {
  TESSERA_RETURN_IF_ERROR(check_extents(extents));
  TESSERA_RETURN_IF_ERROR(check_dims(extents, static_cast<int>(starts.size()), "bounds"));
  std::vector<BlockPartition1D> partitions(starts.size());
  for (std::size_t dim = 0; dim < starts.size(); ++dim) {
    TESSERA_ASSIGN_OR_RETURN(
        partitions[dim], BlockPartition1D::at_bounds(extents[static_cast<int>(dim)], starts[dim]));
  }
  return partitions;
}

Extents blocks_of(std::span<const BlockPartition1D> partitions) {
  Extents blocks = Extents::zeros(static_cast<int>(partitions.size()));
  for (int dim = 0; dim < blocks.ndims(); ++dim) {
    blocks[dim] = partitions[static_cast<std::size_t>(dim)].blocks();
  }
  return blocks;
}

Result<Distribution> on_cyclic_grid(std::span<const BlockPartition1D> partitions,
                                    const Extents& grid, std::int64_t nranks,
                                    const StorageOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(
      const BlockMap block_map,
      BlockMap::cyclic_grid(blocks_of(partitions), grid, nranks, options.order));
  return Distribution::create(partitions, block_map, options);
}

Status check_holders(std::span<const TeamRank> holders, std::int64_t nranks) {
  std::vector<TeamRank> sorted(holders.begin(), holders.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty()) {
    return Status::error(Code::invalid_argument, "the list of holders is empty")
        .hint("name at least one rank");
  }
  for (const TeamRank rank : {sorted.front(), sorted.back()}) {
    if (rank.value < 0 || rank.value >= nranks) {
      return Status::error(Code::invalid_argument,
                           fmt::format("holder {} is not a rank of the team, which has {}",
                                       rank.value, nranks))
          .hint("ranks are counted from 0, within the array's team");
    }
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  return twice == sorted.end()
             ? Status()
             : Status::error(
                   Code::invalid_argument,
                   fmt::format("rank {} is listed twice among the holders", twice->value));
}

}  // namespace

Result<Distribution> Distribution::block_cyclic(const Extents& extents, const Extents& block,
                                                std::int64_t nranks,
                                                const StorageOptions& options) {
  const std::string doing = attempt(extents, "block-cyclically");
  auto partitions = partitions_by_size(extents, block);
  if (!partitions.ok()) {
    return std::move(partitions).status().context(doing);
  }
  TESSERA_ASSIGN_OR_RETURN(const BlockMap block_map,
                           BlockMap::round_robin(blocks_of(*partitions), nranks, options.order));
  return create(*partitions, block_map, options);
}

Result<Distribution> Distribution::tiled(const Extents& extents, const Extents& tile,
                                         const Extents& grid, std::int64_t nranks,
                                         const StorageOptions& options) {
  auto partitions = partitions_by_size(extents, tile);
  return partitions.ok() ? on_cyclic_grid(*partitions, grid, nranks, options)
                         : std::move(partitions).status().context(attempt(extents, "in tiles"));
}

Result<Distribution> Distribution::tiled_irregular(
    const Extents& extents, std::span<const std::vector<std::int64_t>> starts, const Extents& grid,
    std::int64_t nranks, const StorageOptions& options) {
  auto partitions = partitions_at_bounds(extents, starts);
  return partitions.ok()
             ? on_cyclic_grid(*partitions, grid, nranks, options)
             : std::move(partitions).status().context(attempt(extents, "in irregular tiles"));
}

Result<Distribution> Distribution::scalapack(const Extents& extents, const Extents& block,
                                             const Extents& grid, std::int64_t nranks,
                                             MemoryOrder order) {
  auto partitions = partitions_by_size(extents, block);
  return partitions.ok()
             ? on_cyclic_grid(*partitions, grid, nranks,
                              {.storage = Storage::local_matrix, .order = order})
             : std::move(partitions).status().context(attempt(extents, "as ScaLAPACK does"));
}

Result<Distribution> Distribution::restricted(const Extents& extents,
                                              std::span<const TeamRank> holders,
                                              std::int64_t nranks, const RegularOptions& options) {
  TESSERA_RETURN_IF_ERROR(
      check_holders(holders, nranks).context(attempt(extents, "on some ranks")));
  TESSERA_ASSIGN_OR_RETURN(const Distribution over_holders,
                           regular(extents, std::ssize(holders), options));
  const BlockMap& block_map = over_holders.block_map();
  std::vector<BlockPartition1D> partitions;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    partitions.push_back(over_holders.partition(dim));
  }
  std::vector<TeamRank> owners(static_cast<std::size_t>(volume(block_map.blocks())));
  Index block = Index::zeros(extents.ndims());
  do {
    owners[static_cast<std::size_t>(block_map.linear(block))] =
        holders[static_cast<std::size_t>(block_map.owner(block).value)];
  } while (advance(block, block_map.blocks(), MemoryOrder::row_major));
  TESSERA_ASSIGN_OR_RETURN(const BlockMap table,
                           BlockMap::table(block_map.blocks(), owners, nranks, block_map.order()));
  return create(partitions, table, {.order = options.order, .ghosts = options.ghosts});
}

Distribution Distribution::reversed() const {
  std::vector<BlockPartition1D> partitions;
  for (int dim = ndims() - 1; dim >= 0; --dim) {
    partitions.push_back(partition(dim));
  }
  // This can't fail: the same parts matched before.
  return *create(
      partitions, block_map().reversed(),
      {.storage = storage(), .order = arrays::reversed(order()), .ghosts = ghosts().reversed()});
}

}  // namespace tessera::arrays
