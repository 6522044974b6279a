// SPDX-License-Identifier: BSD-3-Clause
//
// Halo::accumulate: every element gets the values of all ghost cells that an update would copy it
// to, and these become zero.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/halo.hpp"
#include "tests/arrays/ghost_cells.hpp"
#include "tests/arrays/ranks/model_array.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/random_shape.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;
using test::for_each_index;
using test::is_updated;
using test::periodic_image;

// A small whole number for each cell of each rank, so that sums are exact in any order.
template <class T>
T value_of(rma::TeamRank rank, const Index& cell) {
  std::int64_t number = rank.value * 5 + 1;
  for (int dim = 0; dim < cell.ndims(); ++dim) {
    number = number * 7 + cell[dim] + 11;
  }
  return static_cast<T>(number % 13 + 1);
}

template <class T>
void prepare_sums(Array<T>& array) {
  auto access = array.local().value();
  const auto view = access.view();
  for_each_index(access.with_ghosts(),
                 [&](const Index& cell) { view[cell] = value_of<T>(array.team().rank(), cell); });
  EXPECT_TRUE(ok(access.end()));
}

// Elements of this rank after the exchange: computed from the boxes of all ranks.
template <class T>
void check_sums(Array<T>& array, const HaloOptions& options, const Extents& widths) {
  const Extents& extents = array.extents();
  const Extents& ghosts = array.distribution().ghosts();
  auto access = array.local().value();
  const auto view = access.view();
  const Box own = access.own();
  std::map<std::vector<std::int64_t>, T> sums;
  const auto key = [](const Index& cell) {
    return std::vector<std::int64_t>(cell.begin(), cell.end());
  };
  for_each_index(
      own, [&](const Index& cell) { sums[key(cell)] = value_of<T>(array.team().rank(), cell); });
  for (std::int32_t rank = 0; rank < array.team().size(); ++rank) {
    const Box box = array.box_of(rma::TeamRank{rank});
    if (box.is_empty()) {
      continue;
    }
    for_each_index(box.grown(ghosts), [&](const Index& cell) {
      const Index image = periodic_image(cell, extents);
      if (is_updated(cell, box, extents, options, widths) && own.contains(image)) {
        sums[key(image)] += value_of<T>(rma::TeamRank{rank}, cell);
      }
    });
  }
  std::int64_t wrong = 0;
  for_each_index(access.with_ghosts(), [&](const Index& cell) {
    const T expected = own.contains(cell) ? sums[key(cell)]
                       : is_updated(cell, own, extents, options, widths)
                           ? T{0}
                           : value_of<T>(array.team().rank(), cell);
    if (view[cell] != expected && ++wrong < 5) {
      ADD_FAILURE() << to_string(cell) << " is " << view[cell] << ", expected " << expected;
    }
  });
  EXPECT_TRUE(ok(access.end()));
  EXPECT_TRUE(ok(array.sync()));
}

template <class T>
void check_accumulate(Job& job, const Team& team, const Extents& extents, const Extents& ghosts,
                      const HaloOptions& options) {
  auto array =
      Array<T>::create(job, extents, {.name = "A", .team = team, .ghosts = ghosts}).value();
  const Extents widths = options.widths.ndims() == 0 ? ghosts : options.widths;
  auto halo = Halo::create(array, options);
  ASSERT_TRUE(ok(halo));
  for (int round = 0; round < 3; ++round) {
    prepare_sums(array);
    ASSERT_TRUE(ok(halo->accumulate()));
    check_sums(array, options, widths);
    // Mixed with updates, whose flags are others.
    ASSERT_TRUE(ok(halo->update()));
    ASSERT_TRUE(ok(array.sync()));
  }
}

TEST(HaloAccumulate, AddsPeriodicGhostCellsWithCorners) {
  on_team([](Job& job, Team& team) {
    check_accumulate<double>(job, team, {16, 15, 14}, {1, 1, 1},
                             {.periodic = PeriodicDims().set()});
    check_accumulate<std::int32_t>(job, team, {23, 21}, {3, 2}, {.periodic = PeriodicDims().set()});
    check_accumulate<float>(job, team, {29}, {2}, {.periodic = PeriodicDims().set()});
  });
}

