// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "arrays/call_signature.hpp"
#include "linalg/detail/dense_task.hpp"
#include "linalg/detail/matrix_checks.hpp"
#include "linalg/variants/factor_by_columns.hpp"
#include "linalg/variants/scalapack.hpp"

namespace tessera::linalg {

using detail::ColumnBlocks;
using detail::MatrixMap;
using detail::WorkMatrix;
using rma::Result;
using rma::Status;

namespace {

// A patch to be factored, in the layout of ScaLAPACK or of Tessera's own method, and its blocks.
struct FactorTask {
  bool uses_scalapack = false;
  WorkMatrix work;
  ColumnBlocks blocks;
};

Result<FactorTask> prepare(const MatrixMap& map, const MethodOptions& how, bool uses_scalapack) {
  rma::Team team = map.array->team();
  const ColumnBlocks blocks = detail::factor_blocks(map, team, how.block);
  if (uses_scalapack) {
    TESSERA_ASSIGN_OR_RETURN(
        WorkMatrix work, variants::scalapack::at(map, team, how.block, WorkMatrix::Use::in_place));
    return FactorTask{true, std::move(work), blocks};
  }
  TESSERA_ASSIGN_OR_RETURN(const arrays::Distribution layout,
                           team.agree([&] { return blocks.distribution(); }));
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix work,
                           WorkMatrix::of(map, team, layout, WorkMatrix::Use::in_place));
  return FactorTask{false, std::move(work), blocks};
}

template <Scalar T>
Status factor_cholesky(const MatrixMap& map, const CholeskyOptions& options, bool uses_scalapack) {
  // The own method factors lower triangles: the upper factor of A is the transpose of the lower
  // factor of Aᵀ.
  const bool uses_transpose = !uses_scalapack && options.triangle == Triangle::upper;
  const MatrixMap turned = uses_transpose ? map.transposed() : map;
  TESSERA_ASSIGN_OR_RETURN(FactorTask prepared, prepare(turned, options.how, uses_scalapack));
  TESSERA_ASSIGN_OR_RETURN(
      const std::int64_t minor,
      uses_scalapack ? variants::scalapack::Routines<T>::cholesky(prepared.work, options.triangle)
                     : variants::cholesky_by_columns<T>(prepared.work, prepared.blocks));
  TESSERA_RETURN_IF_ERROR(prepared.work.store(turned));
  return detail::check_minor(minor, {"A", map}, options.how);
}

template <Scalar T>
Result<Pivots> factor_lu(const MatrixMap& map, const MethodOptions& how, bool uses_scalapack) {
  TESSERA_ASSIGN_OR_RETURN(FactorTask prepared, prepare(map, how, uses_scalapack));
  TESSERA_ASSIGN_OR_RETURN(variants::LuSteps steps,
                           uses_scalapack
                               ? variants::scalapack::Routines<T>::lu(prepared.work)
                               : variants::lu_by_columns<T>(prepared.work, prepared.blocks));
  TESSERA_RETURN_IF_ERROR(prepared.work.store(map));
  TESSERA_RETURN_IF_ERROR(detail::check_pivots(steps.singular, {"A", map}, how));
  return std::move(steps.pivots);
}

template <Scalar T>
Result<std::vector<T>> factor_qr(const MatrixMap& map, const MethodOptions& how,
                                 bool uses_scalapack) {
  TESSERA_ASSIGN_OR_RETURN(FactorTask prepared, prepare(map, how, uses_scalapack));
  TESSERA_ASSIGN_OR_RETURN(std::vector<T> tau,
                           uses_scalapack
                               ? variants::scalapack::Routines<T>::qr(prepared.work)
                               : variants::qr_by_columns<T>(prepared.work, prepared.blocks));
  TESSERA_RETURN_IF_ERROR(prepared.work.store(map));
  return tau;
}

}  // namespace

template <Scalar T>
Status cholesky(const MatrixPatch<T>& a, const CholeskyOptions& options) {
  const std::string_view attempt = "cholesky";
  const MatrixMap map = detail::map_of(a);
  // Without A there is no team to agree with.
  TESSERA_RETURN_IF_ERROR(a.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, a.array());
  Status own_status = detail::check_operands({detail::written("A", map)});
  if (own_status.ok()) {
    own_status = detail::check_square(map).context("A");
  }
  const auto uses_scalapack =
      detail::begin_dense(a.array(), {{"A", map}}, options.how, std::move(own_status),
                          detail::CallSignature(attempt).add(options.triangle));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  return factor_cholesky<T>(map, options, *uses_scalapack).context(attempt);
}

template <Scalar T>
Result<Pivots> lu(const MatrixPatch<T>& a, const MethodOptions& options) {
  const std::string_view attempt = "lu";
  const MatrixMap map = detail::map_of(a);
  TESSERA_RETURN_IF_ERROR(a.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, a.array());
  const auto uses_scalapack = detail::begin_dense(
      a.array(), {{"A", map}}, options, detail::check_operands({detail::written("A", map)}),
      detail::CallSignature(attempt));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  auto pivots = factor_lu<T>(map, options, *uses_scalapack);
  TESSERA_RETURN_IF_ERROR(Status(pivots.status()).context(attempt));
  return pivots;
}

template <Scalar T>
Result<std::vector<T>> qr(const MatrixPatch<T>& a, const MethodOptions& options) {
  const std::string_view attempt = "qr";
  const MatrixMap map = detail::map_of(a);
  TESSERA_RETURN_IF_ERROR(a.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, a.array());
  const auto uses_scalapack = detail::begin_dense(
      a.array(), {{"A", map}}, options, detail::check_operands({detail::written("A", map)}),
      detail::CallSignature(attempt));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  auto tau = factor_qr<T>(map, options, *uses_scalapack);
  TESSERA_RETURN_IF_ERROR(Status(tau.status()).context(attempt));
  return tau;
}

template Status cholesky(const MatrixPatch<float>&, const CholeskyOptions&);
template Result<Pivots> lu(const MatrixPatch<float>&, const MethodOptions&);
template Result<std::vector<float>> qr(const MatrixPatch<float>&, const MethodOptions&);
template Status cholesky(const MatrixPatch<double>&, const CholeskyOptions&);
template Result<Pivots> lu(const MatrixPatch<double>&, const MethodOptions&);
template Result<std::vector<double>> qr(const MatrixPatch<double>&, const MethodOptions&);
template Status cholesky(const MatrixPatch<std::complex<float>>&, const CholeskyOptions&);
template Result<Pivots> lu(const MatrixPatch<std::complex<float>>&, const MethodOptions&);
template Result<std::vector<std::complex<float>>> qr(const MatrixPatch<std::complex<float>>&,
                                                     const MethodOptions&);
template Status cholesky(const MatrixPatch<std::complex<double>>&, const CholeskyOptions&);
template Result<Pivots> lu(const MatrixPatch<std::complex<double>>&, const MethodOptions&);
template Result<std::vector<std::complex<double>>> qr(const MatrixPatch<std::complex<double>>&,
                                                      const MethodOptions&);

}  // namespace tessera::linalg
