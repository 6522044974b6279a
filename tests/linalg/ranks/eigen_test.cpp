// SPDX-License-Identifier: BSD-3-Clause
//
// Eigenvalues and singular values: their defining equations are checked with plain loops, for all
// types, layouts, sizes and methods.
#include "linalg/eigen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "arrays/elementwise.hpp"
#include "linalg/factor.hpp"
#include "linalg/svd.hpp"
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
using test::Dense;
using test::Random;
using test::Setting;

constexpr double eigen_epsilons = 60;

template <class Real>
Dense diagonal(const std::vector<Real>& values) {
  Dense result = test::identity(std::ssize(values));
  for (std::int64_t i = 0; i < result.rows; ++i) {
    result(i, i) = values[static_cast<std::size_t>(i)];
  }
  return result;
}

template <class Real>
void expect_close(const std::vector<Real>& a, const std::vector<Real>& b, double size) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_LE(test::distance_in_epsilons<Real>(diagonal(a), diagonal(b), size), eigen_epsilons);
}

/// Collective. Hermitian below the diagonal; the part above must not be read.
template <class T>
Array<T> make_lower(Job& job, const Team& team, const Setting& setting, bool is_definite,
                    Random& random) {
  const std::int64_t n = setting.n;
  return test::make_matrix<T>(
      job, test::layout(setting, {n, n}, team, random),
      {.name = is_definite ? "B" : "A", .team = team}, [&](std::int64_t i, std::int64_t j) {
        if (i < j) {
          return T(33);
        }
        return is_definite ? test::definite<T>(i, j, n, 11) : test::hermitian<T>(i, j, 12);
      });
}

template <class T>
Dense hermitian_of(const Array<T>& lower) {
  Dense dense = all_of(lower);
  for (std::int64_t i = 0; i < dense.rows; ++i) {
    for (std::int64_t j = i + 1; j < dense.columns; ++j) {
      dense(i, j) = std::conj(dense(j, i));
    }
  }
  return dense;
}

template <class T>
void expect_eigen(Job& job, const Team& team, const Setting& setting, Random& random) {
  const std::int64_t n = setting.n;
  const EigenOptions options{.how = setting.how};
  auto a = make_lower<T>(job, team, setting, false, random);
  auto b = make_lower<T>(job, team, setting, true, random);
  auto v = Array<T>::create(job, test::layout(setting, {n, n}, team, random),
                            {.name = "V", .team = team})
               .value();
  const Dense of_a = hermitian_of(a);
  const Dense of_b = hermitian_of(b);
  ASSERT_TRUE(ok(a.sync()));

  const auto values = eigen(a, v, options);
  ASSERT_TRUE(ok(values));
  EXPECT_TRUE(std::is_sorted(values->begin(), values->end()));
  Dense of_v = all_of(v);
  const double size = of_a.largest() * static_cast<double>(n + 1);
  EXPECT_LE(test::distance_in_epsilons<T>(of_a * of_v, of_v * diagonal(*values), size),
            eigen_epsilons);
  EXPECT_LE(test::distance_in_epsilons<T>(test::adjoint(of_v) * of_v, test::identity(n), 1),
            eigen_epsilons);
  const auto alone = eigenvalues(a, options);
  ASSERT_TRUE(ok(alone));
  expect_close(*alone, *values, size);

  ASSERT_TRUE(ok(v.sync()));
  const auto general = eigen_generalised(a, b, v, options);
  ASSERT_TRUE(ok(general));
  of_v = all_of(v);
  EXPECT_LE(test::distance_in_epsilons<T>(of_a * of_v, of_b * of_v * diagonal(*general), size),
            eigen_epsilons);
  EXPECT_LE(test::distance_in_epsilons<T>(test::adjoint(of_v) * of_b * of_v, test::identity(n), 1),
            eigen_epsilons);
  const auto general_alone = eigenvalues_generalised(a, b, options);
  ASSERT_TRUE(ok(general_alone));
  expect_close(*general_alone, *general, size);
  EXPECT_EQ(test::largest_difference(hermitian_of(a), of_a), 0) << "A was changed";
  ASSERT_TRUE(ok(v.sync()));
}

