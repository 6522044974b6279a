// SPDX-License-Identifier: BSD-3-Clause
//
// Atomic changes of elements, bins, step lengths, and copies in order of other shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "arrays/bins.hpp"
#include "arrays/reductions.hpp"
#include "arrays/reshape.hpp"
#include "arrays/steps.hpp"
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
using test::make_known;
using test::pick;
using test::Random;

template <class T>
class AtomicOf : public ::testing::Test {};
using AtomicTypes = ::testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(AtomicOf, AtomicTypes);

TYPED_TEST(AtomicOf, EachDrawIsAnothers) {
  on_team([](Job& job, Team& team) {
    auto array = Array<TypeParam>::create(job, {5, 4}, {.name = "A", .team = team}).value();
    constexpr int draws = 50;
    TypeParam sum_of_draws = 0;
    for (int i = 0; i < draws; ++i) {
      const auto drawn = array.fetch_add({3, 2}, TypeParam{1});
      ASSERT_TRUE(ok(drawn));
      sum_of_draws = static_cast<TypeParam>(sum_of_draws + *drawn);
    }
    const int all = draws * team.size();
    EXPECT_EQ(team.allreduce(sum_of_draws, rma::Reduction::sum).value(),
              static_cast<TypeParam>(all * (all - 1) / 2));
    EXPECT_EQ(array.get_element({3, 2}).value(), static_cast<TypeParam>(all));
    EXPECT_TRUE(ok(array.sync()));
    if (team.rank().value == 0) {
      const TypeParam most = std::numeric_limits<TypeParam>::max();
      EXPECT_EQ(array.swap({0, 0}, most).value(), TypeParam{0});
      EXPECT_EQ(array.fetch_add({0, 0}, TypeParam{1}).value(), most) << "it wraps";
      const TypeParam least = array.get_element({0, 0}).value();
      EXPECT_EQ(least, std::numeric_limits<TypeParam>::min());
      EXPECT_EQ(array.compare_swap({0, 0}, TypeParam{7}, TypeParam{8}).value(), least);
      EXPECT_EQ(array.compare_swap({0, 0}, least, TypeParam{8}).value(), least);
      EXPECT_EQ(array.get_element({0, 0}).value(), TypeParam{8});
    }
    EXPECT_TRUE(fails(array.fetch_add({5, 0}, TypeParam{1}), Code::out_of_range,
                      {"fetch_add of element (5, 0) of array 'A'"}));
    EXPECT_TRUE(ok(array.sync()));
  });
}

