// SPDX-License-Identifier: BSD-3-Clause
//
// Generators, checks of products, partitions and solvers, against plain loops on dense matrices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apps/spmv/check.hpp"
#include "apps/spmv/generate.hpp"
#include "apps/spmv/partition.hpp"
#include "apps/spmv/products.hpp"
#include "apps/spmv/solve.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/reductions.hpp"
#include "linalg/sparse_builder.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::apps::spmv {
namespace {

using arrays::Array;
using linalg::SparseMatrix;
using linalg::SpmvPlan;
using rma::Job;
using rma::test::ok;
using rma::test::on_ranks;
using Complex = std::complex<double>;

// Row by row.
struct Dense {
  std::int64_t rows = 0;
  std::vector<double> values = {};
  double& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * rows + j)];
  }
};

Dense dense_of(const Generator& generator) {
  Dense dense{generator.rows()};
  dense.values.resize(static_cast<std::size_t>(generator.rows() * generator.rows()));
  for (std::int64_t row = 0; row < generator.rows(); ++row) {
    std::int64_t count = 0;
    generator.give_row(row, [&](std::int64_t i, std::int64_t j, double value) {
      EXPECT_EQ(i, row);
      dense(i, j) += value;
      ++count;
    });
    EXPECT_LE(count, generator.most_in_row());
  }
  return dense;
}

// By elimination without pivoting; all pivots are positive if and only if a symmetric matrix is
// positive definite.
std::vector<double> solved(Dense a, std::vector<double> b) {
  for (std::int64_t k = 0; k < a.rows; ++k) {
    EXPECT_GT(a(k, k), 0) << "pivot " << k;
    for (std::int64_t i = k + 1; i < a.rows; ++i) {
      const double factor = a(i, k) / a(k, k);
      for (std::int64_t j = k; j < a.rows && factor != 0; ++j) {
        a(i, j) -= factor * a(k, j);
      }
      b[static_cast<std::size_t>(i)] -= factor * b[static_cast<std::size_t>(k)];
    }
  }
  for (std::int64_t i = a.rows - 1; i >= 0; --i) {
    double& value = b[static_cast<std::size_t>(i)];
    for (std::int64_t j = i + 1; j < a.rows; ++j) {
      value -= a(i, j) * b[static_cast<std::size_t>(j)];
    }
    value /= a(i, i);
  }
  return b;
}

// Each rank makes every n-th row.
SparseMatrix<double> matrix_of(Job& job, const Generator& generator,
                               ProductCheck<double>* check = nullptr) {
  auto builder =
      linalg::SparseBuilder<double>::create(job, generator.rows(), generator.rows()).value();
  for (std::int64_t row = job.rank().value; row < generator.rows(); row += job.size()) {
    generator.give_row(row, [&](std::int64_t i, std::int64_t j, double value) {
      EXPECT_TRUE(ok(builder.add(i, j, value)));
      if (check != nullptr) {
        check->add(i, j, value);
      }
    });
  }
  return builder.assemble().value();
}

template <class T>
Array<T> trial(Job& job, const SparseMatrix<T>& matrix, const std::vector<std::int64_t>& old = {}) {
  auto x = Array<T>::create(job, matrix.row_distribution(), {.name = "x"}).value();
  auto access = x.local().value();
  for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) {
    access.view()(i) = trial_element<T>(old.empty() ? i : old[static_cast<std::size_t>(i)]);
  }
  EXPECT_TRUE(ok(access.end()));
  EXPECT_TRUE(ok(x.sync()));
  return x;
}

TEST(Generate, MatricesHaveWhatTheyPromise) {
  for (const char* text :
       {"fe2d:5", "stencil27:3", "convection:4,30", "convection:4,0", "random:20,6"}) {
    const Generator generator = parse_generator(text).value();
    Dense dense = dense_of(generator);
    bool is_symmetric = true;
    for (std::int64_t i = 0; i < dense.rows; ++i) {
      // All are diagonally dominant, some only weakly.
      double excess = 2 * dense(i, i);
      for (std::int64_t j = 0; j < dense.rows; ++j) {
        is_symmetric = is_symmetric && dense(i, j) == dense(j, i);
        excess -= std::abs(dense(i, j));
      }
      EXPECT_GE(excess, -1e-12) << text << " row " << i;
    }
    EXPECT_EQ(generator.is_symmetric(), is_symmetric) << text;
    solved(dense, std::vector<double>(static_cast<std::size_t>(dense.rows)));
  }
}

