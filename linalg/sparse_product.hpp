// SPDX-License-Identifier: BSD-3-Clause
//
// The product of two sparse matrices, row by row (Gustavson): row i of a · b is the sum of rows of
// b, weighted with the entries of row i of a.
#pragma once

#include <string>

#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Collective. Returns a · b, where a is m × k and b is k × n, both on one team. The rows of the
/// result are distributed as those of a. It has an entry for each nonempty sum of products, even if
/// the sum is zero. Each entry is summed in the order of the inner index: same bits for any number
/// of ranks. Errors: closed, invalid_argument (inner extents or teams differ), no_memory,
/// peer_lost. Cost: two flops and a lookup in a hash table of the row for each pair of entries;
/// rows of b are read one-sided, once for each batch of entries of a. Memory: the result twice, and
/// some MiB or the longest row of b.
template <SparseElement T>
rma::Result<SparseMatrix<T>> multiply(SparseMatrix<T>& a, SparseMatrix<T>& b,
                                      const std::string& name);

}  // namespace tessera::linalg