// Global Arrays cast the increment to 32 bits.
TEST(Atomic, IncrementsHave64Bits) {
  on_team([](Job& job, Team& team) {
    auto array = Array<std::int64_t>::create(job, {3}, {.name = "A", .team = team}).value();
    EXPECT_TRUE(ok(array.fetch_add({2}, std::int64_t{5'000'000'000})));
    EXPECT_TRUE(ok(array.sync()));
    EXPECT_EQ(array.get_element({2}).value(), std::int64_t{5'000'000'000} * team.size());
    EXPECT_TRUE(ok(array.sync()));
  });
}

TEST(Reshape, KeepsTheOrderOfElements) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(21);
    struct Shapes {
      Extents from;
      Extents to;
    };
    for (const auto& [from_extents, to_extents] :
         {Shapes{{6, 4}, {3, 8}}, Shapes{{24}, {2, 3, 4}}, Shapes{{5, 7, 3}, {105}},
          Shapes{{4, 3, 2, 5}, {10, 12}}, Shapes{{0, 5}, {3, 0, 2}}, Shapes{{1, 13, 1}, {13, 1}}}) {
      Extents from_whole = from_extents;
      Extents to_whole = to_extents;
      from_whole[0] += pick(random, 0, 2);
      to_whole[to_whole.ndims() - 1] += pick(random, 0, 2);
      auto from = make_known<double>(job, team, random, from_whole, "from");
      auto to = make_known<double>(job, team, random, to_whole, "to");
      const Box from_box = test::pick_place(random, from_extents, from_whole);
      const Box to_box = test::pick_place(random, to_extents, to_whole);
      ASSERT_TRUE(ok(copy_row_major(part(from.array, from_box), part(to.array, to_box))));
      std::vector<double> in_order;
      test::for_each_index(from_box, [&](const Index& at) { in_order.push_back(from.at(at)); });
      std::size_t next = 0;
      test::for_each_index(to_box, [&](const Index& at) { to.at(at) = in_order[next++]; });
      EXPECT_TRUE(to.is_as_known()) << to_string(from_extents) << " to " << to_string(to_extents);
    }
    auto a = Array<double>::create(job, {4, 4}, {.name = "a", .team = team}).value();
    EXPECT_TRUE(fails(copy_row_major(a, part(a, Box({0, 0}, {3, 5}))), Code::out_of_range,
                      {"copy_in_order: array 'a'"}));
    EXPECT_TRUE(fails(copy_row_major(a, part(a, Box({0, 0}, {3, 4}))), Code::invalid_argument,
                      {"has 16 elements, but [0,3) x [0,4) of array 'a' (float64, 4 x 4) has 12"}));
    EXPECT_TRUE(fails(copy_row_major(a, a), Code::invalid_argument, {"overlap"}));
    EXPECT_TRUE(ok(copy_row_major(part(a, Box({0, 0}, {2, 4})), part(a, Box({2, 0}, {4, 4})))));
  });
}

TEST(Bins, HoldWhatAllRanksPutInThemSorted) {
  on_team([](Job& job, Team& team) {
    Random random = test::shared_random(22);
    const std::int64_t bins = 13;
    const auto vector = [&](std::int64_t length, const char* name) {
      return BinVector::create(job, test::pick_distribution(random, {length}, team.size()),
                               {.name = name, .team = team})
          .value();
    };
    auto counts = vector(bins, "counts");
    auto offsets = vector(bins, "offsets");
    auto filled = vector(bins, "filled");
    // All ranks know what each rank adds.
    std::vector<std::vector<double>> expected(static_cast<std::size_t>(bins));
    std::vector<std::int64_t> my_bins;
    std::vector<double> my_values;
    for (std::int32_t rank = 0; rank < team.size(); ++rank) {
      for (int i = 0; i < 60; ++i) {
        const std::int64_t bin = pick(random, 0, bins - 2);  // the last bin stays empty
        const auto value = static_cast<double>(pick(random, -100, 100));
        expected[static_cast<std::size_t>(bin)].push_back(value);
        if (rank == team.rank().value) {
          my_bins.push_back(bin);
          my_values.push_back(value);
        }
      }
    }
    ASSERT_TRUE(ok(count_bins(counts, my_bins)));
    ASSERT_TRUE(ok(counts.sync()));
    ASSERT_TRUE(ok(bin_offsets(counts, offsets)));
    const std::int64_t all = std::int64_t{60} * team.size();
    auto contents = Array<double>::create(job, {all}, {.name = "contents", .team = team}).value();
    ASSERT_TRUE(ok(add_to_bins(contents, offsets, filled, my_bins, my_values)));
    ASSERT_TRUE(ok(contents.sync()));
    ASSERT_TRUE(ok(sort_bins(contents, offsets, counts)));
    std::vector<double> got(static_cast<std::size_t>(all));
    ASSERT_TRUE(ok(contents.get(contents.box(), got)));
    std::vector<double> wanted;
    for (std::vector<double>& bin : expected) {
      std::sort(bin.begin(), bin.end());
      wanted.insert(wanted.end(), bin.begin(), bin.end());
    }
    EXPECT_EQ(got, wanted);
    EXPECT_TRUE(ok(contents.sync()));
    // NaN is sorted after all numbers of its bin; here in the longest bin.
    const auto longest = std::max_element(
        expected.begin(), expected.end(),
        [](const auto& one, const auto& other) { return one.size() < other.size(); });
    std::int64_t lo = 0;
    for (auto before = expected.begin(); before != longest; ++before) {
      lo += std::ssize(*before);
    }
    const Box place({lo}, {lo + std::ssize(*longest)});
    if (team.rank().value == 0) {
      const std::vector<double> nan{std::numeric_limits<double>::quiet_NaN()};
      ASSERT_TRUE(ok(contents.put(Box({lo}, {lo + 1}), nan)));
    }
    ASSERT_TRUE(ok(sort_bins(contents, offsets, counts)));
    std::vector<double> bin(longest->size());
    ASSERT_TRUE(ok(contents.get(place, bin)));
    EXPECT_TRUE(std::isnan(bin.back()));
    EXPECT_TRUE(std::equal(bin.begin(), bin.end() - 1, longest->begin() + 1));
    EXPECT_TRUE(ok(contents.sync()));
    const std::vector<std::int64_t> full{0};
    const std::vector<double> one{1.0};
    EXPECT_TRUE(fails(add_to_bins(contents, offsets, filled, full, one), Code::limit_exceeded,
                      {"add_to_bins: bin 0 has", "room for"}));
    const std::vector<std::int64_t> outside{bins};
    EXPECT_TRUE(fails(
        count_bins(counts, outside), Code::out_of_range,
        {"count_bins: bin 13 does not exist in array 'counts' (int64, 13), which has 13 bins"}));
    EXPECT_TRUE(ok(contents.sync()));
  });
}

TEST(Steps, LeadToTheNearestBound) {
  on_team([](Job& job, Team& team) {
    const double infinity = std::numeric_limits<double>::infinity();
    auto x = Array<double>::create(job, {4}, {.name = "x", .team = team}).value();
    auto dx = x.duplicate("dx").value();
    auto low = x.duplicate("low").value();
    auto high = x.duplicate("high").value();
    if (team.rank().value == 0) {
      ASSERT_TRUE(ok(x.put(x.box(), std::vector{1.0, 2.0, 3.0, 4.0})));
      ASSERT_TRUE(ok(dx.put(x.box(), std::vector{0.0, -4.0, 1.0, -1.0})));
      ASSERT_TRUE(ok(low.put(x.box(), std::vector{0.0, 2.0, 0.0, 1.0})));
      ASSERT_TRUE(ok(high.put(x.box(), std::vector{9.0, 9.0, 5.0, 9.0})));
    }
    ASSERT_TRUE(ok(x.sync()));
    for (const auto* array : {&dx, &low, &high}) {
      ASSERT_TRUE(ok(array->sync()));
    }
    EXPECT_EQ(step_max(x, dx).value(), 0.5);
    const StepBounds bounds = step_bounds(x, dx, low, high).value();
    EXPECT_EQ(bounds.first, 0.0) << "the second element is at its bound";
    EXPECT_EQ(bounds.first_positive, 2.0);
    EXPECT_EQ(bounds.last, 3.0);
    // The only step leads back; nevertheless it is the largest one.
    ASSERT_TRUE(ok(zero(dx)));
    EXPECT_EQ(step_bounds(x, dx, low, high).value().last, 0.0) << "there is none";
    ASSERT_TRUE(ok(fill(part(dx, Box({2}, {3})), 1.0)));
    ASSERT_TRUE(ok(fill(part(high, Box({2}, {3})), 1.0)));
    EXPECT_EQ(step_bounds(x, dx, low, high).value().last, -2.0);
    ASSERT_TRUE(ok(absolute(dx)));
    EXPECT_EQ(step_max(x, dx).value(), infinity);
    ASSERT_TRUE(ok(scale(x, -1.0)));
    EXPECT_TRUE(fails(step_max(x, dx), Code::invalid_argument,
                      {"step_max: array 'x' (float64, 4) has a negative element"}));
    ASSERT_TRUE(ok(absolute(x)));
    ASSERT_TRUE(ok(fill(part(dx, Box({1}, {2})), std::nan(""))));
    EXPECT_TRUE(fails(step_max(x, dx), Code::invalid_argument,
                      {"step_max: array 'x'", "an element that is not a number"}));
    EXPECT_TRUE(fails(step_bounds(x, dx, low, high), Code::invalid_argument,
                      {"step_bounds: ", "an element that is not a number"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
