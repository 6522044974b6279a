// SPDX-License-Identifier: BSD-3-Clause
//
// Solvers: op(A) X is computed by plain loops and compared with B, for all types, layouts, sizes
// and methods.
#include "linalg/solve.hpp"
#include "linalg/least_squares.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "arrays/elementwise.hpp"
#include "tests/linalg/ranks/systems.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::linalg {
namespace {

using rma::Code;
using rma::Job;
using rma::Status;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using test::all_of;
using test::Array;
using test::Box;
using test::Dense;
using test::Distribution;
using test::Extents;
using test::Random;
using test::Setting;
using test::Wide;

constexpr double solve_epsilons = 60;

Dense with_op(const Dense& a, MatrixOp op) {
  return op == MatrixOp::none
             ? a
             : (op == MatrixOp::transpose ? test::transposed(a) : test::adjoint(a));
}

/// A system under test: the original A and B.
template <class T>
struct System {
  Array<T> a;
  Array<T> b;
  Dense was_a;
  Dense was_b;
};

/// Collective. A is definite, since diagonal dominance limits the rounding errors of X.
template <class T>
System<T> make_system(Job& job, const Team& team, const Setting& setting, const Extents& of_b,
                      Random& random) {
  const std::int64_t n = setting.n;
  auto a = test::make_matrix<T>(
      job, test::layout(setting, {n, n}, team, random), {.name = "A", .team = team},
      [n](std::int64_t i, std::int64_t j) { return test::definite<T>(i, j, n, 1); });
  auto b = test::make_matrix<T>(
      job, test::layout(setting, of_b, team, random), {.name = "B", .team = team},
      [](std::int64_t i, std::int64_t j) { return test::general<T>(i, j, 5); });
  Dense was_a = all_of(a);
  Dense was_b = all_of(b);
  rma::require(a.sync());
  rma::require(b.sync());
  return {std::move(a), std::move(b), std::move(was_a), std::move(was_b)};
}

template <class T>
void expect_solution(const Dense& a, const System<T>& system) {
  const Dense x = all_of(system.b);
  const double size = a.largest() * x.largest() + system.was_b.largest();
  EXPECT_LE(test::distance_in_epsilons<T>(a * x, system.was_b, size), solve_epsilons);
  ASSERT_TRUE(ok(system.b.sync()));
}

template <class T>
void expect_unchanged_a(const System<T>& system) {
  EXPECT_EQ(test::largest_difference(all_of(system.a), system.was_a), 0);
  ASSERT_TRUE(ok(system.a.sync()));
}

template <class T>
void expect_systems(Job& job, const Team& team, const Setting& setting, Random& random) {
  const std::int64_t n = setting.n;
  const Extents of_b{n, test::pick(random, 0, 6)};
  const Triangle triangle = test::pick(random, 0, 1) == 0 ? Triangle::lower : Triangle::upper;
  const CholeskyOptions options{.triangle = triangle, .how = setting.how};
  {
    auto system = make_system<T>(job, team, setting, of_b, random);
    ASSERT_TRUE(ok(solve(system.a, system.b, setting.how)));
    expect_solution(system.was_a, system);
    expect_unchanged_a(system);
  }
  {
    auto system = make_system<T>(job, team, setting, of_b, random);
    ASSERT_TRUE(ok(solve_positive_definite(system.a, system.b, options)));
    expect_solution(system.was_a, system);
    expect_unchanged_a(system);
  }
  {
    auto system = make_system<T>(job, team, setting, of_b, random);
    ASSERT_TRUE(ok(cholesky(system.a, options)));
    ASSERT_TRUE(ok(solve_cholesky(system.a, system.b, options)));
    expect_solution(system.was_a, system);
  }
  const MatrixOp op =
      std::array{MatrixOp::none, MatrixOp::transpose,
                 MatrixOp::conjugate_transpose}[static_cast<std::size_t>(test::pick(random, 0, 2))];
  {
    auto system = make_system<T>(job, team, setting, of_b, random);
    const auto pivots = lu(system.a, setting.how);
    ASSERT_TRUE(ok(pivots));
    ASSERT_TRUE(ok(solve_lu(system.a, *pivots, system.b, {.op = op, .how = setting.how})));
    expect_solution(with_op(system.was_a, op), system);
  }
}

template <class T>
void expect_inverse(Job& job, const Team& team, const Setting& setting, Random& random) {
  auto system = make_system<T>(job, team, setting, {0, 0}, random);
  const Triangle triangle = test::pick(random, 0, 1) == 0 ? Triangle::lower : Triangle::upper;
  ASSERT_TRUE(ok(invert_positive_definite(system.a, {.triangle = triangle, .how = setting.how})));
  const Dense inverse = all_of(system.a);
  EXPECT_LE(test::distance_in_epsilons<T>(system.was_a * inverse, test::identity(setting.n), 3),
            solve_epsilons);
  ASSERT_TRUE(ok(system.a.sync()));
}

template <class T>
void expect_triangular(Job& job, const Team& team, const Setting& setting, Random& random) {
  const bool is_left = test::pick(random, 0, 1) == 0;
  TriangularOptions<T> options;
  options.side = is_left ? Side::left : Side::right;
  options.triangle = test::pick(random, 0, 1) == 0 ? Triangle::lower : Triangle::upper;
  options.op =
      std::array{MatrixOp::none, MatrixOp::transpose,
                 MatrixOp::conjugate_transpose}[static_cast<std::size_t>(test::pick(random, 0, 2))];
  options.alpha = T(2.5);
  options.how = setting.how;
  const std::int64_t r = test::pick(random, 0, 6);
  auto system = make_system<T>(job, team, setting,
                               is_left ? Extents{setting.n, r} : Extents{r, setting.n}, random);
  ASSERT_TRUE(ok(solve_triangular(system.a, system.b, options)));
  const Dense a = with_op(test::triangle_of(system.was_a, options.triangle), options.op);
  const Dense x = all_of(system.b);
  Dense expected = system.was_b;
  for (Wide& value : expected.values) {
    value *= 2.5;
  }
  const double size = a.largest() * x.largest() + expected.largest();
  EXPECT_LE(test::distance_in_epsilons<T>(is_left ? a * x : x * a, expected, size), solve_epsilons);
  expect_unchanged_a(system);
}

template <class T>
void expect_least_squares(Job& job, const Team& team, const Setting& setting, Random& random) {
  const std::int64_t m = setting.n;
  const std::int64_t n = test::pick(random, 0, (m + 1) / 2);
  const std::int64_t r = test::pick(random, 0, 4);
  const auto at = [](std::uint64_t seed) {
    return [seed](std::int64_t i, std::int64_t j) { return test::general<T>(i, j, seed); };
  };
  auto a = test::make_matrix<T>(job, test::layout(setting, {m, n}, team, random),
                                {.name = "A", .team = team}, at(6));
  auto b = test::make_matrix<T>(job, test::layout(setting, {m, r}, team, random),
                                {.name = "B", .team = team}, at(7));
  auto x = test::make_matrix<T>(job, test::layout(setting, {n, r}, team, random),
                                {.name = "X", .team = team}, at(8));
  ASSERT_TRUE(ok(least_squares(a, b, x, setting.how)));
  const Dense of_a = all_of(a);
  const Dense of_b = all_of(b);
  const Dense of_x = all_of(x);
  // The residual is orthogonal to the range of A.
  const Dense residual = test::product(1, of_a, of_x, -1, of_b);
  const Dense along = test::adjoint(of_a) * residual;
  const double size = of_a.largest() * of_x.largest() + of_b.largest();
  EXPECT_LE(test::distance_in_epsilons<T>(along, Dense(n, r), size * static_cast<double>(m + 1)),
            solve_epsilons);
  ASSERT_TRUE(ok(x.sync()));
}

template <class T>
void expect_all_systems(Job& job, const Team& team, Random random) {
  test::for_each_setting(job, team, random, [&](const Setting& setting, Random&) {
    expect_systems<T>(job, team, setting, random);
    expect_inverse<T>(job, team, setting, random);
    expect_triangular<T>(job, team, setting, random);
    expect_triangular<T>(job, team, setting, random);
    expect_least_squares<T>(job, team, setting, random);
  });
}

template <class T>
void expect_systems_on_the_world() {
  test::on_the_world(
      [](Job& job, const Team& team, Random random) { expect_all_systems<T>(job, team, random); });
}

TEST(Solve, FloatSystemsOfEachLayout) {
  expect_systems_on_the_world<float>();
}
TEST(Solve, DoubleSystemsOfEachLayout) {
  expect_systems_on_the_world<double>();
}
TEST(Solve, ComplexSystemsOfEachLayout) {
  expect_systems_on_the_world<std::complex<float>>();
}
TEST(Solve, DoubleComplexSystemsOfEachLayout) {
  expect_systems_on_the_world<std::complex<double>>();
}

TEST(Solve, TeamsThatDoNotBeginAtRankZero) {
  test::on_teams_behind_rank_zero([](Job& job, const Team& team, Random random) {
    expect_all_systems<double>(job, team, random);
  });
}

// The arrays have layouts that ScaLAPACK uses in place; their patches don't.
TEST(Solve, PatchesOfArraysInScalapacksLayout) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 10;
    const std::int64_t rows = job.size() % 2 == 0 ? 2 : 1;
    const auto cyclic = [&](const Extents& extents) {
      return Distribution::scalapack(extents, {3, 3}, {rows, job.size() / rows}, job.size())
          .value();
    };
    const auto system = [](std::int64_t i, std::int64_t j) {
      return test::definite<double>(i, j, n, 1);
    };
    for (const Method method : test::methods(job, job.world())) {
      SCOPED_TRACE(to_string(method));
      const MethodOptions how{.method = method};
      auto a = test::make_matrix<double>(job, cyclic({n + 4, n + 4}), {.name = "A"}, system);
      auto b = test::make_matrix<double>(
          job, cyclic({n, 2}), {.name = "B"},
          [](std::int64_t i, std::int64_t j) { return test::general<double>(i, j, 5); });
      const auto whole_a = a.duplicate("whole A").value();
      const auto whole_b = b.duplicate("whole B").value();
      ASSERT_TRUE(ok(arrays::copy(a, whole_a)));
      ASSERT_TRUE(ok(arrays::copy(b, whole_b)));
      const Dense was_b = all_of(b);
      const Box corner({1, 1}, {n + 1, n + 1});
      const Dense was_a = test::fetch(a, corner, {});
      const MatrixPatch<double> patch(a, corner);
      const auto expect_solved = [&] {
        const Dense x = all_of(b);
        EXPECT_LE(
            test::distance_in_epsilons<double>(was_a * x, was_b, was_a.largest() * x.largest()),
            solve_epsilons);
        ASSERT_TRUE(ok(b.sync()));
        ASSERT_TRUE(ok(arrays::copy(whole_a, a)));
        ASSERT_TRUE(ok(arrays::copy(whole_b, b)));
      };
      ASSERT_TRUE(ok(job.barrier()));

      const auto pivots = lu(patch, how);
      ASSERT_TRUE(ok(pivots));
      EXPECT_EQ(pivots->size(), static_cast<std::size_t>(n));
      ASSERT_TRUE(ok(solve_lu(patch, *pivots, MatrixPatch<double>(b), {.how = how})));
      expect_solved();
      ASSERT_TRUE(ok(cholesky(patch, {.how = how})));
      ASSERT_TRUE(ok(solve_cholesky(patch, MatrixPatch<double>(b), {.how = how})));
      expect_solved();
      const auto factors = qr(MatrixPatch<double>(a, Box({1, 1}, {n + 1, n - 1})), how);
      ASSERT_TRUE(ok(factors));
      EXPECT_EQ(factors->size(), static_cast<std::size_t>(n - 2));
      ASSERT_TRUE(ok(arrays::copy(whole_a, a)));
      ASSERT_TRUE(ok(solve_triangular(patch, MatrixPatch<double>(b), {.how = how})));
      const Dense x = all_of(b);
      const Dense lower = test::triangle_of(was_a, Triangle::lower);
      EXPECT_LE(test::distance_in_epsilons<double>(lower * x, was_b, was_a.largest() * x.largest()),
                solve_epsilons);
      ASSERT_TRUE(ok(b.sync()));
    }
  });
}

