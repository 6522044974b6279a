// SPDX-License-Identifier: BSD-3-Clause
//
// Products with vectors, in each mode and for each distribution, against dense ones; their bits
// don't depend on the ranks that compute them.
#include "linalg/spmv.hpp"

#include <chrono>
#include <thread>

#include "arrays/elementwise.hpp"
#include "tests/linalg/sparse/sparse_model.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using rma::Tag;
using rma::test::fails;
using rma::test::on_ranks;
using rma::test::SharedSeed;
using test::build;
using test::Dense;
using test::distribute;
using test::elements;
using test::for_each_type;
using test::Job;
using test::ok;
using test::on_teams;
using test::random_numbers;
using test::Team;
using test::vector_distributions;

constexpr std::initializer_list<SpmvMode> all_modes{
    SpmvMode::single, SpmvMode::plain, SpmvMode::vector, SpmvMode::aggregate, SpmvMode::push};

// y = A x and x = Aᵀ y with one plan, twice, so that a plan is used more than once.
template <SparseElement T>
void check_products(Job& job, Team& team, test::Built<T>& built, const SharedSeed& seed,
                    const SpmvOptions& options, std::size_t kind_x, std::size_t kind_y) {
  auto& [matrix, model] = built;
  auto random = seed.generator(-1);
  const std::int64_t m = matrix.rows();
  const std::int64_t n = matrix.columns();
  const auto zeros = std::vector<T>(static_cast<std::size_t>(std::max(m, n)));
  auto x = distribute(job, team, vector_distributions(n, team.size())[kind_x], zeros, "x");
  auto y = distribute(job, team, vector_distributions(m, team.size())[kind_y], zeros, "y");
  auto plan = SpmvPlan<T>::create(matrix, x, y, options).value();
  for (int round = 0; round < 2; ++round) {
    const auto values = random_numbers<T>(n, random);
    const auto left = random_numbers<T>(m, random);
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(x.put(x.box(), values)));
    }
    EXPECT_TRUE(ok(plan.multiply(matrix, x, y)));
    EXPECT_EQ(elements(y), (model.dense * Dense<T>(values, n, 1)).values);
    if (team.rank().value == team.size() - 1) {
      EXPECT_TRUE(ok(y.put(y.box(), left)));
    }
    EXPECT_TRUE(ok(plan.multiply_transposed(matrix, y, x)));
    EXPECT_EQ(elements(x), (test::transposed(model.dense) * Dense<T>(left, m, 1)).values);
  }
}

TEST(Spmv, AgreesWithTheModelInEveryTypeAndMode) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for_each_type([&]<class T>(Tag<T>) {
        auto built = build<T>(job, team, 37, 41, 120, seed);
        for (const SpmvMode mode : all_modes) {
          check_products(job, team, built, seed, {.mode = mode}, 0, 0);
        }
      });
    });
  });
}

TEST(Spmv, AgreesWithTheModelForEveryDistribution) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for (const auto& [m, n] : {std::pair{29, 31}, {1, 9}, {9, 1}, {0, 4}, {4, 0}, {0, 0}}) {
        auto built = build<double>(job, team, m, n, 70, seed);
        for (std::size_t kind_x = 0; kind_x < 4; ++kind_x) {
          for (std::size_t kind_y = 0; kind_y < 3; ++kind_y) {
            check_products(job, team, built, seed, {}, kind_x, kind_y);
          }
        }
      }
    });
  });
}

TEST(Spmv, AgreesWithTheModelWithoutSharedMemoryAndWithWideIndices) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    auto built = build<double>(job, job.world(), 40, 40, 90, seed);
    for (const SpmvMode mode : all_modes) {
      check_products(job, job.world(), built, seed,
                     {.mode = mode, .share_memory = false, .narrow_indices = false}, 0, 1);
    }
  });
}

TEST(Spmv, LeavesGhostCellsOfVectorsAlone) {
  on_ranks([](Job& job) {
    const std::int64_t n = std::int64_t{6} * job.size();
    auto x = Array<double>::create(job, {n}, {.name = "x", .ghosts = {2}}).value();
    auto y = Array<double>::create(job, {n}, {.name = "y", .ghosts = {1}}).value();
    auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
    std::vector<double> expected;
    for (std::int64_t i = 0; i < n; ++i) {
      if (job.rank().value == 0) {
        EXPECT_TRUE(ok(builder.add(i, i, 2.0)));
        EXPECT_TRUE(ok(builder.add(i, n - 1 - i, 1.0)));
        EXPECT_TRUE(ok(x.put(arrays::Box::at({i}), std::vector<double>{double(i)})));
      }
      expected.push_back(2.0 * static_cast<double>(i) + static_cast<double>(n - 1 - i));
    }
    auto matrix = builder.assemble().value();
    auto plan = SpmvPlan<double>::create(matrix, x, y).value();
    EXPECT_TRUE(ok(plan.multiply(matrix, x, y)));
    EXPECT_EQ(elements(y), expected);
    EXPECT_TRUE(ok(plan.multiply_transposed(matrix, y, x)));
    auto access = x.local().value();
    EXPECT_EQ(access.raw()(0), 0.0);
    EXPECT_EQ(access.raw()(access.raw().size() - 1), 0.0);
    EXPECT_TRUE(ok(x.sync()));
  });
}

