// SPDX-License-Identifier: BSD-3-Clause
//
// Arrays with a copy on each node, against sums that every rank computes itself.
#include "arrays/mirrored.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "arrays/elementwise.hpp"
#include "tests/arrays/ranks/random_arrays.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::TeamRank;
using rma::WorldRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_ranks;
using rma::test::on_team;
using test::shared_random;

template <class T>
std::vector<T> elements_of(const Array<T>& array, const Box& box) {
  std::vector<T> values(static_cast<std::size_t>(box.volume()));
  EXPECT_TRUE(ok(array.get(box, values)));
  return values;
}

// The numbers that a rank adds to its node's copy; each is added by that rank only.
std::vector<std::int64_t> share_of(WorldRank rank, std::int64_t elements) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int64_t>(i) * 7 + (rank.value + std::int64_t{1}) * 1'000'000;
  }
  return values;
}

std::vector<std::int64_t> sum_of_shares(const std::vector<WorldRank>& ranks,
                                        std::int64_t elements) {
  std::vector<std::int64_t> sum(static_cast<std::size_t>(elements));
  for (const WorldRank rank : ranks) {
    const auto share = share_of(rank, elements);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] += share[i];
    }
  }
  return sum;
}

// Ranks of `team` that are on the caller's node.
std::vector<WorldRank> neighbours(const Job& job, const Team& team) {
  std::vector<WorldRank> found;
  for (const WorldRank rank : team.members()) {
    if (job.shares_node(rank)) {
      found.push_back(rank);
    }
  }
  return found;
}

void check_sums_of(Job& job, const Team& team, Mirrored<std::int64_t>& mirrored) {
  const Array<std::int64_t>& here = mirrored.node_copy();
  const Box all = here.box();
  const std::vector<WorldRank> members(team.members().begin(), team.members().end());
  EXPECT_TRUE(ok(here.accumulate(all, share_of(job.rank(), all.volume()))));
  EXPECT_TRUE(ok(here.sync()));
  EXPECT_EQ(elements_of(here, all), sum_of_shares(neighbours(job, team), all.volume()));

  auto sum =
      Array<std::int64_t>::create(job, here.extents(), {.name = "sum", .team = team}).value();
  EXPECT_TRUE(ok(mirrored.merge_into(all, sum)));
  EXPECT_EQ(elements_of(sum, all), sum_of_shares(members, all.volume()));
  EXPECT_EQ(elements_of(here, all), sum_of_shares(neighbours(job, team), all.volume()));

  EXPECT_TRUE(ok(mirrored.merge()));
  EXPECT_EQ(elements_of(here, all), sum_of_shares(members, all.volume()));
  EXPECT_TRUE(ok(mirrored.free()));
}

void check_sums(Job& job, const Team& team, const Extents& extents, const Extents& ghosts) {
  auto mirrored =
      Mirrored<std::int64_t>::create(job, extents, {.name = "M", .team = team, .ghosts = ghosts})
          .value();
  check_sums_of(job, team, mirrored);
}

TEST(Mirrored, SumsTheCopiesOfAllNodes) {
  on_team([](Job& job, Team& team) {
    for (const Extents& extents :
         {Extents{11, 7}, Extents{1, 1}, Extents{2, 3, 40}, Extents{5}, Extents{0, 4}}) {
      check_sums(job, team, extents, {});
    }
    check_sums(job, team, {12, 9}, {2, 1});
  });
}

TEST(Mirrored, SumsOnTeams) {
  on_ranks([](Job& job) {
    const bool is_odd = job.rank().value % 2 == 1;
    Team team = job.world().split(is_odd ? 1 : 0, -job.rank().value).value();
    check_sums(job, team, {9, 8}, {});
  });
}

// Each node cuts its copy in another way; with several members, the first holds nothing.
Distribution layout_on_node(const Job& job, const Team& team, const Extents& extents) {
  const auto members = std::ssize(neighbours(job, team));
  std::vector<std::vector<std::int64_t>> starts(static_cast<std::size_t>(extents.ndims()), {0});
  if (job.node_of(job.rank()).value % 2 == 1) {
    return Distribution::block_cyclic(extents, {3, 2}, members).value();
  }
  if (members == 1) {
    return Distribution::irregular(extents, starts, members, {.ghosts = {1, 2}}).value();
  }
  std::vector<TeamRank> holders;
  for (std::int32_t rank = 1; rank < members; ++rank) {
    holders.emplace_back(rank);
  }
  return Distribution::restricted(extents, holders, members, {.ghosts = {2, 0}}).value();
}

