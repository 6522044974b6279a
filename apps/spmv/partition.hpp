// SPDX-License-Identifier: BSD-3-Clause
//
// Distribution of rows to ranks by a graph partitioner, so that ranks read little of each other,
// and the matrix renumbered accordingly.
//
//     old rows        0 1 2 3 4 5          part_rows() returns   0 1 0 1 0 1
//     new numbers     0 2 4 | 1 3 5        old_rows of the new ones; columns in the same way
//
// The partitioners run in one process, that of rank 0. Their memory there, in bytes for each entry
// of a matrix with some millions of entries, including the graph:
//
//                                    METIS   Scotch
//     fe2d:700, symmetric               42       38
//     random:300000,12, unsymmetric    150      170
//
// In the latter an entry has two edges, and coarsening hardly makes the graph smaller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linalg/csr.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"

namespace tessera::apps::spmv {

enum class Partition : std::uint8_t {
  rows,     ///< consecutive rows, the same number for each rank
  entries,  ///< consecutive rows with about the same number of entries for each rank
  metis,
  scotch,
};

/// Errors: invalid_argument, with the list of choices; unsupported if this build does not have it.
rma::Result<Partition> parse_partition(const std::string& text);

/// A symmetric graph without loops, in compressed rows: rows are vertices; the weight of a vertex
/// is the number of its entries.
struct Graph {
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int64_t> neighbours;
  std::vector<std::int64_t> weights;
};
/// Local. The graph of the pattern of A + Aᵀ. Requires: as many rows as columns.
template <class T>
Graph graph_of(const linalg::LocalCsr<T>& matrix);

/// Local. The part of each vertex, from 0 to parts − 1. Errors: unsupported if this build does not
/// have it; limit_exceeded if the library's integers are too short; internal if it fails.
rma::Result<std::vector<std::int32_t>> partition_by_metis(const Graph& graph, std::int32_t parts);
rma::Result<std::vector<std::int32_t>> partition_by_scotch(const Graph& graph, std::int32_t parts);
/// Local. Whether this build has them.
bool has_metis() noexcept;
bool has_scotch() noexcept;

/// Collective. The part of each row, on all ranks. Errors: also invalid_argument if the matrix is
/// not square.
template <class T>
rma::Result<std::vector<std::int32_t>> part_rows(linalg::SparseMatrix<T>& matrix, Partition how);

template <class T>
struct Renumbered {
  linalg::SparseMatrix<T> matrix;
  std::vector<std::int64_t> old_rows;  ///< of each new row and column; on all ranks
};

/// Collective. The same matrix with rows and columns renumbered so that rank i has those of the
/// i-th non-empty part: the last ranks may have none.
template <class T>
rma::Result<Renumbered<T>> renumber(linalg::SparseMatrix<T>& matrix,
                                    const std::vector<std::int32_t>& parts);

}  // namespace tessera::apps::spmv