/// A matrix, its model, and vectors of ones.
struct SmallProblem {
  SparseMatrix<double> matrix;
  Dense<double> dense;
  Array<double> x;
  Array<double> y;
};

SmallProblem small_problem(Job& job) {
  const SharedSeed seed(job);
  auto [matrix, model] = build<double>(job, job.world(), 15, 15, 50, seed);
  const std::vector<double> ones(15, 1.0);
  const auto kind = vector_distributions(15, job.size())[0];
  auto x = distribute(job, job.world(), kind, ones, "x");
  auto y = distribute(job, job.world(), kind, ones, "y");
  return {std::move(matrix), std::move(model.dense), std::move(x), std::move(y)};
}

TEST(Spmv, PlansServeDuplicates) {
  on_ranks([](Job& job) {
    auto [matrix, dense, x, y] = small_problem(job);
    auto plan = SpmvPlan<double>::create(matrix, x, y).value();
    auto copy = matrix.duplicate("B").value();
    auto own = copy.local().value();
    for (double& value : own.values()) {
      value *= -2;
    }
    EXPECT_TRUE(ok(own.end()));
    EXPECT_TRUE(ok(plan.multiply(copy, x, y)));
    const std::vector<double> factors(15, -2.0);
    EXPECT_EQ(elements(y), (dense * Dense<double>(factors, 15, 1)).values);
  });
}

// Entries and x for which each order of summation has different last digits.
std::vector<double> bits_on(Job& job, Team& team, SpmvMode mode, std::size_t kind) {
  constexpr std::int64_t n = 120;
  auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A", .team = team}).value();
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) {
    values.push_back(std::sin(static_cast<double>(i)));
    for (std::int64_t k = 0; k < i % 40 && i % team.size() == team.rank().value; ++k) {
      EXPECT_TRUE(ok(builder.add(i, (i * 7 + k * 11) % n, std::cos(static_cast<double>(i * k)))));
    }
  }
  auto matrix = builder.assemble().value();
  auto x = distribute(job, team, vector_distributions(n, team.size())[kind], values, "x");
  auto y = distribute(job, team, vector_distributions(n, team.size())[0], values, "y");
  auto plan = SpmvPlan<double>::create(matrix, x, y, {.mode = mode}).value();
  EXPECT_TRUE(ok(plan.multiply(matrix, x, y)));
  return elements(y);
}

TEST(Spmv, HasTheSameBitsForAnyTeamModeAndDistribution) {
  on_ranks([](Job& job) {
    Team alone = job.world().split(-1, 0).value();
    const std::vector<double> expected = bits_on(job, alone, SpmvMode::vector, 0);
    on_teams(job, [&](Team& team) {
      for (const SpmvMode mode : all_modes) {
        for (std::size_t kind = 0; kind < 4; ++kind) {
          EXPECT_EQ(bits_on(job, team, mode, kind), expected);
        }
      }
    });
  });
}

TEST(Spmv, IsPushedByAllOrNone) {
  on_ranks([](Job& job) {
    auto [matrix, dense, x, y] = small_problem(job);
    const bool is_last = job.rank().value == job.size() - 1;
    const auto plan = SpmvPlan<double>::create(
        matrix, x, y, {.mode = is_last ? SpmvMode::push : SpmvMode::vector});
    if (job.size() > 1) {
      EXPECT_TRUE(fails(plan, rma::Code::invalid_argument,
                        {"planning products", "another choice of SpmvMode::push than"}));
    }
  });
}

