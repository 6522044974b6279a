// SPDX-License-Identifier: BSD-3-Clause
//
// The only file, except lapack.cpp, that calls cblas and lapacke.
#include "linalg/blas.hpp"

#include <cblas.h>
#include <fmt/format.h>
#include <lapacke.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string_view>

#include "linalg/detail/blas_library.hpp"
#include "linalg/detail/by_type.hpp"
#include "linalg/detail/lapack_pointer.hpp"
#include "linalg/detail/value_checks.hpp"
#include "rma/base/floating_point_guard.hpp"

namespace tessera::linalg {

void detail::set_library_threads(int threads) {
  // Compared first: setting the number takes locks, and several ranks may be threads of this
  // process.
  if (openblas_get_num_threads() != threads) {
    const rma::FloatingPointGuard guard;  // inherited by the threads that BLAS starts
    openblas_set_num_threads(threads);
  }
}

int detail::library_threads() {
  return openblas_get_num_threads();
}

const char* detail::library_description() {
  return openblas_get_config();
}

namespace blas {
namespace {

using detail::lapack_pointer;
using detail::product_routine;
using detail::routine;
using rma::Code;
using rma::Status;

constexpr std::int64_t largest = std::numeric_limits<blasint>::max();

// A matrix in BLAS terms: its memory order, and the longer stride.
struct BlasLayout {
  bool is_row_major = true;
  blasint rows = 0;
  blasint columns = 0;
  blasint leading = 1;
};

template <class T>
BlasLayout blas_layout(const LocalMatrix<T>& matrix, bool prefers_row_major) {
  // A single row or column has either order.
  const bool is_row_major = prefers_row_major ? matrix.is_row_major() : !matrix.is_column_major();
  const std::int64_t length = is_row_major ? matrix.columns : matrix.rows;
  const bool is_line = is_row_major ? matrix.rows <= 1 : matrix.columns <= 1;
  const std::int64_t stride = is_row_major ? matrix.row_stride : matrix.column_stride;
  return {.is_row_major = is_row_major,
          .rows = static_cast<blasint>(matrix.rows),
          .columns = static_cast<blasint>(matrix.columns),
          .leading = static_cast<blasint>(std::max<std::int64_t>(is_line ? length : stride, 1))};
}

template <class T>
Status check(std::string_view routine, char name, const LocalMatrix<T>& matrix) {
  if (!matrix.is_row_major() && !matrix.is_column_major()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{}: matrix {} ({} x {}) has strides {} and {}, but one must be 1", routine,
                    name, matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride));
  }
  const std::int64_t most =
      std::max({matrix.rows, matrix.columns, matrix.rows > 1 ? matrix.row_stride : 0,
                matrix.columns > 1 ? matrix.column_stride : 0});
  if (most > largest) {
    return Status::error(
               Code::limit_exceeded,
               fmt::format(
                   "{}: matrix {} ({} x {}, strides {} and {}) exceeds {}, the largest size "
                   "that the BLAS library supports",
                   routine, name, matrix.rows, matrix.columns, matrix.row_stride,
                   matrix.column_stride, largest))
        .hint("work on parts of it");
  }
  return {};
}

Status mismatch(std::string_view routine, const std::string& what) {
  return Status::error(Code::invalid_argument, fmt::format("{}: {}", routine, what));
}

template <class T>
Status check_square(std::string_view routine, char name, const LocalMatrix<T>& matrix) {
  TESSERA_RETURN_IF_ERROR(check(routine, name, matrix));
  if (matrix.rows != matrix.columns) {
    return mismatch(routine, fmt::format("matrix {} is {} x {}, not square", name, matrix.rows,
                                         matrix.columns));
  }
  return {};
}

// The transposition letter of an operand stored in `is_row_major` order, in a call of order
// `call_is`.
CBLAS_TRANSPOSE letter(bool is_row_major, bool call_is, bool is_conjugated) {
  if (is_row_major == call_is) {
    return is_conjugated ? CblasConjNoTrans : CblasNoTrans;
  }
  return is_conjugated ? CblasConjTrans : CblasTrans;
}

CBLAS_UPLO stored(Triangle triangle) {
  return triangle == Triangle::upper ? CblasUpper : CblasLower;
}

CBLAS_ORDER order_of(bool is_row_major) {
  return is_row_major ? CblasRowMajor : CblasColMajor;
}

// cblas takes complex factors by address and real factors by value.
template <class T>
auto factor(const T& value) {
  if constexpr (rma::ComplexElement<T>) {
    return static_cast<const void*>(&value);
  } else {
    return value;
  }
}

template <class T>
Status check_gemm(const LocalMatrix<const T>& a, const LocalMatrix<const T>& b,
                  const LocalMatrix<T>& c) {
  TESSERA_RETURN_IF_ERROR(check("gemm", 'A', a));
  TESSERA_RETURN_IF_ERROR(check("gemm", 'B', b));
  TESSERA_RETURN_IF_ERROR(check("gemm", 'C', c));
  if (a.rows != c.rows || b.columns != c.columns || a.columns != b.rows) {
    return mismatch("gemm", fmt::format("A is {} x {}, B is {} x {}, and C is {} x {}", a.rows,
                                        a.columns, b.rows, b.columns, c.rows, c.columns));
  }
  return {};
}

}  // namespace

