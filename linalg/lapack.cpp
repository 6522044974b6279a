// SPDX-License-Identifier: BSD-3-Clause
//
// Together with blas.cpp the only file that calls lapacke.
#include "linalg/lapack.hpp"

#include <fmt/format.h>
#include <lapacke.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string_view>

#include "linalg/detail/by_type.hpp"
#include "linalg/detail/lapack_pointer.hpp"
#include "linalg/detail/value_checks.hpp"

namespace tessera::linalg::lapack {

using detail::lapack_pointer;
using detail::routine;
using rma::Code;
using rma::Result;
using rma::Status;

namespace {

template <class T>
auto readable(const T* data) {
  return lapack_pointer(const_cast<T*>(data));
}

lapack_int count(std::int64_t number) {
  return static_cast<lapack_int>(number);
}

template <class T>
lapack_int leading(const LocalMatrix<T>& matrix) {
  return count(std::max<std::int64_t>(matrix.columns > 1 ? matrix.column_stride : matrix.rows, 1));
}

template <class T>
Status check(std::string_view routine_name, const LocalMatrix<T>& matrix) {
  if (!matrix.is_column_major()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{}: a matrix of {} x {} with strides {} and {} is not "
                                     "column-major",
                                     routine_name, matrix.rows, matrix.columns, matrix.row_stride,
                                     matrix.column_stride));
  }
  const std::int64_t most =
      std::max({matrix.rows, matrix.columns, matrix.columns > 1 ? matrix.column_stride : 0});
  if (most > std::numeric_limits<lapack_int>::max()) {
    return Status::error(
        Code::limit_exceeded,
        fmt::format("{}: a matrix of {} x {} (stride {}) exceeds {}, the largest size that "
                    "LAPACK supports",
                    routine_name, matrix.rows, matrix.columns, matrix.column_stride,
                    std::numeric_limits<lapack_int>::max()));
  }
  return {};
}

using detail::Read;

template <Scalar T>
Status check_finite(std::string_view name, const LocalMatrix<T>& a, Read read = Read::all) {
  for (std::int64_t j = 0; j < a.columns; ++j) {
    for (std::int64_t i = read == Read::lower ? j : 0; i < a.rows; ++i) {
      if (!detail::is_finite(a(i, j))) {
        return detail::not_finite(name, a(i, j));
      }
    }
  }
  return {};
}

// The errors that every routine can return.
Status status_of(std::string_view routine_name, lapack_int info) {
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) {
    return Status::error(Code::no_memory,
                         fmt::format("{}: no memory for LAPACK's work space", routine_name));
  }
  if (info < 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{}: argument {} contains a NaN, or is not one that LAPACK "
                                     "accepts",
                                     routine_name, -info));
  }
  return {};
}

Status converged(std::string_view routine_name, lapack_int info) {
  TESSERA_RETURN_IF_ERROR(status_of(routine_name, info));
  if (info > 0) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{}: the iteration did not converge ({})", routine_name, info))
        .hint("check the matrix for elements that are not finite");
  }
  return {};
}

}  // namespace

template <Scalar T>
Result<std::int64_t> cholesky(blas::Triangle triangle, const LocalMatrix<T>& a) {
  TESSERA_RETURN_IF_ERROR(check("potrf", a));
  if (a.is_empty()) {
    return 0;
  }
  const lapack_int info = routine<T>(LAPACKE_spotrf_work, LAPACKE_dpotrf_work, LAPACKE_cpotrf_work,
                                     LAPACKE_zpotrf_work)(
      LAPACK_COL_MAJOR, triangle == blas::Triangle::upper ? 'U' : 'L', count(a.rows),
      lapack_pointer(a.data), leading(a));
  TESSERA_RETURN_IF_ERROR(status_of("potrf", info));
  return info != 0 ? info : detail::first_not_positive(a);
}

template <Scalar T>
Result<std::int64_t> lu(const LocalMatrix<T>& a, std::span<std::int32_t> pivots) {
  TESSERA_RETURN_IF_ERROR(check("getrf", a));
  if (a.is_empty()) {
    return 0;
  }
  const lapack_int info =
      routine<T>(LAPACKE_sgetrf_work, LAPACKE_dgetrf_work, LAPACKE_cgetrf_work,
                 LAPACKE_zgetrf_work)(LAPACK_COL_MAJOR, count(a.rows), count(a.columns),
                                      lapack_pointer(a.data), leading(a), pivots.data());
  TESSERA_RETURN_IF_ERROR(status_of("getrf", info));
  for (std::int32_t& pivot : pivots) {
    --pivot;
  }
  return info;
}

