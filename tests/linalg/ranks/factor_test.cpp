// SPDX-License-Identifier: BSD-3-Clause
//
// cholesky, lu and qr: the factors are multiplied by plain loops and compared with the original
// matrix, for all types, layouts, sizes and methods.
#include "linalg/factor.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/matrix.hpp"
#include "linalg/detail/work_matrix.hpp"
#include "linalg/solve.hpp"
#include "linalg/variants/scalapack.hpp"
#include "tests/linalg/ranks/systems.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::linalg {
namespace {

using rma::Code;
using rma::Job;
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
using test::MemoryOrder;
using test::Random;
using test::Setting;
using test::Wide;

// Rounding in a chain of n steps, with a margin.
constexpr double factor_epsilons = 30;

template <class T>
void expect_cholesky(Job& job, const Team& team, const Setting& setting, Random& random) {
  const std::int64_t n = setting.n;
  const Triangle triangle = test::pick(random, 0, 1) == 0 ? Triangle::lower : Triangle::upper;
  // The other triangle may have any values, and must not change.
  const bool is_lower = triangle == Triangle::lower;
  auto a = test::make_matrix<T>(
      job, test::layout(setting, {n, n}, team, random), {.name = "A", .team = team},
      [&](std::int64_t i, std::int64_t j) {
        return (is_lower ? i >= j : i <= j) ? test::definite<T>(i, j, n, 1) : T(77);
      });
  ASSERT_TRUE(ok(cholesky(a, {.triangle = triangle, .how = setting.how})));
  const Dense factor = all_of(a);
  const Dense kept = test::triangle_of(factor, triangle);
  const Dense lower = is_lower ? kept : test::adjoint(kept);
  Dense expected(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      expected(i, j) = Wide(test::definite<T>(i, j, n, 1));
      if (is_lower ? i < j : i > j) {
        EXPECT_EQ(factor(i, j), Wide(77)) << i << ", " << j;
      }
    }
  }
  EXPECT_LE(
      test::distance_in_epsilons<T>(lower * test::adjoint(lower), expected, expected.largest()),
      factor_epsilons);
  ASSERT_TRUE(ok(a.sync()));
}

template <class T>
void expect_lu(Job& job, const Team& team, const Setting& setting, Random& random) {
  const std::int64_t m = setting.n;
  const std::int64_t n = std::max<std::int64_t>(0, m + test::pick(random, -1, 1) * (m / 2));
  auto a = test::make_matrix<T>(
      job, test::layout(setting, {m, n}, team, random), {.name = "A", .team = team},
      [](std::int64_t i, std::int64_t j) { return test::general<T>(i, j, 2); });
  Dense expected = all_of(a);
  const double size = expected.largest();
  ASSERT_TRUE(ok(a.sync()));
  const auto pivots = lu(a, setting.how);
  ASSERT_TRUE(ok(pivots));
  ASSERT_EQ(std::ssize(*pivots), std::min(m, n));
  const Dense factors = all_of(a);
  const Dense lower = test::triangle_of(factors, Triangle::lower, Diagonal::unit);
  const Dense upper = test::triangle_of(factors, Triangle::upper);
  for (std::int64_t i = 0; i < std::ssize(*pivots); ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::swap(expected(i, j), expected((*pivots)[static_cast<std::size_t>(i)], j));
    }
  }
  EXPECT_LE(test::distance_in_epsilons<T>(lower * upper, expected, size), factor_epsilons);
  EXPECT_LE(lower.largest(), rma::ComplexElement<T> ? 1.5 : 1.0)
      << "a pivot is not the largest of its column";
  ASSERT_TRUE(ok(a.sync()));
}

// Q times the columns of a dense matrix, by the definition of the reflectors.
Dense times_q(const Dense& reflectors, const std::vector<Wide>& tau, Dense c) {
  for (std::int64_t k = std::ssize(tau) - 1; k >= 0; --k) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      Wide sum = c(k, j);
      for (std::int64_t i = k + 1; i < c.rows; ++i) {
        sum += std::conj(reflectors(i, k)) * c(i, j);
      }
      sum *= tau[static_cast<std::size_t>(k)];
      c(k, j) -= sum;
      for (std::int64_t i = k + 1; i < c.rows; ++i) {
        c(i, j) -= reflectors(i, k) * sum;
      }
    }
  }
  return c;
}