TEST(Mirrored, CopiesHaveAnyDistribution) {
  on_team([](Job& job, Team& team) {
    auto mirrored = Mirrored<std::int64_t>::create(job, layout_on_node(job, team, {11, 7}),
                                                   {.name = "M", .team = team})
                        .value();
    EXPECT_EQ(mirrored.node_copy().distribution(), layout_on_node(job, team, {11, 7}));
    check_sums_of(job, team, mirrored);
  });
}

TEST(Mirrored, ArraysThatAreCopiesAreMergedWithoutIt) {
  on_ranks([](Job& job) {
    Team node = job.world().split(job.node_of(job.rank()).value, job.rank().value).value();
    Team world = job.world();
    auto copy = Array<double>::create(job, {6, 5}, {.name = "C", .team = node}).value();
    EXPECT_TRUE(ok(fill(copy, 1.0 + job.node_of(job.rank()).value)));
    const double sum = job.node_count() * (job.node_count() + 1) / 2.0;
    auto target = Array<double>::create(job, {5, 5}, {.name = "T"}).value();
    EXPECT_TRUE(ok(merge_copies_into(world, copy, Box({1, 0}, {6, 5}), target, target.box())));
    EXPECT_EQ(target.get_element({4, 4}).value(), sum);
    EXPECT_TRUE(ok(merge_copies(world, copy)));
    EXPECT_EQ(copy.get_element({5, 4}).value(), sum);
    if (job.node_count() > 1) {
      EXPECT_TRUE(fails(
          merge_copies(world, target), Code::invalid_argument,
          {"merging the copies of array 'T'", "is not on the team of the members on this node"}));
    }
  });
}

TEST(Mirrored, BoxesAreSummedIntoBoxes) {
  on_ranks([](Job& job) {
    auto random = shared_random(71);
    auto mirrored = Mirrored<double>::create(job, {10, 6}, {.name = "M"}).value();
    auto target =
        Array<double>::create(job, test::pick_distribution(random, {8, 12}, job.size()), {})
            .value();
    EXPECT_TRUE(ok(fill(mirrored.node_copy(), 2.0)));
    EXPECT_TRUE(ok(fill(target, -1.0)));
    const Box from({3, 1}, {9, 5});
    const Box to({2, 7}, {8, 11});
    EXPECT_TRUE(ok(mirrored.merge_into(from, part(target, to))));
    const auto values = elements_of(target, target.box());
    std::size_t at = 0;
    for (std::int64_t i = 0; i < 8; ++i) {
      for (std::int64_t j = 0; j < 12; ++j, ++at) {
        EXPECT_EQ(values[at], to.contains(Index{i, j}) ? 2.0 * job.node_count() : -1.0);
      }
    }
  });
}

TEST(Mirrored, LoadsWhatADistributedArrayHas) {
  on_ranks([](Job& job) {
    auto random = shared_random(72);
    auto source =
        Array<double>::create(job, test::pick_distribution(random, {9, 7}, job.size()), {}).value();
    if (job.rank().value == 0) {
      std::vector<double> values(63);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<double>(i) + 0.5;
      }
      EXPECT_TRUE(ok(source.put(source.box(), values)));
    }
    EXPECT_TRUE(ok(source.sync()));
    auto mirrored = Mirrored<double>::create(job, {9, 7}, {.name = "M"}).value();
    EXPECT_TRUE(ok(mirrored.load(source)));
    EXPECT_EQ(elements_of(mirrored.node_copy(), source.box()), elements_of(source, source.box()));

    const Box box({1, 2}, {4, 6});
    EXPECT_TRUE(ok(mirrored.load(Box({5, 3}, {8, 7}), part(source, box))));
    EXPECT_EQ(elements_of(mirrored.node_copy(), Box({5, 3}, {8, 7})), elements_of(source, box));
  });
}

// Sums of numbers for which the order changes the last bits.
TEST(Mirrored, AllNodesAndAllRunsHaveTheSameBits) {
  on_ranks([](Job& job) {
    std::vector<double> first;
    for (int run = 0; run < 3; ++run) {
      auto mirrored = Mirrored<double>::create(job, {37, 5}, {.name = "M"}).value();
      std::vector<double> values(185);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.1 + static_cast<double>(i) / 3.0 + job.node_of(job.rank()).value * 1.0e-7;
      }
      if (job.rank() == job.node_ranks().front()) {
        EXPECT_TRUE(ok(mirrored.node_copy().put(mirrored.node_copy().box(), values)));
      }
      EXPECT_TRUE(ok(mirrored.merge()));
      auto merged = elements_of(mirrored.node_copy(), mirrored.node_copy().box());
      auto of_first = merged;
      EXPECT_TRUE(
          ok(job.world().broadcast(std::as_writable_bytes(std::span(of_first)), TeamRank{0})));
      EXPECT_EQ(merged, of_first);
      EXPECT_TRUE(run == 0 || merged == first);
      first = std::move(merged);
    }
  });
}

