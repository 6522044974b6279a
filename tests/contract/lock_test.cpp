// SPDX-License-Identifier: BSD-3-Clause
//
// LockSet: exclusion, fairness, independence of locks, several threads per rank, and misuse.
#include "rma/lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ok;
using test::on_ranks;

// Increments a plain counter, without any atomic operation, under a lock.
void raise_under(Job& job, LockSet& locks, TeamRank owner, std::int64_t index,
                 RemoteAddress counter) {
  ASSERT_TRUE(ok(locks.lock(owner, index)));
  const auto value = get_value<std::int64_t>(job, counter);
  ASSERT_TRUE(ok(value));
  ASSERT_TRUE(ok(put_value(job, counter, *value + 1)));
  ASSERT_TRUE(ok(job.fence(counter.rank)));
  ASSERT_TRUE(ok(locks.unlock(owner, index)));
}

TEST(LockSet, LetsOneRankInAtATime) {
  on_ranks([](Job& job) {
    constexpr std::int64_t each = 150;
    Region region = Region::allocate(job.world(), 64).value();
    LockSet locks = LockSet::create(job.world(), 1).value();
    const TeamRank owner{job.size() - 1};
    for (std::int64_t i = 0; i < each; ++i) {
      raise_under(job, locks, owner, 0, region.at(TeamRank{0}, 8));
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{0}, 8)).value(), each * job.size());
    EXPECT_TRUE(ok(locks.free()));
  });
}

TEST(LockSet, LetsOneThreadInAtATime) {
  on_ranks([](Job& job) {
    constexpr std::int64_t each = 60;
    constexpr int threads_a_rank = 3;
    Region region = Region::allocate(job.world(), 64).value();
    LockSet locks = LockSet::create(job.world(), 1).value();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < threads_a_rank; ++thread) {
      threads.emplace_back([&] {
        for (std::int64_t i = 0; i < each; ++i) {
          raise_under(job, locks, TeamRank{0}, 0, region.at(TeamRank{0}, 8));
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{0}, 8)).value(),
              each * threads_a_rank * job.size());
  });
}

// One attempt: rank 0 holds the lock while the other ranks request it, one after each `pause`.
// Returns whether they got it in that order. On a busy machine, a rank whose request came too late
// cannot be distinguished from an unfair lock.
bool served_in_order(Job& job, LockSet& locks, Region& region, int attempt,
                     std::chrono::milliseconds pause) {
  const RemoteAddress counter = region.at(TeamRank{0}, 8 * static_cast<std::uint64_t>(attempt));
  if (job.rank().value == 0) {
    require(locks.lock(TeamRank{0}, 0));
  }
  require(job.barrier());
  std::int64_t served = 0;
  if (job.rank().value == 0) {
    std::this_thread::sleep_for(pause * (job.size() + 1));
    require(locks.unlock(TeamRank{0}, 0));
    // A rank that unlocks and locks again gets the lock after the ranks that already wait.
    require(locks.lock(TeamRank{0}, 0));
    served = fetch_add<std::int64_t>(job, counter, 1).value();
    require(locks.unlock(TeamRank{0}, 0));
  } else {
    std::this_thread::sleep_for(pause * job.rank().value);
    require(locks.lock(TeamRank{0}, 0));
    served = fetch_add<std::int64_t>(job, counter, 1).value();
    require(locks.unlock(TeamRank{0}, 0));
  }
  const std::int64_t expected = (job.rank().value + job.size() - 1) % job.size();
  const std::int32_t in_order =
      job.world().allreduce(std::int32_t{served == expected}, Reduction::min).value();
  return in_order == 1;
}

