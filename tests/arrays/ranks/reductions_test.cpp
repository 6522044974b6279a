// SPDX-License-Identifier: BSD-3-Clause
//
// Sums, products, norms and selections of parts of arrays with any distributions, against the same
// operations on ordinary vectors.
#include "arrays/reductions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

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

// A random part of an array, and its elements in row-major order.
template <class T>
struct KnownPart {
  KnownArray<T> known;
  Box box;
  std::vector<T> values;

  [[nodiscard]] Subarray<T> operand() const { return part(known.array, box); }
};

template <class T>
KnownPart<T> make_part(const Job& job, const Team& team, Random& random, const Extents& extents,
                       const char* name) {
  Extents whole = extents;
  for (int dim = 0; dim < extents.ndims(); ++dim) {
    whole[dim] += pick(random, 0, 3);
  }
  KnownPart<T> made{
      make_known<T>(job, team, random, whole, name), pick_place(random, extents, whole), {}};
  test::for_each_index(made.box,
                       [&](const Index& at) { made.values.push_back(made.known.at(at)); });
  return made;
}

template <class T>
double size_of(T x) {
  if constexpr (rma::ComplexElement<T>) {
    return std::abs(std::complex<double>(x));
  } else {
    return std::abs(static_cast<double>(x));
  }
}

template <class T>
bool is_less(T a, T b) {
  if constexpr (rma::ComplexElement<T>) {
    return std::abs(a) < std::abs(b);
  } else {
    return a < b;
  }
}

// All elements are small whole numbers, so that sums and products are exact in any order.
template <class T>
void check_sums(const KnownPart<T>& a, const KnownPart<T>& b) {
  T sum_of_all{};
  T products{};
  T conjugated{};
  double squares = 0;
  double most = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    sum_of_all = static_cast<T>(sum_of_all + a.values[i]);
    products = static_cast<T>(products + a.values[i] * b.values[i]);
    if constexpr (rma::ComplexElement<T>) {
      conjugated += std::conj(a.values[i]) * b.values[i];
      squares += std::norm(std::complex<double>(a.values[i]));
    } else {
      conjugated = products;
      squares += static_cast<double>(a.values[i]) * static_cast<double>(a.values[i]);
    }
    most = std::max(most, size_of(a.values[i]));
  }
  for (const bool reproducible : {false, true}) {
    const ReduceOptions options{.reproducible = reproducible};
    EXPECT_EQ(sum(a.operand(), options).value(), sum_of_all);
    EXPECT_EQ(dot(a.operand(), b.operand(), options).value(), products);
    EXPECT_EQ(dot_conjugated(a.operand(), b.operand(), options).value(), conjugated);
    EXPECT_DOUBLE_EQ(norm2(a.operand(), options).value(), std::sqrt(squares));
  }
  EXPECT_DOUBLE_EQ(norm_max(a.operand()).value(), most);
}

template <class T>
void check_selection(const KnownPart<T>& a) {
  if (a.values.empty()) {
    EXPECT_TRUE(fails(select_max(a.operand()), Code::invalid_argument,
                      {"select_max of array 'a'", "there are no elements"}));
    return;
  }
  const auto largest = std::max_element(a.values.begin(), a.values.end(), is_less<T>);
  const auto smallest = std::min_element(a.values.begin(), a.values.end(), is_less<T>);
  std::vector<Index> indices;
  test::for_each_index(a.box, [&](const Index& at) { indices.push_back(at); });
  const auto max = select_max(a.operand()).value();
  EXPECT_EQ(max.value, *largest);
  EXPECT_EQ(max.at, indices[static_cast<std::size_t>(largest - a.values.begin())]);
  const auto min = select_min(a.operand()).value();
  EXPECT_EQ(min.value, *smallest);
  EXPECT_EQ(min.at, indices[static_cast<std::size_t>(smallest - a.values.begin())]);
}

template <class T>
void check_line_norms(const KnownPart<T>& a) {
  const std::int64_t rows = a.box.extent(0);
  const std::int64_t columns = a.box.extent(1);
  std::vector<double> row_sums(static_cast<std::size_t>(rows) + 1);
  std::vector<double> column_sums(static_cast<std::size_t>(columns) + 1);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const double x = size_of(a.values[static_cast<std::size_t>(i * columns + j)]);
      row_sums[static_cast<std::size_t>(i)] += x;
      column_sums[static_cast<std::size_t>(j)] += x;
    }
  }
  for (const bool reproducible : {false, true}) {
    const ReduceOptions options{.reproducible = reproducible};
    EXPECT_DOUBLE_EQ(norm1(a.operand(), options).value(),
                     *std::max_element(column_sums.begin(), column_sums.end()));
    EXPECT_DOUBLE_EQ(norm_infinity(a.operand(), options).value(),
                     *std::max_element(row_sums.begin(), row_sums.end()));
  }
}

template <class T>
class ReductionsOf : public ::testing::Test {};
using ReducedTypes = ::testing::Types<std::int8_t, std::uint16_t, std::int64_t, float, double,
                                      std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ReductionsOf, ReducedTypes);

