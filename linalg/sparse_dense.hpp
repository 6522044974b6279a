// SPDX-License-Identifier: BSD-3-Clause
//
// Products of a sparse and a dense matrix, into a dense one. Dense arrays have any distribution, on
// the matrix's team.
//
// Both begin and end with a synchronisation. Each element of the result is summed by one rank, in
// the order of the inner index: same bits for any number of ranks and any distribution. Dense parts
// are held in panels of some MiB, and rows of sparse matrices fetched in batches of some MiB, so
// memory does not grow with the extents.
//
// Errors of both: closed; invalid_argument where extents or teams do not fit, or the result is a
// factor, and the result is not changed then; no_memory, peer_lost, and the result is unspecified.
#pragma once

#include "arrays/array.hpp"
#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Collective. c = a · b: a is m × k and sparse, b k × n, c m × n. Each rank makes the rows of c
/// that it has of a. Cost: 2 n flops an entry; of b, each rank reads the rows that its columns
/// name, once for about every thousand entries that name them.
template <SparseElement T>
rma::Status multiply(SparseMatrix<T>& a, arrays::Array<T>& b, arrays::Array<T>& c);

/// Collective. c = a · b: a is m × k, b k × n and sparse, c m × n. Each rank makes its own block of
/// c, or an even part of c where it has several. Cost: 2 m flops an entry; each rank reads all of
/// b, once for each panel of its part of c, and the rows of a that belong to this part.
template <SparseElement T>
rma::Status multiply(arrays::Array<T>& a, SparseMatrix<T>& b, arrays::Array<T>& c);

}  // namespace tessera::linalg