TEST(HaloAccumulate, LeavesCellsOutsideTheArrayAlone) {
  on_team([](Job& job, Team& team) {
    check_accumulate<double>(job, team, {12, 13, 14}, {2, 1, 1}, {});
    check_accumulate<double>(job, team, {12, 13, 14}, {2, 1, 1}, {.periodic = PeriodicDims(0b010)});
  });
}

TEST(HaloAccumulate, TakesFacesOnlyOrFewerLayersWhenAsked) {
  on_team([](Job& job, Team& team) {
    check_accumulate<double>(job, team, {12, 13, 14}, {1, 2, 1},
                             {.periodic = PeriodicDims().set(), .corners = false});
    check_accumulate<std::int64_t>(job, team, {20, 20}, {3, 3},
                                   {.periodic = PeriodicDims().set(), .widths = {1, 2}});
  });
}

TEST(HaloAccumulate, AddsLayersWiderThanBlocksToSeveralOwners) {
  on_team([](Job& job, Team& team) {
    check_accumulate<double>(job, team, {2 * team.size() + 1}, {5},
                             {.periodic = PeriodicDims().set()});
    check_accumulate<std::int32_t>(job, team, {3, 3}, {4, 4}, {.periodic = PeriodicDims().set()});
  });
}

// An update copies corners from ghost cells that are left out, if their dimension is periodic and
// not cut; they are added to elements nevertheless.
TEST(HaloAccumulate, KeepsLeftOutCellsAndAddsTheirCornersToElements) {
  on_team([](Job& job, Team& team) {
    for (const unsigned long periodic : {0b111UL, 0b101UL, 0b010UL, 0b000UL}) {
      for (unsigned long left_out = 1; left_out < 8; ++left_out) {
        SCOPED_TRACE("periodic " + PeriodicDims(periodic).to_string() + ", left out " +
                     PeriodicDims(left_out).to_string());
        check_accumulate<std::int64_t>(
            job, team, {9, 5, 7}, {1, 2, 1},
            {.periodic = PeriodicDims(periodic), .left_out = PeriodicDims(left_out)});
      }
    }
    check_accumulate<double>(job, team, {2 * team.size() + 1, 3}, {1, 2},
                             {.periodic = PeriodicDims().set(), .left_out = PeriodicDims(0b10)});
    check_accumulate<double>(
        job, team, {11, 3}, {2, 1},
        {.periodic = PeriodicDims().set(), .corners = false, .left_out = PeriodicDims(0b10)});
  });
}

// No ghost cells in a dimension, or none that are updated.
TEST(HaloAccumulate, TakesWidthsOfZero) {
  on_team([](Job& job, Team& team) {
    for (const unsigned long periodic : {0b111UL, 0b011UL, 0b000UL}) {
      const PeriodicDims dims(periodic);
      check_accumulate<double>(job, team, {7, 5, 9}, {1, 0, 2}, {.periodic = dims});
      check_accumulate<float>(job, team, {7, 5, 9}, {0, 0, 1}, {.periodic = dims});
      check_accumulate<std::int32_t>(job, team, {7, 5, 9}, {1, 2, 1},
                                     {.periodic = dims, .widths = {1, 0, 1}});
      check_accumulate<std::int32_t>(job, team, {7, 5, 9}, {1, 2, 1},
                                     {.periodic = dims, .widths = {0, 2, 0}});
      check_accumulate<std::int64_t>(
          job, team, {7, 5, 9}, {1, 2, 1},
          {.periodic = dims, .widths = {1, 0, 1}, .left_out = PeriodicDims(0b010)});
      check_accumulate<std::int64_t>(
          job, team, {7, 5, 9}, {1, 2, 1},
          {.periodic = dims, .widths = {1, 1, 0}, .left_out = PeriodicDims(0b110)});
    }
  });
}

