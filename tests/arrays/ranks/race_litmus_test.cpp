// SPDX-License-Identifier: BSD-3-Clause
//
// The litmus set of TESSERA_CHECK=races: small programs that have a race in each run, whatever the
// order in which the ranks reach their calls, and small programs that have none in any run. Each
// race must be reported, with the two kinds of access, and nothing else. Ranks 0 and 1 make the
// calls; others help where a program says so.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/counter.hpp"
#include "arrays/flags.hpp"
#include "arrays/gather.hpp"
#include "arrays/halo.hpp"
#include "rma/lock.hpp"
#include "tests/arrays/ranks/race_litmus.hpp"
#include "tests/support/checks.hpp"

namespace tessera::arrays {
namespace {

using rma::Job;
using rma::LockSet;
using rma::Team;
using rma::TeamRank;
using rma::test::ok;

/// A lock, a call, the unlock.
void within_lock(LockSet& locks, std::int64_t index, const std::function<void()>& act) {
  EXPECT_TRUE(ok(locks.lock(TeamRank{0}, index)));
  act();
  EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, index)));
}

struct Cell {
  double density;
  double energy;
};

// Both ranks put to one field of the same elements, or to different ones.
void put_fields(Play& play, double Cell::*first, double Cell::*second) {
  auto cells = Array<Cell>::create(play.job, {8}, {.name = "A"}).value();
  const std::vector<double> numbers(8, 2.0);
  if (play.rank() < 2) {
    EXPECT_TRUE(ok(cells.put(field(cells.box(), play.is(0) ? first : second),
                             std::span<const double>(numbers))));
  }
  EXPECT_TRUE(ok(cells.sync()));
}

// Jacobi on the rows of a square, with ghost cells. Each rank changes its rows locally. Calls
// `before_update` in each step.
void relax(Play& play, const std::function<void(Array<double>&, int)>& before_update) {
  constexpr std::int64_t columns = 6;
  auto u =
      Array<double>::create(play.job, {4 * play.job.size(), columns},
                            {.name = "A", .process_grid = {play.job.size(), 1}, .ghosts = {1, 0}})
          .value();
  auto halo = Halo::create(u).value();
  auto access = u.local().value();
  EXPECT_TRUE(ok(u.sync()));  // an access that lasts longer does not count as a read of all
  for (int step = 0; step < 3; ++step) {
    before_update(u, step);
    EXPECT_TRUE(ok(halo.update()));
    auto view = access.view();
    const Box own = access.own();
    for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const double above = i > 0 ? view(i - 1, j) : 1.0;
        const double below = i + 1 < u.extents()[0] ? view(i + 1, j) : 1.0;
        view(i, j) = 0.5 * (above + below) + step;
      }
    }
  }
  EXPECT_TRUE(ok(access.end()));
  EXPECT_TRUE(ok(u.sync()));
  EXPECT_TRUE(ok(halo.free()));
}