template <class T>
void expect_svd(Job& job, const Team& team, const Setting& setting, Random& random) {
  const std::int64_t m = setting.n;
  const std::int64_t n = std::max<std::int64_t>(0, m + test::pick(random, -1, 1) * (m / 2));
  const std::int64_t k = std::min(m, n);
  const EigenOptions options{.how = setting.how};
  auto a = test::make_matrix<T>(
      job, test::layout(setting, {m, n}, team, random), {.name = "A", .team = team},
      [](std::int64_t i, std::int64_t j) { return test::general<T>(i, j, 13); });
  auto u = Array<T>::create(job, test::layout(setting, {m, k}, team, random),
                            {.name = "U", .team = team})
               .value();
  auto vh = Array<T>::create(job, test::layout(setting, {k, n}, team, random),
                             {.name = "VH", .team = team})
                .value();
  const Dense of_a = all_of(a);
  ASSERT_TRUE(ok(a.sync()));
  const auto values = svd(a, u, vh, options);
  ASSERT_TRUE(ok(values));
  EXPECT_TRUE(std::is_sorted(values->rbegin(), values->rend()));
  const Dense of_u = all_of(u);
  const Dense of_vh = all_of(vh);
  const double size = of_a.largest() * static_cast<double>(std::max(m, n) + 1);
  EXPECT_LE(test::distance_in_epsilons<T>(of_u * diagonal(*values) * of_vh, of_a, size),
            eigen_epsilons);
  EXPECT_LE(test::distance_in_epsilons<T>(test::adjoint(of_u) * of_u, test::identity(k), 1),
            eigen_epsilons);
  EXPECT_LE(test::distance_in_epsilons<T>(of_vh * test::adjoint(of_vh), test::identity(k), 1),
            eigen_epsilons);
  const auto alone = singular_values(a, options);
  ASSERT_TRUE(ok(alone));
  expect_close(*alone, *values, size);
  ASSERT_TRUE(ok(u.sync()));
}

template <class T>
void expect_all_eigen(Job& job, const Team& team, Random random) {
  test::for_each_setting(job, team, random, [&](const Setting& setting, Random&) {
    expect_eigen<T>(job, team, setting, random);
    expect_svd<T>(job, team, setting, random);
  });
}

template <class T>
void expect_eigen_on_the_world() {
  test::on_the_world(
      [](Job& job, const Team& team, Random random) { expect_all_eigen<T>(job, team, random); });
}

TEST(Eigen, FloatMatricesOfEachLayout) {
  expect_eigen_on_the_world<float>();
}
TEST(Eigen, DoubleMatricesOfEachLayout) {
  expect_eigen_on_the_world<double>();
}
TEST(Eigen, ComplexMatricesOfEachLayout) {
  expect_eigen_on_the_world<std::complex<float>>();
}
TEST(Eigen, DoubleComplexMatricesOfEachLayout) {
  expect_eigen_on_the_world<std::complex<double>>();
}

// ScaLAPACK's size of work space is sufficient for blocks that are small relative to the matrix.
template <class T>
void expect_long_blocks() {
  on_ranks([](Job& job) {
    if (!check_scalapack(job, job.world()).ok()) {
      GTEST_SKIP() << "without ScaLAPACK";
    }
    const rma::test::SharedSeed seed(job);
    Random random = seed.generator(-1);
    for (const std::int64_t n : {8, 9, 12, 18, 31, 39, 40}) {
      for (const std::int64_t block : {0, 16, 32, 64}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", block " << block);
        const Setting setting{n,
                              test::Kind::regular,
                              arrays::MemoryOrder::column_major,
                              {.method = Method::scalapack, .block = block}};
        expect_eigen<T>(job, job.world(), setting, random);
        expect_svd<T>(job, job.world(), setting, random);
      }
    }
  });
}

TEST(Eigen, BlocksAsLongAsTheMatrix) {
  expect_long_blocks<float>();
  expect_long_blocks<double>();
  expect_long_blocks<std::complex<double>>();
}

TEST(Eigen, TeamsThatDoNotBeginAtRankZero) {
  test::on_teams_behind_rank_zero([](Job& job, const Team& team, Random random) {
    expect_all_eigen<double>(job, team, random);
  });
}

