// SPDX-License-Identifier: BSD-3-Clause
//
// The sizes of the slices of a distribution, and the tables for locations in them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "arrays/detail/distribution_data.hpp"

#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::arrays::detail {

using rma::Code;
using rma::Status;

namespace {

Status too_large(std::string_view what) {
  return Status::error(Code::invalid_argument, fmt::format("{} does not fit 63 bits", what));
}

// A table of zeros. Its length comes from users' numbers, so it may need more memory than
// available.
Status make_table(std::vector<std::int64_t>& table, std::int64_t count, std::string_view entries) {
  return rma::detail::catch_bad_alloc(
      [&] {
        table.assign(static_cast<std::size_t>(count), 0);
        return Status();
      },
      [&] {
        return Status::error(
                   Code::no_memory,
                   fmt::format("a table of {} {} needs {:.1f} GiB", count, entries,
                               static_cast<double>(count) * sizeof(std::int64_t) / 0x1p30))
            .hint("cut the axes into fewer blocks, or by sizes instead of bounds");
      });
}

// At most one block on each rank, extended by its ghost cells.
Status measure_single(DistributionData& data) {
  if (volume(data.extents) == 0) {
    return {};
  }
  Extents largest = data.extents;
  for (int dim = 0; dim < largest.ndims(); ++dim) {
    std::int64_t margin = 0;
    if (__builtin_mul_overflow(data.ghosts[dim], 2, &margin) ||
        __builtin_add_overflow(data.partition(dim).largest(), margin, &largest[dim])) {
      return too_large(fmt::format("ghost width {} of dimension {}", data.ghosts[dim], dim));
    }
  }
  if (!checked_product(largest, data.max_local_elements)) {
    return too_large(fmt::format("a block of {} elements with its ghosts", to_string(largest)));
  }
  return {};
}

Status measure_cyclic(DistributionData& data) {
  Extents largest = data.extents;
  for (int dim = 0; dim < data.extents.ndims(); ++dim) {
    const BlockPartition1D& partition = data.partition(dim);
    const std::int64_t step = data.block_map.rank_grid()[dim];
    // With blocks of one size, or the longer ones first, coordinate 0 has the most. Otherwise check
    // all.
    std::int64_t coordinates = 1;
    if (partition.is_irregular()) {
      auto& before = data.before[static_cast<std::size_t>(dim)];
      TESSERA_RETURN_IF_ERROR(make_table(before, partition.blocks(), "blocks"));
      for (std::int64_t block = step; block < partition.blocks(); ++block) {
        before[static_cast<std::size_t>(block)] =
            before[static_cast<std::size_t>(block - step)] + partition.length(block - step);
      }
      coordinates = std::min(step, partition.blocks());
    }
    std::int64_t most = 0;
    for (std::int64_t coordinate = 0; coordinate < coordinates; ++coordinate) {
      most = std::max(most, data.length_of_all(dim, coordinate));
    }
    largest[dim] = most;
  }
  data.max_local_elements = volume(largest);
  return {};
}

std::int64_t block_volume(const DistributionData& data, const Index& block) {
  Extents lengths = data.extents;
  for (int dim = 0; dim < block.ndims(); ++dim) {
    lengths[dim] = data.partition(dim).length(block[dim]);
  }
  return volume(lengths);
}

// The start of each block in its owner's slice, in the block map's order.
Status tabulate_starts(DistributionData& data) {
  const BlockMap& block_map = data.block_map;
  std::vector<std::int64_t> used;
  TESSERA_RETURN_IF_ERROR(make_table(data.starts, volume(block_map.blocks()), "blocks"));
  TESSERA_RETURN_IF_ERROR(make_table(used, block_map.nranks(), "ranks"));
  Index block = Index::zeros(data.extents.ndims());
  for (std::int64_t& start : data.starts) {
    auto& end = used[static_cast<std::size_t>(block_map.owner(block).value)];
    start = end;
    end += block_volume(data, block);
    data.max_local_elements = std::max(data.max_local_elements, end);
    advance(block, block_map.blocks(), block_map.order());
  }
  return {};
}

// Several blocks on a rank without a grid: equal slots, or a table if sizes differ much.
Status measure_linear(DistributionData& data) {
  Extents largest = data.extents;
  bool is_irregular = data.block_map.kind() == BlockMapKind::table;
  for (int dim = 0; dim < data.extents.ndims(); ++dim) {
    largest[dim] = data.partition(dim).largest();
    is_irregular = is_irregular || data.partition(dim).is_irregular();
  }
  data.slot = volume(largest);
  if (!is_irregular) {
    if (__builtin_mul_overflow(data.slot, data.block_map.max_blocks(), &data.max_local_elements)) {
      return too_large(fmt::format("the slice of a rank, {} blocks of {} elements,",
                                   data.block_map.max_blocks(), data.slot));
    }
    return {};
  }
  return tabulate_starts(data);
}

}  // namespace

Status measure(DistributionData& data) {
  if (data.is_one_block_per_rank) {
    return measure_single(data);
  }
  if (data.block_map.kind() == BlockMapKind::cyclic_grid) {
    return measure_cyclic(data);
  }
  return measure_linear(data);
}

}  // namespace tessera::arrays::detail