// −∇² of x(1 − x) y(1 − y), which the elements hold to second order.
TEST(Generate, ElementsSolveThePoissonEquation) {
  double before = 0;
  for (const std::int64_t edge : {7, 15}) {
    Generator generator;
    generator.edge = edge;
    const double h = 1.0 / static_cast<double>(edge + 1);
    const auto bubble = [](double s) { return s * (1 - s); };
    std::vector<double> right;
    std::vector<double> exact;
    for (std::int64_t i = 0; i < edge * edge; ++i) {
      const std::int64_t row = i / edge;
      const double x = static_cast<double>(i % edge + 1) * h;
      const double y = static_cast<double>(row + 1) * h;
      right.push_back(h * h * 2 * (bubble(x) + bubble(y)));
      exact.push_back(bubble(x) * bubble(y));
    }
    const std::vector<double> found = solved(dense_of(generator), right);
    double error = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      error = std::max(error, std::abs(found[i] - exact[i]));
    }
    EXPECT_LT(error, 0.02);
    EXPECT_TRUE(before == 0 || error < before / 3.5) << error << " after " << before;
    before = error;
  }
}

TEST(Generate, UnknownNamesAreRefused) {
  for (const char* text : {"fe2d", "fe3d:4", "fe2d:", "fe2d:0", "fe2d:4,5", "random:4,5",
                           "random:4,2,x", "convection:4,-1", "stencil27:99999"}) {
    const std::string message = parse_generator(text).status().message();
    EXPECT_NE(message.find(std::string("generator ") + text + ": "), std::string::npos) << message;
    // Programs have differently named options for it.
    EXPECT_EQ(message.find("--"), std::string::npos) << message;
    EXPECT_NE(message.find("the generators are fe2d:N, stencil27:N"), std::string::npos) << message;
  }
  const std::string many = parse_generator("fe2d:4,5").status().message();
  EXPECT_NE(many.find("has 2 numbers; fe2d takes at most 1"), std::string::npos) << many;
}

TEST(Products, AllModesAgreeWithTheSumOfTheEntries) {
  on_ranks([](Job& job) {
    const Generator generator = parse_generator("random:90,7").value();
    ProductCheck<double> check(generator.rows());
    auto matrix = matrix_of(job, generator, &check);
    rma::Team team = job.world();
    EXPECT_TRUE(ok(check.agree(team)));
    auto x = trial(job, matrix);
    auto y = Array<double>::create(job, matrix.row_distribution(), {.name = "y"}).value();
    const auto modes = parse_modes("default,neighbours,plain,runs,vector,aggregate,push").value();
    const auto results = run_products(matrix, x, y, modes, 2).value();
    EXPECT_EQ(results.size(), modes.size());
    for (const ModeResult& result : results) {
      EXPECT_EQ(result.communication.size(), static_cast<std::size_t>(job.size()));
    }
    const MatrixCounts counts{generator.most_in_row(), matrix.entries()};
    const CheckResult good = check.compare(y, {}, counts).value();
    EXPECT_TRUE(good.is_good()) << good.error;
    // One slightly wrong element is found.
    if (matrix.row_distribution().owner({3}).value == job.rank().value) {
      auto access = y.local().value();
      access.view()(3) *= 1 + 1e-12;
      EXPECT_TRUE(ok(access.end()));
    }
    EXPECT_TRUE(ok(y.sync()));
    EXPECT_FALSE(check.compare(y, {}, counts).value().is_good());
  });
}

TEST(Products, BarsAreDrawnOnOneScale) {
  const std::vector<ModeResult> results = {{"plain", 0, 0, 0, {100e-6, 50e-6}},
                                           {"aggregate", 0, 0, 0, {10e-6, 0}}};
  EXPECT_EQ(bars_of(results), "  rank 0  plain      " + std::string(50, '#') +
                                  " 100.0 us\n          aggregate  ##### 10.0 us\n"
                                  "  rank 1  plain      " +
                                  std::string(25, '#') + " 50.0 us\n          aggregate  0.0 us\n");
}