TEST(Mirrored, LoadsWhatMembersHaveJustWritten) {
  on_ranks([](Job& job) {
    constexpr std::int64_t columns = 20'000;  // so that they are still being transferred
    // All elements on one rank; most of them are sent from other ranks.
    const auto owner = static_cast<std::int32_t>(job.size() - 1);
    auto source = Array<double>::create(job, {job.size(), columns},
                                        {.name = "B", .holders = {rma::TeamRank{owner}}})
                      .value();
    const Box row({job.rank().value, 0}, {job.rank().value + 1, columns});
    auto mirrored = Mirrored<double>::create(job, source.extents(), {.name = "M"}).value();
    for (int round = 1; round <= 5; ++round) {
      const std::vector<double> values(columns, round + 0.1 * job.rank().value);
      EXPECT_TRUE(ok(source.put(row, values)));
      EXPECT_TRUE(ok(mirrored.load(source)));
      for (int rank = 0; rank < job.size(); ++rank) {
        EXPECT_EQ(mirrored.node_copy().get_element({rank, columns - 1}).value(),
                  round + 0.1 * rank);
      }
      EXPECT_TRUE(ok(job.barrier()));
    }
  });
}

TEST(Mirrored, OneThatWasMovedFromIsClosed) {
  on_ranks([](Job& job) {
    auto other = Array<double>::create(job, {10, 6}, {.name = "B"}).value();
    auto mirrored = Mirrored<double>::create(job, {10, 6}, {.name = "M"}).value();
    auto moved = std::move(mirrored);
    // NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what it is for
    EXPECT_TRUE(fails(mirrored.merge(), Code::closed, {"merging the copies", "moved from"}));
    EXPECT_TRUE(fails(mirrored.merge_into(other.box(), other), Code::closed, {"moved from"}));
    EXPECT_TRUE(fails(mirrored.load(other), Code::closed, {"loading the copies", "moved from"}));
    EXPECT_TRUE(ok(mirrored.free()));
    // NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    EXPECT_TRUE(ok(moved.load(other)));
  });
}

TEST(Mirrored, WrongUsesAreRefusedOnAllRanks) {
  on_ranks([](Job& job) {
    auto mirrored = Mirrored<double>::create(job, {10, 6}, {.name = "M"}).value();
    auto other = Array<double>::create(job, {10, 6}, {.name = "B"}).value();
    EXPECT_TRUE(fails(mirrored.merge_into(Box({0, 0}, {4, 4}), part(other, Box({0, 0}, {4, 5}))),
                      Code::invalid_argument,
                      {"merging the copies of array 'M' (float64, 10 x 6): ",
                       "the box [0,4) x [0,4) of "
                       "array 'M' (float64, 10 x 6) is 4 x 4, but the box [0,4) x [0,5) of array "
                       "'B' (float64, 10 x 6) is 4 x 5"}));
    EXPECT_TRUE(fails(mirrored.load(Box({0, 0}, {11, 6}), other), Code::out_of_range,
                      {"loading the copies of array 'M' (float64, 10 x 6): ",
                       "array 'M' (float64, 10 x 6): box [0,11) x [0,6) lies outside"}));
    EXPECT_TRUE(
        fails(Mirrored<double>::create(job, {4, 4}, {.name = "N", .process_grid = {1, 1}}),
              Code::invalid_argument,
              {"creating mirrored array 'N' 4 x 4: ",
               "holders and process_grid can't be given for an array with a copy on each node"}));
    const auto too_wide = Distribution::regular({4, 4}, job.size() + 1).value();
    EXPECT_TRUE(fails(Mirrored<double>::create(job, too_wide, {.name = "N"}),
                      Code::invalid_argument,
                      {"creating mirrored array 'N' 4 x 4: ", "does not fit a team of"}));
    if (job.size() > 1) {
      const std::int64_t rows = job.rank().value == 0 ? 4 : 5;
      EXPECT_TRUE(fails(Mirrored<double>::create(job, {rows, 4}, {.name = "N"}),
                        Code::invalid_argument, {"rank 1 gave another mirrored array than"}));
    }
    EXPECT_TRUE(ok(other.free()));
    EXPECT_TRUE(fails(mirrored.load(other), Code::closed, {"'B'"}));
    EXPECT_TRUE(ok(mirrored.free()));
    EXPECT_TRUE(fails(mirrored.merge(), Code::closed, {"'M'"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