// A general matrix without dominance, larger than the limit of GA's sequential solver (100 x 100).
// In the layout of the own method nothing is copied; blocks of 3 columns, and of 1.
TEST(Solve, ArraysOfWholeColumnsAreWorkedOnInPlace) {
  on_ranks([](Job& job) {
    constexpr std::int64_t n = 23;
    for (const std::int64_t width : {3, 1}) {
      const auto columns = [&](const Extents& extents) {
        return arrays::Distribution::scalapack(extents, {n, width}, {1, job.size()}, job.size())
            .value();
      };
      auto a = test::make_matrix<double>(
          job, columns({n, n}), {.name = "A"},
          [](std::int64_t i, std::int64_t j) { return test::definite<double>(i, j, n, 1); });
      auto b = test::make_matrix<double>(
          job, columns({n, 2 * n}), {.name = "B"},
          [](std::int64_t i, std::int64_t j) { return test::general<double>(i, j, 5); });
      const Dense was_a = all_of(a);
      const Dense was_b = all_of(b);
      ASSERT_TRUE(ok(job.barrier()));
      const MethodOptions how{.method = Method::own, .block = width};
      const auto pivots = lu(a, how).value();
      ASSERT_TRUE(ok(solve_lu(a, pivots, b, {.how = how})));
      const Dense x = all_of(b);
      EXPECT_LE(test::distance_in_epsilons<double>(was_a * x, was_b, was_a.largest() * x.largest()),
                solve_epsilons);
      ASSERT_TRUE(ok(b.sync()));
    }
  });
}

