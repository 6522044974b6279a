// SPDX-License-Identifier: BSD-3-Clause
//
// The product of two sparse matrices, row by row (Gustavson): row i of a · b is the sum of the rows
// of b that row i of a names, times its entries.
#pragma once

#include <string>

#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Collective. a · b: a is m × k, b k × n; both on one team. The result has its rows where a has
/// its; an entry wherever a product of entries falls, also if the sum is zero. Each is summed in
/// the order of the inner index: same bits for any number of ranks.
/// Errors: closed, invalid_argument (inner extents or teams differ), no_memory, peer_lost.
/// Cost: two flops a pair of entries, and a look-up in a table of the row; rows of b are read
/// one-sidedly, once for every batch of entries of a. Memory: the result twice, and some MiB, or
/// the longest row of b.
template <SparseElement T>
rma::Result<SparseMatrix<T>> multiply(SparseMatrix<T>& a, SparseMatrix<T>& b,
                                      const std::string& name);

}  // namespace tessera::linalg
