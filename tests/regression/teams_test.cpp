// SPDX-License-Identifier: BSD-3-Clause
//
// Every layout and the operations that need one, on teams that don't begin at rank 0, have gaps, or
// are in another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <sstream>
#include <vector>

#include "arrays/elementwise.hpp"
#include "arrays/halo.hpp"
#include "arrays/mirrored.hpp"
#include "arrays/print.hpp"
#include "arrays/random.hpp"
#include "arrays/reductions.hpp"
#include "linalg/gemm.hpp"
#include "tests/arrays/ghost_cells.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/teams.hpp"

namespace tessera::arrays {
namespace {

using rma::AccessMode;
using rma::Job;
using rma::Team;
using rma::TeamRank;
using rma::test::fails;
using rma::test::for_each_team;
using rma::test::ok;
using rma::test::on_ranks;
using test::fingerprint;
using test::fingerprints;
using test::for_each_index;

// The first member writes all elements; all members read boxes, and add one everywhere.
void check_transfers(const Array<double>& array) {
  const Team& team = array.team();
  if (team.rank().value == 0) {
    EXPECT_TRUE(ok(array.put(array.box(), fingerprints(array.box()))));
  }
  EXPECT_TRUE(ok(array.sync()));
  std::mt19937_64 random(static_cast<std::uint64_t>(team.rank().value));
  for (int round = 0; round < 10; ++round) {
    const Box box = test::random_box(array.extents(), random);
    std::vector<double> got(static_cast<std::size_t>(box.volume()));
    EXPECT_TRUE(ok(array.get(box, got)));
    EXPECT_EQ(got, fingerprints(box)) << to_string(box) << " of " << array.describe();
  }
  EXPECT_TRUE(ok(array.sync()));
  std::vector<double> all(static_cast<std::size_t>(array.box().volume()), 1.0);
  EXPECT_TRUE(ok(array.accumulate(array.box(), all)));
  EXPECT_TRUE(ok(array.sync()));
  EXPECT_TRUE(ok(array.get(array.box(), all)));
  for (double& value : all) {
    value -= team.size();
  }
  EXPECT_EQ(all, fingerprints(array.box())) << array.describe();
  EXPECT_TRUE(ok(array.sync()));
}

Extents grid_of(std::int64_t ranks) {
  return ranks % 2 == 0 ? Extents{2, ranks / 2} : Extents{1, ranks};
}

std::vector<Distribution> cyclic_layouts(const Extents& extents, std::int64_t ranks) {
  std::vector<std::vector<std::int64_t>> starts{{0, 2, 17, 30}, {0, 1, 20}};
  for (std::size_t dim = 0; dim < starts.size(); ++dim) {
    std::erase_if(starts[dim],
                  [&](std::int64_t start) { return start >= extents[static_cast<int>(dim)]; });
  }
  const Extents grid = grid_of(ranks);
  return {Distribution::block_cyclic(extents, {4, 3}, ranks).value(),
          Distribution::scalapack(extents, {4, 3}, grid, ranks).value(),
          Distribution::scalapack(extents, {4, 3}, grid, ranks, MemoryOrder::row_major).value(),
          Distribution::tiled(extents, {4, 3}, grid, ranks).value(),
          Distribution::tiled_irregular(extents, starts, grid, ranks).value()};
}

// Global Arrays crashed on the ranks 2 and 3, and had wrong elements on 0 and 1.
TEST(Teams, BlockCyclicArraysHoldWhatWasPut) {
  on_ranks([](Job& job) {
    for_each_team(job, [&](Team& team) {
      for (const Distribution& layout : cyclic_layouts({37, 41}, team.size())) {
        auto array = Array<double>::create(job, layout, {.name = "A", .team = team});
        ASSERT_TRUE(ok(array)) << to_string(layout);
        check_transfers(*array);
        auto regular = Array<double>::create(job, {37, 41}, {.name = "B", .team = team}).value();
        EXPECT_TRUE(ok(fill(*array, 2.0)));
        EXPECT_TRUE(ok(add(1.0, *array, 1.0, *array, regular)));
        EXPECT_EQ(sum(regular).value(), 4.0 * 1517) << to_string(layout);
        EXPECT_EQ(dot(*array, regular).value(), 8.0 * 1517) << to_string(layout);
      }
    });
  });
}

// Global Arrays aborted: "Could not allocate update information for ghost cells".
TEST(Teams, GhostCellsAreUpdated) {
  on_ranks([](Job& job) {
    for_each_team(job, [&](Team& team) {
      auto array =
          Array<double>::create(job, {13, 12}, {.name = "A", .team = team, .ghosts = {2, 1}})
              .value();
      auto halo = Halo::create(array, {.periodic = PeriodicDims().set()}).value();
      auto access = array.local().value();
      const auto view = access.view();
      for (int round = 0; round < 3; ++round) {
        for_each_index(access.own(), [&](const Index& at) { view[at] = fingerprint(at) + round; });
        EXPECT_TRUE(ok(halo.update()));
        for_each_index(access.with_ghosts(), [&](const Index& at) {
          EXPECT_EQ(view[at], fingerprint(test::periodic_image(at, array.extents())) + round)
              << to_string(at);
        });
        EXPECT_TRUE(ok(team.barrier()));
      }
      EXPECT_TRUE(ok(access.end()));
    });
  });
}

// Each feature on such teams (from a list of Global Arrays' weak points).
TEST(Teams, RestrictedMirroredAndMultipliedArraysWork) {
  on_ranks([](Job& job) {
    for_each_team(job, [&](Team& team) {
      auto restricted =
          Array<double>::create(
              job, {9, 9},
              {.name = "restricted", .team = team, .holders = {TeamRank{team.size() - 1}}})
              .value();
      check_transfers(restricted);
      EXPECT_EQ(restricted.own_box().is_empty(), team.rank().value != team.size() - 1);

      auto copied = Array<double>::create(job, {9, 9}, {.name = "C", .team = team}).value();
      check_transfers(copied);
      EXPECT_TRUE(ok(copied.set_access_mode(AccessMode::read_only, {.copy_on_each_node = true})));
      EXPECT_EQ(copied.get_element({8, 7}).value(), fingerprint({8, 7}) + team.size());

      auto mirrored = Mirrored<double>::create(job, {9, 9}, {.name = "M", .team = team}).value();
      const std::vector<double> ones(81, 1.0);
      EXPECT_TRUE(ok(mirrored.node_copy().accumulate(mirrored.node_copy().box(), ones)));
      EXPECT_TRUE(ok(mirrored.merge()));
      EXPECT_EQ(mirrored.node_copy().get_element({8, 7}).value(), 1.0 * team.size());
      EXPECT_TRUE(ok(mirrored.free()));

      auto a = Array<double>::create(
                   job, Distribution::block_cyclic({9, 9}, {2, 2}, team.size()).value(),
                   {.name = "a", .team = team})
                   .value();
      EXPECT_TRUE(ok(fill(a, 2.0)));
      EXPECT_TRUE(ok(linalg::gemm(a, a, restricted)));
      EXPECT_EQ(sum(restricted).value(), 81 * 36.0);
    });
  });
}

// Random numbers differ among elements, and are the same on any team.
TEST(Teams, RandomElementsDoNotDependOnTheTeam) {
  on_ranks([](Job& job) {
    auto whole = Array<double>::create(job, {50, 3}, {.name = "whole"}).value();
    EXPECT_TRUE(ok(fill_random(whole, 42)));
    std::vector<double> expected(150);
    EXPECT_TRUE(ok(whole.get(whole.box(), expected)));
    EXPECT_TRUE(ok(whole.sync()));
    for_each_team(job, [&](Team& team) {
      auto array = Array<double>::create(job, {50, 3}, {.name = "A", .team = team}).value();
      EXPECT_TRUE(ok(fill_random(array, 42)));
      std::vector<double> got(150);
      EXPECT_TRUE(ok(array.get(array.box(), got)));
      EXPECT_EQ(got, expected);
      EXPECT_TRUE(ok(array.sync()));
    });
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(std::adjacent_find(expected.begin(), expected.end()), expected.end());
  });
}

// Global Arrays issue #307: fewer blocks than ranks.
TEST(Teams, BlocksMayBeFewerThanRanks) {
  on_ranks([](Job& job) {
    for_each_team(job, [&](Team& team) {
      for (const Distribution& layout : cyclic_layouts({3, 2}, team.size())) {
        auto array = Array<double>::create(job, layout, {.name = "small", .team = team}).value();
        check_transfers(array);
        EXPECT_TRUE(ok(fill(array, 1.0)));
        EXPECT_EQ(sum(array).value(), 6.0);
      }
    });
  });
}

// Global Arrays issue #300: tiles of unequal sizes could be neither requested nor printed.
TEST(Teams, IrregularTilesReportWhereTheyLie) {
  const std::vector<std::vector<std::int64_t>> starts{{0, 5, 6, 20}, {0, 1, 9}};
  const auto layout = Distribution::tiled_irregular({23, 17}, starts, {2, 2}, 5).value();
  std::int64_t elements = 0;
  std::int64_t blocks = 0;
  for (std::int32_t rank = 0; rank < 5; ++rank) {
    blocks += layout.block_count(TeamRank{rank});
    for (const Patch& block : layout.blocks(TeamRank{rank})) {
      elements += block.box.volume();
      EXPECT_EQ(layout.owner(block.box.lo()).value, rank);
    }
  }
  EXPECT_EQ(blocks, 12);
  EXPECT_EQ(elements, 23 * 17);
  EXPECT_EQ(layout.block_count(TeamRank{4}), 0) << "the grid leaves it out";
  std::ostringstream text;
  print_distribution(layout, text);
  EXPECT_NE(text.str().find("[20,23) x [9,17)"), std::string::npos) << text.str();
}

// Global Arrays issue #224: bounds for many ranks were refused, and the error named no cause.
TEST(Teams, IrregularBoundsOfManyRanks) {
  const std::int64_t ranks = 20'000;
  std::vector<std::vector<std::int64_t>> starts(1);
  for (std::int64_t i = 0; i < ranks; ++i) {
    starts[0].push_back(i * (i + 1) / 2);
  }
  const std::int64_t extent = ranks * (ranks + 1) / 2;
  const auto layout = Distribution::irregular({extent}, starts, ranks).value();
  EXPECT_EQ(layout.owner({extent - 1}).value, ranks - 1);
  EXPECT_EQ(layout.box_of(TeamRank{19'998}), Box({19'998LL * 19'999 / 2}, {19'999LL * 20'000 / 2}));
  std::swap(starts[0][7], starts[0][8]);
  EXPECT_TRUE(fails(Distribution::irregular({extent}, starts, ranks), rma::Code::invalid_argument,
                    {"dimension 0", "28"}));
}

}  // namespace
}  // namespace tessera::arrays
