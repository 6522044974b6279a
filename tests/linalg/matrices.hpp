// SPDX-License-Identifier: BSD-3-Clause
//
// The oracle of linear algebra tests: a dense matrix with plain loops in double precision, numbers
// of every type from indices, and the allowed distance of a result from the oracle.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "linalg/local_matrix.hpp"

namespace tessera::linalg::test {

using Wide = std::complex<double>;

/// The precision of T.
template <class T>
double epsilon() {
  if constexpr (rma::ComplexElement<T>) {
    return std::numeric_limits<typename T::value_type>::epsilon();
  } else {
    return std::numeric_limits<T>::epsilon();
  }
}

/// A number between −1 and 1 in each part, determined by `place` and `seed`.
template <class T>
T number(std::uint64_t place, std::uint64_t seed) {
  const auto part = [](std::uint64_t word) {
    word = (word ^ (word >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
    word = (word ^ (word >> 27U)) * 0x94d0'49bb'1331'11ebU;
    word ^= word >> 31U;
    return static_cast<double>(word >> 11U) * 0x1p-52 - 1;
  };
  const std::uint64_t word = place * 0x9e37'79b9'7f4a'7c15U + seed * 0x2545'f491'4f6c'dd1dU;
  if constexpr (rma::ComplexElement<T>) {
    using Real = typename T::value_type;
    return {static_cast<Real>(part(word)), static_cast<Real>(part(word + 1))};
  } else {
    return static_cast<T>(part(word));
  }
}

template <class T>
T conjugate(T value) {
  if constexpr (rma::ComplexElement<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

/// A row-major matrix.
struct Dense {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Wide> values = {};

  Dense(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count),
        columns(column_count),
        values(static_cast<std::size_t>(row_count * column_count)) {}
  Wide& operator()(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  const Wide& operator()(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  [[nodiscard]] double largest() const {
    double most = 0;
    for (const Wide& value : values) {
      most = std::max(most, std::abs(value));
    }
    return most;
  }
};

/// alpha A B + beta C.
inline Dense product(Wide alpha, const Dense& a, const Dense& b, Wide beta, const Dense& c) {
  Dense result(c.rows, c.columns);
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      Wide sum = 0;
      for (std::int64_t k = 0; k < a.columns; ++k) {
        sum += a(i, k) * b(k, j);
      }
      result(i, j) = alpha * sum + (beta == Wide(0) ? Wide(0) : beta * c(i, j));
    }
  }
  return result;
}

/// The rounding error of a sum of `terms` products of numbers of T with total size `size`.
template <class T>
double bound(std::int64_t terms, double size) {
  return 8 * static_cast<double>(terms + 2) * epsilon<T>() * std::max(size, 1.0);
}

}  // namespace tessera::linalg::test
