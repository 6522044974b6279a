// SPDX-License-Identifier: BSD-3-Clause
//
// Local kernels against plain loops: each type, memory order, transposition and conjugation.
#include "linalg/blas.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "tests/linalg/matrices.hpp"
#include "tests/support/checks.hpp"

namespace tessera::linalg {
namespace {

using blas::Diagonal;
using blas::Side;
using blas::Triangle;
using rma::Code;
using rma::test::fails;
using rma::test::ok;
using test::Dense;
using test::Wide;

// A matrix of either order with a gap between its lines, and its oracle.
template <class T>
struct Pair {
  Dense dense;
  std::vector<T> memory;
  LocalMatrix<T> matrix;

  Pair(std::int64_t rows, std::int64_t columns, bool is_row_major, std::uint64_t seed)
      : dense(rows, columns) {
    const std::int64_t line = (is_row_major ? columns : rows) + 3;
    memory.assign(static_cast<std::size_t>((is_row_major ? rows : columns) * line), T{});
    matrix = is_row_major ? LocalMatrix<T>{memory.data(), rows, columns, line, 1}
                          : LocalMatrix<T>{memory.data(), rows, columns, 1, line};
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        matrix(i, j) = test::number<T>(static_cast<std::uint64_t>(i * columns + j), seed);
        dense(i, j) = Wide(matrix(i, j));
      }
    }
  }
};

template <class T>
void expect_near(const LocalMatrix<T>& matrix, const Dense& expected, double bound) {
  for (std::int64_t i = 0; i < expected.rows; ++i) {
    for (std::int64_t j = 0; j < expected.columns; ++j) {
      EXPECT_LE(std::abs(Wide(matrix(i, j)) - expected(i, j)), bound) << i << ", " << j;
    }
  }
}

Dense conjugated(Dense dense, bool really) {
  for (Wide& value : dense.values) {
    value = really ? std::conj(value) : value;
  }
  return dense;
}

template <class T>
class Blas : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Blas, Types);

TYPED_TEST(Blas, GemmTakesEachOrderAndConjugation) {
  using T = TypeParam;
  for (unsigned choice = 0; choice < 32; ++choice) {
    const Pair<T> a(7, 5, (choice & 1U) != 0, 1);
    const Pair<T> b(5, 9, (choice & 2U) != 0, 2);
    Pair<T> c(7, 9, (choice & 4U) != 0, 3);
    const bool conjugates_a = rma::ComplexElement<T> && (choice & 8U) != 0;
    const bool conjugates_b = rma::ComplexElement<T> && (choice & 16U) != 0;
    const Dense expected = test::product(Wide(T(2)), conjugated(a.dense, conjugates_a),
                                         conjugated(b.dense, conjugates_b), Wide(T(-0.5)), c.dense);
    EXPECT_TRUE(ok(blas::gemm<T>(T(2), {a.matrix, conjugates_a}, {b.matrix, conjugates_b}, T(-0.5),
                                 c.matrix)));
    expect_near(c.matrix, expected, test::bound<T>(5, 4));
  }
}

TYPED_TEST(Blas, GemmOfLinesAndOfNothing) {
  using T = TypeParam;
  const Pair<T> row(1, 6, true, 1);
  const Pair<T> column(6, 1, false, 2);
  Pair<T> one(1, 1, true, 3);
  const Dense expected = test::product(1, row.dense, column.dense, 0, one.dense);
  EXPECT_TRUE(ok(blas::gemm<T>(T(1), {row.matrix}, {column.matrix}, T(0), one.matrix)));
  expect_near(one.matrix, expected, test::bound<T>(6, 4));
  // No terms: C is only scaled.
  EXPECT_TRUE(ok(blas::gemm<T>(T(1), {row.matrix.part(0, 1, 0, 0)},
                               {column.matrix.part(0, 0, 0, 1)}, T(2), one.matrix)));
  EXPECT_LE(std::abs(Wide(one.matrix(0, 0)) - 2.0 * expected(0, 0)), test::bound<T>(6, 4));
}

