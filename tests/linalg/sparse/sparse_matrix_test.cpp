// SPDX-License-Identifier: BSD-3-Clause
//
// Reading and changing matrices: boxes, diagonals, columns, scaling, dense arrays, transposes,
// summaries.
#include "linalg/csr.hpp"

#include "linalg/sparse_convert.hpp"
#include "linalg/sparse_diagonal.hpp"
#include "tests/linalg/sparse/sparse_model.hpp"
#include "tests/support/effort.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using arrays::Box;
using rma::Tag;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::build;
using test::Dense;
using test::distribute;
using test::elements;
using test::for_each_type;
using test::Job;
using test::matrix_distributions;
using test::Model;
using test::ok;
using test::on_teams;
using test::random_numbers;
using test::Team;
using test::vector_distributions;

template <SparseElement T>
void times(Model<T>& model, T factor) {
  for (T& value : model.dense.values) {
    value *= factor;
  }
}

// The elements (i, column(i)).
template <SparseElement T, class Column>
std::vector<T> picked(const Dense<T>& dense, std::int64_t count, Column&& column) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(dense(i, column(i)));
  }
  return all;
}

template <SparseElement T>
Dense<T> diagonal_of(const std::vector<T>& values) {
  const std::int64_t n = std::ssize(values);
  Dense<T> diagonal(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    diagonal(i, i) = values[static_cast<std::size_t>(i)];
  }
  return diagonal;
}

TEST(SparseMatrix, GivesAnyBoxToAnyRank) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      auto [matrix, model] = build<double>(job, team, 31, 29, 70, seed);
      auto random = seed.generator(100 + team.rank().value);
      const auto bounds = [&](std::int64_t extent) {
        std::uniform_int_distribution<std::int64_t> bound(0, extent);
        const std::int64_t a = bound(random);
        const std::int64_t b = bound(random);
        return std::pair{std::min(a, b), std::max(a, b)};
      };
      for (int round = 0; round < tessera::test::rounds(20); ++round) {
        const auto [top, bottom] = bounds(31);
        const auto [left, right] = bounds(29);
        const Box box({top, left}, {bottom, right});
        EXPECT_EQ(matrix.get(box).value(), model.csr(box)) << to_string(box);
      }
      EXPECT_TRUE(ok(matrix.sync()));
    });
  });
}

TEST(SparseMatrix, GivesMoreThanABatch) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 600;
    auto dense = Array<float>::create(job, {n, n}, {.name = "D"}).value();
    std::vector<float> values(static_cast<std::size_t>(n * n));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i % 1009 + 1);
    }
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(dense.put(dense.box(), values)));
    }
    auto matrix = from_dense(dense, {.name = "A"}).value();
    EXPECT_EQ(matrix.get(matrix.box()).value().value, values);
    EXPECT_TRUE(ok(matrix.sync()));
  });
}

TEST(SparseMatrix, ListsEntriesAsTriplets) {
  LocalCsr<double> rows{.rows = 3,
                        .columns = 4,
                        .row_starts = {0, 2, 2, 3},
                        .column = {0, 3, 1},
                        .value = {1.0, 2.0, 3.0}};
  EXPECT_EQ(to_triplets(rows, 10, 20),
            (std::vector<Triplet<double>>{{10, 20, 1.0}, {10, 23, 2.0}, {12, 21, 3.0}}));
}

TEST(SparseMatrix, DuplicatesHaveValuesOfTheirOwn) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    auto [matrix, model] = build<double>(job, job.world(), 12, 12, 30, seed);
    auto copy = matrix.duplicate("B").value();
    EXPECT_EQ(copy.pattern(), matrix.pattern());
    EXPECT_TRUE(ok(scale(copy, 3.0)));
    EXPECT_EQ(matrix.get(matrix.box()).value(), model.csr());
    EXPECT_TRUE(ok(matrix.free()));
    times(model, 3.0);
    EXPECT_EQ(copy.get(copy.box()).value(), model.csr()) << "the pattern outlives the original";
    EXPECT_TRUE(ok(copy.sync()));
  });
}

