// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. How factorisations, solvers and eigenvalues begin: operands are checked, the method is
// chosen, members agree; and the layouts of our own method.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linalg/detail/begin_together.hpp"
#include "linalg/detail/column_blocks.hpp"
#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/work_matrix.hpp"
#include "linalg/method.hpp"
#include "rma/result.hpp"

namespace tessera::linalg::detail {

/// An operand and its name in messages.
struct Named {
  std::string_view name;
  MatrixMap map;
  bool is_written = false;
};
inline Named written(std::string_view name, const MatrixMap& map) {
  return {name, map, true};
}

/// Local. Errors: those of check_source() or check_target() of each; invalid_argument when two
/// share elements.
rma::Status check_operands(const std::vector<Named>& operands);
/// Local. Errors: invalid_argument unless the numbers are equal; `rule` is the hint.
rma::Status check_extents_match(const Named& a, std::int64_t of_a, const Named& b,
                                std::int64_t of_b, std::string_view rule);

/// Local. What a factorisation found, as an error. `minor` is the order of the first leading part
/// that is not positive definite, `singular` 1 + the first column without a pivot; 0: none.
rma::Status check_minor(std::int64_t minor, const Named& a);
rma::Status check_pivots(std::int64_t singular, const Named& a);

/// Collective over the team of `target`, which is open: agrees on `mine` and `request`, and that
/// writes to the arrays of `operands` are complete. Returns whether ScaLAPACK does the work.
/// Errors: those of any member; unsupported when it was asked for and isn't possible.
/// `work_per_element`: how many numbers its work space has for each local element.
rma::Result<bool> begin_dense(arrays::ArrayBase& target, const std::vector<Named>& operands,
                              const MethodOptions& options, rma::Status mine, Request request,
                              int work_per_element = 1);

/// Of eigenvalues' and singular values' routines (pXheevd's RWORK, pXgesvd's WORK).
inline constexpr int spectral_work_per_element = 3;

/// The blocks of our own method for a matrix on a team: wide enough for the kernels, and several a
/// rank so that all have work to the end. `width` is the caller's wish, 0 for none.
ColumnBlocks factor_blocks(const MatrixMap& map, const rma::Team& team, std::int64_t width);
/// One block a rank: columns that are worked on each by itself.
ColumnBlocks even_blocks(const MatrixMap& map, const rma::Team& team);

/// A copy of a matrix in the layout of our own method, to be factored.
struct OwnCopy {
  ColumnBlocks blocks;
  WorkMatrix work;
};
/// Collective over `team`. `width`: as factor_blocks() has it. Errors, of any member: no_memory.
rma::Result<OwnCopy> own_copy(const MatrixMap& map, rma::Team team, std::int64_t width);
/// Collective over `team`. The matrix with whole columns on each rank: equal shares, or what its
/// array has, where that is whole columns and something for each rank. Errors, of any member:
/// no_memory.
rma::Result<WorkMatrix> whole_columns(const MatrixMap& map, rma::Team team, WorkMatrix::Use use);

}  // namespace tessera::linalg::detail
