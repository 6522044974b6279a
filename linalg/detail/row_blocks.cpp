// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/row_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tessera::linalg::detail {

using arrays::BlockMap;
using arrays::BlockPartition1D;
using arrays::Distribution;
using arrays::Extents;
using rma::Code;
using rma::Result;
using rma::Status;
using rma::TeamRank;

namespace {

Result<Distribution> map_blocks_in_order(const BlockPartition1D& partition, std::int64_t nranks) {
  TESSERA_ASSIGN_OR_RETURN(const BlockMap block_map,
                           BlockMap::grid(Extents{partition.blocks()}, nranks));
  return Distribution::create(std::span(&partition, 1), block_map);
}

}  // namespace

Result<Distribution> even_rows(std::int64_t rows, std::int32_t nranks) {
  TESSERA_ASSIGN_OR_RETURN(const BlockPartition1D partition, BlockPartition1D::even(rows, nranks));
  return map_blocks_in_order(partition, nranks);
}

Result<Distribution> rows_from(std::int64_t rows, std::span<const std::int64_t> starts,
                               std::int32_t nranks) {
  TESSERA_ASSIGN_OR_RETURN(const BlockPartition1D partition,
                           BlockPartition1D::at_bounds(rows, starts));
  return map_blocks_in_order(partition, nranks);
}

Result<Distribution> rows_by_count(std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> starts;
  std::vector<TeamRank> owners;
  std::int64_t rows = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] > 0) {
      starts.push_back(rows);
      owners.push_back({static_cast<std::int32_t>(rank)});
    }
    if (__builtin_add_overflow(rows, counts[rank], &rows)) {
      return Status::error(Code::invalid_argument, "the rows of all ranks don't fit 63 bits");
    }
  }
  const auto nranks = static_cast<std::int32_t>(counts.size());
  if (rows == 0) {
    return even_rows(0, nranks);
  }
  TESSERA_ASSIGN_OR_RETURN(const BlockPartition1D partition,
                           BlockPartition1D::at_bounds(rows, starts));
  if (owners.back().value + 1 == std::ssize(owners)) {
    return map_blocks_in_order(partition, nranks);
  }
  TESSERA_ASSIGN_OR_RETURN(const BlockMap block_map,
                           BlockMap::table(Extents{partition.blocks()}, owners, nranks));
  return Distribution::create(std::span(&partition, 1), block_map);
}

RowRange rows_of(const Distribution& rows, TeamRank rank) {
  const arrays::Box box = rows.box_of(rank);
  return {box.lo(0), box.hi(0)};
}

Result<Distribution> balanced_rows(rma::Team& team, const Distribution& even,
                                   std::span<const std::int64_t> entries_of_row) {
  const auto mine = std::accumulate(entries_of_row.begin(), entries_of_row.end(), std::int64_t{0});
  TESSERA_ASSIGN_OR_RETURN(const auto of_each, team.allgather_value(mine));
  const auto self = static_cast<std::ptrdiff_t>(team.rank().value);
  const auto ranks = std::ssize(of_each);
  const auto total = std::accumulate(of_each.begin(), of_each.end(), std::int64_t{0});
  const std::int64_t rows = even.extents()[0];
  if (total == 0 || rows == 0) {
    return even;
  }
  // Block k begins at the first row with at least k / ranks of all entries before it. Quotient and
  // remainder are multiplied separately, since k times the total may not fit 63 bits.
  const auto wanted = [&](std::int64_t k) { return total / ranks * k + total % ranks * k / ranks; };
  std::vector<std::int64_t> starts(of_each.size(), rows);
  starts[0] = 0;
  std::int64_t before = std::accumulate(of_each.begin(), of_each.begin() + self, std::int64_t{0});
  std::int64_t row = rows_of(even, team.rank()).lo;
  std::int64_t k = 1;
  for (const std::int64_t entries : entries_of_row) {
    for (; k < ranks && wanted(k) <= before; ++k) {
      starts[static_cast<std::size_t>(k)] = row;
    }
    before += entries;
    ++row;
  }
  TESSERA_RETURN_IF_ERROR(team.allreduce(std::span(starts), rma::Reduction::min));
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  if (starts.back() == rows) {
    starts.pop_back();
  }
  return team.agree([&] { return rows_from(rows, starts, team.size()); });
}

}  // namespace tessera::linalg::detail
