// SPDX-License-Identifier: BSD-3-Clause
//
// Bins: many lists of values of different lengths, one after the other in one vector. Bin b is the
// range from offsets[b] to offsets[b] + counts[b] − 1 of `contents`.
//
//     count_bins(counts, my_bins);                         // how many values for each bin
//     counts.sync();
//     bin_offsets(counts, offsets);
//     add_to_bins(contents, offsets, filled, my_bins, my_values);    // filled begins as zeros
//     contents.sync();
//     sort_bins(contents, offsets, counts);
//
// All vectors may have any distribution. Errors: as gather() and scatter(), and those named below.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/block_partition_1d.hpp"
#include "arrays/gather.hpp"
#include "rma/element.hpp"

namespace tessera::arrays {

using BinVector = Array<std::int64_t>;

namespace detail {
/// One-sided. Reserves an index of the contents for each value: result[i] is for the bin bins[i].
rma::Result<std::vector<std::int64_t>> reserve_in_bins(const BinVector& offsets,
                                                       const BinVector& filled,
                                                       std::span<const std::int64_t> bins,
                                                       std::int64_t room);
/// Neighbouring bins that a rank sorts together.
struct BinBatch {
  std::int64_t lo = 0;  ///< the first index in the contents
  std::int64_t hi = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> counts;
};
/// Collective. Cuts the bins of this rank's share into batches.
rma::Result<std::vector<BinBatch>> batches_of_bins(const BinVector& offsets,
                                                   const BinVector& counts, rma::Team& team,
                                                   std::int64_t room, std::int64_t max_elements);
rma::Status check_bin_vectors(const ArrayBase& contents, const BinVector& offsets,
                              const BinVector& counts);
/// The order of sort_bins(): NaN is after all numbers.
template <rma::RealElement T>
bool sorts_before(T a, T b) noexcept {
  return a < b || (a == a && b != b);
}

/// Local part of sort_bins(): sorts this rank's share of the bins.
template <rma::RealElement T>
rma::Status sort_own_bins(const Array<T>& contents, const BinVector& offsets,
                          const BinVector& counts) {
  constexpr std::int64_t batch_bytes = 1 << 20;
  TESSERA_ASSIGN_OR_RETURN(const std::vector<BinBatch> batches,
                           batches_of_bins(offsets, counts, contents.team(), contents.extents()[0],
                                           batch_bytes / static_cast<std::int64_t>(sizeof(T))));
  std::vector<T> values;
  for (const BinBatch& batch : batches) {
    const Box box({batch.lo}, {batch.hi});
    values.resize(static_cast<std::size_t>(batch.hi - batch.lo));
    TESSERA_RETURN_IF_ERROR(contents.get(box, values));
    for (std::size_t b = 0; b < batch.offsets.size(); ++b) {
      const auto first = values.begin() + (batch.offsets[b] - batch.lo);
      std::sort(first, first + batch.counts[b], sorts_before<T>);
    }
    TESSERA_RETURN_IF_ERROR(contents.put(box, values));
  }
  return {};
}
}  // namespace detail

/// One-sided. Increases counts[b] by the number of times b occurs in `bins`. Complete: at the next
/// sync() of `counts`. Errors: also out_of_range for a bin that doesn't exist; nothing is counted
/// then.
rma::Status count_bins(const BinVector& counts, std::span<const std::int64_t> bins);

/// Collective. offsets[b] = the sum of counts[0] … counts[b − 1].
rma::Status bin_offsets(const BinVector& counts, BinVector& offsets);

/// One-sided. Appends values[i] to the bin bins[i]: filled[b] counts the values that all ranks have
/// added to bin b. Complete: at the next sync() of `contents`. Errors: also limit_exceeded if a bin
/// is full, that is, would overlap the next one. None of this rank's values is written then, but
/// the indices that it reserved stay reserved.
template <class T>
rma::Status add_to_bins(const Array<T>& contents, const BinVector& offsets, const BinVector& filled,
                        std::span<const std::int64_t> bins,
                        std::type_identity_t<std::span<const T>> values) {
  if (bins.size() != values.size()) {
    return contents.name_rank(rma::Status::error(
        rma::Code::invalid_argument, "add_to_bins: " + std::to_string(bins.size()) + " bins for " +
                                         std::to_string(values.size()) + " values"));
  }
  TESSERA_RETURN_IF_ERROR(detail::check_bin_vectors(contents, offsets, filled));
  TESSERA_ASSIGN_OR_RETURN(const auto positions,
                           detail::reserve_in_bins(offsets, filled, bins, contents.extents()[0]));
  return scatter(contents, IndexList::flat(positions, 1), values);
}

/// Collective over the team of `contents`. Sorts the values of each bin in ascending order, with
/// NaN last. Begins and ends with a synchronisation. Each rank sorts an equal number of bins. Cost:
/// O(n log n) for a bin of n values; memory for chunk_bytes or the longest bin, whichever is
/// larger.
template <rma::RealElement T>
rma::Status sort_bins(const Array<T>& contents, const BinVector& offsets, const BinVector& counts) {
  TESSERA_RETURN_IF_ERROR(contents.sync(detail::check_bin_vectors(contents, offsets, counts)));
  return contents.sync([&] { return detail::sort_own_bins(contents, offsets, counts); });
}

}  // namespace tessera::arrays
