// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <numeric>
#include <span>
#include <utility>

#include "linalg/sparse_builder.hpp"
#include "rma/team.hpp"

namespace tessera::apps::spmv {

using linalg::LocalCsr;
using linalg::SparseBuilder;
using linalg::SparseMatrix;
using rma::Code;
using rma::Result;
using rma::Status;

Result<Partition> parse_partition(const std::string& text) {
  constexpr std::array names = {std::string_view("rows"), std::string_view("entries"),
                                std::string_view("metis"), std::string_view("scotch")};
  const auto it = std::find(names.begin(), names.end(), text);
  if (it == names.end()) {
    return Status::error(Code::invalid_argument, fmt::format("--partition {}: the choices are {}",
                                                             text, fmt::join(names, ", ")));
  }
  const auto found = static_cast<Partition>(it - names.begin());
  if ((found == Partition::metis && !has_metis()) ||
      (found == Partition::scotch && !has_scotch())) {
    return Status::error(Code::unsupported,
                         fmt::format("--partition {}: this Tessera was built without it", text))
        .hint(fmt::format("apt-get install lib{}-dev, and configure again", text));
  }
  return found;
}

namespace {

// Calls `action(row, column)` for the entries off the diagonal, and for their mirror images.
template <class T, class Action>
void for_each_neighbour(const LocalCsr<T>& matrix, Action&& action) {
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto begin = static_cast<std::size_t>(matrix.row_starts[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(matrix.row_starts[static_cast<std::size_t>(row) + 1]);
    for (std::size_t entry = begin; entry < end; ++entry) {
      if (matrix.column[entry] != row) {
        action(row, matrix.column[entry]);
        action(matrix.column[entry], row);
      }
    }
  }
}

// Sorts the neighbours of each vertex and removes duplicates; later lists move up.
void remove_duplicates(Graph& graph) {
  const auto at = [&](std::int64_t index) { return graph.neighbours.begin() + index; };
  std::int64_t begin = 0;
  std::int64_t kept = 0;
  for (std::size_t row = 0; row + 1 < graph.starts.size(); ++row) {
    const std::int64_t end = graph.starts[row + 1];
    std::sort(at(begin), at(end));
    const auto last = std::unique(at(begin), at(end));
    // The first rows may stay in place: copies onto themselves are not allowed.
    kept = (kept == begin ? last : std::copy(at(begin), last, at(kept))) - graph.neighbours.begin();
    begin = end;
    graph.starts[row + 1] = kept;
  }
  graph.neighbours.resize(static_cast<std::size_t>(kept));
}

}  // namespace

// In two passes, one to count and one to fill: separate lists would take several times the memory.
template <class T>
Graph graph_of(const LocalCsr<T>& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows);
  Graph graph;
  graph.starts.assign(rows + 1, 0);
  for_each_neighbour(matrix, [&](std::int64_t row, std::int64_t) {
    ++graph.starts[static_cast<std::size_t>(row) + 1];
  });
  std::partial_sum(graph.starts.begin(), graph.starts.end(), graph.starts.begin());
  graph.neighbours.resize(static_cast<std::size_t>(graph.starts.back()));
  std::vector<std::int64_t> next(graph.starts.begin(), graph.starts.end() - 1);
  for_each_neighbour(matrix, [&](std::int64_t row, std::int64_t column) {
    graph.neighbours[static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++)] = column;
  });
  remove_duplicates(graph);
  for (std::size_t row = 0; row < rows; ++row) {
    // A row without entries also has a weight: its element of y is written.
    graph.weights.push_back(matrix.row_starts[row + 1] - matrix.row_starts[row] + 1);
  }
  return graph;
}

namespace {

// One-sided. The caller does not keep the matrix while the partitioner works.
template <class T>
Result<Graph> get_graph(SparseMatrix<T>& matrix) {
  TESSERA_ASSIGN_OR_RETURN(const auto whole, matrix.get(matrix.box()));
  return graph_of(whole);
}

template <class T>
Result<std::vector<std::int32_t>> part_graph(SparseMatrix<T>& matrix, Partition how,
                                             std::int32_t parts) {
  TESSERA_ASSIGN_OR_RETURN(const Graph graph, get_graph(matrix));
  return how == Partition::metis ? partition_by_metis(graph, parts)
                                 : partition_by_scotch(graph, parts);
}

}  // namespace

