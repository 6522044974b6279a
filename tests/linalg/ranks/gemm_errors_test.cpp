// SPDX-License-Identifier: BSD-3-Clause
//
// The errors of gemm, by the text of the message; C is unchanged, and no rank is left waiting.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/elementwise.hpp"
#include "linalg/gemm.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::linalg {
namespace {

using arrays::Array;
using arrays::Box;
using rma::Code;
using rma::Job;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using Patch = MatrixPatch<double>;

/// Three arrays that would fit: C is 8 x 6, A 8 x 5, B 5 x 6.
struct Fitting {
  Array<double> a;
  Array<double> b;
  Array<double> c;

  explicit Fitting(Job& job)
      : a(Array<double>::create(job, {8, 5}, {.name = "left"}).value()),
        b(Array<double>::create(job, {5, 6}, {.name = "right"}).value()),
        c(Array<double>::create(job, {8, 6}, {.name = "sum"}).value()) {
    rma::require(fill(c, 7.0));
  }

  void expect_refused(const Patch& to, const Patch& from_a, const Patch& from_b, Code code,
                      std::initializer_list<std::string_view> words) {
    EXPECT_TRUE(fails(gemm(from_a, from_b, to), code, words));
    std::vector<double> all(48);
    EXPECT_TRUE(ok(c.get(c.box(), all)));
    EXPECT_EQ(all, std::vector<double>(48, 7.0)) << "C was changed";
    EXPECT_TRUE(ok(c.sync()));
  }
};

TEST(GemmErrors, ExtentsThatDoNotMatch) {
  on_ranks([](Job& job) {
    Fitting f(job);
    f.expect_refused(Patch(f.c), Patch(f.b), Patch(f.a), Code::invalid_argument,
                     {"gemm: ", "op(A) is 5 x 6 ([0,5) x [0,6) of array 'right' (float64, 5 x 6))",
                      "op(B) is 8 x 5", "C is 8 x 6 ([0,8) x [0,6) of array 'sum'",
                      "C is m x n, op(A) m x k and op(B) k x n"});
  });
}

TEST(GemmErrors, BoxesOutside) {
  on_ranks([](Job& job) {
    Fitting f(job);
    f.expect_refused(Patch(f.c), Patch(f.a, Box({0, 0}, {8, 9})), Patch(f.b), Code::out_of_range,
                     {"gemm: ", "A: [0,8) x [0,9) of array 'left' (float64, 8 x 5)"});
    f.expect_refused(Patch(f.c), Patch(f.a), Patch(f.b, Box({0}, {5})), Code::invalid_argument,
                     {"gemm: ", "B: [0,5) of array 'right'", "1 dimension"});
  });
}

TEST(GemmErrors, DimensionsThatMakeNoMatrix) {
  on_ranks([](Job& job) {
    Fitting f(job);
    const Patch same(f.a, f.a.box(), {.rows = 1, .columns = 1});
    f.expect_refused(
        Patch(f.c), same, Patch(f.b), Code::invalid_argument,
        {"rows along dimension 1 and columns along 1 do not make a matrix of 2 dimensions"});
    auto cube = Array<double>::create(job, {8, 5, 2}, {.name = "cube"}).value();
    const Patch thick(cube, cube.box());
    f.expect_refused(
        Patch(f.c), thick, Patch(f.b), Code::invalid_argument,
        {"A: ", "array 'cube'",
         "dimension 2 is neither the one of rows (0) nor of columns (1), but has extent 2",
         "extent 1 there"});
  });
}

TEST(GemmErrors, SharedElements) {
  on_ranks([](Job& job) {
    Fitting f(job);
    auto square = Array<double>::create(job, {9, 9}, {.name = "square"}).value();
    const auto part = [&](std::int64_t row, std::int64_t column) {
      return Patch(square, Box({row, column}, {row + 4, column + 4}));
    };
    f.expect_refused(part(0, 0), part(3, 2), part(5, 5), Code::invalid_argument,
                     {"C and A share [3,4) x [2,4) of array 'square' (float64, 9 x 9)",
                      "copy one of them into another array"});
    f.expect_refused(part(0, 0), part(5, 5), part(0, 0), Code::invalid_argument,
                     {"C and B share [0,4) x [0,4) of array 'square'"});
  });
}

TEST(GemmErrors, AccessModesThatForbidIt) {
  on_ranks([](Job& job) {
    Fitting f(job);
    EXPECT_TRUE(ok(f.c.set_access_mode(rma::AccessMode::read_only)));
    f.expect_refused(Patch(f.c), Patch(f.a), Patch(f.b), Code::invalid_argument,
                     {"gemm: ", "C: [0,8) x [0,6) of array 'sum'", "read_only now"});
    EXPECT_TRUE(ok(f.c.set_access_mode(rma::AccessMode::any)));
    EXPECT_TRUE(ok(f.a.set_access_mode(rma::AccessMode::accumulate_only)));
    f.expect_refused(Patch(f.c), Patch(f.a), Patch(f.b), Code::invalid_argument,
                     {"gemm: ", "A: [0,8) x [0,5) of array 'left'", "accumulate_only now"});
    EXPECT_TRUE(ok(f.a.set_access_mode(rma::AccessMode::read_only)));
    EXPECT_TRUE(ok(gemm(f.a, f.b, f.c)));
  });
}

TEST(GemmErrors, FreedArrays) {
  on_ranks([](Job& job) {
    Fitting f(job);
    EXPECT_TRUE(ok(f.a.free()));
    f.expect_refused(Patch(f.c), Patch(f.a), Patch(f.b), Code::closed,
                     {"gemm: ", "A: array 'left' (float64, 8 x 5) was freed"});
    EXPECT_TRUE(ok(f.c.free()));
    EXPECT_TRUE(fails(gemm(f.b, f.b, f.c), Code::closed, {"gemm: array 'sum'", "was freed"}));
  });
}

TEST(GemmErrors, MembersThatAskForDifferentThings) {
  on_ranks([](Job& job) {
    if (job.size() < 2) {
      GTEST_SKIP() << "needs 2 ranks";
    }
    Fitting f(job);
    const bool is_last = job.rank().value == job.size() - 1;
    EXPECT_TRUE(fails(gemm(f.a, f.b, f.c, {.alpha = is_last ? 2.0 : 1.0}), Code::invalid_argument,
                      {"gemm: rank " + std::to_string(job.size() - 1) +
                           " called gemm of array 'sum' with other "
                           "arguments than rank 0",
                       "all members must give the same"}));
    // An error that only one member finds is returned on all.
    const Box box = is_last ? Box({0, 0}, {8, 99}) : f.a.box();
    EXPECT_TRUE(fails(gemm(Patch(f.a, box), Patch(f.b), Patch(f.c)), Code::out_of_range,
                      {"on rank " + std::to_string(job.size() - 1), "[0,99)"}));
    EXPECT_TRUE(ok(gemm(f.a, f.b, f.c)));
  });
}

// The same elements with different indices, and different elements with the same indices.
TEST(GemmErrors, KnowWhatArraysOfOneMemoryShare) {
  on_ranks([](Job& job) {
    const std::vector<std::vector<std::int64_t>> starts = {{0}, {0}};
    const auto on_one = [&](const arrays::Extents& extents) {
      return arrays::Distribution::irregular(extents, starts, job.size()).value();
    };
    auto a = Array<double>::create(job, on_one({4, 4}), {.name = "a"}).value();
    auto b = Array<double>::overlay(a, on_one({2, 8}), "b").value();
    auto factor = Array<double>::create(job, {4, 4}, {.name = "factor"}).value();
    // Both are elements 8 to 11 of the memory.
    EXPECT_TRUE(
        fails(gemm(Patch(a, Box({2, 0}, {3, 4})), Patch(factor), Patch(b, Box({1, 0}, {2, 4}))),
              Code::invalid_argument, {"C and A are arrays in the same memory"}));
    EXPECT_TRUE(
        fails(gemm(Patch(b, Box({1, 0}, {2, 4})), Patch(factor), Patch(a, Box({2, 0}, {3, 4}))),
              Code::invalid_argument, {"C and A are arrays in the same memory"}));
    // Elements 8 to 11, and 4 to 7.
    EXPECT_TRUE(
        ok(gemm(Patch(a, Box({1, 0}, {2, 4})), Patch(factor), Patch(b, Box({1, 0}, {2, 4})))));
  });
}

}  // namespace
}  // namespace tessera::linalg
