// SPDX-License-Identifier: BSD-3-Clause
//
// Conversion of sparse matrices from and to dense arrays, transposition, and a summary for people.
//
// Dense arrays have two dimensions and any distribution, on the matrix's team. Matrices are read
// and written in panels of rows of some MiB.
//
// Errors of each: closed, no_memory, peer_lost; invalid_argument if extents or teams don't match.
#pragma once

#include <cstdint>
#include <string>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"

namespace tessera::linalg {

/// Collective over the array's team; the team of `options` is ignored. Makes a matrix of the
/// elements with |value| > `threshold`; 0 omits only zeros. NaNs are included. Cost: the array is
/// read once, or twice for RowBalance::entries.
template <SparseElement T>
rma::Result<SparseMatrix<T>> from_dense(arrays::Array<T>& dense, const SparseOptions& options = {},
                                        double threshold = 0);

/// Collective. dense = matrix, with zeros where it has no entries.
template <SparseElement T>
rma::Status to_dense(SparseMatrix<T>& matrix, arrays::Array<T>& dense);

/// Collective. The transpose (not conjugated). `options` give the distribution of its rows; its
/// team is the matrix's. Same bits for any number of ranks. Memory: as SparseBuilder::assemble().
template <SparseElement T>
rma::Result<SparseMatrix<T>> transpose(SparseMatrix<T>& matrix, const SparseOptions& options = {});

/// A summary of a pattern.
struct SparseSummary {
  std::string matrix;  ///< SparseMatrix::describe()
  std::int64_t empty_rows = 0;
  std::int64_t fewest_in_row = 0;
  std::int64_t most_in_row = 0;
  std::int64_t on_diagonal = 0;
  std::int64_t below_diagonal = 0;  ///< the greatest row − column of an entry, or 0
  std::int64_t above_diagonal = 0;  ///< the greatest column − row of an entry, or 0
  std::int64_t fewest_on_rank = 0;
  std::int64_t most_on_rank = 0;
  std::int32_t ranks = 0;
};

/// Collective. Returns the same summary on all members.
template <SparseElement T>
rma::Result<SparseSummary> summarise(SparseMatrix<T>& matrix);

/// The summary as several lines of text.
std::string to_string(const SparseSummary& summary);

}  // namespace tessera::linalg