TYPED_TEST(ReductionsOf, AgreesWithVectorsOnPartsOfAnyDistributions) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(100 + sizeof(TypeParam));
    for (int round = 0; round < 12; ++round) {
      const int ndims = static_cast<int>(pick(random, 1, 4));
      const Extents extents = kinds::pick_extents(random, ndims, 6);
      const auto a = make_part<TypeParam>(job, team, random, extents, "a");
      const auto b = make_part<TypeParam>(job, team, random, extents, "b");
      check_sums(a, b);
      check_selection(a);
      if (ndims == 2) {
        check_line_norms(a);
      }
      EXPECT_TRUE(ok(a.known.array.sync()));
    }
  });
}

TEST(Reductions, ReproducibleOnesDoNotDependOnTheDistribution) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(7);
    const Extents extents{53, 31};
    std::vector<double> values(static_cast<std::size_t>(volume(extents)));
    for (double& value : values) {
      value =
          std::ldexp(static_cast<double>(random() >> 11U), static_cast<int>(pick(random, -80, 0)));
      value = pick(random, 0, 1) == 0 ? value : -value;
    }
    // The result of a single rank: each rank gets the same one, with any distribution.
    auto alone = team.split(-1, 0).value();
    auto mine = Array<double>::create(job, extents, {.name = "mine", .team = alone}).value();
    ASSERT_TRUE(ok(mine.put(mine.box(), values)));
    const ReduceOptions options{.reproducible = true};
    for (int round = 0; round < 5; ++round) {
      auto all = Array<double>::create(job, test::pick_distribution(random, extents, team.size()),
                                       {.name = "all", .team = team})
                     .value();
      if (team.rank().value == 0) {
        ASSERT_TRUE(ok(all.put(all.box(), values)));
      }
      EXPECT_EQ(sum(all, options).value(), sum(mine, options).value());
      EXPECT_EQ(dot(all, all, options).value(), dot(mine, mine, options).value());
      EXPECT_EQ(norm2(all, options).value(), norm2(mine, options).value());
      EXPECT_EQ(norm1(all, options).value(), norm1(mine, options).value());
      EXPECT_EQ(norm_infinity(all, options).value(), norm_infinity(mine, options).value());
      EXPECT_TRUE(ok(all.sync()));
    }
  });
}

TEST(Reductions, OfWhatWasMovedFromSaySo) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {4, 3}, {.name = "a", .team = team}).value();
    const auto taken = std::move(a);
    // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
    for (const auto& found : {norm1(a), norm_infinity(a), norm2(a), norm_max(a)}) {
      EXPECT_EQ(found.status().code(), Code::closed) << found.status().message();
    }
    // NOLINTEND(bugprone-use-after-move)
  });
}

// Ones added to 2^24 are lost in a float.
TEST(Reductions, OfManyFloatsDoNotStop) {
  on_team([](Job& job, Team& team) {
    auto a = Array<float>::create(job, {126, 9}, {.name = "a", .team = team}).value();
    auto one =
        Array<std::complex<float>>::create(job, {126, 9}, {.name = "1", .team = team}).value();
    ASSERT_TRUE(ok(fill(a, 1.0F)));
    ASSERT_TRUE(ok(fill(one, std::complex<float>(1, 1))));
    ASSERT_TRUE(ok(fill(part(a, Box({0, 0}, {1, 1})), 0x1p24F)));
    ASSERT_TRUE(ok(fill(part(one, Box({0, 0}, {1, 1})), std::complex<float>(0x1p24F, 1))));
    const Box narrow({0, 0}, {126, 8});
    EXPECT_EQ(sum(part(a, narrow)).value(), 0x1p24F + 1008);
    EXPECT_EQ(sum(part(one, narrow)).value().real(), 0x1p24F + 1008);
    ASSERT_TRUE(ok(fill(part(a, Box({0, 0}, {1, 1})), 0x1p12F)));
    EXPECT_EQ(dot(part(a, narrow), part(a, narrow)).value(), 0x1p24F + 1008);
  });
}

TEST(Reductions, NormsStayInRangeAndShowNaNs) {
  on_team([](Job& job, Team& team) {
    auto a = Array<double>::create(job, {40}, {.name = "a", .team = team}).value();
    for (const double size : {1e300, 1e-300, 5e-324, 1.0}) {
      ASSERT_TRUE(ok(fill(a, size)));
      const double expected = size * std::sqrt(40.0);
      EXPECT_NEAR(norm2(a).value(), expected, 1e-15 * expected) << size;
      EXPECT_NEAR(norm2(a, {.reproducible = true}).value(), expected, 1e-15 * expected) << size;
    }
    ASSERT_TRUE(ok(zero(a)));
    EXPECT_EQ(norm2(a).value(), 0.0);
    const double infinity = std::numeric_limits<double>::infinity();
    ASSERT_TRUE(ok(fill(part(a, Box({3}, {4})), -infinity)));
    EXPECT_EQ(norm2(a).value(), infinity);
    EXPECT_EQ(norm_max(a).value(), infinity);
    ASSERT_TRUE(ok(fill(part(a, Box({39}, {40})), std::nan(""))));
    EXPECT_TRUE(std::isnan(norm2(a).value()));
    EXPECT_TRUE(std::isnan(norm_max(a).value()));
    EXPECT_TRUE(std::isnan(norm1(a).value()));
    EXPECT_EQ(select_min(a).value().at, Index{3}) << "NaNs are passed over";
    auto cube = Array<double>::create(job, {2, 2, 2}, {.name = "cube", .team = team}).value();
    EXPECT_TRUE(fails(norm1(cube), Code::invalid_argument,
                      {"norm1 of array 'cube' (float64, 2 x 2 x 2), which has 3 dimensions"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
