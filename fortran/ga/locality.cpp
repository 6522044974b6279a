// SPDX-License-Identifier: BSD-3-Clause
//
// Where elements are. A regular array has at most one block on each process, and "process" is a
// rank in the array's group. For cyclic and tiled arrays, GA uses numbers of blocks instead.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fortran/ga/cut.hpp"
#include "fortran/ga/operations.hpp"

namespace tessera::ga {

namespace {

bool is_regular(const Record& record) {
  return record.plan.layout == ArrayLayout::regular;
}

Extents block_counts(const Record& record) {
  return record.starts.blocks(record.ndims());
}

/// The rank that has block `number` of a regular array.
std::int64_t rank_of_block(const Record& record, std::int64_t number) {
  const auto& holders = record.plan.holders;
  return holders.empty() ? number : holders[static_cast<std::size_t>(number)];
}

/// The block of a rank; -1 if it has none.
std::int64_t block_of_rank(const Record& record, std::int64_t rank) {
  const auto& holders = record.plan.holders;
  if (!holders.empty()) {
    const auto found = std::find(holders.begin(), holders.end(), rank);
    rank = found == holders.end() ? -1 : found - holders.begin();
  }
  return rank < arrays::volume(block_counts(record)) ? rank : -1;
}

/// Calls `act` with the number and the part of each block that `box` touches, in order of numbers.
template <class Act>
void for_each_block(const Record& record, const Box& box, const Act& act) {
  const int ndims = record.ndims();
  Index first = Index::zeros(ndims);
  Extents counts = Extents::zeros(ndims);
  for (int dim = 0; dim < ndims; ++dim) {
    const auto& list = record.starts.of[static_cast<std::size_t>(dim)];
    const auto from = std::upper_bound(list.begin(), list.end(), box.lo(dim)) - 1;
    const auto to = std::lower_bound(list.begin(), list.end(), box.hi(dim));
    first[dim] = from - list.begin();
    counts[dim] = to - from;
  }
  const Extents blocks = block_counts(record);
  Index step = Index::zeros(ndims);
  do {
    std::int64_t number = 0;
    for (int dim = 0; dim < ndims; ++dim) {
      number = number * blocks[dim] + first[dim] + step[dim];
    }
    const Box part = intersect(block_box(record.starts, record.extents(), number), box);
    if (!part.is_empty()) {
      act(number, part);
    }
  } while (arrays::advance(step, counts, arrays::MemoryOrder::row_major));
}

Extents block_lengths(const Record& record) {
  if (!record.plan.block.is_empty()) {
    return record.plan.block;
  }
  return block_box(record.starts, record.extents(), 0).extents();
}

/// The grid of processes, or of blocks if there is none.
const Extents& grid_of(const Record& record, const Extents& blocks) {
  return record.plan.grid.is_empty() ? blocks : record.plan.grid;
}

}  // namespace

Index coordinates_in(const Extents& grid, std::int64_t number) {
  Index at = Index::zeros(grid.ndims());
  for (int dim = grid.ndims() - 1; dim >= 0; --dim) {
    at[dim] = number % grid[dim];
    number /= grid[dim];
  }
  return at;
}

Box box_of_process(const Record& record, std::int64_t number) {
  if (!is_regular(record)) {
    const bool exists = number >= 0 && number < arrays::volume(block_counts(record));
    return exists ? block_box(record.starts, record.extents(), number) : Box::none(record.ndims());
  }
  const std::int64_t block = block_of_rank(record, number);
  return block < 0 ? Box::none(record.ndims()) : block_box(record.starts, record.extents(), block);
}

Status nblock(Record& record, const DimsOut& counts) {
  counts.set(block_counts(record));
  return {};
}

Status distribution(Record& record, std::int64_t number, const BoxOut& box) {
  box.set(box_of_process(record, number));
  return {};
}

Result<std::int64_t> locate(Record& record, const Index& place) {
  if (!arrays::is_inside(place, record.extents())) {
    return -1;
  }
  const std::int64_t block = block_of(record.starts, place);
  return is_regular(record) ? rank_of_block(record, block) : block;
}

Result<std::int64_t> locate_nnodes(Record& record, const Box& box) {
  std::int64_t count = 0;
  for_each_block(record, box, [&](std::int64_t, const Box&) { ++count; });
  return count;
}

Result<std::int64_t> locate_num_blocks(Record& record, const Box& box) {
  return is_regular(record) ? Result<std::int64_t>(-1) : locate_nnodes(record, box);
}

Result<std::int64_t> locate_region(Record& record, const Box& box, const RegionsOut& regions) {
  std::int64_t count = 0;
  for_each_block(record, box, [&](std::int64_t number, const Box& part) {
    regions.set(count++, part, is_regular(record) ? rank_of_block(record, number) : number);
  });
  return count;
}

Status proc_topology(Record& record, std::int64_t rank, const DimsOut& coordinates) {
  const Extents blocks = block_counts(record);
  const Extents& grid = grid_of(record, blocks);
  const std::int64_t number = is_regular(record) ? block_of_rank(record, rank) : rank;
  if (number < 0 || number >= arrays::volume(grid)) {
    coordinates.set(Index::from(Extents::filled(record.ndims(), -1)));
  } else {
    coordinates.set(coordinates_in(grid, number));
  }
  return {};
}

Status get_block_info(Record& record, const DimsOut& counts, const DimsOut& lengths) {
  counts.set(block_counts(record));
  lengths.set(block_lengths(record));
  return {};
}

Status get_proc_grid(Record& record, const DimsOut& grid) {
  const Extents blocks = block_counts(record);
  grid.set(grid_of(record, blocks));
  return {};
}

Status get_proc_index(Record& record, std::int64_t rank, const DimsOut& coordinates) {
  return proc_topology(record, rank, coordinates);
}

Result<std::int64_t> total_blocks(Record& record) {
  return is_regular(record) ? -1 : arrays::volume(block_counts(record));
}

}  // namespace tessera::ga
