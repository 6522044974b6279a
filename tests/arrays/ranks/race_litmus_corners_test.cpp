// SPDX-License-Identifier: BSD-3-Clause
//
// More litmus programs of TESSERA_CHECK=races: nested teams, threads, collectives in the
// background, handles that are waited for late, tiny and empty boxes, many arrays and many boxes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/flags.hpp"
#include "arrays/halo.hpp"
#include "rma/collectives.hpp"
#include "rma/lock.hpp"
#include "tests/arrays/ranks/race_litmus.hpp"
#include "tests/support/checks.hpp"

namespace tessera::arrays {
namespace {

using rma::LockSet;
using rma::Reduction;
using rma::Team;
using rma::TeamRank;
using rma::test::ok;

/// Ranks 0 and 1, by splitting teams again and again.
Team innermost_pair(Play& play) {
  Team team = play.job.world().split(0, play.rank()).value();
  while (team.size() > 2) {
    const std::int32_t half = (team.size() + 1) / 2;
    const std::int32_t self = team.rank().value;
    team = team.split(self < std::max(half, 2) ? 0 : 1, self).value();
  }
  return team;
}

/// A square of each rank, with ghost cells at all sides and corners.
Array<double> make_grid(Play& play, const Team& team, const Extents& grid) {
  return Array<double>::create(play.job, {4 * grid[0], 4 * grid[1]},
                               {.name = "A", .team = team, .process_grid = grid, .ghosts = {1, 1}})
      .value();
}

/// Both act in a thread of their own and in the rank's thread.
void in_two_threads(const std::function<void()>& first, const std::function<void()>& second) {
  std::thread thread(first);
  second();
  thread.join();
}

/// Puts rows of two columns in turn: many boxes, which form two.
void put_two_columns(Play& play, Array<double>& a, std::int64_t first_column) {
  const std::vector<double> one(1, 1.0);
  for (std::int64_t row = 0; row < a.extents()[0]; ++row) {
    for (const std::int64_t column : {first_column, first_column + 2}) {
      EXPECT_TRUE(ok(a.put(Box({row, column}, {row + 1, column + 1}), std::span(one))))
          << play.rank();
    }
  }
}

const std::vector<Program> racy_corners{
    {"PutsToAnArrayOfOneElement", "put put",
     [](Play& play) {
       auto one = Array<double>::create(play.job, {1}, {.name = "A"}).value();
       const double value = 1.0;
       if (play.rank() < 2) {
         EXPECT_TRUE(ok(one.put(one.box(), std::span(&value, 1))));
       }
     }},
    {"PutsInTheInnermostTeam", "put put",
     [](Play& play) {
       Team pair = innermost_pair(play);
       if (play.rank() < 2) {
         auto a = Array<double>::create(play.job, {4}, {.name = "A", .team = pair}).value();
         EXPECT_TRUE(ok(a.put(a.box(), std::span<const double>(play.room(4)))));
       }
     }},
    {"PutOfASecondThread", "get put",
     [](Play& play) {
       play.ranks([&] { play.get(0, 4); },
                  [&] { in_two_threads([&] { play.put(3, 5); }, [&] { play.put(20, 24); }); });
     }},
    {"TheLastOfManyArrays", "accumulate put",
     [](Play& play) {
       std::vector<Array<double>> all;
       for (int at = 0; at < 11; ++at) {
         all.push_back(Array<double>::create(play.job, {40}, {.name = "A"}).value());
       }
       for (auto& each : all) {
         const std::int64_t lo = &each == &all.back() ? 19 : 20;
         play.ranks(
             [&] {
               EXPECT_TRUE(
                   ok(each.accumulate(Box({0}, {20}), std::span<const double>(play.room(20)))));
             },
             [&] {
               EXPECT_TRUE(
                   ok(each.put(Box({lo}, {lo + 4}), std::span<const double>(play.room(4)))));
             });
       }
       EXPECT_TRUE(ok(play.job.barrier()));
     }},
    {"BoxesThatMeetInTheLastDimensionOnly", "put get",
     [](Play& play) {
       auto a = Array<double>::create(play.job, {4, 4, 4, 4}, {.name = "A"}).value();
       const Box box =
           play.is(0) ? Box({0, 0, 0, 0}, {4, 4, 4, 3}) : Box({0, 0, 0, 2}, {4, 4, 4, 4});
       std::vector<double> room(256, 1.0);
       play.ranks([&] { EXPECT_TRUE(ok(a.put(box, std::span<const double>(room)))); },
                  [&] { EXPECT_TRUE(ok(a.get(box, std::span(room)))); });
     }},
    {"ManyBoxesInTwoColumns", "put put",
     [](Play& play) {
       auto a = Array<double>::create(play.job, {6000, 8}, {.name = "A"}).value();
       const std::vector<double> one(1, 1.0);
       play.ranks([&] { put_two_columns(play, a, 1); },
                  [&] {
                    EXPECT_TRUE(ok(a.put(Box({5998, 3}, {5999, 4}), std::span(one))));
                  });
     }},
    {"OneLockOfEachRank", "put put",
     [](Play& play) {
       auto locks = LockSet::create(play.job.world(), 1).value();
       if (play.rank() < 2) {
         const TeamRank self{play.rank()};
         EXPECT_TRUE(ok(locks.lock(self, 0)));
         play.put(0, 4);
         EXPECT_TRUE(ok(locks.unlock(self, 0)));
       }
       play.sync();
       EXPECT_TRUE(ok(locks.free()));
     }},
    {"LocksOfManySetsAndAnotherWord", "put get",
     [](Play& play) {
       std::vector<LockSet> sets;
       for (int at = 0; at < 6; ++at) {
         sets.push_back(LockSet::create(play.job.world(), play.is(0) ? 1 : 0).value());
       }
       auto words = play.words();
       play.ranks(
           [&] {
             play.put(0, 4);
             for (LockSet& each : sets) {
               EXPECT_TRUE(ok(each.lock(TeamRank{0}, 0)));
               EXPECT_TRUE(ok(each.unlock(TeamRank{0}, 0)));
             }
           },
           [&] {
             EXPECT_TRUE(ok(words.fetch_add({1}, 1)));
             play.get(0, 4);
           });
       play.sync();
       for (LockSet& each : sets) {
         EXPECT_TRUE(ok(each.free()));
       }
     }},
    {"PutToACornerDuringAnUpdate", "ghost cell update put",
     [](Play& play) {
       Team four = play.job.world().split(play.rank() < 4 ? 0 : 1, play.rank()).value();
       if (play.rank() >= 4) {
         return;
       }
       auto u = make_grid(play, four, {2, 2});
       auto halo = Halo::create(u).value();
       const double value = 1.0;
       if (play.is(1)) {  // rank 0 sends this corner to the rank diagonally opposite
         EXPECT_TRUE(ok(u.put(Box({3, 3}, {4, 4}), std::span(&value, 1))));
       }
       EXPECT_TRUE(ok(halo.update()));
       EXPECT_TRUE(ok(u.sync()));
       EXPECT_TRUE(ok(halo.free()));
     },
     4},
    {"BarrierInTheBackgroundOfOtherRanks", "put get",
     [](Play& play) {
       Team alone = play.job.world().split(play.rank(), 0).value();
       auto done = rma::barrier_async(alone);
       play.ranks([&] { play.put(0, 4); }, [&] { play.get(0, 4); });
       EXPECT_TRUE(ok(done.wait()));
     }},
};

const std::vector<Program> clean_corners{
    {"BarrierInTheBackground", "",
     [](Play& play) {
       if (play.is(1)) {
         play.put(0, 4);
         EXPECT_TRUE(ok(play.a.fence()));
       }
       auto done = rma::barrier_async(play.job.world());
       if (play.is(0)) {
         EXPECT_TRUE(ok(done.wait()));
         play.get(0, 4);
       }
       play.sync();
       EXPECT_TRUE(ok(done.wait()));
     }},
    {"AllreduceInTheBackground", "",
     [](Play& play) {
       std::vector<double> sums(3, 1.0);
       if (play.is(0)) {
         play.put(0, 4);
         EXPECT_TRUE(ok(play.a.fence()));
       }
       EXPECT_TRUE(
           ok(rma::allreduce_async(play.job.world(), std::span(sums), Reduction::sum).wait()));
       if (play.is(1)) {
         play.put(0, 4);
       }
     }},
    {"BarriersOfNestedTeams", "",
     [](Play& play) {
       Team pair = innermost_pair(play);
       if (play.rank() < 2) {
         auto a = Array<double>::create(play.job, {4}, {.name = "A", .team = pair}).value();
         for (std::int32_t turn = 0; turn < 4; ++turn) {
           if (play.is(turn % 2)) {
             EXPECT_TRUE(ok(a.put(a.box(), std::span<const double>(play.room(4)))));
             EXPECT_TRUE(ok(a.fence()));
             play.put(0, 4);
             EXPECT_TRUE(ok(play.a.fence()));
           }
           EXPECT_TRUE(ok(pair.barrier()));
         }
       }
     }},
    {"TeamsThatComeAndGo", "",
     [](Play& play) {
       for (int round = 0; round < 20; ++round) {
         Team part_of = play.job.world().split(play.rank() / 2, 0).value();
         auto a = Array<double>::create(play.job, {4}, {.name = "A", .team = part_of}).value();
         if (part_of.rank().value == 0) {
           EXPECT_TRUE(ok(a.put(a.box(), std::span<const double>(play.room(4)))));
         }
         EXPECT_TRUE(ok(a.sync()));
         EXPECT_TRUE(ok(a.get(a.box(), play.room(4))));
       }
     }},
    {"TurnsAroundARing", "",
     [](Play& play) {
       const std::int32_t size = play.job.size();
       const std::int32_t before = (play.rank() + size - 1) % size;
       if (!play.is(0)) {
         play.wait_for(before);
       }
       play.get(0, part);
       play.put(0, part);
       EXPECT_TRUE(ok(play.a.fence()));
       if (play.rank() + 1 < size) {
         play.notify(play.rank() + 1);
       }
     }},
    {"FlagsOfManyRounds", "",
     [](Play& play) {
       auto flags = Array<std::int32_t>::create(play.job, {play.job.size()}, {.name = "F"}).value();
       for (std::int32_t round = 1; round <= 6 && play.rank() < 2; ++round) {
         const std::int32_t other = 1 - play.rank();
         if (play.is(round % 2)) {
           play.put(0, 4);
           EXPECT_TRUE(ok(play.a.fence()));
           EXPECT_TRUE(ok(raise_flag({flags, {other}}, round)));
         } else {
           EXPECT_TRUE(ok(wait_for_flag({flags, {play.rank()}}, round, TeamRank{other})));
           play.get(0, 4);
         }
       }
       play.sync();
     }},
    {"HandlesThatAreWaitedForAfterTheSync", "",
     [](Play& play) {
       std::optional<rma::Handle> got;
       if (play.is(0)) {
         got = play.a.get_async(Box({16}, {20}), play.room(4));
       }
       play.sync();
       if (play.is(1)) {
         play.put(16, 20);
       }
       if (got) {
         EXPECT_TRUE(ok(got->wait()));
       }
     }},
    {"HandlesThatAreDropped", "",
     [](Play& play) {
       if (play.is(0)) {
         static_cast<void>(
             play.a.put_async(Box({20}, {24}), std::span<const double>(play.room(4))));
       }
       play.sync();
       play.get(20, 24);
     }},
    {"EmptyBoxes", "",
     [](Play& play) {
       for (const std::int64_t at : {0, 3, 16}) {
         play.put(at, at);
         play.get(at, at);
         play.accumulate(at, at);
       }
       play.ranks([&] { play.put(0, 8); }, [&] { play.get(4, 4); });
     }},
    {"TurnsOnAnArrayOfOneElement", "",
     [](Play& play) {
       auto one = Array<double>::create(play.job, {1}, {.name = "A"}).value();
       double value = 1.0;
       for (std::int32_t turn = 0; turn < play.job.size(); ++turn) {
         if (play.is(turn)) {
           EXPECT_TRUE(ok(one.put(one.box(), std::span<const double>(&value, 1))));
           EXPECT_TRUE(ok(one.local()));
         }
         EXPECT_TRUE(ok(one.sync()));
       }
     }},
    {"TwoThreadsOfARank", "",
     [](Play& play) {
       const std::int64_t own = part * play.rank();
       for (int round = 0; round < 3; ++round) {
         const std::vector<double> eight(8, 1.0);
         in_two_threads(
             [&] { EXPECT_TRUE(ok(play.a.put(Box({own}, {own + 8}), std::span(eight)))); },
             [&] { EXPECT_TRUE(ok(play.a.put(Box({own + 8}, {own + 16}), std::span(eight)))); });
         play.sync();
         play.get(0, part);
         play.sync();
       }
     }},
    {"OneLockOfTwoThreadsAndTwoRanks", "",
     [](Play& play) {
       auto locks = LockSet::create(play.job.world(), play.is(0) ? 1 : 0).value();
       const auto add = [&] {
         for (int round = 0; round < 10; ++round) {
           EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
           std::vector<double> value(2);
           EXPECT_TRUE(ok(play.a.get(Box({0}, {2}), std::span(value))));
           EXPECT_TRUE(ok(play.a.put(Box({0}, {2}), std::span<const double>(value))));
           EXPECT_TRUE(ok(play.a.fence()));
           EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
         }
       };
       in_two_threads(add, add);
       play.sync();
       EXPECT_TRUE(ok(locks.free()));
     }},
    {"LocksThatAreTried", "",
     [](Play& play) {
       auto locks = LockSet::create(play.job.world(), play.is(0) ? 1 : 0).value();
       for (int round = 0; round < 5; ++round) {
         while (!locks.try_lock(TeamRank{0}, 0).value()) {
           std::this_thread::yield();
         }
         play.put(0, 4);
         EXPECT_TRUE(ok(play.a.fence()));
         EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
       }
       play.sync();
       EXPECT_TRUE(ok(locks.free()));
     }},
    {"UpdatesWithCornersAndPhases", "",
     [](Play& play) {
       auto u = make_grid(play, play.job.world(), {1, play.job.size()});
       auto halo = Halo::create(u).value();
       for (int step = 0; step < 3; ++step) {
         const auto phase = play.job.phase("step");
         EXPECT_TRUE(ok(halo.update()));
         {
           const auto inner = play.job.phase("relax");
           auto access = u.local().value();
           const Box own = access.own();
           for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
             for (std::int64_t j = own.lo(1); j < own.hi(1); ++j) {
               access.view()(i, j) += 1.0;
             }
           }
         }
         EXPECT_TRUE(ok(u.sync()));
       }
       EXPECT_TRUE(ok(halo.free()));
     }},
    {"ManyArraysApart", "",
     [](Play& play) {
       std::vector<Array<double>> all;
       for (int at = 0; at < 11; ++at) {
         all.push_back(Array<double>::create(play.job, {40}, {.name = "A"}).value());
       }
       for (int at = 0; at < 11 && play.rank() < 2; ++at) {
         const std::int64_t lo = (at + play.rank()) % 2 * 20;
         EXPECT_TRUE(ok(all[static_cast<std::size_t>(at)].put(
             Box({lo}, {lo + 20}), std::span<const double>(play.room(20)))));
       }
       EXPECT_TRUE(ok(play.job.barrier()));
     }},
    {"ManyBoxesInColumnsApart", "",
     [](Play& play) {
       auto a = Array<double>::create(play.job, {6000, 8}, {.name = "A"}).value();
       if (play.rank() < 2) {
         put_two_columns(play, a, play.rank());
       }
     }},
    {"ArraysThatAreReplaced", "",
     [](Play& play) {
       std::optional<Array<double>> a;
       for (int round = 0; round < 4; ++round) {
         a = Array<double>::create(play.job, {8 + round}, {.name = "A"}).value();
         if (play.is(round % 2)) {
           EXPECT_TRUE(ok(a->put(a->box(), std::span<const double>(play.room(8 + round)))));
         }
       }
     }},
};

class CornersRacy : public testing::TestWithParam<Program> {};

TEST_P(CornersRacy, ProgramsAreReported) {
  expect_one_report(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Litmus, CornersRacy, testing::ValuesIn(racy_corners), name_of);

class CornersClean : public testing::TestWithParam<Program> {};

TEST_P(CornersClean, ProgramsAreNotReported) {
  expect_no_report(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Litmus, CornersClean, testing::ValuesIn(clean_corners), name_of);

}  // namespace
}  // namespace tessera::arrays