TEST(Solve, AMatrixOf300NeedsNoLibrary) {
  on_ranks([](Job& job) {
    const std::int64_t n = 300;
    const auto at = [](std::int64_t i, std::int64_t j) { return test::general<double>(i, j, 9); };
    auto a = test::make_matrix<double>(job, Distribution::regular({n, n}, job.size()).value(),
                                       {.name = "A"}, at);
    auto b = test::make_matrix<double>(job, Distribution::regular({n, 1}, job.size()).value(),
                                       {.name = "B"}, at);
    const Dense of_a = all_of(a);
    const Dense of_b = all_of(b);
    ASSERT_TRUE(ok(b.sync()));
    ASSERT_TRUE(ok(solve(a, b, {.method = Method::own})));
    const Dense x = all_of(b);
    EXPECT_LE(test::distance_in_epsilons<double>(of_a * x, of_b, of_a.largest() * x.largest()),
              solve_epsilons);
    ASSERT_TRUE(ok(b.sync()));
  });
}

TEST(Solve, LeastSquaresOfColumnsThatDependOnOthersAreRefused) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      SCOPED_TRACE(to_string(method));
      // t, 2t, t², and the same with another scale and direction of the second one.
      for (const double scale : {1.0, 1e-12, 1e200}) {
        for (const bool is_dependent : {true, false}) {
          auto a = test::make_matrix<double>(
              job, Distribution::regular({20, 3}, job.size()).value(), {.name = "A"},
              [&](std::int64_t i, std::int64_t j) {
                const double t = 0.1 * static_cast<double>(i + 1);
                const double second = is_dependent ? 2 * t : 2 * t + t * t * t;
                return j == 0 ? t : j == 1 ? scale * second : t * t;
              });
          auto b = Array<double>::create(job, {20, 1}, {.name = "b"}).value();
          auto x = Array<double>::create(job, {3, 1}, {.name = "x"}).value();
          ASSERT_TRUE(ok(fill(b, 1.0)));
          const Status status = least_squares(a, b, x, {.method = method});
          if (is_dependent) {
            EXPECT_TRUE(fails(status, Code::invalid_argument,
                              {"least_squares: column 1 of A depends on earlier columns"}));
          } else {
            EXPECT_TRUE(ok(status));
          }
        }
      }
    }
  });
}