TEST(Products, UnknownModesAreRefused) {
  for (const char* text : {"", "fast", "plain,", "plain,fast"}) {
    EXPECT_NE(
        parse_modes(text).status().message().find("the modes are default, neighbours, plain, runs"),
        std::string::npos);
  }
}

// Too many rows to compare each: a weighted sum of all finds the error.
TEST(Check, OfManyRowsIsOneSum) {
  on_ranks([](Job& job) {
    constexpr std::int64_t rows = (1 << 20) + 5;
    ProductCheck<double> check(rows);
    auto y = Array<double>::create(job, {rows}, {.name = "y"}).value();
    auto access = y.local().value();
    for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) {
      check.add(i, i, 2.5);
      access.view()(i) = 2.5 * trial_element<double>(i);
    }
    EXPECT_TRUE(ok(access.end()));
    rma::Team team = job.world();
    EXPECT_TRUE(ok(check.agree(team)));
    EXPECT_TRUE(check.compare(y, {}, {1, rows}).value().is_good());
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(y.put(arrays::Box({7}, {8}), std::vector<double>{0.0})));
    }
    EXPECT_TRUE(ok(y.sync()));
    EXPECT_FALSE(check.compare(y, {}, {1, rows}).value().is_good());
  });
}

// The sum has as many roundings as terms, although the matrix then has one entry.
void expect_good_sum_of_equal_positions(Job& job, std::int64_t rows) {
  constexpr std::int64_t times = 20'000;
  const double value = 0.1;
  ProductCheck<double> check(rows);
  double sum = 0;
  for (std::int64_t i = 0; i < times; ++i) {
    sum += value;
    if (i % job.size() == job.rank().value) {
      check.add(0, 0, value);
    }
  }
  rma::Team team = job.world();
  EXPECT_TRUE(ok(check.agree(team)));
  auto y = Array<double>::create(job, {rows}, {.name = "y"}).value();
  if (job.rank().value == 0) {
    // Summed in another order: all at once, and with a smaller error.
    const double product = value * static_cast<double>(times) * trial_element<double>(0);
    EXPECT_GT(std::abs(sum * trial_element<double>(0) - product), product * 1e-14);
    EXPECT_TRUE(ok(y.put(arrays::Box({0}, {1}), std::vector<double>{product})));
  }
  EXPECT_TRUE(ok(y.sync()));
  const CheckResult good = check.compare(y, {}, {1, 1}).value();
  EXPECT_TRUE(good.is_good()) << good.error << " of " << good.allowed;
  if (job.rank().value == 0) {
    EXPECT_TRUE(ok(y.put(arrays::Box({0}, {1}), std::vector<double>{sum * 1.001})));
  }
  EXPECT_TRUE(ok(y.sync()));
  EXPECT_FALSE(check.compare(y, {}, {1, 1}).value().is_good());
}

TEST(Check, PositionsMayOccurManyTimes) {
  on_ranks([](Job& job) {
    expect_good_sum_of_equal_positions(job, 3);
    expect_good_sum_of_equal_positions(job, (1 << 20) + 5);
  });
}

TEST(Check, SumsThatAreTooLargeForADoubleMayBeRight) {
  on_ranks([](Job& job) {
    ProductCheck<double> check(1);
    if (job.rank().value == 0) {
      check.add(0, 0, 1.7e308);
      check.add(0, 0, 1.7e308);
    }
    rma::Team team = job.world();
    EXPECT_TRUE(ok(check.agree(team)));
    auto y = Array<double>::create(job, {1}, {.name = "y"}).value();
    EXPECT_FALSE(check.compare(y, {}, {1, 1}).value().is_good());
    if (job.rank().value == 0) {
      const std::vector<double> infinite{std::numeric_limits<double>::infinity()};
      EXPECT_TRUE(ok(y.put(arrays::Box({0}, {1}), infinite)));
    }
    EXPECT_TRUE(ok(y.sync()));
    EXPECT_TRUE(check.compare(y, {}, {1, 1}).value().is_good());
  });
}