// Rows that need elements of the ranks on both sides, on one side, or of none; slow ranks; and
// products that begin while others still work on the previous one.
TEST(Spmv, MeetsNeighboursOnly) {
  on_ranks([](Job& job) {
    const SharedSeed seed(job);
    on_teams(job, [&](Team& team) {
      for (const int entries : {0, 5, 30, 200}) {
        auto built = build<double>(job, team, 43, 37, entries, seed);
        auto& [matrix, model] = built;
        auto random = seed.generator(-1);
        for (const bool shares : {true, false}) {
          for (std::size_t kind = 0; kind < 3; ++kind) {
            auto x = distribute(job, team, vector_distributions(37, team.size())[kind],
                                std::vector<double>(37), "x");
            auto y = distribute(job, team, vector_distributions(43, team.size())[kind],
                                std::vector<double>(43), "y");
            auto plan = SpmvPlan<double>::create(matrix, x, y,
                                                 {.share_memory = shares, .neighbours_only = true})
                            .value();
            for (int round = 0; round < 4; ++round) {
              const auto values = random_numbers<double>(37, random);
              if (team.rank().value == round % team.size()) {
                EXPECT_TRUE(ok(x.put(x.box(), values)));
              }
              EXPECT_TRUE(ok(x.sync()));
              for (int again = 0; again < 3; ++again) {
                if ((round + again) % team.size() == team.rank().value) {
                  std::this_thread::sleep_for(std::chrono::microseconds(200));
                }
                EXPECT_TRUE(ok(plan.multiply(matrix, x, y)));
              }
              EXPECT_TRUE(ok(y.sync()));
              EXPECT_EQ(elements(y), (model.dense * Dense<double>(values, 37, 1)).values);
              EXPECT_TRUE(ok(plan.multiply_transposed(matrix, y, x)));
              EXPECT_EQ(elements(x), (test::transposed(model.dense) *
                                      (model.dense * Dense<double>(values, 37, 1)))
                                         .values);
            }
          }
        }
      }
    });
  });
}

// A rank that can't take part causes one error on its neighbours; the next product succeeds.
TEST(Spmv, NeighboursHearOfErrors) {
  on_ranks([](Job& job) {
    // Each rank's row needs the elements of all.
    const std::int64_t n = job.size();
    auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
    for (std::int64_t j = 0; j < n; ++j) {
      EXPECT_TRUE(ok(builder.add(job.rank().value, j, 1.0)));
    }
    auto matrix = builder.assemble().value();
    auto x = Array<double>::create(job, matrix.row_distribution(), {.name = "x"}).value();
    auto y = x.duplicate("y").value();
    EXPECT_TRUE(ok(arrays::fill(x, 2.0)));
    auto plan = SpmvPlan<double>::create(matrix, x, y, {.neighbours_only = true}).value();
    const bool is_wrong = job.rank().value == job.size() - 1;
    for (int round = 0; round < 6; ++round) {
      const rma::Status status = plan.multiply(matrix, x, is_wrong && round % 3 == 1 ? x : y);
      if (round % 3 != 1) {
        EXPECT_TRUE(ok(status)) << "round " << round;
      } else if (is_wrong) {
        EXPECT_TRUE(fails(status, rma::Code::invalid_argument, {"is both x and y"}));
      } else {
        EXPECT_TRUE(fails(status, rma::Code::invalid_argument, {"could not send its elements"}));
      }
    }
    EXPECT_TRUE(ok(y.sync()));
    EXPECT_EQ(elements(y), std::vector<double>(static_cast<std::size_t>(n), 2.0 * job.size()));
  });
}

TEST(Spmv, NeighboursOnlyOnAllOrNoneAndByPush) {
  on_ranks([](Job& job) {
    auto [matrix, dense, x, y] = small_problem(job);
    const bool is_last = job.rank().value == job.size() - 1;
    const auto plan = SpmvPlan<double>::create(matrix, x, y, {.neighbours_only = is_last});
    if (job.size() > 1) {
      EXPECT_TRUE(fails(plan, rma::Code::invalid_argument,
                        {"planning products", "another SpmvOptions::neighbours_only than"}));
    }
    EXPECT_TRUE(fails(
        SpmvPlan<double>::create(matrix, x, y, {.mode = SpmvMode::vector, .neighbours_only = true}),
        rma::Code::invalid_argument,
        {"planning products", "SpmvOptions::neighbours_only needs SpmvMode::push"}));
  });
}

TEST(Spmv, KnowsWhatItReads) {
  on_ranks([](Job& job) {
    // Row i needs element i and its right neighbour, periodically.
    const std::int64_t n = std::int64_t{5} * job.size();
    auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
    if (job.rank().value == 0) {
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_TRUE(ok(builder.add(i, i, 1.0)));
        EXPECT_TRUE(ok(builder.add(i, (i + 1) % n, 1.0)));
      }
    }
    auto matrix = builder.assemble().value();
    auto x = Array<double>::create(job, {n}, {.name = "x"}).value();
    auto y = Array<double>::create(job, {n}, {.name = "y"}).value();
    const auto plan = SpmvPlan<double>::create(matrix, x, y).value();
    const bool has_others = job.size() > 1;
    EXPECT_EQ(plan.elements_from_others(), has_others ? 1 : 0);
    EXPECT_EQ(plan.rows_without_others(), has_others ? 4 : 5);
    const rma::TeamRank right = rma::test::neighbour(job);
    const bool is_mapped = x.region().direct(right) != nullptr;
    EXPECT_EQ(plan.elements_shared(), has_others && is_mapped ? 1 : 0);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::linalg
