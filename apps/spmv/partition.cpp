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
    return Status::error(Code::invalid_argument,
                         fmt::format("--partition {}: there are {}", text, fmt::join(names, ", ")));
  }
  const auto found = static_cast<Partition>(it - names.begin());
  if ((found == Partition::metis && !has_metis()) ||
      (found == Partition::scotch && !has_scotch())) {
    return Status::error(Code::unsupported,
                         fmt::format("--partition {}: Tessera was built without it", text))
        .hint(fmt::format("apt-get install lib{}-dev, and configure again", text));
  }
  return found;
}

template <class T>
Graph graph_of(const LocalCsr<T>& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows);
  std::vector<std::vector<std::int64_t>> adjacent(rows);
  Graph graph;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = static_cast<std::size_t>(matrix.row_starts[row]);
    const auto end = static_cast<std::size_t>(matrix.row_starts[row + 1]);
    // A row without entries weighs, too: its element of y is written.
    graph.weights.push_back(static_cast<std::int64_t>(end - begin) + 1);
    for (std::size_t entry = begin; entry < end; ++entry) {
      const auto column = static_cast<std::size_t>(matrix.column[entry]);
      if (column != row) {
        adjacent[row].push_back(matrix.column[entry]);
        adjacent[column].push_back(static_cast<std::int64_t>(row));
      }
    }
  }
  for (std::vector<std::int64_t>& list : adjacent) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    graph.neighbours.insert(graph.neighbours.end(), list.begin(), list.end());
    graph.starts.push_back(std::ssize(graph.neighbours));
    list = {};
  }
  return graph;
}

template <class T>
Result<std::vector<std::int32_t>> part_rows(SparseMatrix<T>& matrix, Partition how) {
  if (matrix.rows() != matrix.columns()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} is not square: its rows are no vertices of a graph",
                                     matrix.describe()))
        .hint("use --partition entries");
  }
  rma::Team team = matrix.team();
  std::vector<std::int32_t> parts(static_cast<std::size_t>(matrix.rows()));
  Status status;
  if (team.rank().value == 0 && !parts.empty()) {
    auto whole = matrix.get(matrix.box());
    status = whole.status();
    if (whole.ok()) {
      const Graph graph = graph_of(*whole);
      auto found = how == Partition::metis ? partition_by_metis(graph, team.size())
                                           : partition_by_scotch(graph, team.size());
      status = found.status();
      parts = found.ok() ? std::move(found).take() : parts;
    }
  }
  TESSERA_RETURN_IF_ERROR(team.agree(status));
  TESSERA_RETURN_IF_ERROR(
      team.broadcast(std::as_writable_bytes(std::span(parts)), rma::TeamRank{0}));
  return parts;
}

namespace {

// Of rows that are sorted by their parts. A partitioner may leave a part without any: it has no
// start, as blocks of rows are not empty.
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