TEST(SparseMatrix, NamesTheColumnBlocksThatHaveEntries) {
  on_ranks([](Job& job) {
    const std::int64_t n = std::int64_t{4} * job.size();
    auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
    if (job.rank().value == 0) {
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_TRUE(ok(builder.add(i, i, 1.0)));
        EXPECT_TRUE(ok(builder.add(i, 0, 1.0)));
      }
    }
    auto matrix = builder.assemble().value();
    std::vector<rma::TeamRank> expected{{0}};
    if (job.rank().value > 0) {
      expected.push_back(job.world().rank());
    }
    EXPECT_EQ(matrix.column_blocks().value(), expected);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(SparseDiagonal, AgreesWithTheModelInEveryTypeAndDistribution) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for (const auto& [rows, columns] : {std::pair{19, 19}, {11, 23}, {23, 11}}) {
        for_each_type([&]<class T>(Tag<T>) {
          auto [matrix, model] = build<T>(job, team, rows, columns, 60, seed);
          const std::int64_t length = std::min(rows, columns);
          for (const auto& kind : vector_distributions(length, team.size())) {
            auto diagonal =
                distribute(job, team, kind, std::vector<T>(static_cast<std::size_t>(length)), "d");
            EXPECT_TRUE(ok(get_diagonal(matrix, diagonal)));
            EXPECT_EQ(elements(diagonal), picked(model.dense, length, [](auto i) { return i; }));
          }
          for (const auto& kind : vector_distributions(rows, team.size())) {
            auto column =
                distribute(job, team, kind, std::vector<T>(static_cast<std::size_t>(rows)), "c");
            EXPECT_TRUE(ok(get_column(matrix, columns / 2, column)));
            const std::int64_t chosen = columns / 2;
            EXPECT_EQ(elements(column), picked(model.dense, rows, [=](auto) { return chosen; }));
          }
        });
      }
    });
  });
}

TEST(SparseDiagonal, ScalesRowsColumnsAndAll) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for_each_type([&]<class T>(Tag<T>) {
        auto [matrix, model] = build<T>(job, team, 17, 22, 60, seed);
        auto random = seed.generator(-1);
        for (const auto& kind : vector_distributions(17, team.size())) {
          const auto factors = random_numbers<T>(17, random);
          auto vector = distribute(job, team, kind, factors, "rows");
          EXPECT_TRUE(ok(scale_rows(matrix, vector)));
          model.dense = diagonal_of(factors) * model.dense;
          EXPECT_EQ(matrix.get(matrix.box()).value(), model.csr());
          EXPECT_TRUE(ok(matrix.sync()));
        }
        for (const auto& kind : vector_distributions(22, team.size())) {
          const auto factors = random_numbers<T>(22, random);
          auto vector = distribute(job, team, kind, factors, "columns");
          EXPECT_TRUE(ok(scale_columns(matrix, vector)));
          model.dense = model.dense * diagonal_of(factors);
          EXPECT_EQ(matrix.get(matrix.box()).value(), model.csr());
          EXPECT_TRUE(ok(matrix.sync()));
        }
        EXPECT_TRUE(ok(scale(matrix, T{2})));
        times(model, T{2});
        EXPECT_EQ(matrix.get(matrix.box()).value(), model.csr());
        EXPECT_TRUE(ok(matrix.sync()));
      });
    });
  });
}

TEST(SparseDiagonal, IsShiftedWhereAllOfItAreEntries) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    auto [matrix, model] = build<double>(job, job.world(), 8, 10, 200, seed);
    bool has_all = true;
    for (std::int64_t i = 0; i < 8; ++i) {
      has_all = has_all && model.is_entry(i, i) != 0;
    }
    const rma::Status shifted = shift_diagonal(matrix, 2.5);
    if (has_all) {
      EXPECT_TRUE(ok(shifted));
      for (std::int64_t i = 0; i < 8; ++i) {
        model.dense(i, i) += 2.5;
      }
    } else {
      EXPECT_TRUE(rma::test::fails(shifted, rma::Code::invalid_argument, {"is not an entry"}));
    }
    EXPECT_EQ(matrix.get(matrix.box()).value(), model.csr());
    EXPECT_TRUE(ok(matrix.sync()));
  });
}

