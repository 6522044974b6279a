// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <string>
#include <string_view>

#include "arrays/call_signature.hpp"
#include "linalg/blas_threads.hpp"
#include "linalg/detail/agree_and_begin.hpp"
#include "linalg/detail/matrix_checks.hpp"
#include "linalg/variants/gemm_stationary_c.hpp"

namespace tessera::linalg {

using arrays::ArrayBase;
using detail::check_apart;
using detail::check_source;
using detail::check_target;
using detail::map_of;
using detail::MatrixMap;
using rma::Code;
using rma::Status;

namespace {

Status check_extents_fit(const MatrixMap& c, const MatrixMap& a, const MatrixMap& b) {
  if (a.columns() == b.rows() && a.rows() == c.rows() && b.columns() == c.columns()) {
    return {};
  }
  return Status::error(
             Code::invalid_argument,
             fmt::format("op(A) is {} x {} ({}), op(B) is {} x {} ({}), and C is {} x {} ({})",
                         a.rows(), a.columns(), describe(a), b.rows(), b.columns(), describe(b),
                         c.rows(), c.columns(), describe(c)))
      .hint("C is m x n, op(A) m x k and op(B) k x n");
}

Status check_all(const MatrixMap& c, const MatrixMap& a, const MatrixMap& b) {
  TESSERA_RETURN_IF_ERROR(check_target(c).context("C"));
  TESSERA_RETURN_IF_ERROR(check_source(a).context("A"));
  TESSERA_RETURN_IF_ERROR(check_source(b).context("B"));
  TESSERA_RETURN_IF_ERROR(check_extents_fit(c, a, b));
  TESSERA_RETURN_IF_ERROR(check_apart(c, "C", a, "A"));
  return check_apart(c, "C", b, "B");
}

MatrixMap with_op(const MatrixMap& map, MatrixOp op) {
  return op == MatrixOp::none ? map : map.transposed();
}

template <Scalar T>
detail::CallSignature signature_of(const MatrixMap& c, const MatrixMap& a, const MatrixMap& b,
                                   const GemmOptions<T>& options) {
  detail::CallSignature signature("gemm");
  add(signature, c);
  add(signature, a);
  add(signature, b);
  signature.add_scalar(options.alpha).add_scalar(options.beta).add(options.op_a).add(options.op_b);
  return signature;
}

}  // namespace

template <Scalar T>
Status gemm(const MatrixPatch<T>& a, const MatrixPatch<T>& b, const MatrixPatch<T>& c,
            const std::type_identity_t<GemmOptions<T>>& options) {
  const std::string_view attempt = "gemm";
  rma::Job& job = c.array().job();
  const std::int64_t buffer_bytes =
      options.buffer_bytes > 0 ? options.buffer_bytes : job.settings().linalg_buffer_mib << 20U;
  const variants::GemmTask<T> task{
      .c = map_of(c),
      .factors = {.a = with_op(map_of(a), options.op_a), .b = with_op(map_of(b), options.op_b)},
      .conjugates_a = options.op_a == MatrixOp::conjugate_transpose,
      .conjugates_b = options.op_b == MatrixOp::conjugate_transpose,
      .alpha = options.alpha,
      .beta = options.beta,
      .buffer_bytes = buffer_bytes};
  // Without C there is no team to agree with.
  TESSERA_RETURN_IF_ERROR(c.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, c.array());
  Status own_status = check_all(task.c, task.factors.a, task.factors.b);
  detail::CallSignature signature("gemm");
  if (own_status.ok()) {
    signature = signature_of(task.c, task.factors.a, task.factors.b, options);
  }
  const std::array<ArrayBase*, 2> sources{&a.array(), &b.array()};
  TESSERA_RETURN_IF_ERROR(
      detail::agree_and_begin(c.array(), sources, std::move(own_status), signature)
          .context(attempt));
  limit_blas_threads(job);
  return c.array().sync([&] { return variants::gemm_stationary_c(task); }).context(attempt);
}

template Status gemm(const MatrixPatch<float>&, const MatrixPatch<float>&,
                     const MatrixPatch<float>&, const GemmOptions<float>&);
template Status gemm(const MatrixPatch<double>&, const MatrixPatch<double>&,
                     const MatrixPatch<double>&, const GemmOptions<double>&);
template Status gemm(const MatrixPatch<std::complex<float>>&,
                     const MatrixPatch<std::complex<float>>&,
                     const MatrixPatch<std::complex<float>>&,
                     const GemmOptions<std::complex<float>>&);
template Status gemm(const MatrixPatch<std::complex<double>>&,
                     const MatrixPatch<std::complex<double>>&,
                     const MatrixPatch<std::complex<double>>&,
                     const GemmOptions<std::complex<double>>&);

}  // namespace tessera::linalg
