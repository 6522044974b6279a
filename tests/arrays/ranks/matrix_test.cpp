// SPDX-License-Identifier: BSD-3-Clause
//
// Diagonals, rows and columns of parts of arrays of any distributions, against vectors.
#include "arrays/matrix.hpp"
#include "arrays/reductions.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/arrays/ranks/model_array.hpp"
#include "tests/arrays/ranks/random_arrays.hpp"
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
using test::KnownArray;
using test::make_known;
using test::pick;
using test::pick_place;
using test::Random;

// A random matrix and vector, each inside a larger array.
template <class T>
struct Operands {
  KnownArray<T> matrix;
  Box box;
  KnownArray<T> vector;
  Box stretch;

  [[nodiscard]] Subarray<T> a() const { return part(matrix.array, box); }
  [[nodiscard]] Subarray<T> v() const { return part(vector.array, stretch); }
  T& at(std::int64_t i, std::int64_t j) { return matrix.at({box.lo(0) + i, box.lo(1) + j}); }
  T& at(std::int64_t i) { return vector.at({stretch.lo(0) + i}); }
};

template <class T>
Operands<T> make_operands(const Job& job, const Team& team, Random& random, const Extents& extents,
                          std::int64_t length) {
  const Extents whole{extents[0] + pick(random, 0, 3), extents[1] + pick(random, 0, 3)};
  const Extents line{length + pick(random, 0, 3)};
  auto matrix = make_known<T>(job, team, random, whole, "a");
  auto vector = make_known<T>(job, team, random, line, "v");
  return {std::move(matrix), pick_place(random, extents, whole), std::move(vector),
          pick_place(random, {length}, line)};
}

template <class T>
void check(Operands<T>& operands, const char* what) {
  EXPECT_TRUE(operands.matrix.is_as_known()) << what;
  EXPECT_TRUE(operands.vector.is_as_known()) << what;
}

template <class T>
void try_diagonals(const Job& job, const Team& team, Random& random) {
  const Extents extents{pick(random, 0, 9), pick(random, 0, 9)};
  const std::int64_t length = std::min(extents[0], extents[1]);
  auto operands = make_operands<T>(job, team, random, extents, length);
  EXPECT_TRUE(ok(add_diagonal(operands.a(), operands.v())));
  for (std::int64_t i = 0; i < length; ++i) {
    operands.at(i, i) = static_cast<T>(operands.at(i, i) + operands.at(i));
  }
  check(operands, "add_diagonal");
  EXPECT_TRUE(ok(shift_diagonal(operands.a(), static_cast<T>(3))));
  for (std::int64_t i = 0; i < length; ++i) {
    operands.at(i, i) = static_cast<T>(operands.at(i, i) + static_cast<T>(3));
  }
  check(operands, "shift_diagonal");
  EXPECT_TRUE(ok(get_diagonal(operands.a(), operands.v())));
  for (std::int64_t i = 0; i < length; ++i) {
    operands.at(i) = operands.at(i, i);
  }
  check(operands, "get_diagonal");
  EXPECT_TRUE(ok(zero_diagonal(operands.a())));
  for (std::int64_t i = 0; i < length; ++i) {
    operands.at(i, i) = T{};
  }
  check(operands, "zero_diagonal");
  EXPECT_TRUE(ok(set_diagonal(operands.a(), operands.v())));
  for (std::int64_t i = 0; i < length; ++i) {
    operands.at(i, i) = operands.at(i);
  }
  check(operands, "set_diagonal");
}

template <class T>
void try_scaling(const Job& job, const Team& team, Random& random) {
  const Extents extents{pick(random, 0, 9), pick(random, 0, 9)};
  for (const int along : {0, 1}) {
    auto operands = make_operands<T>(job, team, random, extents, extents[along]);
    EXPECT_TRUE(ok(along == 0 ? scale_rows(operands.a(), operands.v())
                              : scale_columns(operands.a(), operands.v())));
    for (std::int64_t i = 0; i < extents[0]; ++i) {
      for (std::int64_t j = 0; j < extents[1]; ++j) {
        operands.at(i, j) = static_cast<T>(operands.at(i, j) * operands.at(along == 0 ? i : j));
      }
    }
    check(operands, along == 0 ? "scale_rows" : "scale_columns");
  }
}

