// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/queue_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {
namespace {

using Outcome = QueueLock::Outcome;

// A queue lock at the start of the arena, and a counter a megabyte behind it.
class QueueLockTest : public testing::Test {
 protected:
  static constexpr std::uint32_t capacity = 8;

  void make(int ranks, bool one_process) {
    memory_ = rig_memory(ranks);
    one_process_ = one_process;
    node_ = rig_node(memory_, 0, one_process);
    lock_ = new (memory_->base() + memory_->header().arena_offset) QueueLock(capacity);
    count_ = new (memory_->base() + memory_->header().arena_offset + (1U << 20))
        std::atomic<std::int64_t>(0);
  }
  [[nodiscard]] std::unique_ptr<Node> other(int place) const {
    return rig_node(memory_, place, one_process_);
  }
  // Takes the lock as whoever it is given to, and gives it back.
  void take_and_release(Node& node) {
    int dead = -1;
    while (lock_->lock(node, dead) == Outcome::holder_died) {
    }
    EXPECT_TRUE(lock_->unlock(node));
  }
  // True when the lock can still be taken, by a thread of its own so that a lost lock fails the
  // test and does not hang it. The thread of a failed test is left behind.
  bool is_usable() {
    struct Shared {
      std::atomic<bool> done{false};
    };
    auto shared = std::make_shared<Shared>();
    std::thread([this, shared, memory = memory_] {
      take_and_release(*node_);
      shared->done = true;
    }).detach();
    return eventually([&] { return shared->done.load(); });
  }

