// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/sparse_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "linalg/detail/agreement.hpp"
#include "linalg/detail/arithmetic.hpp"
#include "linalg/detail/row_fetch.hpp"
#include "linalg/detail/vector_gather.hpp"

namespace tessera::linalg {

using rma::Code;
using rma::Result;
using rma::Status;

namespace {

// The entries of one row of the result, by column: an open hash table, at most half full.
template <SparseElement T>
class RowSum {
 public:
  RowSum() : columns_(min_slots, none), positions_(min_slots) {}

  void add(std::int64_t column, T a, T b) {
    std::size_t slot = slot_of(column);
    while (columns_[slot] != column) {
      if (columns_[slot] == none) {
        insert(slot, column);
        entries_.push_back({column, detail::multiply(a, b)});
        return;
      }
      slot = (slot + 1) & (columns_.size() - 1);
    }
    T& sum = entries_[positions_[slot]].second;
    sum = detail::multiply_add(sum, a, b);
  }

  // Appends the row to `result`, and clears it.
  void finish(LocalCsr<T>& result) {
    for (const auto& entry : entries_) {
      clear(entry.first);
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, value] : entries_) {
      result.column.push_back(column);
      result.value.push_back(value);
    }
    result.row_starts.push_back(std::ssize(result.column));
    entries_.clear();
  }

 private:
  static constexpr std::int64_t none = -1;
  static constexpr std::size_t min_slots = 64;

  [[nodiscard]] std::size_t slot_of(std::int64_t column) const noexcept {
    // Fibonacci hashing: rows often have neighbouring columns.
    return (static_cast<std::uint64_t>(column) * 0x9e37'79b9'7f4a'7c15U >> 20U) &
           (columns_.size() - 1);
  }
  void insert(std::size_t slot, std::int64_t column) {
    columns_[slot] = column;
    positions_[slot] = entries_.size();
    if (2 * (entries_.size() + 1) > columns_.size()) {
      grow(column);
    }
  }
  // `last` is in the table, but not yet among the entries.
  void grow(std::int64_t last) {
    columns_.assign(columns_.size() * 2, none);
    positions_.resize(columns_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      put_back(entries_[i].first, i);
    }
    put_back(last, entries_.size());
  }
  void put_back(std::int64_t column, std::size_t position) {
    std::size_t slot = slot_of(column);
    while (columns_[slot] != none) {
      slot = (slot + 1) & (columns_.size() - 1);
    }
    columns_[slot] = column;
    positions_[slot] = position;
  }
  // Clears whole chains, since all of their columns are entries.
  void clear(std::int64_t column) {
    for (std::size_t slot = slot_of(column); columns_[slot] != none;
         slot = (slot + 1) & (columns_.size() - 1)) {
      columns_[slot] = none;
    }
  }

  std::vector<std::int64_t> columns_;
  std::vector<std::size_t> positions_;  // index of a slot's column in entries_
  std::vector<std::pair<std::int64_t, T>> entries_;
};

// This rank's rows of the product, computed from its rows of a, one batch of entries at a time.
template <SparseElement T>
class ProductRows {
 public:
  ProductRows(const LocalRows<T>& a, SparseMatrix<T>& b) : a_(a), b_(b) {
    result_.rows = a.rows();
    result_.columns = b.columns();
  }

  Status make() {
    for (std::int64_t first = 0; first < a_.entries();) {
      TESSERA_ASSIGN_OR_RETURN(first, add_batch(first));
    }
    finish_rows_before(a_.entries());
    return {};
  }
  [[nodiscard]] LocalCsr<T> take() { return std::move(result_); }

 private:
  // Processes the entries from `first` on whose rows of b fit a batch; returns the index of the
  // next entry.
  Result<std::int64_t> add_batch(std::int64_t first) {
    constexpr std::int64_t most = detail::batch_entries / 8;
    auto column = a_.columns().subspan(static_cast<std::size_t>(first));
    column = column.first(std::min(column.size(), static_cast<std::size_t>(most)));
    std::vector<std::int64_t> needed = detail::sorted_unique(column);
    TESSERA_ASSIGN_OR_RETURN(auto locations, detail::locate_rows(*b_.pattern(), needed));
    while (column.size() > 1 && detail::rows_in_batch(locations) < locations.size()) {
      column = column.first(column.size() / 2);
      keep(detail::sorted_unique(column), needed, locations);
    }
    TESSERA_ASSIGN_OR_RETURN(const LocalCsr<T> rows, detail::fetch_rows(b_, locations));
    for (std::size_t k = 0; k < column.size(); ++k) {
      const std::int64_t entry = first + static_cast<std::int64_t>(k);
      finish_rows_before(entry);
      const auto position = std::lower_bound(needed.begin(), needed.end(), column[k]);
      add_row(rows, static_cast<std::size_t>(position - needed.begin()),
              a_.values()[static_cast<std::size_t>(entry)]);
    }
    return first + std::ssize(column);
  }

