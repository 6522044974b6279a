// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/sparse_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "linalg/detail/agreement.hpp"
#include "linalg/detail/row_blocks.hpp"
#include "linalg/detail/triplet_exchange.hpp"
#include "rma/base/catch_bad_alloc.hpp"
#include "rma/transfer.hpp"

namespace tessera::linalg {

using arrays::Distribution;
using rma::Code;
using rma::Region;
using rma::Result;
using rma::Status;
using rma::detail::catch_bad_alloc;

namespace {

Result<Distribution> chosen_rows(std::int64_t rows, std::int64_t columns, std::int32_t nranks,
                                 const SparseOptions& options) {
  if (rows < 0 || columns < 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the extents {} x {} must not be negative", rows, columns));
  }
  return options.row_starts.empty() ? detail::even_rows(rows, nranks)
                                    : detail::rows_from(rows, options.row_starts, nranks);
}

// One-sided. Adds the number of entries in each row to the counters of all rows, which have the
// distribution `even`. Sorts `rows`.
Status count_rows(rma::Job& job, const Region& counters, const Distribution& even,
                  std::span<std::int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  std::vector<std::int64_t> counts;
  counts.reserve(rows.size());  // fragments point into it
  std::vector<rma::Fragment> fragments;
  rma::TeamRank owner;
  const auto send = [&] {
    Status status =
        rma::accumulate(job, counters.at(owner), fragments, rma::Scale::one(rma::ElementType::i64));
    fragments.clear();
    return status;
  };
  for (auto it = rows.begin(); it != rows.end();) {
    const auto next = std::upper_bound(it, rows.end(), *it);
    const arrays::ElementLocation location = even.locate({*it});
    if (!fragments.empty() && !(location.owner == owner)) {
      TESSERA_RETURN_IF_ERROR(send());
    }
    owner = location.owner;
    counts.push_back(next - it);
    fragments.push_back({&counts.back(),
                         static_cast<std::uint64_t>(location.offset) * sizeof(std::int64_t),
                         sizeof(std::int64_t)});
    it = next;
  }
  return fragments.empty() ? Status() : send();
}

// One-sided. As above, for the rows of some entries, in parts.
template <SparseElement T>
Status count_entries(rma::Job& job, const Region& counters, const Distribution& even,
                     std::span<const Triplet<T>> entries) {
  constexpr std::size_t batch = std::size_t{1} << 16U;
  std::vector<std::int64_t> rows;
  while (!entries.empty()) {
    const auto together = entries.first(std::min(batch, entries.size()));
    rows.clear();
    for (const Triplet<T>& entry : together) {
      rows.push_back(entry.row);
    }
    TESSERA_RETURN_IF_ERROR(count_rows(job, counters, even, rows));
    entries = entries.subspan(together.size());
  }
  return {};
}

}  // namespace

template <SparseElement T>
Result<SparseBuilder<T>> SparseBuilder<T>::create(const rma::Job& job, std::int64_t rows,
                                                  std::int64_t columns,
                                                  const SparseOptions& options) {
  rma::Team team = options.team ? *options.team : job.world();
  const auto attempt = [&](Status status) {
    return std::move(status).context(
        fmt::format("building sparse matrix '{}' {} x {}", options.name, rows, columns));
  };
  const rma::LabelScope scope(team,
                              {.verb = "create", .kind = "sparse builder", .name = options.name});
  const auto blocks = team.agree([&] { return chosen_rows(rows, columns, team.size(), options); });
  TESSERA_RETURN_IF_ERROR(attempt(blocks.status()));
  const auto given = arrays::detail::CallSignature()
                         .add(arrays::fingerprint(*blocks))
                         .add(columns)
                         .add(options.balance)
                         .add(rma::element_type<T>());
  TESSERA_RETURN_IF_ERROR(attempt(detail::check_same_on_all(
      team, given.hash(), "sparse matrix",
      "all members must give the same element type, extents and options")));
  return SparseBuilder(job, std::move(team), *blocks, columns, options);
}

template <SparseElement T>
Status SparseBuilder<T>::explain(std::int64_t row, std::int64_t column) const {
  if (is_closed_) {
    return job_.name_rank(
        Status::error(Code::closed,
                      fmt::format("sparse matrix '{}' was assembled already", options_.name))
            .hint("its pattern is fixed; change values through SparseMatrix::local()"));
  }
  return job_.name_rank(Status::error_at(
      job_.rank(), Code::out_of_range,
      fmt::format("rank {} added entry ({}, {}) to sparse matrix '{}', which is {} x {}",
                  job_.rank().value, row, column, options_.name, rows_.extents()[0], columns_)));
}

template <SparseElement T>
Status SparseBuilder<T>::add(std::int64_t row, std::int64_t column, T value) {
  const Triplet<T> entry{row, column, value};
  return add(std::span(&entry, 1));
}

template <SparseElement T>
Status SparseBuilder<T>::add(std::span<const Triplet<T>> entries) {
  for (const Triplet<T>& entry : entries) {
    TESSERA_RETURN_IF_ERROR(check(entry.row, entry.column));
  }
  return catch_bad_alloc([&] {
    added_.insert(added_.end(), entries.begin(), entries.end());
    return Status();
  });
}

// Collective. Cuts the rows again, by the number of entries that were added to each.
template <SparseElement T>
Status SparseBuilder<T>::balance() {
  const std::int64_t own = detail::rows_of(rows_, team_.rank()).size();
  TESSERA_ASSIGN_OR_RETURN(Region counters, Region::allocate(team_, static_cast<std::size_t>(own) *
                                                                        sizeof(std::int64_t)));
  TESSERA_RETURN_IF_ERROR(
      detail::meet(counters, [&] { return count_entries<T>(job_, counters, rows_, added_); }));
  TESSERA_ASSIGN_OR_RETURN(
      rows_, detail::balanced_rows(team_, rows_,
                                   {reinterpret_cast<const std::int64_t*>(counters.local()),
                                    static_cast<std::size_t>(own)}));
  return counters.free();
}

template <SparseElement T>
Result<SparseMatrix<T>> SparseBuilder<T>::assemble() {
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(
                             fmt::format("assembling sparse matrix '{}' {} x {}", options_.name,
                                         rows_.extents()[0], columns_));
  };
  const rma::LabelScope scope(team_,
                              {.verb = "assemble", .kind = "sparse matrix", .name = options_.name});
  TESSERA_RETURN_IF_ERROR(team_.agree(is_closed_ ? explain(0, 0) : Status()));
  is_closed_ = true;
  if (options_.balance == RowBalance::entries && options_.row_starts.empty()) {
    TESSERA_RETURN_IF_ERROR(attempt(balance()));
  }
  auto own = detail::exchange_triplets<T>(job_, team_, rows_, columns_, std::exchange(added_, {}));
  TESSERA_RETURN_IF_ERROR(attempt(own.status()));
  auto matrix = SparseMatrix<T>::adopt(job_, team_, rows_, std::move(own).take(), options_.name);
  return matrix.ok() ? std::move(matrix) : attempt(std::move(matrix).status());
}

template class SparseBuilder<std::int32_t>;
template class SparseBuilder<std::int64_t>;
template class SparseBuilder<float>;
template class SparseBuilder<double>;
template class SparseBuilder<std::complex<float>>;
template class SparseBuilder<std::complex<double>>;

}  // namespace tessera::linalg