// Extents, widths and options of any kind, also arrays smaller than the team.
TEST(HaloAccumulate, AgreesWithTheModelForRandomOptions) {
  on_team([](Job& job, Team& team) {
    std::uint64_t seed = rma::test::choose_seed();
    ASSERT_TRUE(ok(team.broadcast_value(seed, rma::TeamRank{0})));
    SCOPED_TRACE("--gtest_random_seed=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto any = [&](std::int64_t least, std::int64_t most) {
      return rma::test::random_in(random, least, most);
    };
    for (int round = 0; round < 20; ++round) {
      const int ndims = static_cast<int>(any(1, 3));
      Extents extents = Extents::zeros(ndims);
      Extents ghosts = extents;
      Extents widths = extents;
      for (int dim = 0; dim < ndims; ++dim) {
        extents[dim] = any(1, 9);
        ghosts[dim] = any(dim == 0 ? 1 : 0, 3);
        widths[dim] = any(0, ghosts[dim]);
      }
      const auto bits = [&] { return PeriodicDims(static_cast<unsigned long>(any(0, 7))); };
      const HaloOptions options{.periodic = bits(),
                                .corners = any(0, 3) > 0,
                                .widths = any(0, 1) == 0 ? Extents() : widths,
                                .left_out = bits()};
      SCOPED_TRACE(to_string(extents) + ", ghosts " + to_string(ghosts) + ", widths " +
                   to_string(options.widths) + ", periodic " + options.periodic.to_string() +
                   ", left out " + options.left_out.to_string() +
                   (options.corners ? "" : ", faces only"));
      check_accumulate<std::int64_t>(job, team, extents, ghosts, options);
    }
  });
}

TEST(HaloAccumulate, RunsFreelyManyTimes) {
  on_team([](Job& job, Team& team) {
    constexpr std::int64_t rounds = 100;
    auto array = Array<std::int64_t>::create(job, {4 * team.size()},
                                             {.name = "A", .team = team, .ghosts = {1}})
                     .value();
    auto halo = Halo::create(array, {.periodic = PeriodicDims().set()}).value();
    auto access = array.local().value();
    const auto view = access.view();
    const Box own = access.own();
    for (std::int64_t round = 0; round < rounds; ++round) {
      view[Index{own.lo(0) - 1}] = 1;
      view[Index{own.hi(0)}] = 2;
      ASSERT_TRUE(ok(halo.accumulate()));
      ASSERT_EQ(view[Index{own.lo(0)}], 2 * (round + 1));
      ASSERT_EQ(view[Index{own.hi(0) - 1}], round + 1);
      ASSERT_EQ(view[Index{own.hi(0)}], 0);
    }
    ASSERT_TRUE(ok(access.end()));
  });
}

TEST(HaloAccumulate, RefusesWhatCannotBeAdded) {
  on_team([](Job& job, Team& team) {
    struct Pair {
      double one = 0;
      double other = 0;
    };
    const ArrayOptions options{.name = "P", .team = team, .ghosts = {1}};
    auto pairs = Array<Pair>::create(job, {4 * team.size()}, options).value();
    auto of_pairs = Halo::create(pairs).value();
    EXPECT_TRUE(fails(of_pairs.accumulate(), Code::unsupported,
                      {"the elements are not numbers", "adding the ghost cells of array 'P'"}));
    auto array = Array<double>::create(job, {4 * team.size()}, options).value();
    auto halo = Halo::create(array).value();
    ASSERT_TRUE(ok(halo.post()));
    EXPECT_TRUE(fails(halo.accumulate(), Code::invalid_argument,
                      {"post() has already let the neighbours write"}));
    ASSERT_TRUE(ok(halo.update()));
    ASSERT_TRUE(ok(halo.accumulate()));
    ASSERT_TRUE(ok(halo.free()));
    EXPECT_TRUE(fails(halo.accumulate(), Code::closed, {"this Halo was freed"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