// Renumbered so that each rank has its part, the matrix has the same product.
void expect_same_product(Job& job, SparseMatrix<double>& matrix, ProductCheck<double>& check,
                         const std::vector<std::int32_t>& parts) {
  auto renumbered = renumber(matrix, parts).value();
  EXPECT_EQ(renumbered.matrix.entries(), matrix.entries());
  auto x = trial(job, renumbered.matrix, renumbered.old_rows);
  auto y = x.duplicate("y").value();
  auto plan = SpmvPlan<double>::create(renumbered.matrix, x, y).value();
  EXPECT_TRUE(ok(plan.multiply(renumbered.matrix, x, y)));
  EXPECT_TRUE(check.compare(y, renumbered.old_rows, {5, matrix.entries()}).value().is_good());
}

void expect_partition(Job& job, Partition how) {
  const Generator generator = parse_generator("random:144,3").value();
  ProductCheck<double> check(generator.rows());
  auto matrix = matrix_of(job, generator, &check);
  rma::Team team = job.world();
  EXPECT_TRUE(ok(check.agree(team)));
  const auto parts = part_rows(matrix, how).value();
  ASSERT_EQ(parts.size(), static_cast<std::size_t>(generator.rows()));
  for (std::int32_t part = 0; part < job.size(); ++part) {
    // No rank has much more than its share of 144 rows.
    const auto rows = std::count(parts.begin(), parts.end(), part);
    EXPECT_LE(rows, 144 / job.size() + 144 / job.size() / 4 + 4);
  }
  expect_same_product(job, matrix, check, parts);
  // The parts of such a matrix are not consecutive rows.
  EXPECT_TRUE(job.size() == 1 || !std::is_sorted(parts.begin(), parts.end()));
}

// So few rows that some ranks have none, with a partitioner's parts or any others.
void expect_partition_of_few(Job& job, const std::optional<Partition>& how) {
  for (const std::int64_t rows : {2, 4, 6}) {
    const Generator generator = parse_generator(fmt::format("random:{},1", rows)).value();
    ProductCheck<double> check(rows);
    auto matrix = matrix_of(job, generator, &check);
    rma::Team team = job.world();
    EXPECT_TRUE(ok(check.agree(team)));
    std::vector<std::int32_t> parts(static_cast<std::size_t>(rows), job.size() - 1);
    if (how) {
      parts = part_rows(matrix, *how).value();
    }
    expect_same_product(job, matrix, check, parts);
  }
}

TEST(Partition, PartsMayBeEmpty) {
  on_ranks([](Job& job) { expect_partition_of_few(job, std::nullopt); });
}

TEST(Partition, ByMetisKeepsTheProduct) {
  if (!has_metis()) {
    GTEST_SKIP() << "built without METIS";
  }
  on_ranks([](Job& job) {
    expect_partition(job, Partition::metis);
    expect_partition_of_few(job, Partition::metis);
  });
}

TEST(Partition, ByScotchKeepsTheProduct) {
  if (!has_scotch()) {
    GTEST_SKIP() << "built without Scotch";
  }
  on_ranks([](Job& job) {
    expect_partition(job, Partition::scotch);
    expect_partition_of_few(job, Partition::scotch);
  });
}

TEST(Partition, GraphsAreSymmetricAndWithoutLoops) {
  const linalg::LocalCsr<double> matrix{3, 3, {0, 2, 3, 3}, {0, 2, 0}, {1, 1, 1}};
  const Graph graph = graph_of(matrix);
  EXPECT_EQ(graph.starts, (std::vector<std::int64_t>{0, 2, 3, 4}));
  EXPECT_EQ(graph.neighbours, (std::vector<std::int64_t>{1, 2, 0, 0}));
  EXPECT_EQ(graph.weights, (std::vector<std::int64_t>{3, 2, 1}));
}

TEST(Partition, UnknownNamesAreRefused) {
  EXPECT_EQ(parse_partition("columns").status().message(),
            "--partition columns: the choices are rows, entries, metis, scotch");
}

