// SPDX-License-Identifier: BSD-3-Clause
//
// Which rank gets which rows, so that ranks read little of each other: by a graph partitioner, and
// the matrix renumbered accordingly.
//
//     old rows        0 1 2 3 4 5          part_rows() says   0 1 0 1 0 1
//     new numbers     0 2 4 | 1 3 5        old_rows of the new ones; symmetric: columns, too
//
// The partitioners work in one process, the first rank's. Measured there, in bytes an entry of a
// matrix of some millions of entries, with the making of the graph:
//
//                                    METIS   Scotch
//     fe2d:700, symmetric               42       38
//     random:300000,12, unsymmetric    150      170
//
// In the latter an entry has two edges, and the graph hardly shrinks when it is made coarser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linalg/csr.hpp"
#include "rma/job.hpp"
#include "rma/result.hpp"

namespace tessera::apps::spmv {

enum class Partition : std::uint8_t {
  rows,     ///< consecutive rows, as many for each rank
  entries,  ///< consecutive rows with about as many entries for each rank
  metis,
  scotch,
};

/// Errors: invalid_argument, which tells what there is; unsupported for what wasn't built in.
rma::Result<Partition> parse_partition(const std::string& text);

/// A symmetric graph without loops, in compressed rows: rows are vertices, and the weight of one is
/// the number of its entries.
struct Graph {
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int64_t> neighbours;
  std::vector<std::int64_t> weights;
};
/// Local. Of the pattern of A + Aᵀ. Requires: as many rows as columns.
template <class T>
Graph graph_of(const linalg::LocalCsr<T>& matrix);

/// Local. The part of each vertex, from 0 to parts − 1. Errors: unsupported where it isn't built
/// in; limit_exceeded when the library's integers are too short; internal when it fails.
rma::Result<std::vector<std::int32_t>> partition_by_metis(const Graph& graph, std::int32_t parts);
rma::Result<std::vector<std::int32_t>> partition_by_scotch(const Graph& graph, std::int32_t parts);
/// Local. Whether they are built in.
bool has_metis() noexcept;
bool has_scotch() noexcept;

/// Collective. The part of each row, known to all. Errors: also invalid_argument when the matrix is
/// not square.
template <class T>
rma::Result<std::vector<std::int32_t>> part_rows(linalg::SparseMatrix<T>& matrix, Partition how);

template <class T>
struct Renumbered {
  linalg::SparseMatrix<T> matrix;
  std::vector<std::int64_t> old_rows;  ///< of each new row and column; known to all ranks
};

/// Collective. The same matrix with rows and columns renumbered so that rank i has those of the
/// i-th part, of those that have any: the last ranks may get none.
template <class T>
rma::Result<Renumbered<T>> renumber(linalg::SparseMatrix<T>& matrix,
                                    const std::vector<std::int32_t>& parts);

}  // namespace tessera::apps::spmv