// ---- Errors

struct Fitting {
  Array<double> a;
  Array<double> b;
  explicit Fitting(Job& job)
      : a(test::make_matrix<double>(
            job, Distribution::regular({5, 5}, job.size()).value(), {.name = "matrix"},
            [](std::int64_t i, std::int64_t j) { return i == j ? 1.0 : 0.0; })),
        b(Array<double>::create(job, {5, 2}, {.name = "right"}).value()) {}
};

TEST(SolveErrors, ExtentsThatDoNotMatch) {
  on_ranks([](Job& job) {
    Fitting f(job);
    auto wide = Array<double>::create(job, {5, 6}, {.name = "wide"}).value();
    auto tall = Array<double>::create(job, {6, 2}, {.name = "tall"}).value();
    EXPECT_TRUE(fails(solve(wide, f.b), Code::invalid_argument,
                      {"solve: ",
                       "A: [0,5) x [0,6) of array 'wide' (float64, 5 x 6) is 5 x 6, not "
                       "square"}));
    EXPECT_TRUE(
        fails(solve(f.a, tall), Code::invalid_argument,
              {"solve: ", "A is 5 x 5 ([0,5) x [0,5) of array 'matrix'",
               "and B is 6 x 2 ([0,6) x [0,2) of array 'tall'", "A is n x n and B is n x r"}));
    EXPECT_TRUE(fails(solve_triangular(f.a, f.b, {.side = Side::right}), Code::invalid_argument,
                      {"solve_triangular: ", "B is r x n"}));
    EXPECT_TRUE(fails(least_squares(wide, f.b, tall), Code::invalid_argument,
                      {"least_squares: ", "A (", "is 5 x 6: with fewer rows than columns"}));
    EXPECT_TRUE(fails(least_squares(f.a, f.b, tall), Code::invalid_argument,
                      {"least_squares: ", "A is m x n, B is m x r and X is n x r"}));
  });
}