void expect_solution(const char* text, Method method, bool jacobi) {
  on_ranks([&](Job& job) {
    const Generator generator = parse_generator(text).value();
    auto matrix = matrix_of(job, generator);
    auto exact = trial(job, matrix);
    auto b = exact.duplicate("b").value();
    auto x = exact.duplicate("x").value();
    auto plan = SpmvPlan<double>::create(matrix, exact, b).value();
    EXPECT_TRUE(ok(plan.multiply(matrix, exact, b)));
    const SolveResult result = solve(matrix, plan, b, x, {method, 1e-11, 500, jacobi}).value();
    EXPECT_TRUE(result.has_converged) << text << ' ' << result.failure;
    EXPECT_LE(result.true_residual, 1e-10);
    std::vector<double> found(static_cast<std::size_t>(generator.rows()));
    EXPECT_TRUE(ok(x.get(x.box(), found)));
    for (std::int64_t i = 0; i < generator.rows(); ++i) {
      EXPECT_NEAR(found[static_cast<std::size_t>(i)], trial_element<double>(i), 1e-7);
    }
    EXPECT_TRUE(ok(x.sync()));
  });
}

TEST(Solve, FindsTheSolution) {
  for (const bool jacobi : {false, true}) {
    expect_solution("fe2d:9", Method::cg, jacobi);
    expect_solution("stencil27:4", Method::cg, jacobi);
    expect_solution("convection:9,60", Method::bicgstab, jacobi);
    expect_solution("random:60,5", Method::bicgstab, jacobi);
  }
}

TEST(Solve, ComplexSystems) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 40;
    auto builder = linalg::SparseBuilder<Complex>::create(job, n, n).value();
    for (std::int64_t i = job.rank().value; i < n; i += job.size()) {
      EXPECT_TRUE(ok(builder.add(i, i, 4.0)));
      if (i + 1 < n) {
        EXPECT_TRUE(ok(builder.add(i, i + 1, Complex(1, 1))));
        EXPECT_TRUE(ok(builder.add(i + 1, i, Complex(1, -1))));
      }
    }
    auto matrix = builder.assemble().value();
    auto exact = trial(job, matrix);
    for (const Method method : {Method::cg, Method::bicgstab}) {
      auto b = exact.duplicate("b").value();
      auto x = exact.duplicate("x").value();
      auto plan = SpmvPlan<Complex>::create(matrix, exact, b).value();
      EXPECT_TRUE(ok(plan.multiply(matrix, exact, b)));
      const SolveResult result = solve(matrix, plan, b, x, {method, 1e-12, 200, true}).value();
      EXPECT_TRUE(result.has_converged);
      EXPECT_LE(result.true_residual, 1e-11);
    }
  });
}

// x*Ax is zero there, except for rounding errors, by which the solver must not divide.
TEST(Solve, SkewSymmetricMatricesBreakBicgstabDownAtOnce) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 60;
    auto builder = linalg::SparseBuilder<double>::create(job, n, n).value();
    for (std::int64_t i = job.rank().value; i < n; i += job.size()) {
      for (std::int64_t j = 0; j < i; ++j) {
        const double value = static_cast<double>((i * 7 + j * 13) % 17 - 8) / 7;
        EXPECT_TRUE(ok(builder.add(i, j, value)));
        EXPECT_TRUE(ok(builder.add(j, i, -value)));
      }
    }
    auto matrix = builder.assemble().value();
    auto exact = trial(job, matrix);
    auto b = exact.duplicate("b").value();
    auto x = exact.duplicate("x").value();
    auto plan = SpmvPlan<double>::create(matrix, exact, b).value();
    EXPECT_TRUE(ok(plan.multiply(matrix, exact, b)));
    const SolveResult result =
        solve(matrix, plan, b, x, {Method::bicgstab, 1e-8, 10'000, false}).value();
    EXPECT_FALSE(result.has_converged);
    EXPECT_LE(result.iterations, 1);
    EXPECT_NE(result.failure.find("broke down in iteration 1: "), std::string::npos)
        << result.failure;
    EXPECT_LT(result.true_residual, 1e4);
  });
}

