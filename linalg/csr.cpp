// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>

#include "arrays/block_partition_1d.hpp"
#include "linalg/detail/agreement.hpp"
#include "linalg/detail/row_blocks.hpp"
#include "linalg/detail/row_fetch.hpp"
#include "rma/base/catch_bad_alloc.hpp"

namespace tessera::linalg {

using rma::Code;
using rma::Region;
using rma::Result;
using rma::Status;
using rma::TeamRank;

namespace {

// Frees memory that is no longer needed, before more is allocated.
template <class T>
void release(std::vector<T>& vector) {
  std::vector<T>().swap(vector);
}

// Appends rows [0, locations.size()) and those of their entries with columns inside the box.
template <SparseElement T>
void append_inside(const LocalCsr<T>& fetched, const arrays::Box& box, LocalCsr<T>& to) {
  for (std::size_t row = 0; row + 1 < fetched.row_starts.size(); ++row) {
    const auto begin = fetched.column.begin() + fetched.row_starts[row];
    const auto end = fetched.column.begin() + fetched.row_starts[row + 1];
    const auto lo = std::lower_bound(begin, end, box.lo(1));
    const auto hi = std::lower_bound(lo, end, box.hi(1));
    std::transform(lo, hi, std::back_inserter(to.column),
                   [&](std::int64_t column) { return column - box.lo(1); });
    to.value.insert(to.value.end(), fetched.value.begin() + (lo - fetched.column.begin()),
                    fetched.value.begin() + (hi - fetched.column.begin()));
    to.row_starts.push_back(std::ssize(to.column));
  }
}

// One-sided. Returns the part of a matrix inside a box.
template <SparseElement T>
Result<LocalCsr<T>> get_inside(SparseMatrix<T>& matrix, const arrays::Box& box) {
  TESSERA_RETURN_IF_ERROR(arrays::check_inside(box, matrix.extents()));
  LocalCsr<T> all;
  all.rows = box.extent(0);
  all.columns = box.extent(1);
  // The list of rows is processed in parts too: a row with few entries needs more memory for its
  // location.
  for (std::int64_t lo = box.lo(0); lo < box.hi(0);) {
    const std::int64_t hi = std::min(lo + detail::batch_entries / 8, box.hi(0));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(hi - lo));
    std::iota(rows.begin(), rows.end(), lo);
    TESSERA_ASSIGN_OR_RETURN(const auto locations, detail::locate_rows(*matrix.pattern(), rows));
    for (std::span<const detail::RowLocation> left(locations); !left.empty();) {
      const std::size_t count = detail::rows_in_batch(left);
      TESSERA_ASSIGN_OR_RETURN(const auto fetched, detail::fetch_rows(matrix, left.first(count)));
      append_inside(fetched, box, all);
      left = left.subspan(count);
    }
    lo = hi;
  }
  return all;
}

}  // namespace

template <SparseElement T>
Result<SparseMatrix<T>> SparseMatrix<T>::adopt(const rma::Job& job, rma::Team& team,
                                               const arrays::Distribution& rows,
                                               LocalCsr<T> own_rows, const std::string& name) {
  TESSERA_ASSIGN_OR_RETURN(
      auto pattern, SparsePattern::create(job, team, rows, own_rows.columns, own_rows.row_starts,
                                          own_rows.column));
  release(own_rows.column);
  release(own_rows.row_starts);
  const std::size_t bytes = own_rows.value.size() * sizeof(T);
  TESSERA_ASSIGN_OR_RETURN(Region values, Region::allocate(team, bytes, detail::sparse_memory()));
  if (bytes > 0) {
    std::memcpy(values.local(), own_rows.value.data(), bytes);
  }
  SparseMatrix matrix(name, std::move(pattern), std::move(values));
  TESSERA_RETURN_IF_ERROR(matrix.sync());
  return matrix;
}

template <SparseElement T>
Result<SparseMatrix<T>> SparseMatrix<T>::create(const rma::Job& job, LocalCsr<T> own_rows,
                                                const SparseOptions& options) {
  rma::Team team = options.team ? *options.team : job.world();
  const auto attempt = [&](Status status) {
    return std::move(status).context(fmt::format("creating sparse matrix '{}'", options.name));
  };
  const rma::LabelScope scope(team,
                              {.verb = "create", .kind = "sparse matrix", .name = options.name});
  TESSERA_RETURN_IF_ERROR(attempt(team.agree(check_rows(own_rows))));
  TESSERA_RETURN_IF_ERROR(
      attempt(detail::check_same_on_all(team, own_rows.columns, "number of columns")));
  TESSERA_ASSIGN_OR_RETURN(const auto counts, team.allgather_value(own_rows.rows));
  const auto rows = team.do_together([&] { return detail::rows_by_count(counts); });
  TESSERA_RETURN_IF_ERROR(attempt(team.name_rank(rows.status())));
  auto matrix = adopt(job, team, *rows, std::move(own_rows), options.name);
  return matrix.ok() ? std::move(matrix) : attempt(std::move(matrix).status());
}

