// SPDX-License-Identifier: BSD-3-Clause
//
// Halo: after an update every ghost cell equals the element that it copies.
#include "arrays/halo.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/array.hpp"
#include "tests/arrays/ghost_cells.hpp"
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
using test::fingerprint;
using test::for_each_index;
using test::is_updated;
using test::lies_beside;
using test::periodic_image;

constexpr double untouched = -7.0;

// Own elements get fingerprints. Ghost cells that an update leaves to the caller get the value that
// they copy; all others get a mark.
void prepare(Array<double>& array, PeriodicDims left_out) {
  auto access = array.local().value();
  const auto view = access.view();
  for_each_index(access.with_ghosts(), [&](const Index& index) {
    const bool is_set = access.own().contains(index) || lies_beside(index, access.own(), left_out);
    view[index] = is_set ? fingerprint(periodic_image(index, array.extents())) : untouched;
  });
  EXPECT_TRUE(ok(access.end()));
  EXPECT_TRUE(ok(array.sync()));
}

// The value of a cell after an update: the element that it copies, or its value before.
double expected_at(const Index& index, const Box& own, const Extents& extents,
                   const HaloOptions& options, const Extents& widths) {
  const bool is_set = own.contains(index) || lies_beside(index, own, options.left_out) ||
                      is_updated(index, own, extents, options, widths);
  return is_set ? fingerprint(periodic_image(index, extents)) : untouched;
}

void check(Array<double>& array, const HaloOptions& options, const Extents& widths) {
  auto access = array.local().value();
  const auto view = access.view();
  std::int64_t wrong = 0;
  for_each_index(access.with_ghosts(), [&](const Index& index) {
    const double expected = expected_at(index, access.own(), array.extents(), options, widths);
    if (view[index] != expected && ++wrong < 5) {
      ADD_FAILURE() << to_string(index) << " is " << view[index] << ", expected " << expected;
    }
  });
  EXPECT_TRUE(ok(access.end()));
  EXPECT_TRUE(ok(array.sync()));
}

void check_update(Job& job, const Team& team, const Extents& extents, const Extents& ghosts,
                  const HaloOptions& options) {
  auto array =
      Array<double>::create(job, extents, {.name = "A", .team = team, .ghosts = ghosts}).value();
  const Extents widths = options.widths.ndims() == 0 ? ghosts : options.widths;
  prepare(array, options.left_out);
  auto halo = Halo::create(array, options);
  ASSERT_TRUE(ok(halo));
  EXPECT_TRUE(ok(halo->update()));
  check(array, options, widths);

  prepare(array, options.left_out);
  auto update = halo->start();
  ASSERT_TRUE(ok(update));
  EXPECT_TRUE(ok(update->finish()));
  check(array, options, widths);
}

TEST(Halo, FillsPeriodicGhostCellsWithCorners) {
  on_team([](Job& job, Team& team) {
    check_update(job, team, {16, 15, 14}, {1, 1, 1}, {.periodic = PeriodicDims().set()});
    check_update(job, team, {23, 21}, {3, 2}, {.periodic = PeriodicDims().set()});
    check_update(job, team, {29}, {2}, {.periodic = PeriodicDims().set()});
  });
}

// Faces that are longer than a packed message, and edges and corners that fit one.
TEST(Halo, FillsWhatIsTooLongForALetter) {
  on_team([](Job& job, Team& team) {
    check_update(job, team, {std::int64_t{4} * team.size() + 1, 101, 90}, {1, 1, 1},
                 {.periodic = PeriodicDims().set()});
    check_update(job, team, {2, std::int64_t{67} * team.size(), 4500}, {0, 2, 1},
                 {.periodic = PeriodicDims(0b110)});
  });
}

TEST(Halo, LeavesCellsOutsideTheArrayAlone) {
  on_team([](Job& job, Team& team) {
    check_update(job, team, {12, 13, 14}, {2, 1, 1}, {});
    check_update(job, team, {12, 13, 14}, {2, 1, 1}, {.periodic = PeriodicDims(0b010)});
  });
}

TEST(Halo, UpdatesFacesOnlyWhenAsked) {
  on_team([](Job& job, Team& team) {
    check_update(job, team, {12, 13, 14}, {1, 2, 1},
                 {.periodic = PeriodicDims().set(), .corners = false});
  });
}

TEST(Halo, UpdatesFewerLayersThanThereAre) {
  on_team([](Job& job, Team& team) {
    check_update(job, team, {20, 20}, {3, 3}, {.periodic = PeriodicDims().set(), .widths = {1, 2}});
  });
}

TEST(Halo, LeavesOutDimensionsThatTheCallerDoesItself) {
  on_team([](Job& job, Team& team) {
    check_update(job, team, {20, 12}, {2, 2},
                 {.periodic = PeriodicDims().set(), .left_out = PeriodicDims(0b10)});
    check_update(job, team, {19, 8, 9}, {2, 1, 2},
                 {.periodic = PeriodicDims().set(), .left_out = PeriodicDims(0b100)});
    check_update(job, team, {19, 8, 9}, {2, 1, 2},
                 {.periodic = PeriodicDims().set(), .left_out = PeriodicDims(0b110)});
  });
}

