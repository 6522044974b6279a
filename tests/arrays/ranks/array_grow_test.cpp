// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays that grow; and accumulates other than sums through arrays.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/atomic_elements.hpp"
#include "arrays/gather.hpp"
#include "arrays/halo.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::AccumulateOp;
using rma::Code;
using rma::Job;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;
using test::for_each_index;

std::int64_t number_at(const Index& index) {
  std::int64_t number = 3;
  for (int dim = 0; dim < index.ndims(); ++dim) {
    number = number * 31 + index[dim];
  }
  return number;
}

// One member writes the elements of a box.
void write_box(Array<std::int64_t>& array, const Box& box) {
  if (array.team().rank().value == array.team().size() - 1 && !box.is_empty()) {
    std::vector<std::int64_t> values;
    for_each_index(box, [&](const Index& index) { values.push_back(number_at(index)); });
    ASSERT_TRUE(ok(array.put(box, values)));
  }
  ASSERT_TRUE(ok(array.sync()));
}

// Every member finds the numbers in `written`, and zeros outside.
void check_all(const Array<std::int64_t>& array, const Box& written) {
  const auto values = array.get(array.box());
  ASSERT_TRUE(ok(values));
  std::size_t at = 0;
  for_each_index(array.box(), [&](const Index& index) {
    ASSERT_EQ((*values)[at++], written.contains(index) ? number_at(index) : 0) << to_string(index);
  });
  ASSERT_TRUE(ok(array.sync()));
}

// Grows by several steps in each dimension.
void check_growth(Array<std::int64_t> array) {
  write_box(array, array.box());
  for (int dim = 0; dim < array.ndims(); ++dim) {
    for (const std::int64_t more : {1, 5, 0}) {
      const Box written = array.box();
      const std::int64_t extent = array.extents()[dim] + more;
      ASSERT_TRUE(ok(array.grow(dim, extent)));
      ASSERT_EQ(array.extents()[dim], extent);
      ASSERT_EQ(array.name(), "G");
      check_all(array, written);
      write_box(array, array.box());
    }
  }
}

TEST(ArrayGrow, KeepsElementsOfEveryDistribution) {
  on_team([](Job& job, Team& team) {
    const ArrayOptions options{.name = "G", .team = team};
    const auto create = [&](const auto& what, const ArrayOptions& how) {
      return Array<std::int64_t>::create(job, what, how).value();
    };
    const std::int64_t ranks = team.size();
    check_growth(create(Extents{7, 11}, options));
    check_growth(create(Extents{13}, options));
    check_growth(create(Extents{3, 4, 5}, {.name = "G", .team = team, .ghosts = {1, 1, 0}}));
    check_growth(
        create(Extents{5, 6}, {.name = "G", .team = team, .order = MemoryOrder::column_major}));
    check_growth(create(Distribution::block_cyclic({9, 10}, {2, 3}, ranks).value(), options));
    check_growth(create(Distribution::tiled({9, 8}, {2, 2}, {ranks, 1}, ranks).value(), options));
    check_growth(
        create(Distribution::scalapack({9, 8}, {2, 3}, {1, ranks}, ranks).value(), options));
    std::vector<std::vector<std::int64_t>> starts(2, {0});
    for (std::int64_t rank = 1; rank < ranks; ++rank) {
      starts[1].push_back(rank * rank);
    }
    check_growth(
        create(Distribution::irregular({4, ranks * ranks + 2}, starts, ranks).value(), options));
    const std::vector<rma::TeamRank> holders{rma::TeamRank{team.size() - 1}};
    check_growth(create(Distribution::restricted({6, 5}, holders, ranks).value(), options));
  });
}

