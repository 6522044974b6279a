// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/robust_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {
namespace {

// Any of the node's locks serves the tests.
RobustLock& lock_of(const NodeMemory& memory, std::size_t at = 0) {
  return memory.header().stripes[at].lock;
}

TEST(RobustLock, ExcludesThreads) {
  const auto memory = rig_memory(4);
  RobustLock& lock = lock_of(*memory);
  constexpr int rounds = 20'000;
  std::int64_t count = 0;
  std::vector<std::thread> threads;
  for (int local_rank = 0; local_rank < 4; ++local_rank) {
    threads.emplace_back([&, local_rank] {
      const auto node = rig_node(memory, local_rank, true);
      for (int i = 0; i < rounds; ++i) {
        const RobustGuard guard(lock, node->lock_context());
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 4 * rounds);
}

TEST(RobustLock, ExcludesProcesses) {
  const auto memory = rig_memory(3);
  auto* const count =
      reinterpret_cast<std::int64_t*>(memory->base() + memory->header().arena_offset);
  constexpr int rounds = 20'000;
  const auto work = [&](int local_rank) {
    const auto node = rig_node(memory, local_rank, false);
    for (int i = 0; i < rounds; ++i) {
      const RobustGuard guard(lock_of(*memory), node->lock_context());
      *count = *count + 1;
    }
  };
  ForkedRank first([&] { work(1); });
  ForkedRank second([&] { work(2); });
  work(0);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(*count, 3 * rounds);
}

TEST(RobustLock, TryLockTakesOnlyAFreeLock) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, true);
  RobustLock& lock = lock_of(*memory);
  EXPECT_TRUE(lock.try_lock(node->lock_context()));
  EXPECT_FALSE(lock.try_lock(node->lock_context()));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock(node->lock_context()));
}

TEST(RobustLock, IsTakenOverWhenItsHolderDied) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, false);
  RobustLock& lock = lock_of(*memory);
  ForkedRank holder([&] {
    const auto its_node = rig_node(memory, 1, false);
    lock.lock(its_node->lock_context());
    pause();
  });
  ASSERT_TRUE(eventually([&] {
    if (lock.try_lock(node->lock_context())) {
      lock.unlock();
      return false;
    }
    return true;
  }));
  std::atomic<bool> taken{false};
  std::thread waiter([&] {
    EXPECT_EQ(lock.lock(node->lock_context()), RobustLock::Acquired::from_dead_owner);
    taken = true;
    lock.unlock();
  });
  // The waiter never gets the lock while the holder is alive, even after a long time.
  std::this_thread::sleep_for(20 * rig_liveness_interval);
  EXPECT_FALSE(taken);
  holder.end();
  waiter.join();
  EXPECT_TRUE(taken);
  EXPECT_EQ(lock.lock(node->lock_context()), RobustLock::Acquired::normally);
  lock.unlock();
}

TEST(RobustLock, NotifiesOnlyTheNextHolderThatItsHolderDied) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, false);
  RobustLock& lock = lock_of(*memory);
  ForkedRank holder([&] {
    const auto its_node = rig_node(memory, 1, false);
    lock.lock(its_node->lock_context());
  });
  EXPECT_EQ(holder.wait(), 0);
  std::atomic<int> notified{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] {
      const RobustGuard guard(lock, node->lock_context());
      notified += guard.recovered() ? 1 : 0;
    });
  }
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
  EXPECT_EQ(notified, 1);
}

// A rank that left the job may still hold locks while it frees memory.
TEST(RobustLock, IsNotTakenFromARankThatLeftAndStillRuns) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, true);
  const auto other = rig_node(memory, 1, true);
  lock_of(*memory).lock(other->lock_context());
  other->leave();
  std::thread late([&] {
    std::this_thread::sleep_for(3 * rig_liveness_interval);
    lock_of(*memory).unlock();
  });
  EXPECT_EQ(lock_of(*memory).lock(node->lock_context()), RobustLock::Acquired::normally);
  late.join();
}

}  // namespace
}  // namespace tessera::rma::detail
