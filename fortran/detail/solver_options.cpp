// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/detail/solver_options.hpp"

#include "fortran/detail/arguments.hpp"

namespace tessera::capi {

using rma::Result;

static_assert(static_cast<int>(linalg::MatrixOp::transpose) == TESSERA_TRANSPOSED);
static_assert(static_cast<int>(linalg::MatrixOp::conjugate_transpose) ==
              TESSERA_CONJUGATE_TRANSPOSED);
static_assert(static_cast<int>(linalg::Triangle::upper) == TESSERA_UPPER);
static_assert(static_cast<int>(linalg::Side::right) == TESSERA_RIGHT);
static_assert(static_cast<int>(linalg::Diagonal::unit) == TESSERA_DIAGONAL_OF_ONES);
static_assert(static_cast<int>(linalg::Method::own) == TESSERA_METHOD_OWN);
static_assert(static_cast<int>(linalg::Method::scalapack) == TESSERA_METHOD_SCALAPACK);

Result<tessera_product_options> checked(const tessera_product_options* given) {
  TESSERA_ASSIGN_OR_RETURN(
      const tessera_product_options chosen,
      options_of(given, tessera_product_options_init, "tessera_product_options_init"));
  for (const tessera_transposition op : {chosen.op_a, chosen.op_b}) {
    TESSERA_RETURN_IF_ERROR(check_choice(op, TESSERA_CONJUGATE_TRANSPOSED + 1, "transposition"));
  }
  TESSERA_RETURN_IF_ERROR(check_count(chosen.buffer_bytes, "bytes of the buffer"));
  return chosen;
}

Result<tessera_solver_options> checked(const tessera_solver_options* given) {
  TESSERA_ASSIGN_OR_RETURN(
      const tessera_solver_options chosen,
      options_of(given, tessera_solver_options_init, "tessera_solver_options_init"));
  TESSERA_RETURN_IF_ERROR(check_choice(chosen.method, TESSERA_METHOD_SCALAPACK + 1, "method"));
  TESSERA_RETURN_IF_ERROR(check_choice(chosen.triangle, TESSERA_UPPER + 1, "triangle"));
  TESSERA_RETURN_IF_ERROR(check_choice(chosen.side, TESSERA_RIGHT + 1, "side"));
  TESSERA_RETURN_IF_ERROR(
      check_choice(chosen.op, TESSERA_CONJUGATE_TRANSPOSED + 1, "transposition"));
  TESSERA_RETURN_IF_ERROR(
      check_choice(chosen.diagonal, TESSERA_DIAGONAL_OF_ONES + 1, "kind of diagonal"));
  TESSERA_RETURN_IF_ERROR(check_count(chosen.block, "columns at a time"));
  TESSERA_RETURN_IF_ERROR(check_count(chosen.max_bytes, "bytes for a gathered problem"));
  return chosen;
}

}  // namespace tessera::capi