template <class T>
Result<std::vector<std::int32_t>> part_rows(SparseMatrix<T>& matrix, Partition how) {
  if (matrix.rows() != matrix.columns()) {
    return Status::error(
               Code::invalid_argument,
               fmt::format("{} is not square, so its rows cannot be the vertices of a graph",
                           matrix.describe()))
        .hint("use --partition entries");
  }
  rma::Team team = matrix.team();
  std::vector<std::int32_t> parts(static_cast<std::size_t>(matrix.rows()));
  Status status;
  if (team.rank().value == 0 && !parts.empty()) {
    auto found = part_graph(matrix, how, team.size());
    status = found.status();
    parts = found.ok() ? std::move(found).take() : parts;
  }
  TESSERA_RETURN_IF_ERROR(team.agree(status));
  TESSERA_RETURN_IF_ERROR(
      team.broadcast(std::as_writable_bytes(std::span(parts)), rma::TeamRank{0}));
  return parts;
}

namespace {

// For rows sorted by their parts. A partitioner may leave a part empty: it has no start, because
// blocks of rows are not empty.
std::vector<std::int64_t> starts_of_parts(const std::vector<std::int64_t>& old_rows,
                                          const std::vector<std::int32_t>& parts) {
  std::vector<std::int64_t> starts;
  std::int32_t last = -1;
  for (std::size_t i = 0; i < old_rows.size(); ++i) {
    const std::int32_t part = parts[static_cast<std::size_t>(old_rows[i])];
    if (std::exchange(last, part) != part) {
      starts.push_back(static_cast<std::int64_t>(i));
    }
  }
  return starts;
}

}  // namespace

template <class T>
Result<Renumbered<T>> renumber(SparseMatrix<T>& matrix, const std::vector<std::int32_t>& parts) {
  std::vector<std::int64_t> old_rows(parts.size());
  std::iota(old_rows.begin(), old_rows.end(), std::int64_t{0});
  std::stable_sort(old_rows.begin(), old_rows.end(), [&](std::int64_t a, std::int64_t b) {
    return parts[static_cast<std::size_t>(a)] < parts[static_cast<std::size_t>(b)];
  });
  std::vector<std::int64_t> new_rows(parts.size());
  for (std::size_t i = 0; i < old_rows.size(); ++i) {
    new_rows[static_cast<std::size_t>(old_rows[i])] = static_cast<std::int64_t>(i);
  }
  linalg::SparseOptions options{.name = matrix.name(),
                                .row_starts = starts_of_parts(old_rows, parts)};
  TESSERA_ASSIGN_OR_RETURN(auto builder, SparseBuilder<T>::create(matrix.job(), matrix.rows(),
                                                                  matrix.columns(), options));
  TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
  builder.reserve(own.entries());
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    const std::int64_t row = new_rows[static_cast<std::size_t>(own.first_row() + i)];
    const auto columns = own.columns_of(i);
    const auto values = own.values_of(i);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      TESSERA_RETURN_IF_ERROR(
          builder.add(row, new_rows[static_cast<std::size_t>(columns[k])], values[k]));
    }
  }
  TESSERA_RETURN_IF_ERROR(own.end());
  TESSERA_ASSIGN_OR_RETURN(auto renumbered, builder.assemble());
  return Renumbered<T>{std::move(renumbered), std::move(old_rows)};
}

template Graph graph_of(const LocalCsr<double>&);
template Graph graph_of(const LocalCsr<std::complex<double>>&);
template Result<std::vector<std::int32_t>> part_rows(SparseMatrix<double>&, Partition);
template Result<std::vector<std::int32_t>> part_rows(SparseMatrix<std::complex<double>>&,
                                                     Partition);
template Result<Renumbered<double>> renumber(SparseMatrix<double>&,
                                             const std::vector<std::int32_t>&);
template Result<Renumbered<std::complex<double>>> renumber(SparseMatrix<std::complex<double>>&,
                                                           const std::vector<std::int32_t>&);

}  // namespace tessera::apps::spmv