template <class T>
void expect_qr(Job& job, const Team& team, const Setting& setting, Random& random) {
  const std::int64_t m = setting.n;
  const std::int64_t n = std::max<std::int64_t>(0, m + test::pick(random, -1, 1) * (m / 2));
  auto a = test::make_matrix<T>(
      job, test::layout(setting, {m, n}, team, random), {.name = "A", .team = team},
      [](std::int64_t i, std::int64_t j) { return test::general<T>(i, j, 3); });
  const Dense expected = all_of(a);
  ASSERT_TRUE(ok(a.sync()));
  const auto tau = qr(a, setting.how);
  ASSERT_TRUE(ok(tau));
  ASSERT_EQ(std::ssize(*tau), std::min(m, n));
  const Dense factors = all_of(a);
  const std::vector<Wide> wide(tau->begin(), tau->end());
  Dense r(m, n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = i; j < n; ++j) {
      r(i, j) = factors(i, j);
    }
  }
  EXPECT_LE(test::distance_in_epsilons<T>(times_q(factors, wide, r), expected, expected.largest()),
            factor_epsilons);
  const Dense q = times_q(factors, wide, test::identity(m));
  EXPECT_LE(test::distance_in_epsilons<T>(test::adjoint(q) * q, test::identity(m), 1),
            factor_epsilons);
  ASSERT_TRUE(ok(a.sync()));
}

template <class T>
void expect_all_factors(Job& job, const Team& team, Random random) {
  test::for_each_setting(job, team, random, [&](const Setting& setting, Random&) {
    expect_cholesky<T>(job, team, setting, random);
    expect_lu<T>(job, team, setting, random);
    expect_qr<T>(job, team, setting, random);
  });
}

template <class T>
void expect_factors_on_the_world() {
  test::on_the_world(
      [](Job& job, const Team& team, Random random) { expect_all_factors<T>(job, team, random); });
}

TEST(Factor, FloatMatricesOfEachLayoutAreTheProductOfTheirFactors) {
  expect_factors_on_the_world<float>();
}
TEST(Factor, DoubleMatricesOfEachLayoutAreTheProductOfTheirFactors) {
  expect_factors_on_the_world<double>();
}
TEST(Factor, ComplexMatricesOfEachLayoutAreTheProductOfTheirFactors) {
  expect_factors_on_the_world<std::complex<float>>();
}
TEST(Factor, DoubleComplexMatricesOfEachLayoutAreTheProductOfTheirFactors) {
  expect_factors_on_the_world<std::complex<double>>();
}

TEST(Factor, TeamsThatDoNotBeginAtRankZero) {
  test::on_teams_behind_rank_zero([](Job& job, Team& team, Random random) {
    expect_all_factors<double>(job, team, random);
    EXPECT_TRUE(fails(check_scalapack(job, team), Code::unsupported));
  });
}

TEST(Factor, APatchOfAnArrayIsFactoredAndTheRestStays) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      auto cube = Array<double>::create(job, {12, 3, 14}, {.name = "cube"}).value();
      const Box box({2, 1, 3}, {11, 2, 12});
      std::vector<double> values(static_cast<std::size_t>(cube.box().volume()), 5.0);
      if (job.rank().value == 0) {
        ASSERT_TRUE(ok(cube.put(cube.box(), values)));
        std::vector<double> square;
        for (std::int64_t i = 0; i < 9; ++i) {
          for (std::int64_t j = 0; j < 9; ++j) {
            square.push_back(test::definite<double>(i, j, 9, 1));
          }
        }
        ASSERT_TRUE(ok(cube.put(box, square)));
      }
      ASSERT_TRUE(ok(cube.sync()));
      const MatrixDims dims{.rows = 2, .columns = 0};
      const Dense before = test::fetch(cube, box, dims);
      ASSERT_TRUE(ok(cube.sync()));
      ASSERT_TRUE(ok(
          cholesky(MatrixPatch<double>(cube, box, dims), {.how = {.method = method, .block = 2}})));
      const Dense lower = test::triangle_of(test::fetch(cube, box, dims), Triangle::lower);
      EXPECT_LE(test::distance_in_epsilons<double>(lower * test::adjoint(lower), before,
                                                   before.largest()),
                factor_epsilons);
      ASSERT_TRUE(ok(cube.get(cube.box(), values)));
      EXPECT_EQ(std::count(values.begin(), values.end(), 5.0), cube.box().volume() - box.volume());
      ASSERT_TRUE(ok(cube.sync()));
    }
  });
}