// A matrix that is nearly skew-symmetric: the first step of conjugate gradients is a billion times
// too long.
TEST(Solve, StopsIfTheResidualGrows) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 50;
    auto builder = linalg::SparseBuilder<double>::create(job, n, n).value();
    for (std::int64_t i = job.rank().value; i < n; i += job.size()) {
      EXPECT_TRUE(ok(builder.add(i, i, 1e-9)));
      EXPECT_TRUE(ok(builder.add(i, i ^ 1, i % 2 == 0 ? 1.0 : -1.0)));
    }
    auto matrix = builder.assemble().value();
    auto b = trial(job, matrix);
    auto x = b.duplicate("x").value();
    EXPECT_TRUE(ok(arrays::zero(x)));
    auto plan = SpmvPlan<double>::create(matrix, b, x).value();
    const SolveResult result = solve(matrix, plan, b, x, {Method::cg, 1e-8, 10'000, false}).value();
    EXPECT_FALSE(result.has_converged);
    EXPECT_EQ(result.iterations, 1);
    EXPECT_NE(result.failure.find("diverged: in iteration 1 the residual is 1.0e+09 times b"),
              std::string::npos)
        << result.failure;
  });
}

SparseMatrix<double> matrix_of(Job& job, std::int64_t rows,
                               const std::vector<linalg::Triplet<double>>& entries) {
  auto builder = linalg::SparseBuilder<double>::create(job, rows, rows).value();
  if (job.rank().value == 0) {
    EXPECT_TRUE(ok(builder.add(entries)));
  }
  return builder.assemble().value();
}

// For A x = b with the solution trial_element().
SolveResult solve_for_trial(Job& job, SparseMatrix<double>& matrix, const SolveOptions& options) {
  auto exact = trial(job, matrix);
  auto b = exact.duplicate("b").value();
  auto x = exact.duplicate("x").value();
  auto plan = SpmvPlan<double>::create(matrix, exact, b).value();
  EXPECT_TRUE(ok(plan.multiply(matrix, exact, b)));
  SolveResult result = solve(matrix, plan, b, x, options).value();
  EXPECT_TRUE(ok(arrays::add(1.0, x, -1.0, exact, x)));
  EXPECT_LT(arrays::norm2(x).value(), result.has_converged ? 1e-6 : 1e300);
  return result;
}

// Squares of such entries are zero, or infinite.
TEST(Solve, NoSizeOfNumbersIsTakenForABreakdown) {
  on_ranks([](Job& job) {
    for (const double size : {1e-310, 1e-200, 1e-160, 1e160, 1e200, 1e305}) {
      auto matrix = matrix_of(job, 3,
                              {{0, 0, size},
                               {0, 1, 0.5 * size},
                               {1, 0, 0.5 * size},
                               {1, 1, 2 * size},
                               {2, 2, 3 * size}});
      for (const Method method : {Method::cg, Method::bicgstab}) {
        for (const bool jacobi : {false, true}) {
          const SolveResult result = solve_for_trial(job, matrix, {method, 1e-8, 20, jacobi});
          EXPECT_TRUE(result.has_converged) << size << ' ' << result.failure;
          EXPECT_EQ(result.failure, "") << size;
        }
      }
    }
  });
}

TEST(Solve, ARightSideOfAnySizeIsSolvedFor) {
  on_ranks([](Job& job) {
    auto matrix = matrix_of(job, 3, {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}});
    for (const double size : {1e-300, 1e-170, 1e170, 1e300}) {
      for (const Method method : {Method::cg, Method::bicgstab}) {
        auto b = trial(job, matrix);
        EXPECT_TRUE(ok(arrays::scale(b, size)));
        auto x = b.duplicate("x").value();
        auto plan = SpmvPlan<double>::create(matrix, b, x).value();
        const SolveResult result = solve(matrix, plan, b, x, {method, 1e-12, 20, false}).value();
        EXPECT_TRUE(result.has_converged) << size << ' ' << result.failure;
        EXPECT_LE(result.true_residual, 1e-11) << size;
      }
    }
  });
}

TEST(Solve, ARightSideThatIsNotFiniteIsReported) {
  on_ranks([](Job& job) {
    auto matrix = matrix_of(job, 2, {{0, 0, 1.7e308}, {0, 1, 1.7e308}, {1, 1, 1}});
    const SolveResult result = solve_for_trial(job, matrix, {Method::cg, 1e-8, 20, false});
    EXPECT_FALSE(result.has_converged);
    EXPECT_EQ(result.failure, "the right-hand side is not finite: numbers overflow");
  });
}

