// SPDX-License-Identifier: BSD-3-Clause
//
// Products of a sparse and a dense matrix, with a dense result. Dense arrays may have any
// distribution, on the matrix's team.
//
// Both functions begin and end with a synchronisation. Each element of the result is summed by one
// rank, in the order of the inner index: same bits for any number of ranks and any distribution.
// Dense parts are held in panels of some MiB, and rows of sparse matrices are fetched in batches of
// some MiB, so memory doesn't grow with the extents.
//
// Errors of both that leave the result unchanged: closed; invalid_argument (extents or teams don't
// match, or the result is also a factor). Errors that leave the result unspecified: no_memory,
// peer_lost.
#pragma once

#include "arrays/array.hpp"
#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Collective. c = a · b, where a is m × k and sparse, b is k × n and c is m × n. Each rank
/// computes the rows of c that it owns of a. Cost: 2 n flops for each entry. Each rank reads the
/// rows of b that its columns name, once for about every thousand entries that name them.
template <SparseElement T>
rma::Status multiply(SparseMatrix<T>& a, arrays::Array<T>& b, arrays::Array<T>& c);

/// Collective. c = a · b, where a is m × k, b is k × n and sparse, and c is m × n. Each rank
/// computes its own block of c, or an even part of c if it has several blocks. Cost: 2 m flops for
/// each entry. Each rank reads all of b once for each panel of its part of c, and the rows of a
/// that belong to this part.
template <SparseElement T>
rma::Status multiply(arrays::Array<T>& a, SparseMatrix<T>& b, arrays::Array<T>& c);

}  // namespace tessera::linalg
