// SPDX-License-Identifier: BSD-3-Clause
//
// fill, scale, copy, dot and norm2 against loops (Eigen if it is suitable).
#include "arrays/elementwise.hpp"
#include "arrays/reductions.hpp"
#include "arrays/transform.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "arrays/chunk_engine.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;
using test::fingerprints;

TEST(Elementwise, FillAndScaleReachEveryElementAndNoGhostCell) {
  on_team([](Job& job, Team& team) {
    auto array =
        Array<double>::create(job, {9, 10, 11}, {.name = "A", .team = team, .ghosts = {1, 1, 1}})
            .value();
    EXPECT_TRUE(ok(fill(array, 3.0)));
    EXPECT_TRUE(ok(scale(array, -0.5)));
    std::vector<double> all(990);
    EXPECT_TRUE(ok(array.get(array.box(), all)));
    EXPECT_EQ(all, std::vector<double>(990, -1.5));
    auto access = array.local().value();
    double sum = 0;
    const auto raw = access.raw();
    for (std::int64_t i = 0; i < raw.size(); ++i) {
      sum += raw.data_handle()[i];
    }
    EXPECT_EQ(sum, -1.5 * static_cast<double>(access.own().volume())) << "ghost cells changed";
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Elementwise, CopyGoesBetweenDifferentDistributions) {
  on_team([](Job& job, Team& team) {
    auto from = Array<double>::create(job, {30, 20}, {.name = "from", .team = team}).value();
    const std::vector<BlockPartition1D> partitions{BlockPartition1D::by_size(30, 4).value(),
                                                   BlockPartition1D::by_size(20, 3).value()};
    const auto cyclic =
        Distribution::create(partitions, BlockMap::round_robin(Extents{8, 7}, team.size()).value())
            .value();
    auto to = Array<double>::create(job, cyclic, {.name = "to", .team = team}).value();
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(from.put(from.box(), fingerprints(from.box()))));
    }
    EXPECT_TRUE(ok(from.sync()));
    EXPECT_TRUE(ok(copy(from, to)));
    std::vector<double> all(600);
    EXPECT_TRUE(ok(to.get(to.box(), all)));
    EXPECT_EQ(all, fingerprints(to.box()));
    EXPECT_TRUE(ok(to.sync()));
  });
}

TEST(Elementwise, DotAndNormAgreeWithEigen) {
  on_team([](Job& job, Team& team) {
    using Complex = std::complex<double>;
    auto a = Array<Complex>::create(job, {17, 19}, {.name = "a", .team = team}).value();
    auto b = Array<Complex>::create(job, {17, 19}, {.name = "b", .team = team}).value();
    Eigen::VectorXcd model_a(17 * 19);
    Eigen::VectorXcd model_b(17 * 19);
    for (Eigen::Index i = 0; i < model_a.size(); ++i) {
      model_a[i] = Complex(std::sin(static_cast<double>(i)), static_cast<double>(i % 7));
      model_b[i] = Complex(static_cast<double>(i % 5), std::cos(static_cast<double>(i)));
    }
    const std::span<const Complex> span_a(model_a.data(), std::size_t{17} * 19);
    const std::span<const Complex> span_b(model_b.data(), std::size_t{17} * 19);
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(a.put(a.box(), span_a)));
      EXPECT_TRUE(ok(b.put(b.box(), span_b)));
    }
    EXPECT_TRUE(ok(a.sync()));
    EXPECT_TRUE(ok(b.sync()));
    const Complex expected = model_a.transpose() * model_b;
    const auto got = dot(a, b);
    ASSERT_TRUE(ok(got));
    EXPECT_LT(std::abs(*got - expected), 1e-12 * std::abs(expected));
    EXPECT_NEAR(norm2(a).value(), model_a.norm(), 1e-12 * model_a.norm());
  });
}