const std::vector<Program> racy{
    {"PutsWithoutASync", "put put",
     [](Play& play) { play.ranks([&] { play.put(0, 10); }, [&] { play.put(8, 20); }); }},
    {"GetOfWhatIsPut", "put get",
     [](Play& play) { play.ranks([&] { play.put(0, 10); }, [&] { play.get(9, 12); }); }},
    {"AccumulateAndPut", "accumulate put",
     [](Play& play) { play.ranks([&] { play.accumulate(0, 4); }, [&] { play.put(3, 5); }); }},
    {"AccumulateAndGet", "accumulate get",
     [](Play& play) { play.ranks([&] { play.accumulate(2, 9); }, [&] { play.get(0, 3); }); }},
    {"GetOfWhatTheOwnerChanges", "local write get",
     [](Play& play) {
       play.ranks(
           [&] {
             auto access = play.a.local().value();
             access.view()(3) = 7.0;
           },
           [&] { play.get(0, 8); });
     }},
    {"PutWhereTheOwnerReads", "local access put",
     [](Play& play) {
       const Array<double>& reading = play.a;
       play.ranks([&] { EXPECT_TRUE(ok(reading.local())); }, [&] { play.put(4, 5); });
     }},
    {"AsynchronousPutThatIsOnlyWaitedFor", "put get",
     [](Play& play) {
       play.ranks(
           [&] {
             EXPECT_TRUE(ok(
                 play.a.put_async(Box({20}, {24}), std::span<const double>(play.room(4))).wait()));
           },
           [&] { play.get(20, 24); });
     }},
    {"FenceInPlaceOfASync", "put get",
     [](Play& play) {
       play.ranks(
           [&] {
             play.put(0, 4);
             EXPECT_TRUE(ok(play.a.fence()));
           },
           [&] {
             EXPECT_TRUE(ok(play.a.fence()));
             play.get(0, 4);
           });
     }},
    {"SectionsThatMeet", "put put",
     [](Play& play) {
       const Section mine(Box({0}, {32}), {play.is(0) ? 2 : 3});
       if (play.rank() < 2) {
         EXPECT_TRUE(ok(play.a.put(mine, std::span<const double>(play.values))));
       }
     }},
    {"ListsWithACommonElement", "put get",
     [](Play& play) {
       const std::vector<Index> mine =
           play.is(0) ? std::vector<Index>{{1}, {17}, {5}} : std::vector<Index>{{2}, {17}};
       play.ranks(
           [&] { EXPECT_TRUE(ok(scatter(play.a, mine, std::span<const double>(play.room(3))))); },
           [&] { EXPECT_TRUE(ok(gather(play.a, mine, play.room(2)))); });
     }},
    {"OneFieldOfTheSameElements", "put put",
     [](Play& play) { put_fields(play, &Cell::energy, &Cell::energy); }},
    {"PeriodicBoxesThatMeet", "put get",
     [](Play& play) {
       const std::int64_t end = play.a.extents()[0];
       play.ranks(
           [&] {
             EXPECT_TRUE(
                 ok(play.a.put(periodic(Box({-2}, {2})), std::span<const double>(play.room(4)))));
           },
           [&] { play.get(end - 1, end); });
     }},
    {"TwoDifferentLocks", "put put",
     [](Play& play) {
       auto locks = LockSet::create(play.job.world(), play.is(0) ? 2 : 0).value();
       if (play.rank() < 2) {
         within_lock(locks, play.rank(), [&] { play.put(0, 4); });
       }
       play.sync();
       EXPECT_TRUE(ok(locks.free()));
     }},
    {"OneRankWithoutTheLock", "put accumulate",
     [](Play& play) {
       auto locks = LockSet::create(play.job.world(), play.is(0) ? 1 : 0).value();
       play.ranks([&] { within_lock(locks, 0, [&] { play.put(0, 4); }); },
                  [&] { play.accumulate(0, 4); });
       play.sync();
       EXPECT_TRUE(ok(locks.free()));
     }},
    {"TwoDifferentCounters", "put put",
     [](Play& play) {
       auto words = play.words();
       if (play.rank() < 2) {
         EXPECT_TRUE(ok(words.fetch_add({play.rank()}, 1)));
         play.put(0, 4);
         EXPECT_TRUE(ok(words.fetch_add({play.rank()}, 1)));
       }
       play.sync();
     }},
    {"TasksThatOverlap", "put put",
     [](Play& play) {
       auto counter = Counter::create(play.job, play.job.world()).value();
       if (play.rank() < 2) {
         EXPECT_TRUE(ok(counter.next()));
         play.put(play.rank() * 4, play.rank() * 4 + 5);  // one too many
       }
       play.sync();
       EXPECT_TRUE(ok(counter.free()));
     }},
    {"NotificationTheWrongWay", "put get",
     [](Play& play) {
       play.ranks(
           [&] {
             play.put(0, 4);
             play.wait_for(1);
           },
           [&] {
             play.get(0, 4);
             play.notify(0);
           });
     }},
    {"NotificationOfAnotherRank", "put get",
     [](Play& play) {
       play.ranks(
           [&] {
             play.put(0, 4);
             play.notify(2);
           },
           [&] {
             play.wait_for(2);
             play.get(0, 4);
           });
       if (play.is(2)) {
         play.notify(1);  // without waiting for rank 0
         play.wait_for(0);
       }
     },
     3},
    {"FlagBeforeTheData", "put get",
     [](Play& play) {
       auto flags = Array<std::int32_t>::create(play.job, {play.job.size()}, {.name = "F"}).value();
       play.ranks(
           [&] {
             EXPECT_TRUE(ok(raise_flag({flags, {1}}, 1)));
             play.put(20, 24);
           },
           [&] {
             EXPECT_TRUE(ok(wait_for_flag({flags, {1}}, 1, TeamRank{0})));
             play.get(20, 24);
           });
       play.sync();
     }},
    {"OneBufferInPlaceOfTwo", "put get",
     [](Play& play) {
       for (std::int64_t step = 0; step < 2; ++step) {
         play.ranks([&] { play.put(16, 20); }, [&] { play.get(16, 20); });
         play.sync();
       }
     }},
    {"BarrierOfOtherRanks", "put get",
     [](Play& play) {
       Team alone = play.job.world().split(play.is(1) ? 1 : 0, 0).value();
       if (play.is(0)) {
         play.put(0, 4);
       }
       EXPECT_TRUE(ok(alone.barrier()));
       if (play.is(1)) {
         play.get(0, 4);
       }
     }},
    {"PutDuringAnUpdateOfGhostCells", "ghost cell update put",
     [](Play& play) {
       relax(play, [&](Array<double>& u, int step) {
         if (play.is(1) && step == 0) {  // to the last row of rank 0, which the update sends
           EXPECT_TRUE(ok(u.put(Box({3, 2}, {4, 3}), std::span<const double>(play.room(1)))));
         }
       });
     }},
    {"AccumulateAndFetchAdd", "accumulate atomic operation",
     [](Play& play) {
       auto words = play.words("A");
       const std::int64_t one = 1;
       play.ranks([&] { EXPECT_TRUE(ok(words.accumulate(Box({2}, {3}), std::span(&one, 1)))); },
                  [&] { EXPECT_TRUE(ok(words.fetch_add({2}, 1))); });
       EXPECT_TRUE(ok(words.sync()));
     }},
};

