// SPDX-License-Identifier: BSD-3-Clause
//
// Diagonals and columns of sparse matrices, and scaling. Vectors are arrays of one dimension and of
// any distribution, on the matrix's team. The results have the same bits for any number of ranks.
//
// All are collective; they begin and end with a synchronisation, as operations on arrays do.
// Errors of all: closed and, where extents or teams do not fit or numbers differ among members,
// invalid_argument; nothing is changed then. no_memory, peer_lost, and what was to be changed is
// unspecified.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Collective. diagonal[i] = matrix(i, i), zero where it has no entry; min(rows, columns) elements.
template <SparseElement T>
rma::Status get_diagonal(SparseMatrix<T>& matrix, arrays::Array<T>& diagonal);

/// Collective. result[i] = matrix(i, column), zero where it has no entry; as many as rows.
/// Errors: also out_of_range.
template <SparseElement T>
rma::Status get_column(SparseMatrix<T>& matrix, std::int64_t column, arrays::Array<T>& result);

/// Collective. matrix(i, i) += shift for all i below min(rows, columns).
/// Errors: also invalid_argument when one of them is no entry; the first one is named.
template <SparseElement T>
rma::Status shift_diagonal(SparseMatrix<T>& matrix, std::type_identity_t<T> shift);

/// Collective. matrix *= factor.
template <SparseElement T>
rma::Status scale(SparseMatrix<T>& matrix, std::type_identity_t<T> factor);

/// Collective. matrix = diag(factors) · matrix: row i times factors[i]; as many as rows.
template <SparseElement T>
rma::Status scale_rows(SparseMatrix<T>& matrix, arrays::Array<T>& factors);

/// Collective. matrix = matrix · diag(factors): column j times factors[j]; as many as columns.
/// Cost: each rank reads the factors of the columns in which it has entries, in parts.
template <SparseElement T>
rma::Status scale_columns(SparseMatrix<T>& matrix, arrays::Array<T>& factors);

}  // namespace tessera::linalg
