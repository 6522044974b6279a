// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/triplet_exchange.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "linalg/detail/agreement.hpp"
#include "linalg/detail/arithmetic.hpp"
#include "linalg/detail/list_exchange.hpp"
#include "linalg/detail/row_blocks.hpp"
#include "rma/transfer.hpp"

namespace tessera::linalg::detail {

using arrays::Distribution;
using rma::Job;
using rma::Region;
using rma::Result;
using rma::Status;
using rma::Team;

namespace {

// A minimum for the entries in a batch: with many ranks, small batches would be single entries.
constexpr std::size_t min_batch = std::size_t{1} << 16U;

std::size_t owner_of(const Distribution& rows, std::int64_t row) {
  return static_cast<std::size_t>(rows.owner({row}).value);
}

// The number of entries for each rank.
template <SparseElement T>
Result<std::vector<std::int64_t>> counts_of(const Team& team, const Distribution& rows,
                                            std::span<const Triplet<T>> given) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(team.size()));
  for (const Triplet<T>& entry : given) {
    ++counts[owner_of(rows, entry.row)];
  }
  return counts;
}

// Puts one batch, which is sorted by destination into `sorted`; entries for one destination keep
// their order.
template <SparseElement T>
Status put_batch(Job& job, const Region& to, const Distribution& rows,
                 std::span<const Triplet<T>> batch, std::vector<Triplet<T>>& sorted,
                 std::vector<std::int64_t>& offsets) {
  std::vector<std::size_t> ends(offsets.size() + 1, 0);
  for (const Triplet<T>& entry : batch) {
    ++ends[owner_of(rows, entry.row) + 1];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  const std::vector<std::size_t> begins = ends;
  for (const Triplet<T>& entry : batch) {
    sorted[ends[owner_of(rows, entry.row)]++] = entry;
  }
  rma::Handle all;
  for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
    const std::size_t count = ends[rank] - begins[rank];
    if (count > 0) {
      const auto offset = static_cast<std::uint64_t>(offsets[rank]) * sizeof(Triplet<T>);
      all.collect(rma::put_async(job, to.at({static_cast<std::int32_t>(rank)}, offset),
                                 &sorted[begins[rank]], count * sizeof(Triplet<T>)));
      offsets[rank] += static_cast<std::int64_t>(count);
    }
  }
  return all.wait();
}

template <SparseElement T>
Status put_all(Job& job, const Region& to, const Distribution& rows,
               std::span<const Triplet<T>> given, std::vector<std::int64_t>& offsets) {
  const std::size_t most = std::max(min_batch, offsets.size() * 16);
  std::vector<Triplet<T>> sorted(std::min(most, given.size()));
  while (!given.empty()) {
    const std::size_t count = std::min(most, given.size());
    TESSERA_RETURN_IF_ERROR(put_batch(job, to, rows, given.first(count), sorted, offsets));
    given = given.subspan(count);
  }
  return {};
}

// Groups the entries by row; entries of a row keep their order.
template <SparseElement T>
LocalCsr<T> sort_by_row(RowRange range, std::int64_t columns, std::span<const Triplet<T>> entries) {
  LocalCsr<T> csr;
  csr.rows = range.size();
  csr.columns = columns;
  csr.row_starts.assign(static_cast<std::size_t>(range.size()) + 1, 0);
  for (const Triplet<T>& entry : entries) {
    ++csr.row_starts[static_cast<std::size_t>(entry.row - range.lo) + 1];
  }
  std::partial_sum(csr.row_starts.begin(), csr.row_starts.end(), csr.row_starts.begin());
  csr.column.resize(entries.size());
  csr.value.resize(entries.size());
  std::vector<std::int64_t> next(csr.row_starts.begin(), csr.row_starts.end() - 1);
  for (const Triplet<T>& entry : entries) {
    const auto at =
        static_cast<std::size_t>(next[static_cast<std::size_t>(entry.row - range.lo)]++);
    csr.column[at] = entry.column;
    csr.value[at] = entry.value;
  }
  return csr;
}