// With b = (1, 0, 0) the first step leaves the residual (0, -1/2, 1/2), without rounding: it is
// orthogonal to b. The rest has two dimensions, and takes two steps.
TEST(Solve, BicgstabRestartsIfItBreaksDown) {
  on_ranks([](Job& job) {
    auto matrix = matrix_of(job, 3, {{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {2, 1, 1}, {2, 2, 1}});
    auto b = trial(job, matrix);
    auto x = b.duplicate("x").value();
    ASSERT_TRUE(ok(arrays::zero(b)));
    ASSERT_TRUE(ok(arrays::fill(arrays::part(b, arrays::Box({0}, {1})), 1.0)));
    auto plan = SpmvPlan<double>::create(matrix, x, b).value();
    const SolveResult result =
        solve(matrix, plan, b, x, {Method::bicgstab, 1e-8, 50, false}).value();
    EXPECT_TRUE(result.has_converged) << result.failure;
    EXPECT_EQ(result.restarts, 1);
    EXPECT_EQ(result.iterations, 3);
  });
}

// The carried residual still falls after that of x has stopped.
TEST(Solve, RoundingsThatHideTheToleranceAreReported) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 12;
    std::vector<linalg::Triplet<double>> hilbert;
    for (std::int64_t i = 0; i < n * n; ++i) {
      const std::int64_t row = i / n;
      const std::int64_t column = i % n;
      hilbert.push_back({row, column, 1 / static_cast<double>(row + column + 1)});
    }
    auto matrix = matrix_of(job, n, hilbert);
    auto exact = trial(job, matrix);
    auto b = exact.duplicate("b").value();
    auto x = exact.duplicate("x").value();
    auto plan = SpmvPlan<double>::create(matrix, exact, b).value();
    EXPECT_TRUE(ok(plan.multiply(matrix, exact, b)));
    const SolveResult result = solve(matrix, plan, b, x, {Method::cg, 1e-18, 5000, false}).value();
    ASSERT_TRUE(result.has_converged) << result.failure;
    EXPECT_FALSE(is_accurate(result, 1e-18)) << result.true_residual;
    EXPECT_NE(
        result.failure.find(" |b|, more than ten times the tolerance: rounding errors hid this"),
        std::string::npos)
        << result.failure;
  });
}

TEST(Solve, AMatrixThatIsNotHermitianIsReportedAtOnce) {
  on_ranks([](Job& job) {
    auto builder = linalg::SparseBuilder<Complex>::create(job, 2, 2).value();
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(builder.add(0, 0, Complex(1, 1))));
      EXPECT_TRUE(ok(builder.add(1, 1, Complex(2, -0.5))));
    }
    auto matrix = builder.assemble().value();
    auto b = trial(job, matrix);
    auto x = b.duplicate("x").value();
    auto plan = SpmvPlan<Complex>::create(matrix, b, x).value();
    const SolveResult result = solve(matrix, plan, b, x, {Method::cg, 1e-8, 99, false}).value();
    EXPECT_NE(result.failure.find("the matrix is not Hermitian: p*Ap is "), std::string::npos)
        << result.failure;
  });
}

TEST(Solve, ReportsWhatPreventsASolution) {
  on_ranks([](Job& job) {
    auto builder = linalg::SparseBuilder<double>::create(job, 4, 4).value();
    if (job.rank().value == 0) {
      for (std::int64_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(ok(builder.add(i, i, -1.0)));
      }
      EXPECT_TRUE(ok(builder.add(3, 0, 1.0)));
    }
    auto matrix = builder.assemble().value();
    auto b = trial(job, matrix);
    auto x = b.duplicate("x").value();
    auto plan = SpmvPlan<double>::create(matrix, b, x).value();
    const SolveResult result = solve(matrix, plan, b, x, {Method::cg, 1e-8, 9, false}).value();
    EXPECT_FALSE(result.has_converged);
    EXPECT_NE(result.failure.find("the matrix is not positive definite"), std::string::npos)
        << result.failure;
    EXPECT_NE(solve(matrix, plan, b, x, {Method::cg, 1e-8, 9, true})
                  .status()
                  .message()
                  .find("has a zero on its diagonal"),
              std::string::npos);
  });
}

}  // namespace
}  // namespace tessera::apps::spmv