TEST(ArrayGrow, CutsTheDimensionAgainAsBefore) {
  on_team([](Job& job, Team& team) {
    const std::int64_t ranks = team.size();
    const ArrayOptions options{.name = "G", .team = team};
    auto even = Array<double>::create(job, {2 * ranks, 3},
                                      {.name = "G", .team = team, .process_grid = {ranks, 1}})
                    .value();
    ASSERT_TRUE(ok(even.grow(0, 4 * ranks)));
    EXPECT_EQ(even.own_box().extent(0), 4);
    ASSERT_TRUE(ok(even.grow(1, 100)));
    EXPECT_EQ(even.own_box(), Box({4 * team.rank().value, 0}, {4 * team.rank().value + 4, 100}));
    auto empty = Array<double>::create(job, {ranks, 0}, options);
    ASSERT_TRUE(ok(empty));
    ASSERT_TRUE(ok(empty->grow(1, 2)));
    EXPECT_EQ(empty->box().volume(), 2 * ranks);
    auto cyclic = Array<double>::create(
                      job, Distribution::block_cyclic({6 * ranks}, {2}, ranks).value(), options)
                      .value();
    ASSERT_TRUE(ok(cyclic.grow(0, 8 * ranks)));
    EXPECT_EQ(cyclic.distribution().block_count(team.rank()), 4);
    EXPECT_EQ(cyclic.distribution().partition(0).largest(), 2);
  });
}

TEST(ArrayGrow, ClosesWhatUsesTheMemoryFromBefore) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {4 * team.size(), 3},
                                       {.name = "G", .team = team, .ghosts = {1, 0}})
                     .value();
    auto halo = Halo::create(array).value();
    ASSERT_TRUE(ok(halo.update()));
    ASSERT_TRUE(ok(array.grow(1, 9)));
    EXPECT_TRUE(fails(halo.update(), Code::closed, {"was grown"}));
    auto again = Halo::create(array).value();
    EXPECT_TRUE(ok(again.update()));
    ASSERT_TRUE(ok(array.free()));
    EXPECT_TRUE(fails(array.grow(1, 10), Code::closed, {"was freed"}));
  });
}

TEST(ArrayGrow, RefusesWhatItCannotDoAndChangesNothing) {
  on_team([](Job& job, Team& team) {
    auto array = Array<std::int64_t>::create(job, {5, 6}, {.name = "G", .team = team}).value();
    write_box(array, array.box());
    EXPECT_TRUE(
        fails(array.grow(2, 9), Code::invalid_argument,
              {"there is no dimension 2; the array has 2", "growing dimension 2 of array 'G'"}));
    EXPECT_TRUE(fails(array.grow(-1, 9), Code::invalid_argument, {"there is no dimension -1"}));
    EXPECT_TRUE(fails(array.grow(1, 5), Code::invalid_argument,
                      {"5 is less than its extent 6: arrays do not shrink"}));
    if (team.size() > 1) {
      EXPECT_TRUE(fails(array.grow(1, 7 + team.rank().value % 2), Code::invalid_argument,
                        {"all members must give the same"}));
    }
    auto overlay = Array<double>::overlay(array, array.distribution(), "O").value();
    EXPECT_TRUE(fails(overlay.grow(1, 9), Code::unsupported,
                      {"the array is in the memory of another one"}));
    ASSERT_TRUE(ok(array.set_access_mode(rma::AccessMode::read_only)));
    EXPECT_TRUE(fails(array.grow(1, 9), Code::invalid_argument, {"set_access_mode"}));
    ASSERT_TRUE(ok(array.set_access_mode(rma::AccessMode::any)));
    EXPECT_TRUE(fails(array.grow(1, INT64_MAX), Code::invalid_argument));
    check_all(array, array.box());
  });
}