// Sorts a row's entries by column; entries of one column keep their order. `row` is scratch memory.
template <SparseElement T>
void sort_row(std::span<std::int64_t> column, std::span<T> value,
              std::vector<std::pair<std::int64_t, T>>& row) {
  if (std::is_sorted(column.begin(), column.end())) {
    return;
  }
  row.clear();
  for (std::size_t i = 0; i < column.size(); ++i) {
    row.emplace_back(column[i], value[i]);
  }
  std::stable_sort(row.begin(), row.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < column.size(); ++i) {
    column[i] = row[i].first;
    value[i] = row[i].second;
  }
}

// Sorts the rows and adds duplicates, in place.
template <SparseElement T>
void finish_rows(LocalCsr<T>& csr) {
  std::vector<std::pair<std::int64_t, T>> scratch;
  std::size_t kept = 0;
  std::size_t begin = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(csr.rows); ++row) {
    const auto end = static_cast<std::size_t>(csr.row_starts[row + 1]);
    sort_row(std::span(csr.column).subspan(begin, end - begin),
             std::span(csr.value).subspan(begin, end - begin), scratch);
    const std::size_t first = kept;
    for (std::size_t i = begin; i < end; ++i) {
      if (kept > first && csr.column[kept - 1] == csr.column[i]) {
        csr.value[kept - 1] = add(csr.value[kept - 1], csr.value[i]);
      } else {
        csr.column[kept] = csr.column[i];
        csr.value[kept] = csr.value[i];
        ++kept;
      }
    }
    csr.row_starts[row + 1] = static_cast<std::int64_t>(kept);
    begin = end;
  }
  csr.column.resize(kept);
  csr.value.resize(kept);
}

template <SparseElement T>
Result<LocalCsr<T>> own_rows(RowRange range, std::int64_t columns,
                             std::span<const Triplet<T>> entries) {
  auto csr = sort_by_row<T>(range, columns, entries);
  finish_rows(csr);
  return csr;
}

}  // namespace

template <SparseElement T>
Result<LocalCsr<T>> exchange_triplets(Job& job, Team& team, const Distribution& rows,
                                      std::int64_t columns, std::vector<Triplet<T>> given) {
  const auto count = [&]() -> Result<std::vector<std::int64_t>> {
    return counts_of<T>(team, rows, given);
  };
  TESSERA_ASSIGN_OR_RETURN(Placement placement, offsets_by_origin(job, team, std::cref(count)));
  const auto expected = static_cast<std::size_t>(placement.begins.back());
  TESSERA_ASSIGN_OR_RETURN(Region received, Region::allocate(team, expected * sizeof(Triplet<T>)));
  TESSERA_RETURN_IF_ERROR(
      meet(received, [&] { return put_all<T>(job, received, rows, given, placement.offsets); }));
  std::vector<Triplet<T>>().swap(given);
  // A separate agreement: memory is scarcest here, and the rows can be allocated only after the
  // memory of the entries was freed.
  auto own = team.agree([&] {
    return own_rows<T>(rows_of(rows, team.rank()), columns,
                       {reinterpret_cast<const Triplet<T>*>(received.local()), expected});
  });
  TESSERA_RETURN_IF_ERROR(own.status());
  TESSERA_RETURN_IF_ERROR(received.free());
  return own;
}

template Result<LocalCsr<std::int32_t>> exchange_triplets(Job&, Team&, const Distribution&,
                                                          std::int64_t,
                                                          std::vector<Triplet<std::int32_t>>);
template Result<LocalCsr<std::int64_t>> exchange_triplets(Job&, Team&, const Distribution&,
                                                          std::int64_t,
                                                          std::vector<Triplet<std::int64_t>>);
template Result<LocalCsr<float>> exchange_triplets(Job&, Team&, const Distribution&, std::int64_t,
                                                   std::vector<Triplet<float>>);
template Result<LocalCsr<double>> exchange_triplets(Job&, Team&, const Distribution&, std::int64_t,
                                                    std::vector<Triplet<double>>);
template Result<LocalCsr<std::complex<float>>> exchange_triplets(
    Job&, Team&, const Distribution&, std::int64_t, std::vector<Triplet<std::complex<float>>>);
template Result<LocalCsr<std::complex<double>>> exchange_triplets(
    Job&, Team&, const Distribution&, std::int64_t, std::vector<Triplet<std::complex<double>>>);

}  // namespace tessera::linalg::detail