TYPED_TEST(Blas, TrsmSolvesOnBothSides) {
  using T = TypeParam;
  for (unsigned choice = 0; choice < 16; ++choice) {
    const Triangle triangle = (choice & 1U) != 0 ? Triangle::upper : Triangle::lower;
    const Side side = (choice & 2U) != 0 ? Side::right : Side::left;
    Pair<T> a(6, 6, (choice & 4U) != 0, 1);
    Dense cleared = a.dense;
    for (std::int64_t i = 0; i < 6; ++i) {
      a.matrix(i, i) += T(4);
      for (std::int64_t j = 0; j < 6; ++j) {
        const bool is_zero = triangle == Triangle::upper ? j < i : j > i;
        cleared(i, j) = is_zero ? Wide(0) : Wide(a.matrix(i, j));
      }
    }
    Pair<T> b(6, 6, (choice & 8U) != 0, 2);
    EXPECT_TRUE(ok(blas::trsm<T>(side, triangle, Diagonal::stored, T(1), {a.matrix}, b.matrix)));
    Dense x(6, 6);
    for (std::int64_t i = 0; i < 6; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        x(i, j) = Wide(b.matrix(i, j));
      }
    }
    const Dense back = side == Side::left ? test::product(1, cleared, x, 0, x)
                                          : test::product(1, x, cleared, 0, x);
    for (std::size_t i = 0; i < back.values.size(); ++i) {
      EXPECT_LE(std::abs(back.values[i] - b.dense.values[i]), test::bound<T>(20, 8));
    }
  }
}

TYPED_TEST(Blas, RankKUpdatesChangeOneTriangle) {
  using T = TypeParam;
  for (unsigned choice = 0; choice < 16; ++choice) {
    const Triangle triangle = (choice & 1U) != 0 ? Triangle::upper : Triangle::lower;
    const bool is_hermitian = (choice & 2U) != 0;
    const bool is_row_major = (choice & 4U) != 0;
    const Pair<T> a(6, 4, is_row_major, 1);
    Pair<T> c(6, 6, is_hermitian ? is_row_major : (choice & 8U) != 0, 2);
    Dense other(4, 6);
    for (std::int64_t i = 0; i < 6; ++i) {
      c.matrix(i, i) = T(std::real(c.matrix(i, i)));
      c.dense(i, i) = Wide(c.matrix(i, i));
      for (std::int64_t k = 0; k < 4; ++k) {
        other(k, i) = is_hermitian ? std::conj(a.dense(i, k)) : a.dense(i, k);
      }
    }
    Dense expected = test::product(2, a.dense, other, 3, c.dense);
    for (std::int64_t i = 0; i < 6; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        if (triangle == Triangle::upper ? j < i : j > i) {
          expected(i, j) = c.dense(i, j);
        }
      }
    }
    EXPECT_TRUE(ok(is_hermitian ? blas::herk<T>(triangle, 2, a.matrix, 3, c.matrix)
                                : blas::syrk<T>(triangle, T(2), a.matrix, T(3), c.matrix)));
    expect_near(c.matrix, expected, test::bound<T>(8, 8));
  }
}

TYPED_TEST(Blas, FactorsMultiplyToTheMatrix) {
  using T = TypeParam;
  for (unsigned choice = 0; choice < 4; ++choice) {
    const Triangle triangle = (choice & 1U) != 0 ? Triangle::upper : Triangle::lower;
    const Pair<T> half(8, 8, true, 1);
    Pair<T> a(8, 8, (choice & 2U) != 0, 2);
    Dense adjoint(8, 8);
    for (std::int64_t i = 0; i < 8; ++i) {
      for (std::int64_t j = 0; j < 8; ++j) {
        adjoint(i, j) = std::conj(half.dense(j, i));
      }
    }
    Dense whole = test::product(1, half.dense, adjoint, 0, adjoint);
    for (std::int64_t i = 0; i < 8; ++i) {
      whole(i, i) += 8.0;
      for (std::int64_t j = 0; j < 8; ++j) {
        if constexpr (rma::ComplexElement<T>) {
          a.matrix(i, j) = T(whole(i, j));
        } else {
          a.matrix(i, j) = static_cast<T>(whole(i, j).real());
        }
      }
    }
    EXPECT_TRUE(ok(blas::potrf<T>(triangle, a.matrix)));
    Dense lower(8, 8);
    Dense upper(8, 8);
    for (std::int64_t i = 0; i < 8; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        lower(i, j) =
            triangle == Triangle::lower ? Wide(a.matrix(i, j)) : std::conj(Wide(a.matrix(j, i)));
        upper(j, i) = std::conj(lower(i, j));
      }
    }
    const Dense back = test::product(1, lower, upper, 0, upper);
    for (std::size_t i = 0; i < back.values.size(); ++i) {
      EXPECT_LE(std::abs(back.values[i] - whole.values[i]), test::bound<T>(16, 16));
    }
  }
}