// An array that has the layout already is used in place; the result is the same.
TEST(Factor, AnArrayInTheLayoutOfOurOwn) {
  on_ranks([](Job& job) {
    const std::int64_t n = 29;
    const auto in_place =
        Distribution::scalapack({n, n}, {n, 4}, {1, job.size()}, job.size()).value();
    const auto at = [](std::int64_t i, std::int64_t j) { return test::general<double>(i, j, 4); };
    auto a = test::make_matrix<double>(job, in_place, {.name = "A"}, at);
    auto b = test::make_matrix<double>(job, Distribution::regular({n, n}, job.size()).value(),
                                       {.name = "B"}, at);
    const MethodOptions how{.method = Method::own, .block = 4};
    const auto pivots_a = lu(a, how);
    const auto pivots_b = lu(b, how);
    ASSERT_TRUE(ok(pivots_a));
    ASSERT_TRUE(ok(pivots_b));
    EXPECT_EQ(*pivots_a, *pivots_b);
    EXPECT_EQ(test::largest_difference(all_of(a), all_of(b)), 0);
    ASSERT_TRUE(ok(a.sync()));
  });
}

// The array's dimensions are columns and rows, as in Fortran.
constexpr MatrixDims columns_and_rows{.rows = 1, .columns = 0};

TEST(Factor, AnArrayOfColumnsAndRowsInTheLayoutOfOurOwn) {
  on_ranks([](Job& job) {
    const std::int64_t n = 29;
    const auto layout =
        Distribution::scalapack({n, n}, {n, 4}, {1, job.size()}, job.size()).value();
    auto a = test::make_matrix<double>(
        job, layout.reversed(), {.name = "A"},
        [](std::int64_t j, std::int64_t i) { return test::general<double>(i, j, 4); });
    auto b = test::make_matrix<double>(
        job, Distribution::regular({n, n}, job.size()).value(), {.name = "B"},
        [](std::int64_t i, std::int64_t j) { return test::general<double>(i, j, 4); });
    const auto work = detail::WorkMatrix::of({&a, a.box(), 1, 0}, job.world(), layout,
                                             detail::WorkMatrix::Use::in_place);
    ASSERT_TRUE(ok(work));
    EXPECT_FALSE(work->is_copy());
    const auto turned = detail::WorkMatrix::of({&a, a.box(), 0, 1}, job.world(), layout,
                                               detail::WorkMatrix::Use::in_place);
    EXPECT_TRUE(turned->is_copy());
    const MethodOptions how{.method = Method::own, .block = 4};
    const auto pivots_a = lu(MatrixPatch(a, a.box(), columns_and_rows), how);
    const auto pivots_b = lu(b, how);
    ASSERT_TRUE(ok(pivots_a));
    ASSERT_TRUE(ok(pivots_b));
    EXPECT_EQ(*pivots_a, *pivots_b);
    EXPECT_EQ(test::largest_difference(test::fetch(a, a.box(), columns_and_rows), all_of(b)), 0);
    ASSERT_TRUE(ok(a.sync()));
  });
}