template <Scalar T>
Status gemm(T alpha, const Operand<T>& a, const Operand<T>& b, T beta, const LocalMatrix<T>& c) {
  TESSERA_RETURN_IF_ERROR(check_gemm(a.matrix, b.matrix, c));
  if (c.is_empty()) {
    return {};
  }
  const BlasLayout to = blas_layout(c, true);
  const BlasLayout left = blas_layout(a.matrix, to.is_row_major);
  const BlasLayout right = blas_layout(b.matrix, to.is_row_major);
  product_routine<T>(cblas_sgemm, cblas_dgemm, cblas_cgemm, cblas_zgemm)(
      order_of(to.is_row_major),
      letter(left.is_row_major, to.is_row_major, rma::ComplexElement<T> && a.is_conjugated),
      letter(right.is_row_major, to.is_row_major, rma::ComplexElement<T> && b.is_conjugated),
      to.rows, to.columns, left.columns, factor(alpha), a.matrix.data, left.leading, b.matrix.data,
      right.leading, factor(beta), c.data, to.leading);
  return {};
}

template <Scalar T>
Status trsm(Side side, Triangle triangle, Diagonal diagonal, T alpha, const Operand<T>& a,
            const LocalMatrix<T>& b) {
  TESSERA_RETURN_IF_ERROR(check_square("trsm", 'A', a.matrix));
  TESSERA_RETURN_IF_ERROR(check("trsm", 'B', b));
  if (a.matrix.rows != (side == Side::left ? b.rows : b.columns)) {
    return mismatch("trsm", fmt::format("A is {} x {}, and B {} x {}", a.matrix.rows,
                                        a.matrix.columns, b.rows, b.columns));
  }
  if (b.is_empty()) {
    return {};
  }
  if (rma::ComplexElement<T> && a.is_conjugated) {
    return mismatch("trsm", "A is conjugated; conjugate B and the result instead");
  }
  const BlasLayout to = blas_layout(b, true);
  const BlasLayout from = blas_layout(a.matrix, to.is_row_major);
  // In a call of the other order, the stored triangle is the other one.
  const bool is_upper = (triangle == Triangle::upper) == (from.is_row_major == to.is_row_major);
  product_routine<T>(cblas_strsm, cblas_dtrsm, cblas_ctrsm, cblas_ztrsm)(
      order_of(to.is_row_major), side == Side::left ? CblasLeft : CblasRight,
      is_upper ? CblasUpper : CblasLower, letter(from.is_row_major, to.is_row_major, false),
      diagonal == Diagonal::unit ? CblasUnit : CblasNonUnit, to.rows, to.columns, factor(alpha),
      a.matrix.data, from.leading, b.data, to.leading);
  return {};
}