// ---- Errors

struct SquarePair {
  Array<double> a;
  Array<double> b;
  explicit SquarePair(Job& job)
      : a(Array<double>::create(job, {40, 40}, {.name = "square"}).value()),
        b(Array<double>::create(job, {40, 40}, {.name = "metric"}).value()) {}
};

TEST(EigenErrors, WhatIsTooLargeToBeGathered) {
  on_ranks([](Job& job) {
    SquarePair s(job);
    const EigenOptions options{.how = {.method = Method::own}, .max_bytes = 10'000};
    EXPECT_TRUE(fails(
        eigenvalues(s.a, options), Code::limit_exceeded,
        {"eigenvalues: [0,40) x [0,40) of array 'square'",
         "would take 0.0 MiB on one rank, but max_bytes is 0.0 MiB", "mpirun", "raise max_bytes"}));
    EXPECT_TRUE(fails(singular_values(s.a, options), Code::limit_exceeded,
                      {"singular_values: ", "max_bytes"}));
  });
}

TEST(EigenErrors, ElementsThatAreNotFinite) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      for (const double odd : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        SCOPED_TRACE(testing::Message() << to_string(method) << ", " << odd);
        SquarePair s(job);
        ASSERT_TRUE(ok(fill(part(s.a, test::Box::at({30, 2})), odd)));
        const EigenOptions options{.how = {.method = method}};
        const std::string_view refused =
            std::isnan(odd) ? "A has an element that is not a finite number: NaN"
                            : "A has an element that is not a finite number: infinity";
        EXPECT_TRUE(fails(eigenvalues(s.a, options), Code::invalid_argument, {refused}));
        EXPECT_TRUE(fails(singular_values(s.a, options), Code::invalid_argument, {refused}));
        EXPECT_TRUE(fails(qr(s.a, options.how), Code::invalid_argument, {refused}));
        // The part above the diagonal is not read.
        ASSERT_TRUE(ok(zero(s.a)));
        ASSERT_TRUE(ok(fill(part(s.a, test::Box::at({2, 30})), odd)));
        EXPECT_TRUE(ok(eigenvalues(s.a, options)));
      }
    }
  });
}

TEST(EigenErrors, AMetricThatIsNotPositiveDefinite) {
  on_ranks([](Job& job) {
    for (const Method method : test::methods(job, job.world())) {
      SquarePair s(job);
      if (job.rank().value == 0) {
        ASSERT_TRUE(ok(s.b.put(test::Box::at({0, 0}), std::vector<double>{1.0})));
      }
      ASSERT_TRUE(ok(s.b.sync()));
      std::int64_t info = 0;
      EXPECT_TRUE(
          fails(eigenvalues_generalised(s.a, s.b, {.how = {.method = method, .info = &info}}),
                Code::invalid_argument,
                {"eigenvalues_generalised: the leading 2 x 2 part of B ", "array 'metric'",
                 "is not positive definite"}));
      EXPECT_EQ(info, 2);
    }
  });
}

TEST(EigenErrors, ExtentsThatDoNotMatch) {
  on_ranks([](Job& job) {
    SquarePair s(job);
    auto wide = Array<double>::create(job, {40, 41}, {.name = "wide"}).value();
    auto small = Array<double>::create(job, {39, 39}, {.name = "small"}).value();
    EXPECT_TRUE(fails(eigenvalues(wide), Code::invalid_argument,
                      {"eigenvalues: ", "A: [0,40) x [0,41) of array 'wide'", "not square"}));
    EXPECT_TRUE(fails(
        eigen(s.a, small), Code::invalid_argument,
        {"eigen: ", "A is 40 x 40", "the vectors is 39 x 39", "A, B and the vectors are n x n"}));
    EXPECT_TRUE(fails(eigen(s.a, s.a), Code::invalid_argument,
                      {"eigen: ", "A and the vectors share [0,40) x [0,40) of array 'square'"}));
    EXPECT_TRUE(fails(svd(s.a, wide, s.b), Code::invalid_argument,
                      {"svd: ", "U is 40 x 41", "U is m x k and VH is k x n"}));
  });
}

}  // namespace
}  // namespace tessera::linalg