TEST(SolveErrors, AVectorIsToBeAMatrixOfOneColumn) {
  on_ranks([](Job& job) {
    auto a = Array<double>::create(job, {8, 8}, {.name = "a"}).value();
    auto v = Array<double>::create(job, {8}, {.name = "v"}).value();
    EXPECT_TRUE(fails(solve(a, v), Code::invalid_argument,
                      {"solve: ", "array 'v' (float64, 8) is a vector", "make it n x 1"}));
  });
}

TEST(SolveErrors, ArraysThatShareElements) {
  on_ranks([](Job& job) {
    Fitting f(job);
    EXPECT_TRUE(fails(solve(f.a, f.a), Code::invalid_argument,
                      {"solve: ", "A and B share [0,5) x [0,5) of array 'matrix'",
                       "copy one of them into another array"}));
  });
}

TEST(SolveErrors, SingularMatrices) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      Fitting f(job);
      if (job.rank().value == 0) {
        ASSERT_TRUE(ok(f.a.put(Box::at({3, 3}), std::vector<double>{0.0})));
      }
      ASSERT_TRUE(ok(f.a.sync()));
      std::int64_t info = 0;
      const MethodOptions how{.method = method, .block = 2, .info = &info};
      EXPECT_TRUE(fails(solve(f.a, f.b, how), Code::invalid_argument,
                        {"solve: ", "A (", "'matrix'", "is singular: column 3"}));
      EXPECT_EQ(info, 4);
      info = 0;
      EXPECT_TRUE(fails(solve_positive_definite(f.a, f.b, {.how = how}), Code::invalid_argument,
                        {"solve_positive_definite: the leading 4 x 4 part of A"}));
      EXPECT_EQ(info, 4);
      info = 0;
      EXPECT_TRUE(fails(invert_positive_definite(f.a, {.how = how}), Code::invalid_argument,
                        {"invert_positive_definite: the leading 4 x 4 part of A"}));
      EXPECT_EQ(info, 4);
      EXPECT_TRUE(fails(solve_triangular(f.a, f.b, {.how = how}), Code::invalid_argument,
                        {"solve_triangular: ", "element (3, 3) of ", "is zero"}));
    }
  });
}

TEST(SolveErrors, PivotsThatAreNone) {
  on_ranks([](Job& job) {
    Fitting f(job);
    EXPECT_TRUE(fails(solve_lu(f.a, std::vector<std::int64_t>{0, 1}, f.b), Code::invalid_argument,
                      {"solve_lu: ", "2 pivots are given for A of 5 x 5"}));
    EXPECT_TRUE(fails(solve_lu(f.a, std::vector<std::int64_t>{0, 1, 2, 2, 4}, f.b),
                      Code::invalid_argument,
                      {"solve_lu: ", "pivot 3 is row 2, but must be one of 3 to 4"}));
  });
}

}  // namespace
}  // namespace tessera::linalg