template <Scalar T>
Status qr(const LocalMatrix<T>& a, std::span<T> tau) {
  TESSERA_RETURN_IF_ERROR(check("geqrf", a));
  if (a.is_empty()) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_finite("A", a));
  return status_of("geqrf",
                   routine<T>(LAPACKE_sgeqrf, LAPACKE_dgeqrf, LAPACKE_cgeqrf, LAPACKE_zgeqrf)(
                       LAPACK_COL_MAJOR, count(a.rows), count(a.columns), lapack_pointer(a.data),
                       leading(a), lapack_pointer(tau.data())));
}

template <Scalar T>
Status multiply_by_q(const LocalMatrix<T>& v, std::span<const T> tau, bool is_adjoint,
                     const LocalMatrix<T>& c) {
  TESSERA_RETURN_IF_ERROR(check("ormqr", v));
  TESSERA_RETURN_IF_ERROR(check("ormqr", c));
  if (c.is_empty() || v.is_empty()) {
    return {};
  }
  const char op = !is_adjoint ? 'N' : (rma::ComplexElement<T> ? 'C' : 'T');
  return status_of(
      "ormqr", routine<T>(LAPACKE_sormqr, LAPACKE_dormqr, LAPACKE_cunmqr, LAPACKE_zunmqr)(
                   LAPACK_COL_MAJOR, 'L', op, count(c.rows), count(c.columns),
                   count(std::ssize(tau)), lapack_pointer(v.data), leading(v), readable(tau.data()),
                   lapack_pointer(c.data), leading(c)));
}

template <Scalar T>
Status eigen(bool wants_vectors, const LocalMatrix<T>& a, std::span<RealOf<T>> values) {
  TESSERA_RETURN_IF_ERROR(check("syevd", a));
  if (a.is_empty()) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_finite("A", a, Read::lower));
  return converged("syevd",
                   routine<T>(LAPACKE_ssyevd, LAPACKE_dsyevd, LAPACKE_cheevd, LAPACKE_zheevd)(
                       LAPACK_COL_MAJOR, wants_vectors ? 'V' : 'N', 'L', count(a.rows),
                       lapack_pointer(a.data), leading(a), values.data()));
}

template <Scalar T>
Result<std::int64_t> eigen_generalised(bool wants_vectors, const LocalMatrix<T>& a,
                                       const LocalMatrix<T>& b, std::span<RealOf<T>> values) {
  TESSERA_RETURN_IF_ERROR(check("sygvd", a));
  TESSERA_RETURN_IF_ERROR(check("sygvd", b));
  if (a.is_empty()) {
    return 0;
  }
  TESSERA_RETURN_IF_ERROR(check_finite("A", a, Read::lower));
  TESSERA_RETURN_IF_ERROR(check_finite("B", b, Read::lower));
  const lapack_int info =
      routine<T>(LAPACKE_ssygvd, LAPACKE_dsygvd, LAPACKE_chegvd, LAPACKE_zhegvd)(
          LAPACK_COL_MAJOR, 1, wants_vectors ? 'V' : 'N', 'L', count(a.rows),
          lapack_pointer(a.data), leading(a), lapack_pointer(b.data), leading(b), values.data());
  // A number above the order of A refers to a leading part of B.
  if (info > a.rows) {
    return info - a.rows;
  }
  TESSERA_RETURN_IF_ERROR(converged("sygvd", info));
  return 0;
}

template <Scalar T>
Status svd(const LocalMatrix<T>& a, std::span<RealOf<T>> values, const LocalMatrix<T>& u,
           const LocalMatrix<T>& vh) {
  TESSERA_RETURN_IF_ERROR(check("gesdd", a));
  TESSERA_RETURN_IF_ERROR(check("gesdd", u));
  TESSERA_RETURN_IF_ERROR(check("gesdd", vh));
  if (a.is_empty()) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(check_finite("A", a));
  return converged("gesdd",
                   routine<T>(LAPACKE_sgesdd, LAPACKE_dgesdd, LAPACKE_cgesdd, LAPACKE_zgesdd)(
                       LAPACK_COL_MAJOR, u.is_empty() ? 'N' : 'S', count(a.rows), count(a.columns),
                       lapack_pointer(a.data), leading(a), values.data(), lapack_pointer(u.data),
                       leading(u), lapack_pointer(vh.data), leading(vh)));
}