TEST(Halo, ReadsLayersWiderThanBlocksFromSeveralOwners) {
  on_team([](Job& job, Team& team) {
    const Extents extents{2 * team.size() + 1};
    check_update(job, team, extents, {5}, {.periodic = PeriodicDims().set()});
    check_update(job, team, {3, 3}, {4, 4}, {.periodic = PeriodicDims().set()});
  });
}

// Blocks of one plane, so that two of three ranks are neighbours, and an array that differs in its
// dimensions, in column-major order.
TEST(Halo, UpdatesColumnMajorArraysAndIrregularBlocks) {
  on_team([](Job& job, Team& team) {
    const std::int64_t ranks = team.size();
    std::vector<std::vector<std::int64_t>> starts(3, {0});
    for (std::int64_t rank = 1; rank < ranks; ++rank) {
      starts[1].push_back(rank * rank);
    }
    const Extents ghosts{2, 3, 1};
    const auto distribution =
        Distribution::irregular({5, ranks * ranks + 2, 4}, starts, ranks,
                                {.order = MemoryOrder::column_major, .ghosts = ghosts})
            .value();
    auto array = Array<double>::create(job, distribution, {.name = "A", .team = team}).value();
    const HaloOptions options{.periodic = PeriodicDims(0b110)};
    auto halo = Halo::create(array, options);
    ASSERT_TRUE(ok(halo));
    prepare(array, {});
    EXPECT_TRUE(ok(halo->update()));
    check(array, options, ghosts);
  });
}

// Every rank adds the values of its ghost cells to its elements, and continues at its own pace,
// with and without post(). An update that comes too early or too late changes the result.
TEST(Halo, KeepsRoundsApartWhileRanksRunFree) {
  on_team([](Job& job, Team& team) {
    constexpr std::int64_t rounds = 200;
    const std::int64_t extent = 3 * team.size() + 1;
    auto array =
        Array<std::int64_t>::create(job, {extent}, {.name = "A", .team = team, .ghosts = {1}})
            .value();
    auto halo = Halo::create(array, {.periodic = PeriodicDims().set()}).value();
    std::vector<std::int64_t> model(static_cast<std::size_t>(extent));
    std::iota(model.begin(), model.end(), 1);
    auto access = array.local().value();
    const auto view = access.view();
    const Box own = access.own();
    for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
      view[Index{i}] = model[static_cast<std::size_t>(i)];
    }
    for (std::int64_t round = 0; round < rounds; ++round) {
      auto update = halo.start();
      ASSERT_TRUE(ok(update));
      std::vector<std::int64_t> next = model;
      for (std::size_t i = 0; i < model.size(); ++i) {
        next[i] = (model[i] * 3 + model[(i + 1) % model.size()] +
                   model[(i + model.size() - 1) % model.size()]) %
                  1'000'003;
      }
      ASSERT_TRUE(ok(update->finish()));
      std::vector<std::int64_t> mine;
      for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
        mine.push_back((view[Index{i}] * 3 + view[Index{i + 1}] + view[Index{i - 1}]) % 1'000'003);
      }
      for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
        view[Index{i}] = mine[static_cast<std::size_t>(i - own.lo(0))];
        ASSERT_EQ(view[Index{i}], next[static_cast<std::size_t>(i)]) << "round " << round;
      }
      if ((round / 3 + team.rank().value) % 2 == 0) {
        ASSERT_TRUE(ok(halo.post()));
      }
      model = std::move(next);
    }
    EXPECT_TRUE(ok(access.end()));
  });
}

// The first member starts before any other one, and all change their elements after post(). Layers
// are both longer and shorter than a packed message.
TEST(Halo, WaitsForNobodyWhoHasPosted) {
  on_team([](Job& job, Team& team) {
    for (const std::int64_t length : {9, 2500}) {
      const Extents extents{std::int64_t{8} * team.size(), length};
      const HaloOptions options{.periodic = PeriodicDims().set()};
      auto array =
          Array<double>::create(job, extents, {.name = "A", .team = team, .ghosts = {4, 1}})
              .value();
      auto halo = Halo::create(array, options).value();
      prepare(array, {});
      EXPECT_TRUE(ok(halo.update()));
      const bool is_first = team.rank().value == 0;
      if (!is_first) {
        EXPECT_TRUE(ok(halo.post()));
        EXPECT_TRUE(ok(halo.post())) << "once more is as good";
      }
      auto access = array.local().value();
      for_each_index(access.own(), [&](const Index& index) { access.view()[index] += 1; });
      EXPECT_TRUE(ok(access.end()));
      if (!is_first) {
        EXPECT_TRUE(ok(team.barrier()));
      }
      auto update = halo.start();
      ASSERT_TRUE(ok(update));
      if (is_first) {
        EXPECT_TRUE(ok(team.barrier()));
      }
      EXPECT_TRUE(ok(update->finish()));
      auto changed = array.local().value();
      for_each_index(changed.with_ghosts(), [&](const Index& index) {
        ASSERT_EQ(changed.view()[index], fingerprint(periodic_image(index, extents)) + 1)
            << to_string(index);
      });
      EXPECT_TRUE(ok(changed.end()));
      EXPECT_TRUE(ok(array.sync()));
    }
  });
}

