// SPDX-License-Identifier: BSD-3-Clause
//
// The oracle of sparse tests: the whole matrix as a dense one, on every rank, and the set of its
// entries. Values are small whole numbers, so that sums are exact in every element type and in any
// order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "arrays/array.hpp"
#include "linalg/csr.hpp"
#include "linalg/sparse_builder.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/shared_seed.hpp"

namespace tessera::linalg::test {

using rma::Job;
using rma::Team;
using rma::WorldRank;
using rma::test::ok;

/// A dense matrix in one vector, row by row.
template <SparseElement T>
struct Dense {
  Dense(std::int64_t rows_given, std::int64_t columns_given)
      : Dense(std::vector<T>(static_cast<std::size_t>(rows_given * columns_given)), rows_given,
              columns_given) {}
  Dense(std::vector<T> given, std::int64_t rows_given, std::int64_t columns_given)
      : rows(rows_given), columns(columns_given), values(std::move(given)) {}

  T& operator()(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  const T& operator()(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  friend bool operator==(const Dense&, const Dense&) = default;
  friend Dense operator*(const Dense& a, const Dense& b) {
    Dense product(a.rows, b.columns);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = 0; k < a.columns; ++k) {
        for (std::int64_t j = 0; j < b.columns && a(i, k) != T{}; ++j) {
          product(i, j) += a(i, k) * b(k, j);
        }
      }
    }
    return product;
  }

  std::int64_t rows;
  std::int64_t columns;
  std::vector<T> values;
};

template <SparseElement T>
Dense<T> transposed(const Dense<T>& matrix) {
  Dense<T> turned(matrix.columns, matrix.rows);
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t j = 0; j < matrix.columns; ++j) {
      turned(j, i) = matrix(i, j);
    }
  }
  return turned;
}

/// −4 … 4, with an imaginary part if T has one.
template <SparseElement T>
T small_number(std::mt19937_64& random) {
  std::uniform_int_distribution<int> number(-4, 4);
  const int real = number(random);
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(real);
  } else {
    return T(static_cast<typename T::value_type>(real),
             static_cast<typename T::value_type>(number(random)));
  }
}

template <SparseElement T>
struct Model {
  Model(std::int64_t rows, std::int64_t columns) : dense(rows, columns), is_entry(rows, columns) {}

  void add(const Triplet<T>& entry) {
    dense(entry.row, entry.column) += entry.value;
    is_entry(entry.row, entry.column) = 1;
  }
  /// The entries inside a box, as SparseMatrix::get returns them.
  [[nodiscard]] LocalCsr<T> csr(const arrays::Box& box) const {
    LocalCsr<T> rows;
    rows.rows = box.extent(0);
    rows.columns = box.extent(1);
    for (std::int64_t i = box.lo(0); i < box.hi(0); ++i) {
      for (std::int64_t j = box.lo(1); j < box.hi(1); ++j) {
        if (is_entry(i, j) != 0) {
          rows.column.push_back(j - box.lo(1));
          rows.value.push_back(dense(i, j));
        }
      }
      rows.row_starts.push_back(rows.entries());
    }
    return rows;
  }
  [[nodiscard]] LocalCsr<T> csr() const {
    return csr(arrays::Box::whole({dense.rows, dense.columns}));
  }

  Dense<T> dense;
  Dense<std::int32_t> is_entry;  ///< 1 or 0
};

/// What one rank adds: `count` random entries, some of them more than once, some zero.
template <SparseElement T>
std::vector<Triplet<T>> random_triplets(std::int64_t rows, std::int64_t columns, int count,
                                        std::mt19937_64& random) {
  std::vector<Triplet<T>> all;
  for (int i = 0; i < count && rows > 0 && columns > 0; ++i) {
    all.push_back({std::uniform_int_distribution<std::int64_t>(0, rows - 1)(random),
                   std::uniform_int_distribution<std::int64_t>(0, columns - 1)(random),
                   small_number<T>(random)});
  }
  return all;
}

template <SparseElement T>
struct Built {
  SparseMatrix<T> matrix;
  Model<T> model;
};

/// Collective over `team`. A matrix to which each member adds `count` random entries.
template <SparseElement T>
Built<T> build(Job& job, Team& team, std::int64_t rows, std::int64_t columns, int count,
               const rma::test::SharedSeed& seed, SparseOptions options = {.name = "A"}) {
  options.team = team;
  auto builder = SparseBuilder<T>::create(job, rows, columns, options).value();
  Model<T> model(rows, columns);
  for (std::int32_t member = 0; member < team.size(); ++member) {
    auto random = seed.generator(member);
    const auto triplets = random_triplets<T>(rows, columns, count, random);
    for (const Triplet<T>& entry : triplets) {
      model.add(entry);
    }
    if (member == team.rank().value) {
      EXPECT_TRUE(ok(builder.add(triplets)));
    }
  }
  return {builder.assemble().value(), std::move(model)};
}

