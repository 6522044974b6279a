// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/bins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "arrays/scan.hpp"

namespace tessera::arrays {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

Status check_vector(const ArrayBase& array) {
  TESSERA_RETURN_IF_ERROR(array.check_open());
  return array.ndims() == 1 ? Status()
                            : array.name_rank(Status::error(
                                  Code::invalid_argument,
                                  fmt::format("{} has {} dimensions, but bins must be vectors",
                                              array.describe(), array.ndims())));
}

Status check_bins(std::span<const std::int64_t> bins, const BinVector& counts) {
  TESSERA_RETURN_IF_ERROR(check_vector(counts));
  const std::int64_t all = counts.extents()[0];
  for (const std::int64_t bin : bins) {
    if (bin < 0 || bin >= all) {
      return counts.name_rank(Status::error(
          Code::out_of_range, fmt::format("bin {} does not exist in {}, which has {} bins", bin,
                                          counts.describe(), all)));
    }
  }
  return {};
}

// Each bin that occurs, and the number of its values.
struct BinCounts {
  std::vector<std::int64_t> bins;
  std::vector<std::int64_t> counts;
};

BinCounts count_by_bin(std::span<const std::int64_t> bins) {
  std::vector<std::int64_t> sorted(bins.begin(), bins.end());
  std::sort(sorted.begin(), sorted.end());
  BinCounts all;
  for (const std::int64_t bin : sorted) {
    if (all.bins.empty() || all.bins.back() != bin) {
      all.bins.push_back(bin);
      all.counts.push_back(0);
    }
    ++all.counts.back();
  }
  return all;
}

}  // namespace

Status count_bins(const BinVector& counts, std::span<const std::int64_t> bins) {
  TESSERA_RETURN_IF_ERROR(check_bins(bins, counts).context("count_bins"));
  const BinCounts counted = count_by_bin(bins);
  return scatter_accumulate(counts, IndexList::flat(counted.bins, 1), counted.counts);
}

Status bin_offsets(const BinVector& counts, BinVector& offsets) {
  // One segment for the whole vector: a mask of zeros.
  TESSERA_RETURN_IF_ERROR(check_vector(counts).context("bin_offsets"));
  TESSERA_ASSIGN_OR_RETURN(const auto mask, counts.duplicate("no segments"));
  return scan_add(counts, mask, offsets, ScanKind::exclusive);
}

Status detail::check_bin_vectors(const ArrayBase& contents, const BinVector& offsets,
                                 const BinVector& counts) {
  TESSERA_RETURN_IF_ERROR(check_vector(contents));
  TESSERA_RETURN_IF_ERROR(check_vector(offsets));
  TESSERA_RETURN_IF_ERROR(check_vector(counts));
  return offsets.extents() == counts.extents()
             ? Status()
             : offsets.name_rank(Status::error(
                   Code::invalid_argument, fmt::format("{} and {} have different numbers of bins",
                                                       offsets.describe(), counts.describe())));
}

Result<std::vector<std::int64_t>> detail::reserve_in_bins(const BinVector& offsets,
                                                          const BinVector& filled,
                                                          std::span<const std::int64_t> bins,
                                                          std::int64_t room) {
  TESSERA_RETURN_IF_ERROR(check_bins(bins, filled).context("add_to_bins"));
  const BinCounts counted = count_by_bin(bins);
  const auto occurring = std::ssize(counted.bins);
  // The start of each of these bins, and of the next one.
  std::vector<std::int64_t> asked;
  for (const std::int64_t bin : counted.bins) {
    asked.push_back(bin);
    asked.push_back(std::min(bin + 1, offsets.extents()[0] - 1));
  }
  std::vector<std::int64_t> bounds(asked.size());
  TESSERA_RETURN_IF_ERROR(gather(offsets, IndexList::flat(asked, 1), bounds));
  std::vector<std::int64_t> next(counted.bins.size());
  for (std::int64_t i = 0; i < occurring; ++i) {
    const auto at = static_cast<std::size_t>(i);
    TESSERA_ASSIGN_OR_RETURN(const std::int64_t before,
                             filled.fetch_add({counted.bins[at]}, counted.counts[at]));
    next[at] = bounds[2 * at] + before;
    const bool is_last = counted.bins[at] + 1 == offsets.extents()[0];
    const std::int64_t end = is_last ? room : bounds[2 * at + 1];
    if (next[at] + counted.counts[at] > end) {
      return filled.name_rank(Status::error(
          Code::limit_exceeded,
          fmt::format("add_to_bins: bin {} has room for {} values, but {} values are in it "
                      "or being added",
                      counted.bins[at], end - bounds[2 * at], before + counted.counts[at])));
    }
  }
  std::vector<std::int64_t> positions;
  positions.reserve(bins.size());
  for (const std::int64_t bin : bins) {
    const auto found = std::lower_bound(counted.bins.begin(), counted.bins.end(), bin);
    positions.push_back(next[static_cast<std::size_t>(found - counted.bins.begin())]++);
  }
  return positions;
}

Result<std::vector<detail::BinBatch>> detail::batches_of_bins(const BinVector& offsets,
                                                              const BinVector& counts,
                                                              rma::Team& team, std::int64_t room,
                                                              std::int64_t max_elements) {
  TESSERA_ASSIGN_OR_RETURN(const BlockPartition1D partition,
                           BlockPartition1D::even(offsets.extents()[0], team.size()));
  const std::int64_t lo = partition.lo(team.rank().value);
  const std::int64_t hi = partition.hi(team.rank().value);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(hi - lo));
  std::vector<std::int64_t> lengths(begins.size());
  if (lo < hi) {
    TESSERA_RETURN_IF_ERROR(offsets.get(Box({lo}, {hi}), begins));
    TESSERA_RETURN_IF_ERROR(counts.get(Box({lo}, {hi}), lengths));
  }
  std::vector<BinBatch> batches;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    if (begins[i] < 0 || lengths[i] < 0 || lengths[i] > room - begins[i]) {
      return Status::error(
          Code::out_of_range,
          fmt::format("sort_bins: bin {} is [{},{}), but the contents have {} elements",
                      lo + static_cast<std::int64_t>(i), begins[i], begins[i] + lengths[i], room));
    }
    const std::int64_t end = begins[i] + lengths[i];
    const bool continues = !batches.empty() && begins[i] == batches.back().hi &&
                           end - batches.back().lo <= max_elements;
    if (!continues) {
      batches.push_back({begins[i], begins[i], {}, {}});
    }
    batches.back().hi = end;
    batches.back().offsets.push_back(begins[i]);
    batches.back().counts.push_back(lengths[i]);
  }
  return batches;
}

}  // namespace tessera::arrays
