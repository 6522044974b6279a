// SPDX-License-Identifier: BSD-3-Clause
//
// Linear algebra in a thread with traps for invalid operations, divisions by zero and overflows:
// with finite numbers no routine raises one, even if it returns an error.
#include <gtest/gtest.h>

#include <cfenv>
#include <complex>
#include <cstdint>

#include "arrays/elementwise.hpp"
#include "arrays/matrix.hpp"
#include "arrays/random.hpp"
#include "linalg/eigen.hpp"
#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/least_squares.hpp"
#include "linalg/solve.hpp"
#include "linalg/svd.hpp"
#include "tests/linalg/ranks/systems.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/floating_point_traps.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::linalg {
namespace {

using rma::Code;
using rma::Job;
using rma::test::fails;
using rma::test::FloatingPointTraps;
using rma::test::ok;
using rma::test::on_ranks;
using test::Array;

constexpr std::int64_t n = 70;

template <class T>
struct Matrices {
  Array<T> general;
  Array<T> definite;
  Array<T> work;
  Array<T> other;

  explicit Matrices(Job& job)
      : general(Array<T>::create(job, {n, n}, {.name = "A"}).value()),
        definite(Array<T>::create(job, {n, n}, {.name = "B"}).value()),
        work(Array<T>::create(job, {n, n}, {.name = "C"}).value()),
        other(Array<T>::create(job, {n, n}, {.name = "D"}).value()) {
    EXPECT_TRUE(ok(fill_random(general, 7, {-1, 1})));
    EXPECT_TRUE(ok(shift_diagonal(general, T{100})));
    EXPECT_TRUE(ok(symmetrize(general)));
    EXPECT_TRUE(ok(shift_diagonal(definite, T{2})));
    renew();
  }
  void renew() {
    EXPECT_TRUE(ok(copy(general, work)));
    EXPECT_TRUE(ok(fill_random(other, 8, {-1, 1})));
  }
};

template <class T>
void factor_and_solve(Matrices<T>& m, const MethodOptions& how) {
  EXPECT_TRUE(ok(lu(m.work, how)));
  m.renew();
  EXPECT_TRUE(ok(solve(m.work, m.other, how)));
  m.renew();
  EXPECT_TRUE(ok(qr(m.work, how)));
  m.renew();
  EXPECT_TRUE(ok(copy(m.definite, m.work)));
  EXPECT_TRUE(ok(solve_positive_definite(m.work, m.other, {.how = how})));
  EXPECT_TRUE(ok(copy(m.definite, m.work)));
  EXPECT_TRUE(ok(invert_positive_definite(m.work, {.how = how})));
  m.renew();
  EXPECT_TRUE(ok(shift_diagonal(m.work, T{-1000})));
  EXPECT_TRUE(fails(cholesky(m.work, {.how = how}), Code::invalid_argument, {"positive definite"}));
  m.renew();
}

template <class T>
void eigen_and_singular_values(Matrices<T>& m, const MethodOptions& how) {
  const EigenOptions options{.how = how};
  EXPECT_TRUE(ok(eigenvalues(m.work, options)));
  m.renew();
  EXPECT_TRUE(ok(eigen(m.work, m.other, options)));
  m.renew();
  EXPECT_TRUE(ok(eigen_generalised(m.work, m.definite, m.other, options)));
  m.renew();
  EXPECT_TRUE(ok(singular_values(m.work, options)));
  m.renew();
  auto u = Array<T>::create(m.work.job(), {n, n}, {.name = "U"}).value();
  EXPECT_TRUE(ok(svd(m.work, u, m.other, options)));
  m.renew();
}

template <class T>
void expect_that_nothing_traps() {
  on_ranks([](Job& job) {
    const FloatingPointTraps traps;
    Matrices<T> m(job);
    EXPECT_TRUE(ok(gemm(m.general, m.definite, m.work, {.alpha = T{1.5F}, .beta = T{0.5F}})));
    m.renew();
    for (const Method method : test::methods(job, job.world())) {
      SCOPED_TRACE(to_string(method));
      factor_and_solve(m, {.method = method});
      eigen_and_singular_values(m, {.method = method});
    }
    EXPECT_EQ(fegetexcept(), FloatingPointTraps::trapped);
    EXPECT_EQ(std::fetestexcept(FloatingPointTraps::trapped), 0);
  });
}

TEST(FloatingPointTraps, AreNotMetByFloats) {
  expect_that_nothing_traps<float>();
}
TEST(FloatingPointTraps, AreNotMetByDoubles) {
  expect_that_nothing_traps<double>();
}
TEST(FloatingPointTraps, AreNotMetByComplexNumbers) {
  expect_that_nothing_traps<std::complex<float>>();
}
TEST(FloatingPointTraps, AreNotMetByDoubleComplexNumbers) {
  expect_that_nothing_traps<std::complex<double>>();
}

}  // namespace
}  // namespace tessera::linalg