template <class T>
void try_symmetrize(const Job& job, const Team& team, Random& random) {
  const std::int64_t n = pick(random, 0, 12);
  auto operands = make_operands<T>(job, team, random, {n, n}, 0);
  EXPECT_TRUE(ok(symmetrize(operands.a())));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      const T both = static_cast<T>(operands.at(i, j) + operands.at(j, i));
      operands.at(i, j) = operands.at(j, i) = static_cast<T>(both / static_cast<T>(2));
    }
  }
  check(operands, "symmetrize");
}

template <class T>
class MatrixOf : public ::testing::Test {};
using MatrixTypes = ::testing::Types<std::int16_t, std::int64_t, double, std::complex<float>>;
TYPED_TEST_SUITE(MatrixOf, MatrixTypes);

TYPED_TEST(MatrixOf, AgreesWithVectorsOnPartsOfAnyDistributions) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(200 + sizeof(TypeParam));
    for (int round = 0; round < 8; ++round) {
      try_diagonals<TypeParam>(job, team, random);
      try_scaling<TypeParam>(job, team, random);
      try_symmetrize<TypeParam>(job, team, random);
    }
  });
}

TEST(Matrix, SymmetrizeKeepsLargeNumbers) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {3, 3}, {.name = "a", .team = team}).value();
    ASSERT_TRUE(ok(fill(a, 1.5e308)));
    ASSERT_TRUE(ok(symmetrize(a)));
    EXPECT_EQ(norm_max(a).value(), 1.5e308);
    EXPECT_EQ(a.get_element({0, 2}).value(), 1.5e308);
    ASSERT_TRUE(ok(a.sync()));
  });
}

TEST(Matrix, SaysHowOperandsDoNotFit) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {5, 7}, {.name = "a", .team = team}).value();
    auto v = Array<double>::create(job, {6}, {.name = "v", .team = team}).value();
    auto cube = Array<double>::create(job, {2, 2, 2}, {.name = "cube", .team = team}).value();
    EXPECT_TRUE(
        fails(add_diagonal(a, v), Code::invalid_argument,
              {"add_diagonal: the diagonal of array 'a' (float64, 5 x 7) has 5 elements, but "
               "the vector array 'v' (float64, 6) has extent 6"}));
    EXPECT_TRUE(
        fails(scale_rows(a, v), Code::invalid_argument,
              {"scale_rows: the vector array 'v' (float64, 6) has extent 6, but dimension 0 of "
               "array 'a' (float64, 5 x 7) has 5 elements"}));
    EXPECT_TRUE(fails(
        symmetrize(a), Code::invalid_argument,
        {"symmetrize of [0,5) x [0,7) of array 'a'", "which is 5 x 7", "only a square matrix"}));
    EXPECT_TRUE(fails(fill_diagonal(cube, 1.0), Code::invalid_argument,
                      {"fill_diagonal of array 'cube'", "which has 3 dimensions"}));
    EXPECT_TRUE(fails(get_diagonal(a, part(v, Box({2}, {7}))), Code::out_of_range,
                      {"get_diagonal: array 'v' (float64, 6)"}));
    EXPECT_TRUE(ok(a.sync()));
    // The operation reads the matrix and writes the vector.
    EXPECT_TRUE(ok(fill(a, 2.5)));
    EXPECT_TRUE(ok(a.set_access_mode(rma::AccessMode::read_only)));
    const auto diagonal = part(v, Box({0}, {5}));
    EXPECT_TRUE(ok(get_diagonal(a, diagonal)));
    EXPECT_EQ(sum(diagonal).value(), 5 * 2.5);
    EXPECT_TRUE(ok(a.set_access_mode(rma::AccessMode::any)));
    EXPECT_TRUE(ok(v.set_access_mode(rma::AccessMode::read_only)));
    EXPECT_TRUE(fails(get_diagonal(a, diagonal), Code::invalid_argument,
                      {"of array 'v'", "the array is read_only now, which forbids a put"}));
    EXPECT_TRUE(ok(v.set_access_mode(rma::AccessMode::any)));
    const auto flat = Distribution::regular({5}, team.size()).value();
    auto over = Array<double>::overlay(a, flat, "over").value();
    EXPECT_TRUE(
        fails(get_diagonal(a, over), Code::invalid_argument,
              {"array 'over' (float64, 5) is written while array 'a'", "is in the same memory"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