  std::shared_ptr<NodeMemory> memory_;
  std::unique_ptr<Node> node_;
  QueueLock* lock_ = nullptr;
  std::atomic<std::int64_t>* count_ = nullptr;
  bool one_process_ = true;
};

TEST_F(QueueLockTest, ExcludesThreadsMoreThanItsRingHolds) {
  make(4, true);
  constexpr int threads_a_rank = 6;  // 24 threads, 8 entries
  constexpr int turns = 300;
  std::int64_t plain = 0;
  std::vector<std::unique_ptr<Node>> nodes;
  for (int place = 0; place < 4; ++place) {
    nodes.push_back(other(place));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4 * threads_a_rank; ++i) {
    threads.emplace_back([&, i] {
      Node& node = *nodes[static_cast<std::size_t>(i % 4)];
      for (int turn = 0; turn < turns; ++turn) {
        int dead = -1;
        ASSERT_EQ(lock_->lock(node, dead), Outcome::acquired);
        ++plain;
        ASSERT_TRUE(lock_->unlock(node));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(plain, 4 * threads_a_rank * turns);
}

TEST_F(QueueLockTest, ServesWaitersInTheOrderInWhichTheyCame) {
  make(1, true);
  int dead = -1;
  ASSERT_EQ(lock_->lock(*node_, dead), Outcome::acquired);
  std::vector<int> order;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 6; ++i) {
    waiters.emplace_back([&, i] {
      int none = -1;
      lock_->lock(*node_, none);
      order.push_back(i);
      lock_->unlock(*node_);
    });
    // Long enough to be in the queue before the next one comes.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  ASSERT_TRUE(lock_->unlock(*node_));
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST_F(QueueLockTest, UnlockByARankThatDoesNotHoldItIsRefused) {
  make(2, true);
  const auto second = other(1);
  EXPECT_FALSE(lock_->unlock(*node_));
  int dead = -1;
  ASSERT_EQ(lock_->lock(*node_, dead), Outcome::acquired);
  EXPECT_FALSE(lock_->unlock(*second));
  EXPECT_TRUE(lock_->unlock(*node_));
}

TEST_F(QueueLockTest, OneWaiterIsToldThatTheHolderDiedAndTheRestGetTheLock) {
  make(2, false);
  ForkedRank holder([&] {
    const auto node = other(1);
    int none = -1;
    lock_->lock(*node, none);
  });
  ASSERT_EQ(holder.wait(), 0);
  std::atomic<int> told{0};
  std::atomic<int> acquired{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 5; ++i) {
    waiters.emplace_back([&] {
      int dead = -1;
      if (lock_->lock(*node_, dead) == Outcome::holder_died) {
        EXPECT_EQ(dead, 1);
        ++told;
        return;
      }
      ++acquired;
      EXPECT_TRUE(lock_->unlock(*node_));
    });
  }
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(acquired, 4);
}

TEST_F(QueueLockTest, ADeadWaiterIsPassedOver) {
  make(2, false);
  int dead = -1;
  ASSERT_EQ(lock_->lock(*node_, dead), Outcome::acquired);
  ForkedRank waiter([&] {
    const auto node = other(1);
    count_->store(1);
    int none = -1;
    lock_->lock(*node, none);
  });
  ASSERT_TRUE(eventually([&] { return count_->load() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  waiter.end();
  ASSERT_TRUE(lock_->unlock(*node_));
  EXPECT_TRUE(is_usable());
}

// A rank dies with the lock, and with more waiters of its own than the ring has room for.
TEST_F(QueueLockTest, ARingFullOfDeadWaitersBlocksNobody) {
  make(2, false);
  ForkedRank crowd([&] {
    const auto node = other(1);
    int none = -1;
    lock_->lock(*node, none);
    std::vector<std::thread> waiters;
    for (std::uint32_t i = 0; i < capacity + 2; ++i) {
      waiters.emplace_back([&] {
        int still_none = -1;
        count_->fetch_add(1);
        lock_->lock(*node, still_none);
      });
    }
    pause();
  });
  ASSERT_TRUE(eventually([&] { return count_->load() == capacity + 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  crowd.end();
  std::atomic<bool> told{false};
  std::thread([this, &told] {
    int dead = -1;
    EXPECT_EQ(lock_->lock(*node_, dead), Outcome::holder_died);
    EXPECT_EQ(dead, 1);
    told = true;
  }).detach();
  ASSERT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_TRUE(is_usable());
}

// ---- Death after every single instruction ------------------------------------------------------

// Ends a rank after 0, 1, 2, … instructions of `body` while two threads of this rank wait for the
// lock, and asks each time whether they were served.
class QueueLockSteps : public QueueLockTest {
 protected:
  // `before`: what the rank did to the lock before. Returns how many steps `body` has.
  int survive_every_step(const std::function<void(Node&)>& before,
                         const std::function<void(Node&)>& body, int most_steps) {
    int steps = 0;
    for (bool more = true; more && steps < most_steps; ++steps) {
      make(2, false);
      std::unique_ptr<Node> its_node;
      SteppedRank rank(
          [&] {
            its_node = other(1);
            before(*its_node);
          },
          [&] { body(*its_node); });
      if (!rank.is_possible()) {
        return -1;
      }
      std::atomic<int> served{0};
      const auto wait = [this, &served] {
        take_and_release(*node_);
        ++served;
      };
      std::thread first(wait);
      std::thread second(wait);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      more = rank.step(steps);
      rank.end();
      if (!eventually([&] { return served == 2; }) || !is_usable()) {
        ADD_FAILURE() << "nobody gets the lock after a death at instruction " << steps;
        std::_Exit(1);  // The waiters cannot be ended otherwise.
      }
      first.join();
      second.join();
    }
    return steps;
  }
};

TEST_F(QueueLockSteps, SurvivesADeathAtAnyInstructionOfUnlock) {
  const int steps = survive_every_step(
      [this](Node& node) {
        int none = -1;
        lock_->lock(node, none);
      },
      [this](Node& node) { lock_->unlock(node); }, 5000);
  if (steps < 0) {
    GTEST_SKIP() << SteppedRank::impossible;
  }
  EXPECT_GT(steps, 20);
  EXPECT_LT(steps, 5000);
}

TEST_F(QueueLockSteps, SurvivesADeathAtAnyInstructionOfLock) {
  const int steps = survive_every_step([](Node&) {},
                                       [this](Node& node) {
                                         int none = -1;
                                         lock_->lock(node, none);
                                       },
                                       400);
  if (steps < 0) {
    GTEST_SKIP() << SteppedRank::impossible;
  }
}

}  // namespace
}  // namespace tessera::rma::detail