TEST(SparseConvert, GoesToDenseArraysAndBack) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for_each_type([&]<class T>(Tag<T>) {
        for (const auto& [rows, columns] : {std::pair{13, 18}, {18, 2}, {1, 1}}) {
          auto [matrix, model] = build<T>(job, team, rows, columns, 25, seed);
          for (const auto& kind : matrix_distributions({rows, columns}, team.size())) {
            auto dense = Array<T>::create(job, kind, {.name = "D", .team = team}).value();
            EXPECT_TRUE(ok(to_dense(matrix, dense)));
            EXPECT_EQ(elements(dense), model.dense.values);
            for (const auto balance : {RowBalance::rows, RowBalance::entries}) {
              auto back = from_dense(dense, {.name = "B", .balance = balance}).value();
              auto without_zeros = model;
              for (std::size_t i = 0; i < model.dense.values.size(); ++i) {
                without_zeros.is_entry.values[i] = model.dense.values[i] == T{} ? 0 : 1;
              }
              EXPECT_EQ(back.get(back.box()).value(), without_zeros.csr());
              EXPECT_TRUE(ok(back.sync()));
            }
          }
        }
      });
    });
  });
}

TEST(SparseConvert, DropsWhatIsNotAboveTheThreshold) {
  on_ranks([](Job& job) {
    const auto kind = arrays::Distribution::regular({1, 5}, job.size()).value();
    auto dense = distribute<double>(job, job.world(), kind, {0.5, -0.25, 0.75, 0.0, -3.0}, "D");
    auto matrix = from_dense(dense, {.name = "A"}, 0.5).value();
    EXPECT_EQ(matrix.get(matrix.box()).value().column, (std::vector<std::int64_t>{2, 4}));
    EXPECT_TRUE(ok(matrix.sync()));
  });
}

TEST(SparseConvert, TransposesAsTheModelDoes) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for_each_type([&]<class T>(Tag<T>) {
        for (const auto& [rows, columns] : {std::pair{13, 28}, {28, 3}, {0, 4}}) {
          auto [matrix, model] = build<T>(job, team, rows, columns, 40, seed);
          auto turned = transpose(matrix, {.name = "At"}).value();
          Model<T> expected(columns, rows);
          expected.dense = test::transposed(model.dense);
          expected.is_entry = test::transposed(model.is_entry);
          EXPECT_EQ(turned.get(turned.box()).value(), expected.csr());
          EXPECT_TRUE(ok(turned.sync()));
        }
      });
    });
  });
}

TEST(SparseConvert, SummarisesPatterns) {
  on_ranks([](Job& job) {
    auto builder = SparseBuilder<double>::create(job, 6, 8, {.name = "A"}).value();
    if (job.rank().value == 0) {
      const std::vector<Triplet<double>> entries{{0, 0, 1.0}, {0, 7, 1.0}, {2, 2, 0.0},
                                                 {5, 1, 1.0}, {5, 2, 1.0}, {5, 5, 1.0}};
      EXPECT_TRUE(ok(builder.add(entries)));
    }
    auto matrix = builder.assemble().value();
    const auto summary = summarise(matrix).value();
    EXPECT_EQ(summary.empty_rows, 3);
    EXPECT_EQ(summary.fewest_in_row, 0);
    EXPECT_EQ(summary.most_in_row, 3);
    EXPECT_EQ(summary.on_diagonal, 3);
    EXPECT_EQ(summary.below_diagonal, 4);
    EXPECT_EQ(summary.above_diagonal, 7);
    EXPECT_NE(to_string(summary).find("sparse matrix 'A' (float64, 6 x 8, 6 entries)"),
              std::string::npos)
        << to_string(summary);
    EXPECT_NE(to_string(summary).find("0 to 3, 3 rows empty"), std::string::npos);
  });
}

}  // namespace
}  // namespace tessera::linalg