TEST(Halo, RefusesToBeginWhatIsUnderWay) {
  on_team([](Job& job, Team& team) {
    auto array =
        Array<double>::create(job, {12, 9}, {.name = "A", .team = team, .ghosts = {1, 1}}).value();
    auto halo = Halo::create(array).value();
    auto update = halo.start();
    ASSERT_TRUE(ok(update));
    const auto expected = {std::string_view("ghost cells of array 'A'"),
                           std::string_view("an update is in progress")};
    EXPECT_TRUE(fails(halo.start(), Code::invalid_argument, expected));
    EXPECT_TRUE(fails(halo.update(), Code::invalid_argument, expected));
    EXPECT_TRUE(fails(halo.post(), Code::invalid_argument, expected));
    EXPECT_TRUE(ok(update->finish()));
    EXPECT_TRUE(ok(halo.post()));
    EXPECT_TRUE(ok(halo.update()));
    EXPECT_TRUE(ok(array.free()));
    EXPECT_TRUE(fails(halo.post(), Code::closed, {"was freed"}));
  });
}

TEST(Halo, LetsUpdatesOfSeveralArraysRunTogether) {
  on_team([](Job& job, Team& team) {
    const HaloOptions options{.periodic = PeriodicDims().set()};
    auto a =
        Array<double>::create(job, {12, 9}, {.name = "a", .team = team, .ghosts = {1, 1}}).value();
    auto b =
        Array<double>::create(job, {9, 14}, {.name = "b", .team = team, .ghosts = {2, 2}}).value();
    prepare(a, {});
    prepare(b, {});
    auto of_a = Halo::create(a, options).value();
    auto of_b = Halo::create(b, options).value();
    auto first = of_a.start();
    auto second = of_b.start();
    ASSERT_TRUE(ok(first));
    ASSERT_TRUE(ok(second));
    EXPECT_TRUE(ok(first->finish()));
    EXPECT_TRUE(ok(second->finish()));
    EXPECT_TRUE(ok(first->finish())) << "nothing is left to finish";
    check(a, options, {1, 1});
    check(b, options, {2, 2});
  });
}

TEST(Halo, FinishesAnUpdateThatIsDropped) {
  on_team([](Job& job, Team& team) {
    const HaloOptions options{.periodic = PeriodicDims().set()};
    auto array =
        Array<double>::create(job, {12, 9}, {.name = "A", .team = team, .ghosts = {1, 1}}).value();
    auto halo = Halo::create(array, options).value();
    prepare(array, {});
    { auto dropped = halo.start().value(); }
    check(array, options, {1, 1});
    EXPECT_TRUE(ok(halo.update()));
  });
}

TEST(Halo, RefusesOptionsThatDifferAmongRanks) {
  on_team([](Job& job, Team& team) {
    if (team.size() == 1) {
      return;
    }
    auto array =
        Array<double>::create(job, {8, 8}, {.name = "A", .team = team, .ghosts = {2, 2}}).value();
    const bool is_last = team.rank().value + 1 == team.size();
    const std::string first = std::to_string(team.members().front().value);
    const std::string last = std::to_string(team.members().back().value);
    std::string asked_for_another = "rank " + last;
    asked_for_another += " gave another update than rank " + first;
    for (const HaloOptions& other :
         {HaloOptions{.periodic = PeriodicDims(0b01)}, HaloOptions{.corners = false},
          HaloOptions{.widths = {1, 2}}, HaloOptions{.left_out = PeriodicDims(0b10)}}) {
      EXPECT_TRUE(fails(Halo::create(array, is_last ? other : HaloOptions{}),
                        Code::invalid_argument,
                        {"array 'A'", asked_for_another, "hint:", "HaloOptions"}));
    }
    EXPECT_TRUE(fails(Halo::create(array, {.widths = {is_last ? 3 : 2, 2}}), Code::invalid_argument,
                      {"on rank " + last, "3 ghost layers in dimension 0"}));
    EXPECT_TRUE(ok(Halo::create(array, {})));
  });
}

TEST(Halo, SaysWhatIsWrongWithItsOptions) {
  on_team([](Job& job, Team& team) {
    auto plain = Array<double>::create(job, {8, 8}, {.name = "plain", .team = team}).value();
    EXPECT_TRUE(fails(Halo::create(plain), Code::invalid_argument,
                      {"array 'plain' has no ghost cells", "create it with the option ghosts"}));
    auto array =
        Array<double>::create(job, {8, 8}, {.name = "A", .team = team, .ghosts = {1, 1}}).value();
    EXPECT_TRUE(fails(Halo::create(array, {.widths = {2, 1}}), Code::invalid_argument,
                      {"2 ghost layers in dimension 0, but the array has 1"}));
    EXPECT_TRUE(fails(Halo::create(array, {.widths = {1}}), Code::invalid_argument,
                      {"1 ghost widths for an array of 2 dimensions"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
