// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Right-looking factorisations of a matrix whose columns are assigned to ranks in blocks.
// The owner of a block factors it in local memory and notifies the others. These read it one-sided
// and apply it to their columns to the right of it.
//
// A rank has all rows of its blocks, so the pivot search and the row exchanges are local. In return
// each rank reads all blocks: n² / 2 elements instead of n² / √ranks.
//
// All functions are collective over the matrix's team. Memory: one block, n × width, besides the
// matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "linalg/detail/column_blocks.hpp"
#include "linalg/detail/work_matrix.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/base/result.hpp"

namespace tessera::linalg::variants {

/// Collective. A = L Lᴴ in the lower triangle; the upper one is neither read nor written. Returns
/// the order of the first leading part that is not positive definite, or 0 if all are.
template <Scalar T>
rma::Result<std::int64_t> cholesky_by_columns(detail::WorkMatrix& a,
                                              const detail::ColumnBlocks& blocks);

/// The result of A = P L U: in step i, from 0, row i was exchanged with row pivots[i]; and 1 + the
/// first column without a pivot, or 0 if all have one.
struct LuSteps {
  std::vector<std::int64_t> pivots;
  std::int64_t singular = 0;
};

/// Collective. A = P L U in place.
template <Scalar T>
rma::Result<LuSteps> lu_by_columns(detail::WorkMatrix& a, const detail::ColumnBlocks& blocks);

/// Collective. A = Q R in place; returns the factors of the reflectors.
template <Scalar T>
rma::Result<std::vector<T>> qr_by_columns(detail::WorkMatrix& a,
                                          const detail::ColumnBlocks& blocks);

}  // namespace tessera::linalg::variants