// Longer pauses after a failed attempt give a busy machine time to start each request. On four
// ranks, an unfair lock serves in order in one attempt of 24.
TEST(LockSet, ServesWaitersInTheOrderInWhichTheyCame) {
  on_ranks([](Job& job) {
    constexpr int attempts = 10;
    constexpr int needed = 3;
    constexpr std::chrono::milliseconds longest_pause{400};
    Region region = Region::allocate(job.world(), 8 * attempts).value();
    LockSet locks = LockSet::create(job.world(), 1).value();
    std::chrono::milliseconds pause{25};
    int fair = 0;
    for (int attempt = 0; attempt < attempts && fair < needed; ++attempt) {
      if (served_in_order(job, locks, region, attempt, pause)) {
        ++fair;
      } else {
        pause = std::min(2 * pause, longest_pause);
      }
    }
    EXPECT_EQ(fair, needed) << "of " << attempts << " attempts were served in order";
  });
}

TEST(LockSet, HasLocksThatAreIndependent) {
  on_ranks([](Job& job) {
    // Each rank has a different number of locks, its rank plus two. Rank r takes lock r of every
    // owner that has one.
    LockSet locks = LockSet::create(job.world(), job.rank().value + 2).value();
    for (std::int32_t owner = 0; owner < job.size(); ++owner) {
      ASSERT_EQ(locks.count(TeamRank{owner}), owner + 2);
      if (job.rank().value < owner + 2) {
        ASSERT_TRUE(ok(locks.lock(TeamRank{owner}, job.rank().value)));
      }
    }
    // All ranks hold all of their locks now; if two locks were the same, one rank would not reach
    // this line.
    ASSERT_TRUE(ok(job.barrier()));
    for (std::int32_t owner = job.size() - 1; owner >= 0; --owner) {
      if (job.rank().value < owner + 2) {
        EXPECT_TRUE(ok(locks.unlock(TeamRank{owner}, job.rank().value)));
      }
    }
  });
}

TEST(LockSet, MayHaveManyLocks) {
  on_ranks([](Job& job) {
    constexpr std::int64_t many = 3000;
    LockSet locks = LockSet::create(job.world(), job.rank().value % 2 == 0 ? many : 0).value();
    if (job.rank().value == 0) {
      for (std::int64_t i = 0; i < many; ++i) {
        ASSERT_TRUE(ok(locks.lock(TeamRank{0}, i)));
      }
      for (std::int64_t i = 0; i < many; ++i) {
        ASSERT_TRUE(ok(locks.unlock(TeamRank{0}, (i * 7 + 3) % many)));
      }
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(LockSet, BelongsToATeam) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    Team odd = job.world().split(job.rank().value % 2, -job.rank().value).value();
    LockSet locks = LockSet::create(odd, 2).value();
    const RemoteAddress counter = region.at(TeamRank{job.rank().value % 2});
    for (int i = 0; i < 50; ++i) {
      raise_under(job, locks, TeamRank{odd.size() - 1}, 1, counter);
    }
    ASSERT_TRUE(ok(odd.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, counter).value(), 50 * odd.size());
  });
}

TEST(LockSet, ReportsWhatIsWrong) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), 3).value();
    const TeamRank beyond{job.size()};
    EXPECT_TRUE(fails(locks.lock(beyond, 0), Code::out_of_range, {"the team has"}));
    EXPECT_TRUE(fails(locks.lock(TeamRank{-1}, 0), Code::out_of_range));
    EXPECT_TRUE(fails(locks.lock(TeamRank{0}, 3), Code::out_of_range,
                      {"there is no lock 3 at rank 0, which has 3 locks"}));
    EXPECT_TRUE(fails(locks.lock(TeamRank{0}, -1), Code::out_of_range));
    EXPECT_TRUE(
        fails(locks.unlock(job.world().rank(), 0), Code::invalid_argument, {"does not hold"}));
    ASSERT_TRUE(ok(job.barrier()));
    if (job.rank().value == 0) {
      ASSERT_TRUE(ok(locks.lock(TeamRank{0}, 1)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    if (job.rank().value != 0) {
      EXPECT_TRUE(fails(locks.unlock(TeamRank{0}, 1), Code::invalid_argument, {"does not hold"}));
    }
    ASSERT_TRUE(ok(job.barrier()));
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 1)));
    }
    EXPECT_TRUE(ok(locks.free()));
    EXPECT_TRUE(ok(locks.free()));
    EXPECT_TRUE(fails(locks.lock(TeamRank{0}, 0), Code::closed));
  });
}

