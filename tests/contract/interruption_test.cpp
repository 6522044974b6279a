// SPDX-License-Identifier: BSD-3-Clause
//
// Waits that their thread interrupts: in collectives, for locks, flags and notifications.
#include "rma/interruption.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ok;
using test::on_ranks;

/// Interrupts this thread's waits when they have asked a few times.
class AfterAWhile final : public Interruption {
 public:
  [[nodiscard]] int count() const noexcept { return count_; }

 private:
  bool ask() noexcept override { return ++count_ == 3; }
  int count_ = 0;
};

TEST(Interruption, IsOfItsThreadAndItsScope) {
  EXPECT_FALSE(Interruption::is_requested());
  AfterAWhile outer;
  EXPECT_FALSE(Interruption::is_requested());
  {
    const AfterAWhile inner;
    EXPECT_FALSE(Interruption::is_requested());
    EXPECT_FALSE(Interruption::is_requested());
    EXPECT_TRUE(Interruption::is_requested());
    EXPECT_TRUE(Interruption::is_requested());
    EXPECT_EQ(inner.count(), 3);
    std::thread([] { EXPECT_FALSE(Interruption::is_requested()); }).join();
  }
  EXPECT_FALSE(Interruption::is_requested());
  EXPECT_TRUE(Interruption::is_requested());
}

// The last rank comes to the barrier when the first one has left it.
TEST(Interruption, OfACollectiveBreaksTheTeamForAllMembers) {
  if (test::rank_count() == 1) {
    GTEST_SKIP() << "a rank alone never waits";
  }
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    const WorldRank last{job.size() - 1};
    const std::string text = "rank 0 was interrupted in a collective";
    Team team = job.world().split(0, job.rank().value).value();
    if (job.rank().value == 0) {
      const AfterAWhile interruption;
      const Status status = team.barrier();
      EXPECT_TRUE(fails(status, Code::closed, {text}));
      EXPECT_EQ(status.rank(), WorldRank{0});
      EXPECT_TRUE(ok(notify(job, last)));
    } else if (job.rank() == last) {
      ASSERT_TRUE(ok(wait_for_notifications(job, WorldRank{0}, 1)));
    }
    // Another node may have received all that it needs; then the next call reports it.
    const Status barrier = team.barrier();
    EXPECT_TRUE((barrier.ok() && !job.shares_node(WorldRank{0})) ||
                fails(barrier, Code::closed, {text}));
    EXPECT_TRUE(fails(team.allreduce(1, Reduction::sum), Code::closed, {text}));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Interruption, OfAWaitForALockLeavesItToTheOthers) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), 1).value();
    const TeamRank self = job.world().rank();
    const bool has_network_locks = test::network_name() == "mpi";
    std::atomic<bool> is_next{false};
    ASSERT_TRUE(ok(locks.lock(self, 0)));
    std::thread waiter([&] {
      const AfterAWhile interruption;
      const Status status = locks.lock(self, 0);
      if (has_network_locks) {
        EXPECT_TRUE(status.ok()) << "locks of a network are not interrupted";
        EXPECT_TRUE(ok(locks.unlock(self, 0)));
      } else {
        EXPECT_TRUE(fails(status, Code::timed_out, {"the wait for lock 0 of rank", "interrupted"}));
      }
      is_next = true;
    });
    if (!has_network_locks) {
      EXPECT_TRUE(test::eventually([&] { return is_next.load(); }));
    }
    EXPECT_TRUE(ok(locks.unlock(self, 0)));
    waiter.join();
    EXPECT_TRUE(ok(locks.lock(self, 0)));
    EXPECT_TRUE(ok(locks.unlock(self, 0)));
    EXPECT_TRUE(ok(locks.free()));
  });
}

TEST(Interruption, OfAWaitForAFlagOrANotificationLosesNone) {
  // A new job, since notifications count from the start of the job.
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    auto region = Region::allocate(job.world(), 8).value();
    const WorldRank next{(job.rank().value + 1) % job.size()};
    const WorldRank before{(job.rank().value + job.size() - 1) % job.size()};
    const RemoteAddress own = region.at(job.world().rank(), 4);
    {
      const AfterAWhile interruption;
      EXPECT_TRUE(fails(wait_for_flag(job, own, 7, before), Code::timed_out,
                        {"the wait for rank", "was interrupted: the flag is not 7"}));
    }
    {
      const AfterAWhile interruption;
      EXPECT_TRUE(fails(wait_for_notifications(job, before, 1), Code::timed_out,
                        {"was interrupted: it sent 0 of 1 notifications"}));
    }
    ASSERT_TRUE(ok(job.barrier()));
    ASSERT_TRUE(ok(raise_flag(job, region.at(TeamRank{next.value}, 4), 7)));
    ASSERT_TRUE(ok(notify(job, next)));
    EXPECT_TRUE(ok(wait_for_flag(job, own, 7, before)));
    EXPECT_EQ(wait_for_notifications(job, before, 1).value(), 1U);
    EXPECT_TRUE(ok(region.free()));
  });
}

}  // namespace
}  // namespace tessera::rma