const std::vector<Program> clean{
    {"SyncBetweenPutAndGet", "",
     [](Play& play) {
       play.ranks([&] { play.put(0, 20); }, [] {});
       play.sync();
       play.ranks([] {}, [&] { play.get(0, 20); });
     }},
    {"BoxesThatTouch", "",
     [](Play& play) { play.ranks([&] { play.put(0, 10); }, [&] { play.put(10, 20); }); }},
    {"AllAccumulate", "", [](Play& play) { play.accumulate(0, 20); }},
    {"AllRead", "",
     [](Play& play) {
       const Array<double>& reading = play.a;
       play.get(0, 20);
       EXPECT_TRUE(ok(reading.local()));
       EXPECT_TRUE(ok(gather(play.a, std::vector<Index>{{3}, {18}}, play.room(2))));
     }},
    {"OneLock", "",
     [](Play& play) {
       auto locks = LockSet::create(play.job.world(), play.is(0) ? 2 : 0).value();
       for (int round = 0; round < 3; ++round) {
         within_lock(locks, 1, [&] {
           play.get(0, 8);
           play.put(0, 8);
           EXPECT_TRUE(ok(play.a.fence()));
         });
       }
       play.sync();
       EXPECT_TRUE(ok(locks.free()));
     }},
    {"LockMadeOfCompareAndSwap", "",
     [](Play& play) {
       auto words = play.words();
       if (play.rank() < 2) {
         while (words.compare_swap({1}, 0, 1).value() != 0) {
         }
         play.get(0, 4);
         play.put(0, 4);
         EXPECT_TRUE(ok(play.a.fence()));
         EXPECT_TRUE(ok(words.swap({1}, 0)));
       }
       play.sync();
     }},
    {"FlagAfterTheData", "",
     [](Play& play) {
       auto flags = Array<std::int32_t>::create(play.job, {play.job.size()}, {.name = "F"}).value();
       play.ranks(
           [&] {
             EXPECT_TRUE(ok(put_with_flag(play.a, Box({20}, {24}),
                                          std::span<const double>(play.room(4)), {flags, {1}}, 1)));
           },
           [&] {
             EXPECT_TRUE(ok(wait_for_flag({flags, {1}}, 1, TeamRank{0})));
             play.get(20, 24);
           });
       play.sync();
     }},
    {"FlagInAnElementOfAnArray", "",
     [](Play& play) {
       auto words = play.words();
       play.ranks(
           [&] {
             play.put(0, 4);
             EXPECT_TRUE(ok(play.a.fence()));
             EXPECT_TRUE(ok(words.put_element({3}, 7)));
           },
           [&] {
             while (words.get_element({3}).value() != 7) {
             }
             play.get(0, 4);
           });
       play.sync();
     }},
    {"NotificationAfterThePut", "",
     [](Play& play) {
       play.ranks(
           [&] {
             play.put(16, 20);
             play.notify(1);
           },
           [&] {
             play.wait_for(0);
             play.get(16, 20);
           });
     }},
    {"ChainOfNotifications", "",
     [](Play& play) {
       play.ranks(
           [&] {
             play.put(0, 4);
             EXPECT_TRUE(ok(play.a.fence()));
             play.notify(2);
           },
           [&] {
             play.wait_for(2);
             play.get(0, 4);
           });
       if (play.is(2)) {
         play.wait_for(0);
         play.notify(1);
       }
     },
     3},
    {"ChainOfALockAndACounter", "",
     [](Play& play) {
       auto locks = LockSet::create(play.job.world(), play.is(0) ? 1 : 0).value();
       auto words = play.words();
       const std::int32_t last = play.job.size() - 1;
       if (play.is(0)) {
         play.put(0, 4);
         EXPECT_TRUE(ok(play.a.fence()));
         within_lock(locks, 0, [] {});
         EXPECT_TRUE(ok(words.fetch_add({0}, 1)));
       }
       if (play.is(last)) {
         while (words.fetch_add({0}, 0).value() == 0) {
         }
         EXPECT_TRUE(ok(words.fetch_add({1}, 1)));
       }
       if (play.is(1)) {
         while (words.fetch_add({1}, 0).value() == 0) {
         }
         play.put(0, 4);
       }
       play.sync();
       EXPECT_TRUE(ok(locks.free()));
     }},
    {"TasksOfACounter", "",
     [](Play& play) {
       auto counter = Counter::create(play.job, play.job.world()).value();
       const std::int64_t tasks = play.a.extents()[0] / 4;
       for (std::int64_t task = counter.next().value(); task < tasks;
            task = counter.next().value()) {
         play.put(4 * task, 4 * task + 4);
         play.accumulate(4 * task, 4 * task + 2);
       }
       play.sync();
       EXPECT_TRUE(ok(counter.free()));
     }},
    {"SectionsThatInterleave", "",
     [](Play& play) {
       if (play.rank() < 2) {
         const Section mine(Box({play.rank()}, {32}), {2});
         EXPECT_TRUE(ok(play.a.put(mine, std::span<const double>(play.values))));
       }
     }},
    {"DifferentFields", "", [](Play& play) { put_fields(play, &Cell::density, &Cell::energy); }},
    {"ListsWithoutACommonElement", "",
     [](Play& play) {
       const std::vector<Index> mine =
           play.is(0) ? std::vector<Index>{{1}, {17}, {5}} : std::vector<Index>{{2}, {18}};
       play.ranks(
           [&] { EXPECT_TRUE(ok(scatter(play.a, mine, std::span<const double>(play.room(3))))); },
           [&] { EXPECT_TRUE(ok(gather(play.a, mine, play.room(2)))); });
     }},
    {"PeriodicBoxesApart", "",
     [](Play& play) {
       const std::int64_t end = play.a.extents()[0];
       play.ranks(
           [&] {
             EXPECT_TRUE(
                 ok(play.a.put(periodic(Box({-2}, {2})), std::span<const double>(play.room(4)))));
           },
           [&] { play.get(2, end - 2); });
     }},
    {"TwoBuffers", "",
     [](Play& play) {
       for (std::int64_t step = 0; step < 4; ++step) {
         const std::int64_t next = step % 2 * 16;
         play.ranks([&] { play.put(next, next + 4); }, [&] { play.get(16 - next, 20 - next); });
         play.sync();
       }
     }},
    {"BarrierOfATeamWithBoth", "",
     [](Play& play) {
       Team both = play.job.world().split(play.rank() < 2 ? 0 : 1, 0).value();
       if (play.is(0)) {
         play.put(0, 4);
         EXPECT_TRUE(ok(play.a.fence()));
       }
       EXPECT_TRUE(ok(both.barrier()));
       if (play.is(1)) {
         play.get(0, 4);
         play.put(2, 6);
       }
     }},
    {"AllreduceAfterAFence", "",
     [](Play& play) {
       play.ranks([&] { play.put(0, 20); }, [] {});
       EXPECT_TRUE(ok(play.a.fence()));
       EXPECT_TRUE(ok(play.job.world().allreduce(1, rma::Reduction::sum)));
       play.ranks([] {}, [&] { play.get(0, 20); });
     }},
    {"UpdatesOfGhostCells", "",
     [](Play& play) { relax(play, [](Array<double>& /*u*/, int /*step*/) {}); }},
    {"PutsBetweenUpdatesOfGhostCellsWithASync", "",
     [](Play& play) {
       relax(play, [&](Array<double>& u, int step) {
         EXPECT_TRUE(ok(u.sync()));
         if (play.is(1) && step == 0) {
           EXPECT_TRUE(ok(u.put(Box({3, 2}, {4, 3}), std::span<const double>(play.room(1)))));
         }
         EXPECT_TRUE(ok(u.sync()));
       });
     }},
    {"OnlyOwnElements", "",
     [](Play& play) {
       const Box own = play.a.own_box();
       play.put(own.lo(0), own.hi(0));
       play.accumulate(own.lo(0), own.hi(0));
       auto access = play.a.local().value();
       access.view()(own.lo(0)) = play.rank();
       EXPECT_TRUE(ok(access.end()));
       play.get(own.lo(0), own.hi(0));
     }},
    {"AsynchronousPutsAndASync", "",
     [](Play& play) {
       auto sent = play.a.put_async(Box({part * play.rank()}, {part * play.rank() + part}),
                                    std::span<const double>(play.room(part)));
       EXPECT_TRUE(ok(sent.wait()));
       play.sync();
       auto got = play.a.get_async(Box({0}, {part}), play.room(part));
       EXPECT_TRUE(ok(got.wait()));
     }},
    {"StrictAccumulateAndFetchAdd", "",
     [](Play& play) {
       auto words = Array<std::int64_t>::create(
                        play.job, {4}, {.name = "A", .region = {.atomics = rma::Atomics::strict}})
                        .value();
       const std::int64_t one = 1;
       play.ranks([&] { EXPECT_TRUE(ok(words.accumulate(Box({2}, {3}), std::span(&one, 1)))); },
                  [&] { EXPECT_TRUE(ok(words.fetch_add({2}, 1))); });
       EXPECT_TRUE(ok(words.sync()));
     }},
};

