// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/ga/cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "arrays/block_map.hpp"
#include "arrays/block_partition_1d.hpp"
#include "arrays/process_grid.hpp"

namespace tessera::ga {

namespace {

using arrays::BlockMap;
using arrays::BlockPartition1D;
using arrays::Distribution;

std::int64_t divide_up(std::int64_t number, std::int64_t by) {
  return (number + by - 1) / by;
}

/// Largest first.
std::vector<std::int64_t> prime_factors(std::int64_t number) {
  std::vector<std::int64_t> factors;
  for (std::int64_t factor = 2; number > 1;) {
    if (factor > number / factor) {
      factor = number;
    }
    if (number % factor == 0) {
      factors.push_back(factor);
      number /= factor;
    } else {
      ++factor;
    }
  }
  std::reverse(factors.begin(), factors.end());
  return factors;
}

/// The share of `units` that is left over if they are cut into `parts`; more than all if there are
/// more parts than units.
double remainder_share(std::int64_t units, std::int64_t parts) {
  constexpr double too_many = 1.1;
  return units < parts ? too_many : static_cast<double>(units % parts) / static_cast<double>(units);
}

/// The number of processes along each dimension. GA counts dimensions as Fortran does.
Extents process_grid(const Extents& units, std::int64_t processes) {
  const int ndims = units.ndims();
  Extents grid = Extents::filled(ndims, 1);
  int first = 0;
  for (const std::int64_t factor : prime_factors(processes)) {
    int best = -1;
    double least = std::numeric_limits<double>::max();
    for (int step = 0; step < ndims; ++step) {
      const int dim = ndims - 1 - (first + step) % ndims;
      const double share = remainder_share(units[dim], factor * grid[dim]);
      if (share < least) {
        least = share;
        best = dim;
      }
    }
    grid[best] *= factor;
    first = (first + 1) % ndims;
  }
  return grid;
}

/// The starts of one dimension; `chunk` is 1 if the program does not ask for more.
std::vector<std::int64_t> cut_dimension(std::int64_t extent, std::int64_t chunk,
                                        std::int64_t longest, std::int64_t parts) {
  const std::int64_t longer = divide_up(extent, chunk) - (longest - 1) * parts;
  std::vector<std::int64_t> starts;
  std::int64_t next = 0;
  for (std::int64_t part = 0; part < parts && next < extent; ++part) {
    starts.push_back(next);
    next += (part < longer ? longest : longest - 1) * chunk;
  }
  return starts;
}

std::vector<std::int64_t> without_empty(const std::vector<std::int64_t>& starts,
                                        std::int64_t extent) {
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] < (i + 1 < starts.size() ? starts[i + 1] : extent)) {
      kept.push_back(starts[i]);
    }
  }
  return kept;
}