template <Scalar T>
Status syrk(Triangle triangle, T alpha, const LocalMatrix<const T>& a, T beta,
            const LocalMatrix<T>& c) {
  TESSERA_RETURN_IF_ERROR(check("syrk", 'A', a));
  TESSERA_RETURN_IF_ERROR(check_square("syrk", 'C', c));
  if (a.rows != c.rows) {
    return mismatch(
        "syrk", fmt::format("A is {} x {}, and C {} x {}", a.rows, a.columns, c.rows, c.columns));
  }
  if (c.is_empty()) {
    return {};
  }
  const BlasLayout to = blas_layout(c, true);
  const BlasLayout from = blas_layout(a, to.is_row_major);
  product_routine<T>(cblas_ssyrk, cblas_dsyrk, cblas_csyrk, cblas_zsyrk)(
      order_of(to.is_row_major), stored(triangle),
      letter(from.is_row_major, to.is_row_major, false), to.rows, from.columns, factor(alpha),
      a.data, from.leading, factor(beta), c.data, to.leading);
  return {};
}

template <Scalar T>
Status herk(Triangle triangle, double alpha, const LocalMatrix<const T>& a, double beta,
            const LocalMatrix<T>& c) {
  using Real = rma::RealOf<T>;
  if constexpr (rma::ComplexElement<T>) {
    TESSERA_RETURN_IF_ERROR(check("herk", 'A', a));
    TESSERA_RETURN_IF_ERROR(check_square("herk", 'C', c));
    if (a.rows != c.rows) {
      return mismatch(
          "herk", fmt::format("A is {} x {}, and C {} x {}", a.rows, a.columns, c.rows, c.columns));
    }
    if (c.is_empty()) {
      return {};
    }
    // cherk computes A Aᴴ only for a matrix in the call's order, so the call uses A's order.
    const BlasLayout from = blas_layout(a, c.is_row_major());
    const BlasLayout to = blas_layout(c, from.is_row_major);
    if (to.is_row_major != from.is_row_major) {
      return mismatch("herk", "A and C are of different memory orders");
    }
    product_routine<T>(0, 0, cblas_cherk, cblas_zherk)(
        order_of(to.is_row_major), stored(triangle), CblasNoTrans, to.rows, from.columns,
        static_cast<Real>(alpha), a.data, from.leading, static_cast<Real>(beta), c.data,
        to.leading);
    return {};
  } else {
    return syrk<T>(triangle, static_cast<T>(alpha), a, static_cast<T>(beta), c);
  }
}

template <Scalar T>
Status potrf(Triangle triangle, const LocalMatrix<T>& a) {
  TESSERA_RETURN_IF_ERROR(check_square("potrf", 'A', a));
  if (a.is_empty()) {
    return {};
  }
  // Read in the other order A is its transpose, whose corresponding factor is in the other
  // triangle.
  const BlasLayout to = blas_layout(a, false);
  const bool is_upper = (triangle == Triangle::upper) != to.is_row_major;
  const auto info = routine<T>(LAPACKE_spotrf_work, LAPACKE_dpotrf_work, LAPACKE_cpotrf_work,
                               LAPACKE_zpotrf_work)(LAPACK_COL_MAJOR, is_upper ? 'U' : 'L', to.rows,
                                                    lapack_pointer(a.data), to.leading);
  const std::int64_t order = info != 0 ? info : detail::first_not_positive(a);
  if (order != 0) {
    return mismatch("potrf", fmt::format("the leading {0} x {0} part of A ({1} x {1}) is not "
                                         "positive definite",
                                         order, a.rows));
  }
  return {};
}