// The layout that ScaLAPACK uses in place, also with the ranks of the grid in another order, and
// for an array whose dimensions are columns and rows.
TEST(Factor, AnArrayInTheLayoutOfScalapack) {
  on_ranks([](Job& job) {
    const rma::Status possible = check_scalapack(job, job.world());
    if (!possible.ok()) {
      GTEST_SKIP() << possible.message();
    }
    const std::int64_t n = 29;
    const Extents grid = test::rank_grid(job.size(), 2);
    if (volume(grid) != job.size()) {
      GTEST_SKIP() << "no grid of all ranks";
    }
    const auto partitions = test::partitions_by_size({n, n}, 3);
    const auto at = [n](std::int64_t i, std::int64_t j) {
      return test::definite<double>(i, j, n, 4);
    };
    for (const MemoryOrder of_ranks : {MemoryOrder::row_major, MemoryOrder::column_major}) {
      const auto block_map =
          arrays::BlockMap::cyclic_grid(test::blocks_of(partitions), grid, job.size(), of_ranks)
              .value();
      const auto layout = Distribution::create(partitions, block_map,
                                               {.storage = test::Storage::local_matrix,
                                                .order = MemoryOrder::column_major})
                              .value();
      auto a = test::make_matrix<double>(job, layout, {.name = "A"}, at);
      auto b = test::make_matrix<double>(job, Distribution::regular({n, n}, job.size()).value(),
                                         {.name = "B"}, at);
      auto c = test::make_matrix<double>(job, layout.reversed(), {.name = "C"},
                                         [&](std::int64_t j, std::int64_t i) { return at(i, j); });
      const MatrixPatch of_c(c, c.box(), columns_and_rows);
      ASSERT_TRUE(ok(cholesky(a, {.how = {.method = Method::scalapack}})));
      ASSERT_TRUE(ok(cholesky(b, {.how = {.method = Method::own}})));
      ASSERT_TRUE(ok(cholesky(of_c, {.how = {.method = Method::scalapack}})));
      EXPECT_LE(test::largest_difference(all_of(a), all_of(b)), 1e-12);
      EXPECT_EQ(test::largest_difference(test::fetch(c, c.box(), columns_and_rows), all_of(a)), 0);
      const auto work = variants::scalapack::at({&c, c.box(), 1, 0}, job.world(), 0,
                                                detail::WorkMatrix::Use::in_place);
      ASSERT_TRUE(ok(work));
      EXPECT_FALSE(work->is_copy());
      ASSERT_TRUE(ok(a.sync()));
    }
  });
}

// ---- Errors

struct Square {
  Array<double> a;
  explicit Square(Job& job) : a(Array<double>::create(job, {6, 6}, {.name = "square"}).value()) {
    for (std::int64_t i = 0; i < 6; ++i) {
      if (job.rank().value == 0) {
        rma::require(a.put(Box::at({i, i}), std::vector<double>{i == 3 ? -1.0 : 1.0}));
      }
    }
    rma::require(a.sync());
  }
};

TEST(FactorErrors, AMatrixThatIsNotPositiveDefinite) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        Square square(job);
        std::int64_t info = -7;
        const MethodOptions how{.method = method, .block = 2, .info = &info};
        EXPECT_TRUE(
            fails(cholesky(square.a, {.triangle = triangle, .how = how}), Code::invalid_argument,
                  {"cholesky: ", "the leading 4 x 4 part of A ([0,6) x [0,6) of array 'square'",
                   "is not positive definite"}));
        EXPECT_EQ(info, 4);
        ASSERT_TRUE(ok(fill_diagonal(square.a, 2.0)));
        ASSERT_TRUE(ok(cholesky(square.a, {.triangle = triangle, .how = how})));
        EXPECT_EQ(info, 0);
      }
    }
  });
}

TEST(FactorErrors, NaNIsNoPositiveNumber) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      for (const std::int64_t place : {0, 2, 5}) {
        auto a = Array<double>::create(job, {6, 6}, {.name = "square"}).value();
        ASSERT_TRUE(ok(fill_diagonal(a, 1.0)));
        const std::vector<double> nan{std::numeric_limits<double>::quiet_NaN()};
        const std::string order = std::to_string(place + 1);
        if (job.rank().value == 0) {
          ASSERT_TRUE(ok(a.put(Box::at({place, place}), nan)));
        }
        ASSERT_TRUE(ok(a.sync()));
        EXPECT_TRUE(fails(
            cholesky(a, {.how = {.method = method, .block = 2}}), Code::invalid_argument,
            {"the leading " + order + " x " + order + " part of A", "is not positive definite"}));
      }
    }
  });
}