template <SparseElement T>
Result<SparseMatrix<T>> SparseMatrix<T>::duplicate(const std::string& name) {
  TESSERA_RETURN_IF_ERROR(check_open());
  const rma::LabelScope scope(team(), values_.label("duplicate"));
  TESSERA_RETURN_IF_ERROR(sync());
  TESSERA_ASSIGN_OR_RETURN(Region values, Region::allocate(team(), values_.bytes(team().rank()),
                                                           detail::sparse_memory()));
  if (values.local() != nullptr) {
    std::memcpy(values.local(), values_.local(), values_.bytes(team().rank()));
  }
  SparseMatrix copy(name, pattern_, std::move(values));
  TESSERA_RETURN_IF_ERROR(copy.sync());
  return copy;
}

template <SparseElement T>
Status SparseMatrix<T>::free() {
  if (pattern_) {
    freed_on_ = team();
  }
  Status status = values_ ? values_.free() : Status();
  values_ = Region();
  pattern_.reset();
  return status;
}

template <SparseElement T>
Status SparseMatrix<T>::check_open() const {
  if (values_) {
    return {};
  }
  Status closed =
      Status::error(Code::closed, fmt::format("sparse matrix '{}' was freed or moved from", name_));
  return freed_on_ ? freed_on_.name_rank(std::move(closed)) : std::move(closed);
}

template <SparseElement T>
arrays::Distribution SparseMatrix<T>::column_distribution() const {
  return detail::even_rows(columns(), team().size()).value();
}

template <SparseElement T>
Result<std::vector<TeamRank>> SparseMatrix<T>::column_blocks() {
  TESSERA_ASSIGN_OR_RETURN(LocalRows<T> own, local());
  TESSERA_ASSIGN_OR_RETURN(const arrays::Distribution blocks,
                           detail::even_rows(columns(), team().size()));
  std::vector<bool> has_entries(static_cast<std::size_t>(team().size()), false);
  for (const std::int64_t column : own.columns()) {
    has_entries[static_cast<std::size_t>(blocks.owner({column}).value)] = true;
  }
  TESSERA_RETURN_IF_ERROR(own.end());
  std::vector<TeamRank> found;
  for (std::int32_t rank = 0; rank < team().size(); ++rank) {
    if (has_entries[static_cast<std::size_t>(rank)]) {
      found.push_back({rank});
    }
  }
  return found;
}

template <SparseElement T>
Result<LocalRows<T>> SparseMatrix<T>::local() {
  return LocalRows<T>::begin(*this);
}

template <SparseElement T>
Result<LocalCsr<T>> SparseMatrix<T>::get(const arrays::Box& box) {
  TESSERA_RETURN_IF_ERROR(check_open());
  auto found = rma::detail::catch_bad_alloc([&] { return get_inside(*this, box); });
  if (!found.ok()) {
    return std::move(found).status().context(
        fmt::format("get of {} of {}", arrays::to_string(box), describe()));
  }
  return found;
}

template <SparseElement T>
Status SparseMatrix<T>::sync(const Status& own_status) {
  TESSERA_RETURN_IF_ERROR(check_open());
  return detail::meet(values_, own_status);
}

template <SparseElement T>
std::string SparseMatrix<T>::describe() const {
  return values_ ? fmt::format("sparse matrix '{}' ({}, {} x {}, {} entries)", name_,
                               rma::to_string(rma::element_type<T>()), rows(), columns(), entries())
                 : fmt::format("sparse matrix '{}', which was freed or moved from", name_);
}

template <SparseElement T>
Result<LocalRows<T>> LocalRows<T>::begin(SparseMatrix<T>& matrix) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  SparsePattern& pattern = *matrix.pattern();
  TESSERA_ASSIGN_OR_RETURN(auto starts, rma::LocalAccess::begin(pattern.starts()));
  TESSERA_ASSIGN_OR_RETURN(auto columns, rma::LocalAccess::begin(pattern.column()));
  TESSERA_ASSIGN_OR_RETURN(auto values, rma::LocalAccess::begin(matrix.values()));
  return LocalRows(matrix, std::move(starts), std::move(columns), std::move(values));
}

template <SparseElement T>
LocalRows<T>::LocalRows(const SparseMatrix<T>& matrix, rma::LocalAccess starts,
                        rma::LocalAccess columns, rma::LocalAccess values)
    : starts_right_(std::move(starts)),
      columns_right_(std::move(columns)),
      values_right_(std::move(values)),
      first_row_(matrix.pattern()->first_row()),
      rows_(matrix.pattern()->row_count()),
      entries_(static_cast<std::int64_t>(columns_right_.size() / sizeof(std::int64_t))),
      row_starts_(reinterpret_cast<const std::int64_t*>(starts_right_.data())),
      columns_(reinterpret_cast<const std::int64_t*>(columns_right_.data())),
      values_(reinterpret_cast<T*>(values_right_.data())) {}

template <SparseElement T>
Status LocalRows<T>::end() {
  Status starts = starts_right_.end();
  Status columns = columns_right_.end();
  Status values = values_right_.end();
  TESSERA_RETURN_IF_ERROR(std::move(starts));
  TESSERA_RETURN_IF_ERROR(std::move(columns));
  return values;
}

template class SparseMatrix<std::int32_t>;
template class SparseMatrix<std::int64_t>;
template class SparseMatrix<float>;
template class SparseMatrix<double>;
template class SparseMatrix<std::complex<float>>;
template class SparseMatrix<std::complex<double>>;
template class LocalRows<std::int32_t>;
template class LocalRows<std::int64_t>;
template class LocalRows<float>;
template class LocalRows<double>;
template class LocalRows<std::complex<float>>;
template class LocalRows<std::complex<double>>;

}  // namespace tessera::linalg