/// One partition for each dimension, without empty blocks.
Result<std::vector<BlockPartition1D>> partitions_of(const Starts& starts, const Extents& extents) {
  std::vector<BlockPartition1D> partitions;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    const auto kept = without_empty(starts.of[static_cast<std::size_t>(dim)], extents[dim]);
    TESSERA_ASSIGN_OR_RETURN(auto partition, BlockPartition1D::at_bounds(extents[dim], kept));
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

Extents blocks_of(const std::vector<BlockPartition1D>& partitions) {
  Extents blocks = Extents::zeros(static_cast<int>(partitions.size()));
  for (int dim = 0; dim < blocks.ndims(); ++dim) {
    blocks[dim] = partitions[static_cast<std::size_t>(dim)].blocks();
  }
  return blocks;
}

/// The rank that owns block `number` of a regular array: GA's number, or one of the holders.
Result<rma::TeamRank> holder_of(const Plan& plan, std::int64_t number, std::int64_t processes) {
  const std::int64_t rank =
      plan.holders.empty() ? number : plan.holders[static_cast<std::size_t>(number)];
  if (rank < 0 || rank >= processes) {
    return Status::error(Code::invalid_argument,
                         fmt::format("there is no process {} in a group of {}", rank, processes));
  }
  return rma::TeamRank{static_cast<std::int32_t>(rank)};
}

/// GA's number of a block counts empty ones, which Tessera does not have: the owners of the others
/// are a table then.
Result<BlockMap> regular_map(const Plan& plan, const Starts& starts,
                             const std::vector<BlockPartition1D>& partitions,
                             std::int64_t processes) {
  const Extents blocks = blocks_of(partitions);
  const Extents all = starts.blocks(blocks.ndims());
  const std::int64_t holders =
      plan.holders.empty() ? processes : static_cast<std::int64_t>(plan.holders.size());
  if (arrays::volume(all) > holders) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} blocks, but only {} processes to hold them",
                                     arrays::to_string(all), holders));
  }
  if (plan.holders.empty() && blocks == all) {
    return BlockMap::grid(blocks, processes);
  }
  std::vector<rma::TeamRank> owners;
  Index block = Index::zeros(blocks.ndims());
  do {
    Index place = block;
    for (int dim = 0; dim < blocks.ndims(); ++dim) {
      place[dim] = partitions[static_cast<std::size_t>(dim)].lo(block[dim]);
    }
    TESSERA_ASSIGN_OR_RETURN(const auto owner, holder_of(plan, block_of(starts, place), processes));
    owners.push_back(owner);
  } while (arrays::advance(block, blocks, arrays::MemoryOrder::row_major));
  return BlockMap::table(blocks, owners, processes);
}

/// Round robin over all processes, or over the holders.
Result<BlockMap> round_robin_map(const Plan& plan, const Extents& blocks, std::int64_t processes) {
  if (plan.holders.empty()) {
    return BlockMap::round_robin(blocks, processes);
  }
  std::vector<rma::TeamRank> owners;
  for (std::int64_t number = 0; number < arrays::volume(blocks); ++number) {
    const std::int64_t holder = number % std::ssize(plan.holders);
    TESSERA_ASSIGN_OR_RETURN(const auto owner, holder_of(plan, holder, processes));
    owners.push_back(owner);
  }
  return BlockMap::table(blocks, owners, processes);
}

/// A cyclic grid over all processes, or over the holders.
Result<BlockMap> cyclic_map(const Plan& plan, const Extents& blocks, std::int64_t processes) {
  const std::int64_t holders =
      plan.holders.empty() ? processes : static_cast<std::int64_t>(plan.holders.size());
  if (arrays::volume(plan.grid) != holders) {
    return Status::error(Code::invalid_argument,
                         fmt::format("a grid of {} processes, but {} hold the array",
                                     arrays::to_string(plan.grid), holders))
        .hint("the grid of processes must have as many entries as there are processes");
  }
  TESSERA_ASSIGN_OR_RETURN(auto grid, BlockMap::cyclic_grid(blocks, plan.grid, holders));
  if (plan.holders.empty()) {
    return grid;
  }
  std::vector<rma::TeamRank> owners;
  Index block = Index::zeros(blocks.ndims());
  do {
    TESSERA_ASSIGN_OR_RETURN(const auto owner, holder_of(plan, grid.owner(block).value, processes));
    owners.push_back(owner);
  } while (arrays::advance(block, blocks, arrays::MemoryOrder::row_major));
  return BlockMap::table(blocks, owners, processes);
}

}  // namespace

