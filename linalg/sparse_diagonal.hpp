// SPDX-License-Identifier: BSD-3-Clause
//
// Diagonals, columns and scaling of sparse matrices. Vectors are arrays of one dimension with any
// distribution, on the matrix's team. The results have the same bits for any number of ranks.
//
// All functions are collective; they begin and end with a synchronisation, as operations on arrays
// do. Errors of all that change nothing: closed; invalid_argument (extents or teams don't match, or
// numbers differ among members). Errors that leave the result unspecified: no_memory, peer_lost.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Collective. diagonal[i] = matrix(i, i), or zero if that is not an entry; min(rows, columns)
/// elements.
template <SparseElement T>
rma::Status get_diagonal(SparseMatrix<T>& matrix, arrays::Array<T>& diagonal);

/// Collective. result[i] = matrix(i, column), or zero if that is not an entry; as many elements as
/// rows. Errors: also out_of_range.
template <SparseElement T>
rma::Status get_column(SparseMatrix<T>& matrix, std::int64_t column, arrays::Array<T>& result);

/// Collective. matrix(i, i) += shift for all i below min(rows, columns). Errors: also
/// invalid_argument if one of these is not an entry; the message names the first one.
template <SparseElement T>
rma::Status shift_diagonal(SparseMatrix<T>& matrix, std::type_identity_t<T> shift);

/// Collective. matrix *= factor.
template <SparseElement T>
rma::Status scale(SparseMatrix<T>& matrix, std::type_identity_t<T> factor);

/// Collective. matrix = diag(factors) · matrix: row i is multiplied by factors[i]; as many factors
/// as rows.
template <SparseElement T>
rma::Status scale_rows(SparseMatrix<T>& matrix, arrays::Array<T>& factors);

/// Collective. matrix = matrix · diag(factors): column j is multiplied by factors[j]; as many
/// factors as columns. Cost: each rank reads the factors of the columns in which it has entries, in
/// parts.
template <SparseElement T>
rma::Status scale_columns(SparseMatrix<T>& matrix, arrays::Array<T>& factors);

}  // namespace tessera::linalg
