// SPDX-License-Identifier: BSD-3-Clause
//
// Making matrices: from entries of any rank, from rows, with every cut of the rows.
#include "linalg/sparse_builder.hpp"

#include "tests/linalg/sparse/sparse_model.hpp"

namespace tessera::linalg {
namespace {

using rma::Tag;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::build;
using test::Built;
using test::for_each_type;
using test::Job;
using test::Model;
using test::ok;
using test::on_teams;
using test::Team;

template <SparseElement T>
void expect_model(Built<T>& built, Team& team) {
  SparseMatrix<T>& matrix = built.matrix;
  const LocalCsr<T> expected = built.model.csr();
  EXPECT_EQ(matrix.entries(), expected.entries());
  const auto got = matrix.get(matrix.box());
  ASSERT_TRUE(ok(got));
  EXPECT_EQ(*got, expected);
  // Own rows have the distribution of the rows.
  auto own = matrix.local().value();
  std::int64_t rows = own.rows();
  EXPECT_EQ(team.allreduce(rows, rma::Reduction::sum).value(), matrix.rows());
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    EXPECT_EQ(matrix.row_distribution().owner({own.first_row() + i}), team.rank());
  }
  EXPECT_TRUE(ok(own.end()));
  EXPECT_TRUE(ok(matrix.sync()));
}

TEST(SparseBuilder, SumsWhatAnyRankAddsInEveryTypeAndShape) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for (const auto& [rows, columns] : {std::pair{23, 17}, {1, 1}, {2, 40}, {40, 2}}) {
        for_each_type([&]<class T>(Tag<T>) {
          auto built = build<T>(job, team, rows, columns, 60, seed);
          expect_model(built, team);
        });
      }
    });
  });
}

TEST(SparseBuilder, TakesMatricesWithoutRowsColumnsOrEntries) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for (const auto balance : {RowBalance::rows, RowBalance::entries}) {
        for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 5}, {5, 0}, {9, 9}}) {
          auto built = build<double>(job, team, rows, columns, 0, seed,
                                     {.name = "none", .balance = balance});
          expect_model(built, team);
        }
      }
    });
  });
}

TEST(SparseBuilder, CutsRowsWhereItIsTold) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    const std::vector<std::int64_t> starts =
        job.size() > 1 ? std::vector<std::int64_t>{0, 7} : std::vector<std::int64_t>{0};
    auto built =
        build<double>(job, job.world(), 20, 20, 50, seed, {.name = "A", .row_starts = starts});
    expect_model(built, job.world());
    const std::int64_t first = job.size() > 1 ? 7 : 20;
    EXPECT_EQ(built.matrix.row_distribution().box_of({0}), arrays::Box({0}, {first}));
  });
}

TEST(SparseBuilder, BalancesEntries) {
  on_ranks([](Job& job) {
    // Row 5 is dense; the others have one entry each.
    constexpr std::int64_t n = 64;
    auto builder =
        SparseBuilder<double>::create(job, n, n, {.name = "A", .balance = RowBalance::entries})
            .value();
    Model<double> model(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<Triplet<double>> mine{{i, i, 2.0}, {5, i, 1.0}};
      model.add(mine[0]);
      model.add(mine[1]);
      if (i % job.size() == job.rank().value) {
        EXPECT_TRUE(ok(builder.add(mine)));
      }
    }
    Built<double> built{builder.assemble().value(), model};
    expect_model(built, job.world());
    auto own = built.matrix.local().value();
    const std::int64_t mean = 2 * n / job.size();
    EXPECT_LE(own.entries(), mean + n + 1) << "a block has at most the mean and one row";
    if (job.size() > 1 && job.rank().value == 0) {
      EXPECT_LE(own.rows(), 6) << "the block with the dense row ends after it";
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(SparseBuilder, AddsDuplicatesByRankAndThenInTheOrderOfCalls) {
  on_ranks([](Job& job) {
    // Numbers for which each order of summation has a different result.
    const auto number = [](std::int32_t rank, int call) {
      return std::ldexp(1.0 + 0.1 * rank + 0.01 * call, (rank * 31 + call * 17) % 60);
    };
    auto builder = SparseBuilder<double>::create(job, 3, 3, {.name = "A"}).value();
    double expected = number(0, 0);
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      for (int call = rank == 0 ? 1 : 0; call < 5; ++call) {
        expected += number(rank, call);
      }
    }
    for (int call = 0; call < 5; ++call) {
      EXPECT_TRUE(ok(builder.add(2, 1, number(job.rank().value, call))));
      EXPECT_TRUE(ok(builder.add(2, 0, 1.0)));
    }
    auto matrix = builder.assemble().value();
    const auto got = matrix.get(matrix.box()).value();
    EXPECT_EQ(got.column, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(got.value, (std::vector<double>{5.0 * job.size(), expected}));
    EXPECT_TRUE(ok(matrix.sync()));
  });
}

TEST(SparseBuilder, SendsMoreThanABatch) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 500;
    auto builder = SparseBuilder<float>::create(job, n, n, {.name = "A"}).value();
    // All entries of a dense matrix, backwards, on rank 0 alone.
    if (job.rank().value == 0) {
      for (std::int64_t i = n * n; i-- > 0;) {
        EXPECT_TRUE(ok(builder.add(i / n, i % n, static_cast<float>(i % 101))));
      }
      EXPECT_EQ(builder.added(), n * n);
    }
    auto matrix = builder.assemble().value();
    EXPECT_EQ(matrix.entries(), n * n);
    auto own = matrix.local().value();
    for (std::int64_t i = 0; i < own.rows(); ++i) {
      ASSERT_EQ(own.columns_of(i).size(), std::size_t{n});
      for (std::int64_t j = 0; j < n; ++j) {
        ASSERT_EQ(own.values_of(i)[static_cast<std::size_t>(j)],
                  static_cast<float>(((own.first_row() + i) * n + j) % 101));
      }
    }
    EXPECT_TRUE(ok(matrix.sync()));
  });
}

TEST(SparseMatrix, TakesEachRanksRowsAlsoWhereSomeHaveNone) {
  on_ranks([](Job& job) {
    on_teams(job, [&](Team& team) {
      // Every other rank has no rows; rank r has r + 1.
      const auto rows_of = [](std::int32_t rank) { return rank % 2 == 0 ? rank + 1 : 0; };
      std::int64_t first = 0;
      std::int64_t all = 0;
      for (std::int32_t rank = 0; rank < team.size(); ++rank) {
        first += rank < team.rank().value ? rows_of(rank) : 0;
        all += rows_of(rank);
      }
      LocalCsr<std::int32_t> own;
      own.rows = rows_of(team.rank().value);
      own.columns = 2 * all;
      Model<std::int32_t> model(all, 2 * all);
      for (std::int64_t i = 0; i < own.rows; ++i) {
        own.column.push_back(2 * (first + i));
        own.value.push_back(static_cast<std::int32_t>(first + i));
        own.row_starts.push_back(own.entries());
      }
      for (std::int64_t i = 0; i < all; ++i) {
        model.add({i, 2 * i, static_cast<std::int32_t>(i)});
      }
      Built<std::int32_t> built{
          SparseMatrix<std::int32_t>::create(job, std::move(own), {.name = "R", .team = team})
              .value(),
          model};
      expect_model(built, team);
    });
  });
}

}  // namespace
}  // namespace tessera::linalg