/// Runs `body(team)` on all ranks, on all of them backwards, and on {2, 3} and {0, 2, 3} if there
/// are four or more.
template <class Body>
void on_teams(Job& job, Body&& body) {
  body(job.world());
  if (job.size() > 1) {
    Team backwards = job.world().split(0, -job.rank().value).value();
    body(backwards);
  }
  const std::vector<std::vector<WorldRank>> some{{{2}, {3}}, {{0}, {2}, {3}}};
  for (const auto& members : some) {
    if (job.size() >= 4 && std::find(members.begin(), members.end(), job.rank()) != members.end()) {
      Team team = Team::create(job, members).value();
      body(team);
    }
  }
  EXPECT_TRUE(ok(job.barrier()));
}

/// Distributions of a vector: even; small blocks, cyclic; all on the last rank; blocks of different
/// lengths with gaps between those of a rank.
inline std::vector<arrays::Distribution> vector_distributions(std::int64_t n, std::int32_t ranks) {
  using arrays::BlockMap;
  using arrays::BlockPartition1D;
  using arrays::Distribution;
  std::vector<Distribution> all{Distribution::regular({n}, ranks).value()};
  const std::vector<BlockPartition1D> small{BlockPartition1D::by_size(n, 3).value()};
  all.push_back(
      Distribution::create(small, BlockMap::round_robin({small[0].blocks()}, ranks).value())
          .value());
  const std::vector<BlockPartition1D> one{BlockPartition1D::even(n, 1).value()};
  const std::vector<rma::TeamRank> last{{ranks - 1}};
  all.push_back(Distribution::create(one, BlockMap::table({1}, last, ranks).value()).value());
  const std::vector<BlockPartition1D> uneven{BlockPartition1D::even(n, 2 * ranks + 1).value()};
  all.push_back(
      Distribution::create(uneven, BlockMap::round_robin({uneven[0].blocks()}, ranks).value())
          .value());
  return all;
}

/// Distributions of a matrix: even; small blocks on a cyclic grid of one column.
inline std::vector<arrays::Distribution> matrix_distributions(const arrays::Extents& extents,
                                                              std::int32_t ranks) {
  using arrays::BlockMap;
  using arrays::BlockPartition1D;
  using arrays::Distribution;
  std::vector<Distribution> all{Distribution::regular(extents, ranks).value()};
  const std::vector<BlockPartition1D> small{BlockPartition1D::by_size(extents[0], 3).value(),
                                            BlockPartition1D::by_size(extents[1], 4).value()};
  all.push_back(
      Distribution::create(small,
                           BlockMap::cyclic_grid({small[0].blocks(), small[1].blocks()}, {ranks, 1},
                                                 ranks, arrays::MemoryOrder::column_major)
                               .value(),
                           {.order = arrays::MemoryOrder::column_major})
          .value());
  return all;
}

/// Collective. A vector or matrix with the same elements as `values`, which all members give.
template <SparseElement T>
arrays::Array<T> distribute(Job& job, Team& team, const arrays::Distribution& distribution,
                            const std::vector<T>& values, const std::string& name) {
  auto array = arrays::Array<T>::create(job, distribution, {.name = name, .team = team}).value();
  if (team.rank().value == team.size() - 1) {
    EXPECT_TRUE(ok(array.put(array.box(), values)));
  }
  EXPECT_TRUE(ok(array.sync()));
  return array;
}

/// Collective. All elements, on every member.
template <SparseElement T>
std::vector<T> elements(arrays::Array<T>& array) {
  std::vector<T> all(static_cast<std::size_t>(array.box().volume()));
  EXPECT_TRUE(ok(array.get(array.box(), all)));
  EXPECT_TRUE(ok(array.sync()));
  return all;
}

template <SparseElement T>
std::vector<T> random_numbers(std::int64_t count, std::mt19937_64& random) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(small_number<T>(random));
  }
  return all;
}

/// Calls `body(Tag<T>)` for each type that entries may have.
template <class Body>
void for_each_type(Body&& body) {
  for (int type = 0; type < rma::element_type_count; ++type) {
    rma::dispatch(static_cast<rma::ElementType>(type), [&]<class T>(rma::Tag<T> tag) {
      if constexpr (SparseElement<T>) {
        body(tag);
      }
    });
  }
}

}  // namespace tessera::linalg::test
