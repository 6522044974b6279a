// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. Factorisations of a matrix whose columns are dealt to ranks in blocks, one after the
// other (right-looking): the owner of a block factors it in local memory and tells the others, who
// read it one-sided and apply it to those of their columns that lie behind.
//
// A block has all of its rows on one rank: so the search for pivots, and the exchange of rows, are
// local. The price is that each rank reads all blocks: n² / 2 elements, and not n² / √ranks.
//
// All are collective over the matrix's team. Memory: one block, n × width, besides the matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "linalg/detail/column_blocks.hpp"
#include "linalg/detail/work_matrix.hpp"
#include "linalg/local_matrix.hpp"
#include "rma/result.hpp"

namespace tessera::linalg::variants {

/// Collective. A = L Lᴴ in the lower triangle; the upper one is neither read nor written. Returns
/// the order of the first leading part that is not positive definite, 0 when all are.
template <Scalar T>
rma::Result<std::int64_t> cholesky_by_columns(detail::WorkMatrix& a,
                                              const detail::ColumnBlocks& blocks);

/// A = P L U: the row that was exchanged with row i in step i, counted from 0; and 1 + the first
/// column without a pivot, 0 when all have one.
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
