// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/sparse_pattern.hpp"

#include <cstring>

#include "linalg/detail/agreement.hpp"

namespace tessera::linalg {

using rma::Region;
using rma::Result;

namespace {

// Collective. Makes a region whose slices have each member's numbers.
Result<Region> region_of(rma::Team& team, std::span<const std::int64_t> numbers) {
  TESSERA_ASSIGN_OR_RETURN(Region region,
                           Region::allocate(team, numbers.size_bytes(), detail::sparse_memory()));
  if (!numbers.empty()) {
    std::memcpy(region.local(), numbers.data(), numbers.size_bytes());
  }
  return region;
}

}  // namespace

Result<std::shared_ptr<SparsePattern>> SparsePattern::create(
    const rma::Job& job, rma::Team& team, const arrays::Distribution& rows, std::int64_t columns,
    std::span<const std::int64_t> row_starts, std::span<const std::int64_t> column) {
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t entries,
                           team.allreduce(std::ssize(column), rma::Reduction::sum));
  TESSERA_ASSIGN_OR_RETURN(
      Region starts, region_of(team, row_starts.size() > 1 ? row_starts : row_starts.first(0)));
  TESSERA_ASSIGN_OR_RETURN(Region columns_of_entries, region_of(team, column));
  return std::shared_ptr<SparsePattern>(new SparsePattern(
      job, rows, columns, entries, std::move(starts), std::move(columns_of_entries)));
}

}  // namespace tessera::linalg