TEST(FactorErrors, AccessModesThatForbidIt) {
  on_ranks([](Job& job) {
    Square square(job);
    ASSERT_TRUE(ok(square.a.set_access_mode(rma::AccessMode::read_only)));
    EXPECT_TRUE(fails(lu(square.a), Code::invalid_argument,
                      {"lu: ", "A: [0,6) x [0,6) of array 'square'", "read_only now"}));
    auto b = Array<double>::create(job, {6, 1}, {.name = "b"}).value();
    ASSERT_TRUE(ok(fill(b, 1.0)));
    EXPECT_TRUE(ok(solve(square.a, b))) << "it only reads A";
  });
}

TEST(FactorErrors, AColumnWithoutAPivot) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      Square square(job);
      if (job.rank().value == 0) {
        ASSERT_TRUE(ok(square.a.put(Box::at({4, 4}), std::vector<double>{0.0})));
      }
      ASSERT_TRUE(ok(square.a.sync()));
      std::int64_t info = 0;
      EXPECT_TRUE(fails(lu(square.a, {.method = method, .block = 2, .info = &info}),
                        Code::invalid_argument,
                        {"lu: A ([0,6) x [0,6) of array 'square' (float64, 6 x 6)) is singular: "
                         "column 4 depends on earlier columns"}));
      EXPECT_EQ(info, 5);
      EXPECT_EQ(square.a.get_element({5, 5}).value(), 1.0) << "the factors are complete";
      ASSERT_TRUE(ok(square.a.sync()));
    }
  });
}

TEST(FactorErrors, OtherErrorsHaveNoInfo) {
  on_ranks([](Job& job) {
    auto a = Array<double>::create(job, {4, 5}, {.name = "wide"}).value();
    // On one rank only: the others give no place for it.
    std::int64_t info = 3;
    EXPECT_TRUE(fails(cholesky(a, {.how = {.info = job.rank().value == 0 ? &info : nullptr}}),
                      Code::invalid_argument, {"cholesky: ", "A: "}));
    EXPECT_EQ(info, job.rank().value == 0 ? 0 : 3);
  });
}

TEST(FactorErrors, MatricesThatAreNotSquare) {
  on_ranks([](Job& job) {
    auto a = Array<double>::create(job, {4, 5}, {.name = "wide"}).value();
    EXPECT_TRUE(fails(cholesky(a), Code::invalid_argument,
                      {"cholesky: ",
                       "A: [0,4) x [0,5) of array 'wide' (float64, 4 x 5) is 4 x 5, not "
                       "square"}));
    EXPECT_TRUE(fails(lu(MatrixPatch<double>(a, Box({0, 0}, {4, 9}))), Code::out_of_range,
                      {"lu: ", "A: [0,4) x [0,9) of array 'wide'"}));
    EXPECT_TRUE(
        fails(qr(a, {.block = -3}), Code::invalid_argument, {"qr: ", "the block size is -3"}));
  });
}

TEST(FactorErrors, MembersThatAskForDifferentThings) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    Square square(job);
    const std::int64_t block = job.rank().value == 1 ? 3 : 2;
    EXPECT_TRUE(fails(lu(square.a, {.block = block}), Code::invalid_argument,
                      {"lu: ", "rank 1 called lu of array", "with other arguments than rank 0"}));
  });
}

TEST(FactorErrors, ScalapackWhereItIsNotPossible) {
  on_ranks([](Job& job) {
    Square square(job);
    const rma::Status possible = check_scalapack(job, job.world());
    if (!possible.ok()) {
      EXPECT_TRUE(fails(lu(square.a, {.method = Method::scalapack}), Code::unsupported,
                        {"lu: ", "ScaLAPACK"}));
    }
  });
}

TEST(FactorErrors, AClosedArray) {
  on_ranks([](Job& job) {
    Square square(job);
    ASSERT_TRUE(ok(square.a.free()));
    EXPECT_TRUE(fails(cholesky(square.a), Code::closed, {"cholesky: ", "square"}));
  });
}

}  // namespace
}  // namespace tessera::linalg