TEST(Elementwise, SaysHowTwoOperandsDoNotFit) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {6, 6}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {6, 7}, {.name = "b", .team = team}).value();
    EXPECT_TRUE(fails(dot(a, b), Code::invalid_argument,
                      {"dot: extents differ: 6 x 6 of array 'a' (float64, 6 x 6), and 6 x 7 of "
                       "array 'b' (float64, 6 x 7); they must be equal"}));
    EXPECT_TRUE(fails(copy(a, b), Code::invalid_argument, {"6 x 7"}));
    const Box outside({0, 0}, {6, 8});
    EXPECT_TRUE(fails(fill(part(b, outside), 1.0), Code::out_of_range,
                      {"fill: array 'b' (float64, 6 x 7): ", "[0,8)", "dimension 1"}));
    EXPECT_TRUE(fails(copy(part(a, Box({0, 0}, {4, 6})), part(a, Box({1, 0}, {5, 6}))),
                      Code::invalid_argument,
                      {"copy: [1,5) x [0,6) of array 'a' (float64, 6 x 6) is written while [0,4) x "
                       "[0,6) of array 'a'",
                       "copy the part that is read into another array first"}));
    EXPECT_TRUE(ok(copy(part(a, Box({0, 0}, {3, 6})), part(a, Box({3, 0}, {6, 6})))));
  });
}

// Also those in other blocks of the same rank.
void expect_others_are_divided(Job& job, Team& team) {
  const auto blocks = Distribution::block_cyclic({12}, {2}, team.size()).value();
  auto a = Array<std::int32_t>::create(job, blocks, {.name = "a", .team = team}).value();
  auto b = Array<std::int32_t>::create(job, blocks, {.name = "b", .team = team}).value();
  EXPECT_TRUE(ok(fill(a, 12)));
  EXPECT_TRUE(ok(fill(b, 3)));
  EXPECT_TRUE(ok(fill(part(b, Box({0}, {1})), 0)));
  EXPECT_TRUE(
      fails(divide(a, b, a), Code::invalid_argument,
            {"divide: ",
             "integer division by zero in [0,12) of array 'b' (int32, 12): 1 divisors of rank ",
             "are zero", "all others are computed"}));
  std::vector<std::int32_t> expected(12, 4);
  expected[0] = 12;
  std::vector<std::int32_t> all(12);
  EXPECT_TRUE(ok(a.get(a.box(), all)));
  EXPECT_EQ(all, expected);
  EXPECT_TRUE(ok(a.sync()));
}

TEST(Elementwise, TheLargerOfANumberAndNaNIsNaN) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {3}, {.name = "a", .team = team}).value();
    auto b = Array<double>::create(job, {3}, {.name = "b", .team = team}).value();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(ok(fill(a, nan)));
    EXPECT_TRUE(ok(fill(b, 0.5)));
    for (const bool is_first : {true, false}) {
      auto result = Array<double>::create(job, {3}, {.name = "r", .team = team}).value();
      EXPECT_TRUE(ok(is_first ? maximum(a, b, result) : maximum(b, a, result)));
      EXPECT_TRUE(std::isnan(sum(result).value()));
      EXPECT_TRUE(ok(is_first ? minimum(a, b, result) : minimum(b, a, result)));
      EXPECT_TRUE(std::isnan(sum(result).value()));
    }
  });
}

TEST(Elementwise, TheMedianWithNaNIsNaNWhereverThatStands) {
  on_team([](Job& job, Team& team) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Array<double>> arrays;
    for (const double value : {nan, 1.0, 2.0}) {
      arrays.push_back(Array<double>::create(job, {3}, {.name = "a", .team = team}).value());
      EXPECT_TRUE(ok(fill(arrays.back(), value)));
    }
    auto result = Array<double>::create(job, {3}, {.name = "r", .team = team}).value();
    std::array<std::size_t, 3> order{0, 1, 2};
    do {
      EXPECT_TRUE(ok(median(arrays[order[0]], arrays[order[1]], arrays[order[2]], result)));
      EXPECT_TRUE(std::isnan(sum(result).value()));
    } while (std::next_permutation(order.begin(), order.end()));
  });
}