template <Scalar T>
Status getrf(const LocalMatrix<T>& a, std::span<std::int32_t> pivots) {
  TESSERA_RETURN_IF_ERROR(check("getrf", 'A', a));
  if (std::ssize(pivots) != std::min(a.rows, a.columns)) {
    return mismatch("getrf", fmt::format("A is {} x {}, but there is room for {} pivots", a.rows,
                                         a.columns, pivots.size()));
  }
  if (a.is_empty()) {
    return {};
  }
  const BlasLayout to = blas_layout(a, true);
  const auto info = routine<T>(LAPACKE_sgetrf_work, LAPACKE_dgetrf_work, LAPACKE_cgetrf_work,
                               LAPACKE_zgetrf_work)(
      to.is_row_major ? LAPACK_ROW_MAJOR : LAPACK_COL_MAJOR, to.rows, to.columns,
      lapack_pointer(a.data), to.leading, pivots.data());
  for (std::int32_t& pivot : pivots) {
    --pivot;
  }
  if (info != 0) {
    return mismatch("getrf",
                    fmt::format("pivot {} of A ({} x {}) is zero", info - 1, a.rows, a.columns));
  }
  return {};
}

template Status gemm(float, const Operand<float>&, const Operand<float>&, float,
                     const LocalMatrix<float>&);
template Status trsm(Side, Triangle, Diagonal, float, const Operand<float>&,
                     const LocalMatrix<float>&);
template Status syrk(Triangle, float, const LocalMatrix<const float>&, float,
                     const LocalMatrix<float>&);
template Status herk(Triangle, double, const LocalMatrix<const float>&, double,
                     const LocalMatrix<float>&);
template Status potrf(Triangle, const LocalMatrix<float>&);
template Status getrf(const LocalMatrix<float>&, std::span<std::int32_t>);
template Status gemm(double, const Operand<double>&, const Operand<double>&, double,
                     const LocalMatrix<double>&);
template Status trsm(Side, Triangle, Diagonal, double, const Operand<double>&,
                     const LocalMatrix<double>&);
template Status syrk(Triangle, double, const LocalMatrix<const double>&, double,
                     const LocalMatrix<double>&);
template Status herk(Triangle, double, const LocalMatrix<const double>&, double,
                     const LocalMatrix<double>&);
template Status potrf(Triangle, const LocalMatrix<double>&);
template Status getrf(const LocalMatrix<double>&, std::span<std::int32_t>);
template Status gemm(std::complex<float>, const Operand<std::complex<float>>&,
                     const Operand<std::complex<float>>&, std::complex<float>,
                     const LocalMatrix<std::complex<float>>&);
template Status trsm(Side, Triangle, Diagonal, std::complex<float>,
                     const Operand<std::complex<float>>&, const LocalMatrix<std::complex<float>>&);
template Status syrk(Triangle, std::complex<float>, const LocalMatrix<const std::complex<float>>&,
                     std::complex<float>, const LocalMatrix<std::complex<float>>&);
template Status herk(Triangle, double, const LocalMatrix<const std::complex<float>>&, double,
                     const LocalMatrix<std::complex<float>>&);
template Status potrf(Triangle, const LocalMatrix<std::complex<float>>&);
template Status getrf(const LocalMatrix<std::complex<float>>&, std::span<std::int32_t>);
template Status gemm(std::complex<double>, const Operand<std::complex<double>>&,
                     const Operand<std::complex<double>>&, std::complex<double>,
                     const LocalMatrix<std::complex<double>>&);
template Status trsm(Side, Triangle, Diagonal, std::complex<double>,
                     const Operand<std::complex<double>>&,
                     const LocalMatrix<std::complex<double>>&);
template Status syrk(Triangle, std::complex<double>, const LocalMatrix<const std::complex<double>>&,
                     std::complex<double>, const LocalMatrix<std::complex<double>>&);
template Status herk(Triangle, double, const LocalMatrix<const std::complex<double>>&, double,
                     const LocalMatrix<std::complex<double>>&);
template Status potrf(Triangle, const LocalMatrix<std::complex<double>>&);
template Status getrf(const LocalMatrix<std::complex<double>>&, std::span<std::int32_t>);

}  // namespace blas
}  // namespace tessera::linalg
