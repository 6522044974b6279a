// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Converts C's options of linear algebra. Errors: invalid_argument for options that were
// not initialised, or an unknown choice.
#pragma once

#include "fortran/c/linalg.h"
#include "fortran/detail/operands.hpp"
#include "linalg/contract.hpp"
#include "linalg/eigen.hpp"
#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/solve.hpp"
#include "rma/base/result.hpp"

namespace tessera::capi {

rma::Result<tessera_product_options> checked(const tessera_product_options* given);
rma::Result<tessera_solver_options> checked(const tessera_solver_options* given);

/// The number at a C pointer, or `otherwise` if it is null.
template <class T>
T number_or(const void* at, T otherwise) {
  return at == nullptr ? otherwise : number<T>(at);
}

template <class T>
linalg::GemmOptions<T> gemm_options(const tessera_product_options& chosen) {
  return {.alpha = number_or(chosen.alpha, T{1}),
          .beta = number_or(chosen.beta, T{0}),
          .op_a = static_cast<linalg::MatrixOp>(chosen.op_a),
          .op_b = static_cast<linalg::MatrixOp>(chosen.op_b),
          .buffer_bytes = chosen.buffer_bytes};
}
template <class T>
linalg::ContractOptions<T> contract_options(const tessera_product_options& chosen) {
  return {.alpha = number_or(chosen.alpha, T{1}),
          .beta = number_or(chosen.beta, T{0}),
          .buffer_bytes = chosen.buffer_bytes};
}

inline linalg::MethodOptions method_options(const tessera_solver_options& chosen) {
  return {.method = static_cast<linalg::Method>(chosen.method), .block = chosen.block};
}
inline linalg::CholeskyOptions cholesky_options(const tessera_solver_options& chosen) {
  return {.triangle = static_cast<linalg::Triangle>(chosen.triangle),
          .how = method_options(chosen)};
}
inline linalg::LuSolveOptions lu_options(const tessera_solver_options& chosen) {
  return {.op = static_cast<linalg::MatrixOp>(chosen.op), .how = method_options(chosen)};
}
inline linalg::EigenOptions eigen_options(const tessera_solver_options& chosen) {
  return {.how = method_options(chosen), .max_bytes = chosen.max_bytes};
}
template <class T>
linalg::TriangularOptions<T> triangular_options(const tessera_solver_options& chosen) {
  return {.side = static_cast<linalg::Side>(chosen.side),
          .triangle = static_cast<linalg::Triangle>(chosen.triangle),
          .op = static_cast<linalg::MatrixOp>(chosen.op),
          .diagonal = static_cast<linalg::Diagonal>(chosen.diagonal),
          .alpha = number_or(chosen.alpha, T{1}),
          .how = method_options(chosen)};
}

}  // namespace tessera::capi
