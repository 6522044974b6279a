// SPDX-License-Identifier: BSD-3-Clause
//
// ProductCheck: is y the product A x? The expected result comes from the entries as they were read
// or generated, before they went into a distributed matrix. Each is multiplied by its element of x,
// a function of its index, and added to its row.
//
//     up to a million rows   compares every row
//     more                   compares a weighted sum of all rows, so that a rank needs no whole
//                            vector
//
// A sum of k terms may differ by k roundings from one in another order. The allowed error is that
// fraction of the sum of the terms' absolute values. Terms are counted as they are added: an entry
// that is given many times has many terms.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "rma/base/result.hpp"
#include "rma/team.hpp"

namespace tessera::apps::spmv {

/// Element `index` of the vector in the product: between 1 and 2; complex ones have an imaginary
/// part > 0.
template <class T>
T trial_element(std::int64_t index);

struct CheckResult {
  double error = 0;    ///< the largest, relative to the sum of a row's absolute values
  double allowed = 0;  ///< the error that roundings explain
  std::string how;     ///< a sentence for the report
  [[nodiscard]] bool is_good() const noexcept { return error <= allowed; }
};

/// Counts of a matrix whose repeated entries are summed.
struct MatrixCounts {
  std::int64_t most_in_row = 0;  ///< entries of the longest row
  std::int64_t entries = 0;
};

template <class T>
class ProductCheck {
 public:
  explicit ProductCheck(std::int64_t rows);

  /// Local. One entry of the matrix.
  void add(std::int64_t row, std::int64_t column, T value);

  /// Collective, once, after all add(): combines the sums of all ranks.
  rma::Status agree(rma::Team& team);

  /// Collective. Compares y with the expected result. Element i of y is row old_rows[i] of the
  /// original matrix, or row i if old_rows is empty.
  rma::Result<CheckResult> compare(arrays::Array<T>& y, const std::vector<std::int64_t>& old_rows,
                                   const MatrixCounts& matrix) const;

 private:
  [[nodiscard]] double error_of(std::int64_t row, T value) const;
  [[nodiscard]] double roundings_of(const MatrixCounts& matrix, std::int32_t ranks) const;

  std::int64_t rows_;
  bool has_all_rows_;
  std::vector<T> sums_;              // of all rows, or the weighted one
  std::vector<double> absolutes_;    // of the terms
  std::vector<std::int64_t> terms_;  // number of terms added
};

extern template class ProductCheck<double>;
extern template class ProductCheck<std::complex<double>>;

}  // namespace tessera::apps::spmv