// Elements of several owners, through boxes, sections and lists.
TEST(ArrayCombine, TakesEveryOperationAndSelection) {
  on_team([](Job& job, Team& team) {
    const std::int64_t extent = 6 * team.size();
    auto array = Array<std::int32_t>::create(job, {extent, 4}, {.name = "C", .team = team}).value();
    const std::int32_t me = team.rank().value;
    const Box half({0, 0}, {extent, 2});
    const std::vector<std::int32_t> values(static_cast<std::size_t>(half.volume()), me + 1);
    ASSERT_TRUE(ok(array.accumulate(half, values, AccumulateOp::max)));
    const std::vector<std::int32_t> bits(static_cast<std::size_t>(extent), 1 << me);
    ASSERT_TRUE(ok(
        array.accumulate(Section(Box({0, 2}, {extent, 4}), {1, 2}), bits, AccumulateOp::bit_or)));
    std::vector<Index> at;
    for (std::int64_t row = 0; row < extent; ++row) {
      at.push_back({row, 3});
    }
    const std::vector<std::int32_t> low(at.size(), -me);
    ASSERT_TRUE(ok(scatter_accumulate(array, at, low, AccumulateOp::min)));
    ASSERT_TRUE(ok(array.sync()));
    const auto found = array.get(array.box()).value();
    const std::int32_t last = team.size() - 1;
    for (std::size_t i = 0; i < found.size(); i += 4) {
      ASSERT_EQ(found[i], last + 1);
      ASSERT_EQ(found[i + 1], last + 1);
      ASSERT_EQ(found[i + 2], (1 << team.size()) - 1);
      ASSERT_EQ(found[i + 3], -last);
    }
    ASSERT_TRUE(ok(array.sync()));
  });
}

TEST(ArrayCombine, RefusesOperationsThatTheElementsDoNotHave) {
  on_team([](Job& job, Team& team) {
    auto array = Array<double>::create(job, {8}, {.name = "C", .team = team}).value();
    const std::vector<double> values(8, 1);
    EXPECT_TRUE(fails(array.accumulate(array.box(), values, AccumulateOp::bit_or),
                      Code::unsupported,
                      {"accumulate by bit_or of float64 elements", "array 'C'"}));
    ASSERT_TRUE(
        ok(array.set_access_mode(rma::AccessMode::accumulate_only, {.copy_on_each_node = true})));
    const rma::Status most = array.accumulate(array.box(), values, AccumulateOp::max);
    if (!most.ok()) {  // only if there are several nodes
      EXPECT_TRUE(fails(most, Code::unsupported,
                        {"accumulate by max while each node keeps an array of sums"}));
    }
    ASSERT_TRUE(ok(array.set_access_mode(rma::AccessMode::any)));
  });
}

// All members claim all elements; one gets each.
TEST(ArrayAtomics, GiveEachListedElementToOneMember) {
  on_team([](Job& job, Team& team) {
    const std::int64_t extent = 40 * team.size();
    auto array = Array<std::int64_t>::create(job, {extent}, {.name = "P", .team = team}).value();
    std::vector<Index> at;
    for (std::int64_t i = 0; i < extent; ++i) {
      at.push_back({(i * 7) % extent});
    }
    const std::vector<std::int64_t> me(at.size(), team.rank().value + 1);
    const std::vector<std::int64_t> nobody(at.size(), 0);
    std::vector<std::int64_t> before(at.size(), -1);
    ASSERT_TRUE(ok(change_elements<std::int64_t>(array, at,
                                                 {.op = rma::AtomicOp::compare_swap,
                                                  .operands = me,
                                                  .previous = before,
                                                  .expected = nobody})));
    std::vector<std::int64_t> claimed(static_cast<std::size_t>(extent));
    for (std::size_t i = 0; i < at.size(); ++i) {
      // 40 · size and 7 may have a common divisor: then some elements are listed twice.
      claimed[static_cast<std::size_t>(at[i][0])] += before[i] == 0 ? 1 : 0;
    }
    ASSERT_TRUE(ok(team.allreduce(std::span(claimed), rma::Reduction::sum)));
    const auto owners = array.get(array.box()).value();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      ASSERT_EQ(claimed[i], owners[i] == 0 ? 0 : 1) << "element " << i;
    }
    EXPECT_TRUE(fails(
        change_elements<std::int64_t>(array, std::vector<Index>{{0}, {extent}},
                                      {.operands = {me.data(), 2}, .previous = {before.data(), 2}}),
        Code::out_of_range, {"entry 1 of the list", "atomics on 2 elements of array 'P'"}));
    ASSERT_TRUE(ok(array.sync()));
  });
}

}  // namespace
}  // namespace tessera::arrays
