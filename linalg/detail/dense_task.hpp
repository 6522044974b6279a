// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. The beginning of factorisations, solvers and eigenvalues: operands are checked, the
// method is chosen, and members agree. Also the layouts of Tessera's own method.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linalg/detail/agree_and_begin.hpp"
#include "linalg/detail/column_blocks.hpp"
#include "linalg/detail/matrix_map.hpp"
#include "linalg/detail/work_matrix.hpp"
#include "linalg/method.hpp"
#include "rma/base/result.hpp"

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

/// Local. Errors: those of check_source() or check_target() for each operand; invalid_argument if
/// two of them share elements.
rma::Status check_operands(const std::vector<Named>& operands);
/// Local. Errors: invalid_argument unless the numbers are equal; `rule` is the hint.
rma::Status check_extents_match(const Named& a, std::int64_t of_a, const Named& b,
                                std::int64_t of_b, std::string_view rule);

/// Local. The result of a factorisation as an error. `minor` is the order of the first leading part
/// that is not positive definite, `singular` is 1 + the first column without a pivot; 0 means
/// success. Both are also written to options.info.
rma::Status check_minor(std::int64_t minor, const Named& a, const MethodOptions& options);
rma::Status check_pivots(std::int64_t singular, const Named& a, const MethodOptions& options);

/// Collective over the team of `target`, which is open. Sets options.info to 0, agrees on
/// `own_status` and `signature`, and completes writes to the arrays of `operands`. Returns true if
/// ScaLAPACK is to be used. Errors: those of any member; unsupported if ScaLAPACK was requested and
/// can't be used. `work_per_element`: how many numbers its work space has for each local element.
rma::Result<bool> begin_dense(arrays::ArrayBase& target, const std::vector<Named>& operands,
                              const MethodOptions& options, rma::Status own_status,
                              CallSignature signature, int work_per_element = 1);

/// For the routines for eigenvalues and singular values (pXheevd's RWORK, pXgesvd's WORK).
inline constexpr int spectral_work_per_element = 3;

/// The blocks of Tessera's own method for a matrix on a team: wide enough for the kernels, and
/// several on each rank, so that all ranks have work until the end. `width` is requested by the
/// caller; 0: chosen here.
ColumnBlocks factor_blocks(const MatrixMap& map, const rma::Team& team, std::int64_t width);
/// One block on each rank, for columns that are worked on independently.
ColumnBlocks even_blocks(const MatrixMap& map, const rma::Team& team);

/// A copy of a matrix in the layout of Tessera's own method, to be factored.
struct OwnCopy {
  ColumnBlocks blocks;
  WorkMatrix work;
};
/// Collective over `team`. `width`: as for factor_blocks(). Errors, of any member: no_memory.
rma::Result<OwnCopy> own_copy(const MatrixMap& map, rma::Team team, std::int64_t width);
/// Collective over `team`. The matrix with whole columns on each rank: in the array's own layout,
/// if that has whole columns and something on each rank, else in equal shares. Errors, of any
/// member: no_memory.
rma::Result<WorkMatrix> whole_columns(const MatrixMap& map, rma::Team team, WorkMatrix::Use use);

}  // namespace tessera::linalg::detail