Starts default_cut(const Extents& extents, const Chunk& chunk, std::int64_t processes) {
  const int ndims = extents.ndims();
  Extents given = Extents::filled(ndims, 1);  // lengths of a chunk
  Extents units = extents;
  for (int dim = 0; dim < ndims; ++dim) {
    if (chunk.is_given()) {
      given[dim] = std::min(std::max<std::int64_t>(chunk.lengths[dim], 1), extents[dim]);
    }
    // A zero for Fortran's first dimension: the others count too, but not for the grid.
    const bool is_counted = chunk.is_given() && chunk.lengths[ndims - 1] != 0;
    units[dim] = is_counted ? divide_up(extents[dim], given[dim]) : extents[dim];
  }
  const Extents grid = process_grid(units, processes);
  Starts starts;
  for (int dim = 0; dim < ndims; ++dim) {
    starts.of[static_cast<std::size_t>(dim)] =
        cut_dimension(extents[dim], given[dim], divide_up(units[dim], grid[dim]), grid[dim]);
  }
  return starts;
}

Result<Starts> surface_cut(const Extents& extents, const Chunk& chunk, std::int64_t processes) {
  arrays::ProcessGridOptions options;
  if (chunk.is_given()) {
    options.min_block = chunk.lengths;
    for (int dim = 0; dim < extents.ndims(); ++dim) {
      options.min_block[dim] = std::clamp<std::int64_t>(chunk.lengths[dim], 0, extents[dim]);
    }
  }
  TESSERA_ASSIGN_OR_RETURN(const auto chosen,
                           arrays::choose_process_grid(extents, processes, options));
  Starts starts;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    starts.of[static_cast<std::size_t>(dim)] =
        cut_dimension(extents[dim], 1, divide_up(extents[dim], chosen.grid[dim]), chosen.grid[dim]);
  }
  return starts;
}

Starts even_starts(const Extents& extents, const Extents& block) {
  Starts starts;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    for (std::int64_t at = 0; at < extents[dim]; at += block[dim]) {
      starts.of[static_cast<std::size_t>(dim)].push_back(at);
    }
  }
  return starts;
}

Box block_box(const Starts& starts, const Extents& extents, std::int64_t number) {
  Box box = Box::none(extents.ndims());
  for (int dim = extents.ndims() - 1; dim >= 0; --dim) {
    const auto& list = starts.of[static_cast<std::size_t>(dim)];
    const auto blocks = static_cast<std::int64_t>(list.size());
    const auto own = static_cast<std::size_t>(number % blocks);
    box.set(dim, list[own], own + 1 < list.size() ? list[own + 1] : extents[dim]);
    number /= blocks;
  }
  return box;
}

std::int64_t block_of(const Starts& starts, const Index& place) {
  std::int64_t number = 0;
  for (int dim = 0; dim < place.ndims(); ++dim) {
    const auto& list = starts.of[static_cast<std::size_t>(dim)];
    const auto after = std::upper_bound(list.begin(), list.end(), place[dim]);
    number = number * static_cast<std::int64_t>(list.size()) + (after - list.begin() - 1);
  }
  return number;
}

Result<Distribution> distribution_of(const Plan& plan, const Starts& starts,
                                     std::int64_t processes) {
  TESSERA_ASSIGN_OR_RETURN(const auto partitions, partitions_of(starts, plan.extents));
  const Extents blocks = blocks_of(partitions);
  arrays::StorageOptions storage;
  storage.ghosts = plan.ghosts;
  if (plan.layout == ArrayLayout::regular) {
    TESSERA_ASSIGN_OR_RETURN(const auto map, regular_map(plan, starts, partitions, processes));
    return Distribution::create(partitions, map, storage);
  }
  if (plan.layout == ArrayLayout::block_cyclic) {
    TESSERA_ASSIGN_OR_RETURN(const auto map, round_robin_map(plan, blocks, processes));
    return Distribution::create(partitions, map, storage);
  }
  TESSERA_ASSIGN_OR_RETURN(const auto map, cyclic_map(plan, blocks, processes));
  const bool is_local_matrix = plan.layout == ArrayLayout::scalapack && plan.holders.empty();
  storage.storage =
      is_local_matrix ? arrays::Storage::local_matrix : arrays::Storage::block_by_block;
  return Distribution::create(partitions, map, storage);
}

}  // namespace tessera::ga