TEST(LockSet, IsNotMadeOnAnyRankIfOneArgumentIsInvalid) {
  on_ranks([](Job& job) {
    const std::int64_t count = job.rank().value == job.size() - 1 ? -5 : 1;
    EXPECT_TRUE(fails(LockSet::create(job.world(), count), Code::invalid_argument,
                      {"on rank " + std::to_string(job.size() - 1), "-5 locks cannot be made"}));
    EXPECT_TRUE(ok(LockSet::create(job.world(), 0)));
  });
}

TEST(LockSet, IsReleasedInAnotherThreadThanItWasTaken) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), 1).value();
    const TeamRank self = job.world().rank();
    ASSERT_TRUE(ok(locks.lock(self, 0)));
    std::thread([&] { EXPECT_TRUE(ok(locks.unlock(self, 0))); }).join();
    ASSERT_TRUE(ok(locks.lock(self, 0)));
    EXPECT_TRUE(ok(locks.unlock(self, 0)));
  });
}

TEST(LockSet, IsTriedWithoutWaiting) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), 2).value();
    const TeamRank owner{job.size() - 1};
    const bool is_first = job.rank().value == 0;
    if (is_first) {
      const auto taken = locks.try_lock(owner, 1);
      ASSERT_TRUE(ok(taken));
      EXPECT_TRUE(*taken);
    }
    ASSERT_TRUE(ok(job.barrier()));
    const auto again = locks.try_lock(owner, 1);
    ASSERT_TRUE(ok(again));
    EXPECT_FALSE(*again) << "rank 0 holds the lock";
    ASSERT_TRUE(ok(job.barrier()));
    if (is_first) {
      ASSERT_TRUE(ok(locks.unlock(owner, 1)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    if (job.rank().value == job.size() - 1) {
      // The unlock from another node may still be under way, as it can arrive after the messages of
      // the barrier.
      EXPECT_TRUE(test::eventually([&] { return *locks.try_lock(owner, 1); }));
      EXPECT_TRUE(ok(locks.unlock(owner, 1)));
    }
    EXPECT_TRUE(fails(locks.try_lock(owner, 2), Code::out_of_range, {"no lock 2"}));
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_TRUE(ok(locks.free()));
    EXPECT_TRUE(fails(locks.try_lock(owner, 0), Code::closed, {"the locks were freed"}));
  });
}

TEST(LockSet, LetsOneRankInAtATimeWhenItIsTried) {
  on_ranks([](Job& job) {
    constexpr std::int64_t each = 40;
    Region region = Region::allocate(job.world(), 64).value();
    LockSet locks = LockSet::create(job.world(), 1).value();
    for (std::int64_t i = 0; i < each; ++i) {
      auto taken = locks.try_lock(TeamRank{0}, 0);
      while (taken.ok() && !*taken) {
        std::this_thread::yield();
        taken = locks.try_lock(TeamRank{0}, 0);
      }
      ASSERT_TRUE(ok(taken));
      const auto value = get_value<std::int64_t>(job, region.at(TeamRank{0}, 8));
      ASSERT_TRUE(ok(value));
      ASSERT_TRUE(ok(put_value(job, region.at(TeamRank{0}, 8), *value + 1)));
      ASSERT_TRUE(ok(job.fence(WorldRank{0})));
      ASSERT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{0}, 8)).value(), each * job.size());
    EXPECT_TRUE(ok(locks.free()));
  });
}

}  // namespace
}  // namespace tessera::rma