  // Keeps those of the located rows that are still needed.
  static void keep(std::vector<std::int64_t> fewer, std::vector<std::int64_t>& needed,
                   std::vector<detail::RowLocation>& locations) {
    std::vector<detail::RowLocation> kept;
    kept.reserve(fewer.size());
    for (const std::int64_t row : fewer) {
      const auto it = std::lower_bound(needed.begin(), needed.end(), row);
      kept.push_back(locations[static_cast<std::size_t>(it - needed.begin())]);
    }
    locations = std::move(kept);
    needed = std::move(fewer);
  }

  void add_row(const LocalCsr<T>& rows, std::size_t row, T factor) {
    for (auto entry = static_cast<std::size_t>(rows.row_starts[row]);
         entry < static_cast<std::size_t>(rows.row_starts[row + 1]); ++entry) {
      sum_.add(rows.column[entry], factor, rows.value[entry]);
    }
  }

  // Completes the rows of a that end at or before this entry.
  void finish_rows_before(std::int64_t entry) {
    while (row_ < a_.rows() && a_.row_start(row_ + 1) <= entry) {
      sum_.finish(result_);
      ++row_;
    }
  }

  const LocalRows<T>& a_;
  SparseMatrix<T>& b_;
  LocalCsr<T> result_;
  RowSum<T> sum_;
  std::int64_t row_ = 0;
};

// One-sided. Computes this rank's rows of the product.
template <SparseElement T>
Result<LocalCsr<T>> own_product(SparseMatrix<T>& a, SparseMatrix<T>& b) {
  TESSERA_ASSIGN_OR_RETURN(auto own, a.local());
  ProductRows<T> rows(own, b);
  TESSERA_RETURN_IF_ERROR(rows.make());
  TESSERA_RETURN_IF_ERROR(own.end());
  return rows.take();
}

template <SparseElement T>
Status check_product(const SparseMatrix<T>& a, const SparseMatrix<T>& b) {
  if (a.columns() != b.rows()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the first factor has {} columns, but the second has {} rows",
                                     a.columns(), b.rows()));
  }
  if (!detail::same_members(a.team(), b.team())) {
    return Status::error(Code::invalid_argument, "the factors are on different teams");
  }
  return {};
}

}  // namespace

template <SparseElement T>
Result<SparseMatrix<T>> multiply(SparseMatrix<T>& a, SparseMatrix<T>& b, const std::string& name) {
  TESSERA_RETURN_IF_ERROR(a.check_open());
  TESSERA_RETURN_IF_ERROR(b.check_open());
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(
                             fmt::format("multiplying {} and {}", a.describe(), b.describe()));
  };
  TESSERA_RETURN_IF_ERROR(attempt(b.sync(check_product(a, b))));
  auto rows = a.team().agree([&] { return own_product(a, b); });
  TESSERA_RETURN_IF_ERROR(attempt(rows.status()));
  return SparseMatrix<T>::adopt(a.job(), a.team(), a.row_distribution(), std::move(rows).take(),
                                name);
}

template Result<SparseMatrix<std::int32_t>> multiply(SparseMatrix<std::int32_t>&,
                                                     SparseMatrix<std::int32_t>&,
                                                     const std::string&);
template Result<SparseMatrix<std::int64_t>> multiply(SparseMatrix<std::int64_t>&,
                                                     SparseMatrix<std::int64_t>&,
                                                     const std::string&);
template Result<SparseMatrix<float>> multiply(SparseMatrix<float>&, SparseMatrix<float>&,
                                              const std::string&);
template Result<SparseMatrix<double>> multiply(SparseMatrix<double>&, SparseMatrix<double>&,
                                               const std::string&);
template Result<SparseMatrix<std::complex<float>>> multiply(SparseMatrix<std::complex<float>>&,
                                                            SparseMatrix<std::complex<float>>&,
                                                            const std::string&);
template Result<SparseMatrix<std::complex<double>>> multiply(SparseMatrix<std::complex<double>>&,
                                                             SparseMatrix<std::complex<double>>&,
                                                             const std::string&);

}  // namespace tessera::linalg