TEST(Elementwise, ComplexNumbersBeyondTheirTypesAbsoluteValuesHaveAnOrder) {
  on_team([](Job& job, Team& team) {
    using Single = std::complex<float>;
    using Double = std::complex<double>;
    auto a = Array<Single>::create(job, {3}, {.name = "a", .team = team}).value();
    auto b = Array<Double>::create(job, {2}, {.name = "b", .team = team}).value();
    if (team.rank().value == 0) {
      EXPECT_TRUE(ok(
          a.put(a.box(), std::vector{Single(2.5e38F, 2.5e38F), Single(3e38F, 3e38F), Single(1)})));
      EXPECT_TRUE(
          ok(b.put(b.box(), std::vector{Double(1.5e308, 1.5e308), Double(1.6e308, 1.6e308)})));
    }
    EXPECT_EQ(select_max(a).value().at, Index{1});
    EXPECT_EQ(select_max(b).value().at, Index{1});
    EXPECT_EQ(select_min(b).value().at, Index{0});
    const Double odd(std::numeric_limits<double>::infinity(), std::nan(""));
    EXPECT_TRUE(ok(fill(b, odd)));
    auto one = Array<Double>::create(job, {2}, {.name = "one", .team = team}).value();
    EXPECT_TRUE(ok(fill(one, Double(1))));
    for (const bool is_first : {true, false}) {
      auto result = Array<Double>::create(job, {2}, {.name = "r", .team = team}).value();
      EXPECT_TRUE(ok(is_first ? minimum(b, one, result) : minimum(one, b, result)));
      EXPECT_TRUE(std::isnan(result.get_element({1}).value().imag()));
      EXPECT_TRUE(ok(result.sync()));
    }
  });
}

TEST(Elementwise, MoreOperandsThanThereMayBeAreRefused) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {3}, {.name = "a", .team = team}).value();
    const std::vector<ChunkOperand> operands(max_operands + 1, reads(a));
    EXPECT_TRUE(fails(on_chunks("walk", operands, [](const Chunk&) { return rma::Status(); }),
                      Code::invalid_argument,
                      {"walk: 7 operands are given; at most 6 are possible"}));
  });
}

TEST(Elementwise, AMemberWithoutMemoryTellsTheOthers) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {64}, {.name = "a", .team = team}).value();
    EXPECT_TRUE(ok(fill(a, 1.0)));
    const auto step = [&](double x) {
      if (team.rank().value == team.size() - 1) {
        throw std::bad_alloc();
      }
      return x;
    };
    EXPECT_TRUE(fails(transform(a, step, a), Code::no_memory,
                      {"transform", "this process has no memory left"}));
  });
}

TEST(Elementwise, IntegerDivisionByZeroIsTold) {
  on_team([](Job& job, Team& team) {
    auto a = Array<std::int32_t>::create(job, {5}, {.name = "a", .team = team}).value();
    auto b = Array<std::int32_t>::create(job, {5}, {.name = "b", .team = team}).value();
    EXPECT_TRUE(ok(fill(a, 7)));
    EXPECT_TRUE(ok(fill(b, 2)));
    EXPECT_TRUE(ok(fill(part(b, Box({3}, {4})), 0)));
    EXPECT_TRUE(
        fails(divide(a, b, a), Code::invalid_argument, {"divide: ", "1 divisors of rank", "zero"}));
    std::vector<std::int32_t> all(5);
    EXPECT_TRUE(ok(a.get(a.box(), all)));
    EXPECT_EQ(all, (std::vector<std::int32_t>{3, 3, 3, 7, 3}));
    EXPECT_TRUE(ok(a.sync()));
    EXPECT_TRUE(fails(reciprocal(b), Code::invalid_argument, {"reciprocal: ", "zero"}));
    expect_others_are_divided(job, team);
    // The only quotient that doesn't fit wraps around.
    EXPECT_TRUE(ok(fill(a, std::numeric_limits<std::int32_t>::min())));
    EXPECT_TRUE(ok(fill(b, -1)));
    EXPECT_TRUE(ok(divide(a, b, a)));
    EXPECT_EQ(sum(part(a, Box({0}, {1}))).value(), std::numeric_limits<std::int32_t>::min());
  });
}

}  // namespace
}  // namespace tessera::arrays