class Racy : public testing::TestWithParam<Program> {};

TEST_P(Racy, ProgramsAreReported) {
  expect_one_report(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Litmus, Racy, testing::ValuesIn(racy), name_of);

class Clean : public testing::TestWithParam<Program> {};

TEST_P(Clean, ProgramsAreNotReported) {
  expect_no_report(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Litmus, Clean, testing::ValuesIn(clean), name_of);

TEST(Litmus, HasTwentyProgramsOfEachKind) {
  EXPECT_GE(racy.size(), 20U);
  EXPECT_GE(clean.size(), 20U);
}

// A report names the phases in which the calls were made.
TEST(Litmus, ReportsNamePhases) {
  const Program program{"InPhases", "put get", [](Play& play) {
                          const auto step = play.job.phase("step");
                          play.ranks(
                              [&] {
                                const auto phase = play.job.phase("deposit");
                                play.put(0, 4);
                              },
                              [&] { play.get(0, 4); });
                        }};
  with_check(program, [&](Job& job) {
    for (const std::string& line : warnings_of(job, program)) {
      EXPECT_NE(line.find(" in phase 'step/deposit'; get: "), std::string::npos) << line;
      EXPECT_NE(line.find(" in phase 'step'"), std::string::npos) << line;
    }
  });
}

}  // namespace
}  // namespace tessera::arrays