TYPED_TEST(Blas, LuExchangesRows) {
  using T = TypeParam;
  for (const bool is_row_major : {true, false}) {
    Pair<T> a(7, 5, is_row_major, 4);
    std::vector<std::int32_t> pivots(5);
    EXPECT_TRUE(ok(blas::getrf<T>(a.matrix, pivots)));
    Dense lower(7, 5);
    Dense upper(5, 5);
    for (std::int64_t i = 0; i < 7; ++i) {
      for (std::int64_t j = 0; j < 5; ++j) {
        if (i > j) {
          lower(i, j) = Wide(a.matrix(i, j));
        } else {
          upper(i, j) = Wide(a.matrix(i, j));
          lower(i, j) = i == j ? 1.0 : 0.0;
        }
      }
    }
    Dense back = test::product(1, lower, upper, 0, lower);
    for (std::int64_t step = 4; step >= 0; --step) {
      for (std::int64_t j = 0; j < 5; ++j) {
        std::swap(back(step, j), back(pivots[static_cast<std::size_t>(step)], j));
      }
    }
    for (std::size_t i = 0; i < back.values.size(); ++i) {
      EXPECT_LE(std::abs(back.values[i] - a.dense.values[i]), test::bound<T>(16, 4));
    }
  }
}

TEST(BlasErrors, AreToldBeforeAnythingIsTouched) {
  double one = 1;
  const LocalMatrix<double> huge{&one, std::int64_t{1} << 40, 2, 2, 1};
  const LocalMatrix<double> wide{&one, 2, 3, 3, 1};
  EXPECT_TRUE(fails(blas::gemm<double>(1, {huge}, {wide}, 0, wide), Code::limit_exceeded,
                    {"gemm: matrix A (1099511627776 x 2", "exceeds 2147483647", "hint:"}));
  EXPECT_TRUE(fails(blas::gemm<double>(1, {wide}, {wide}, 0, wide), Code::invalid_argument,
                    {"gemm: A is 2 x 3, B is 2 x 3, and C is 2 x 3"}));
  const LocalMatrix<double> far{&one, 2, 3, std::int64_t{1} << 31, 1};
  EXPECT_TRUE(far.is_row_major());
  EXPECT_FALSE(far.fits_blas()) << "so that callers copy it";
  EXPECT_TRUE(far.part(0, 1, 0, 3).fits_blas()) << "a single row has no stride";
  EXPECT_TRUE(fails(blas::gemm<double>(1, {far}, {wide}, 0, wide), Code::limit_exceeded,
                    {"strides 2147483648 and 1", "exceeds 2147483647"}));
  const LocalMatrix<double> spread{&one, 2, 3, 12, 2};
  EXPECT_TRUE(fails(blas::gemm<double>(1, {spread}, {wide}, 0, wide), Code::invalid_argument,
                    {"matrix A (2 x 3) has strides 12 and 2, but one must be 1"}));
  EXPECT_TRUE(fails(blas::potrf<double>(Triangle::lower, wide), Code::invalid_argument,
                    {"potrf: matrix A is 2 x 3, not square"}));
  double minus = -1;
  EXPECT_TRUE(fails(blas::potrf<double>(Triangle::lower, {&minus, 1, 1, 1, 1}),
                    Code::invalid_argument, {"1 x 1 part of A (1 x 1) is not positive definite"}));
  std::array<double, 4> with_nan{4, 1, 1, std::nan("")};
  EXPECT_TRUE(fails(blas::potrf<double>(Triangle::lower, {with_nan.data(), 2, 2, 1, 2}),
                    Code::invalid_argument, {"2 x 2 part of A (2 x 2) is not positive definite"}));
  double zero = 0;
  std::int32_t pivot = 7;
  EXPECT_TRUE(fails(blas::getrf<double>({&zero, 1, 1, 1, 1}, std::span(&pivot, 1)),
                    Code::invalid_argument, {"pivot 0 of A (1 x 1) is zero"}));
  EXPECT_TRUE(fails(blas::getrf<double>({&one, 1, 1, 1, 1}, {}), Code::invalid_argument,
                    {"room for 0 pivots"}));
}

}  // namespace
}  // namespace tessera::linalg
