// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/spmv/generate.hpp"
#include "apps/spmv/matrix_entries.hpp"

namespace tessera::apps::spmv {
namespace {

using rma::Result;
using rma::Status;

constexpr std::int64_t max_rows_compared = 1 << 20;

// From 0 to 1, in steps that a sum of many numbers keeps exactly.
double fraction(std::uint64_t number) {
  return static_cast<double>(mixed(number) % 1024) / 1024;
}

// The weight of a row in the weighted sum.
double weight(std::int64_t row) {
  return 1 + fraction(~static_cast<std::uint64_t>(row));
}

}  // namespace

template <class T>
T trial_element(std::int64_t index) {
  const auto number = static_cast<std::uint64_t>(index);
  if constexpr (rma::ComplexElement<T>) {
    return {1 + fraction(2 * number), fraction(2 * number + 1)};
  } else {
    return 1 + fraction(2 * number);
  }
}

template <class T>
ProductCheck<T>::ProductCheck(std::int64_t rows)
    : rows_(rows),
      has_all_rows_(rows <= max_rows_compared),
      sums_(has_all_rows_ ? static_cast<std::size_t>(rows) : 1),
      absolutes_(sums_.size()),
      terms_(sums_.size()) {}

template <class T>
void ProductCheck<T>::add(std::int64_t row, std::int64_t column, T value) {
  const T term = value * trial_element<T>(column);
  const std::size_t index = has_all_rows_ ? static_cast<std::size_t>(row) : 0;
  const double factor = has_all_rows_ ? 1 : weight(row);
  sums_[index] += factor * term;
  absolutes_[index] += factor * std::abs(term);
  ++terms_[index];
}

template <class T>
Status ProductCheck<T>::agree(rma::Team& team) {
  TESSERA_RETURN_IF_ERROR(team.allreduce(std::span<T>(sums_), rma::Reduction::sum));
  TESSERA_RETURN_IF_ERROR(team.allreduce(std::span<double>(absolutes_), rma::Reduction::sum));
  return team.allreduce(std::span<std::int64_t>(terms_), rma::Reduction::sum);
}

// For a row without entries the result must be exactly zero.
template <class T>
double ProductCheck<T>::error_of(std::int64_t row, T value) const {
  const T expected = sums_[static_cast<std::size_t>(row)];
  if (value == expected) {
    return 0;  // also if the sum overflows, where the difference is not a number
  }
  const double error = std::abs(value - expected) / absolutes_[static_cast<std::size_t>(row)];
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

// The number of roundings by which two orders of addition may differ.
template <class T>
double ProductCheck<T>::roundings_of(const MatrixCounts& matrix, std::int32_t ranks) const {
  if (has_all_rows_) {
    const std::int64_t most = terms_.empty() ? 0 : *std::ranges::max_element(terms_);
    return static_cast<double>(most + ranks + 4);
  }
  // Roundings of rows, of repeated entries, and of the sum over all rows, where many terms cancel.
  const std::int64_t summed = terms_[0] - matrix.entries;
  return static_cast<double>(matrix.most_in_row + summed + ranks + 4) +
         2 * std::sqrt(static_cast<double>(rows_) * static_cast<double>(matrix.most_in_row + 1));
}

template <class T>
Result<CheckResult> ProductCheck<T>::compare(arrays::Array<T>& y,
                                             const std::vector<std::int64_t>& old_rows,
                                             const MatrixCounts& matrix) const {
  TESSERA_ASSIGN_OR_RETURN(auto access, y.local());
  const std::int64_t first = access.own().lo(0);
  const auto view = access.view();
  double error = 0;
  T sum{};
  for (std::int64_t i = first; i < access.own().hi(0); ++i) {
    const std::int64_t row = old_rows.empty() ? i : old_rows[static_cast<std::size_t>(i)];
    if (has_all_rows_) {
      error = std::max(error, error_of(row, view(i)));
    } else {
      sum += weight(row) * view(i);
    }
  }
  TESSERA_RETURN_IF_ERROR(access.end());
  rma::Team team = y.team();
  if (!has_all_rows_) {
    TESSERA_ASSIGN_OR_RETURN(sum, team.allreduce(sum, rma::Reduction::sum));
    error = error_of(0, sum);
  }
  const double roundings = roundings_of(matrix, team.size());
  TESSERA_ASSIGN_OR_RETURN(error, team.allreduce(error, rma::Reduction::max));
  return CheckResult{
      error, 2 * roundings * std::numeric_limits<double>::epsilon(),
      has_all_rows_
          ? "each row, against the sum of its entries as they were read or generated"
          : "one weighted sum of all rows, against that of the entries as read or generated"};
}

template double trial_element<double>(std::int64_t);
template std::complex<double> trial_element<std::complex<double>>(std::int64_t);
template class ProductCheck<double>;
template class ProductCheck<std::complex<double>>;

}  // namespace tessera::apps::spmv