template Result<std::int64_t> cholesky(blas::Triangle, const LocalMatrix<float>&);
template Result<std::int64_t> lu(const LocalMatrix<float>&, std::span<std::int32_t>);
template Status qr(const LocalMatrix<float>&, std::span<float>);
template Status multiply_by_q(const LocalMatrix<float>&, std::span<const float>, bool,
                              const LocalMatrix<float>&);
template Status eigen(bool, const LocalMatrix<float>&, std::span<RealOf<float>>);
template Result<std::int64_t> eigen_generalised(bool, const LocalMatrix<float>&,
                                                const LocalMatrix<float>&,
                                                std::span<RealOf<float>>);
template Status svd(const LocalMatrix<float>&, std::span<RealOf<float>>, const LocalMatrix<float>&,
                    const LocalMatrix<float>&);
template Result<std::int64_t> cholesky(blas::Triangle, const LocalMatrix<double>&);
template Result<std::int64_t> lu(const LocalMatrix<double>&, std::span<std::int32_t>);
template Status qr(const LocalMatrix<double>&, std::span<double>);
template Status multiply_by_q(const LocalMatrix<double>&, std::span<const double>, bool,
                              const LocalMatrix<double>&);
template Status eigen(bool, const LocalMatrix<double>&, std::span<RealOf<double>>);
template Result<std::int64_t> eigen_generalised(bool, const LocalMatrix<double>&,
                                                const LocalMatrix<double>&,
                                                std::span<RealOf<double>>);
template Status svd(const LocalMatrix<double>&, std::span<RealOf<double>>,
                    const LocalMatrix<double>&, const LocalMatrix<double>&);
template Result<std::int64_t> cholesky(blas::Triangle, const LocalMatrix<std::complex<float>>&);
template Result<std::int64_t> lu(const LocalMatrix<std::complex<float>>&, std::span<std::int32_t>);
template Status qr(const LocalMatrix<std::complex<float>>&, std::span<std::complex<float>>);
template Status multiply_by_q(const LocalMatrix<std::complex<float>>&,
                              std::span<const std::complex<float>>, bool,
                              const LocalMatrix<std::complex<float>>&);
template Status eigen(bool, const LocalMatrix<std::complex<float>>&,
                      std::span<RealOf<std::complex<float>>>);
template Result<std::int64_t> eigen_generalised(bool, const LocalMatrix<std::complex<float>>&,
                                                const LocalMatrix<std::complex<float>>&,
                                                std::span<RealOf<std::complex<float>>>);
template Status svd(const LocalMatrix<std::complex<float>>&, std::span<RealOf<std::complex<float>>>,
                    const LocalMatrix<std::complex<float>>&,
                    const LocalMatrix<std::complex<float>>&);
template Result<std::int64_t> cholesky(blas::Triangle, const LocalMatrix<std::complex<double>>&);
template Result<std::int64_t> lu(const LocalMatrix<std::complex<double>>&, std::span<std::int32_t>);
template Status qr(const LocalMatrix<std::complex<double>>&, std::span<std::complex<double>>);
template Status multiply_by_q(const LocalMatrix<std::complex<double>>&,
                              std::span<const std::complex<double>>, bool,
                              const LocalMatrix<std::complex<double>>&);
template Status eigen(bool, const LocalMatrix<std::complex<double>>&,
                      std::span<RealOf<std::complex<double>>>);
template Result<std::int64_t> eigen_generalised(bool, const LocalMatrix<std::complex<double>>&,
                                                const LocalMatrix<std::complex<double>>&,
                                                std::span<RealOf<std::complex<double>>>);
template Status svd(const LocalMatrix<std::complex<double>>&,
                    std::span<RealOf<std::complex<double>>>,
                    const LocalMatrix<std::complex<double>>&,
                    const LocalMatrix<std::complex<double>>&);

}  // namespace tessera::linalg::lapack
