// SPDX-License-Identifier: BSD-3-Clause
//
// The fair lock of a node: its order, ranks of other nodes, and holders and waiters that die.
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

// A queue lock at the start of the arena, and a counter a megabyte after it.
class QueueLockTest : public testing::Test {
 protected:
  static constexpr std::uint32_t capacity = 8;

  void make(int ranks, bool one_process, int own_local_rank = 0) {
    memory_ = rig_memory(ranks);
    one_process_ = one_process;
    node_ = rig_node(memory_, own_local_rank, one_process);
    lock_ = new (memory_->base() + memory_->header().arena_offset) QueueLock(capacity);
    count_ = new (memory_->base() + memory_->header().arena_offset + (1U << 20))
        std::atomic<std::int64_t>(0);
  }
  [[nodiscard]] std::unique_ptr<Node> other(int local_rank) const {
    return rig_node(memory_, local_rank, one_process_);
  }
  // Takes the lock, even if earlier holders died, and releases it.
  void take_and_release(Node& node) {
    int dead = -1;
    while (lock_->lock(node, dead) == Outcome::holder_died) {
    }
    EXPECT_TRUE(lock_->unlock(node));
  }
  // True if the lock can still be taken.
  bool is_usable() {
    return ends_in_time([this, memory = memory_] { take_and_release(*node_); });
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
  constexpr int rounds = 300;
  std::int64_t plain = 0;
  std::vector<std::unique_ptr<Node>> nodes;
  for (int local_rank = 0; local_rank < 4; ++local_rank) {
    nodes.push_back(other(local_rank));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4 * threads_a_rank; ++i) {
    threads.emplace_back([&, i] {
      Node& node = *nodes[static_cast<std::size_t>(i % 4)];
      for (int round = 0; round < rounds; ++round) {
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
  EXPECT_EQ(plain, 4 * threads_a_rank * rounds);
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
    // Long enough for this thread to be in the queue before the next one.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  ASSERT_TRUE(lock_->unlock(*node_));
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST_F(QueueLockTest, WaitersThatGiveUpAreSkipped) {
  make(1, true);
  int dead = -1;
  ASSERT_EQ(lock_->lock(*node_, dead), Outcome::acquired);
  std::atomic<bool> gives_up{false};
  std::vector<int> order;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 6; ++i) {
    waiters.emplace_back([&, i] {
      int none = -1;
      const bool is_patient = i % 3 == 2;
      const auto outcome =
          lock_->wait_with_ticket(*node_, none, [&] { return !is_patient && gives_up.load(); });
      EXPECT_EQ(outcome, is_patient ? Outcome::acquired : Outcome::given_up);
      if (is_patient) {
        order.push_back(i);
        lock_->unlock(*node_);
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  gives_up = true;
  for (const std::size_t i : {0U, 1U, 3U, 4U}) {
    waiters[i].join();
  }
  ASSERT_TRUE(lock_->unlock(*node_));
  waiters[2].join();
  waiters[5].join();
  EXPECT_EQ(order, (std::vector<int>{2, 5}));
  EXPECT_TRUE(is_usable());
}

TEST_F(QueueLockTest, WaitersThatGiveUpLeaveRoomForOthers) {
  make(1, true);
  int dead = -1;
  ASSERT_EQ(lock_->lock(*node_, dead), Outcome::acquired);
  for (std::uint32_t i = 0; i < 3 * capacity; ++i) {
    ASSERT_TRUE(ends_in_time([this, memory = memory_] {
      int none = -1;
      EXPECT_EQ(lock_->wait_with_ticket(*node_, none, [] { return true; }), Outcome::given_up);
    }));
  }
  ASSERT_TRUE(lock_->unlock(*node_));
  EXPECT_TRUE(is_usable());
}

// The lock comes to a waiter while it gives up: it has the lock, or the next one has.
TEST_F(QueueLockTest, AWaiterThatGivesUpAsItGetsTheLockLosesNone) {
  make(1, true);
  for (int round = 0; round < 200; ++round) {
    int dead = -1;
    ASSERT_EQ(lock_->lock(*node_, dead), Outcome::acquired);
    std::thread waiter([&] {
      int none = -1;
      if (lock_->wait_with_ticket(*node_, none, [] { return true; }) == Outcome::acquired) {
        EXPECT_TRUE(lock_->unlock(*node_));
      }
    });
    std::this_thread::sleep_for(rig_liveness_interval + std::chrono::microseconds(round));
    ASSERT_TRUE(lock_->unlock(*node_));
    waiter.join();
    ASSERT_TRUE(is_usable());
  }
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

TEST_F(QueueLockTest, OneWaiterIsNotifiedThatTheHolderDiedAndTheOthersGetTheLock) {
  make(2, false);
  ForkedRank holder([&] {
    const auto node = other(1);
    int none = -1;
    lock_->lock(*node, none);
  });
  ASSERT_EQ(holder.wait(), 0);
  std::atomic<int> notified{0};
  std::atomic<int> acquired{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 5; ++i) {
    waiters.emplace_back([&] {
      int dead = -1;
      if (lock_->lock(*node_, dead) == Outcome::holder_died) {
        EXPECT_EQ(dead, 1);
        ++notified;
        return;
      }
      ++acquired;
      EXPECT_TRUE(lock_->unlock(*node_));
    });
  }
  for (std::thread& waiter : waiters) {
    waiter.join();
  }
  EXPECT_EQ(notified, 1);
  EXPECT_EQ(acquired, 4);
}

TEST_F(QueueLockTest, ADeadWaiterIsSkipped) {
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

// A rank dies that holds the lock and has more waiting threads than the ring has entries.
TEST_F(QueueLockTest, ARingFullOfDeadWaitersBlocksNoRank) {
  make(2, false);
  ForkedRank waiting_rank([&] {
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
  waiting_rank.end();
  ASSERT_TRUE(ends_in_time([this, memory = memory_] {
    int dead = -1;
    EXPECT_EQ(lock_->lock(*node_, dead), Outcome::holder_died);
    EXPECT_EQ(dead, 1);
  }));
  EXPECT_TRUE(is_usable());
}

// ---- Ranks of other nodes ----------------------------------------------------------------------

// The test plays the agent, which waits in the queue for ranks of other nodes.
class QueueLockRemoteRanks : public QueueLockTest {
 protected:
  void make_with_remote_ranks(int ranks, bool one_process, int own_local_rank = 0) {
    make(ranks, one_process, own_local_rank);
    NodeHeader& header = memory_->header();
    header.remote_rank_states_offset = header.arena_offset + (2U << 20U);
    header.world_ranks = 1000;
  }
  [[nodiscard]] QueueLock::Ticket ticket_of(std::int32_t rank) const {
    return {.local_rank = node_->remote_rank_slot(WorldRank{rank})};
  }
  bool unlock(const QueueLock::Ticket& ticket) { return lock_->unlock(*node_, ticket.local_rank); }
  [[nodiscard]] std::uint32_t rings() const { return memory_->header().agent_bell.rings; }
};

TEST_F(QueueLockRemoteRanks, WaitInTheSameQueueAsTheNodesRanks) {
  make_with_remote_ranks(2, true);
  QueueLock::Ticket first = ticket_of(7);
  QueueLock::Ticket second = ticket_of(900);
  ASSERT_EQ(lock_->advance(*node_, first), Outcome::acquired);
  std::atomic<bool> has_it{false};
  std::thread rank([&] {
    int dead = -1;
    EXPECT_EQ(lock_->lock(*node_, dead), Outcome::acquired);
    has_it = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(lock_->advance(*node_, second), std::nullopt);
  EXPECT_TRUE(second.is_queued);
  QueueLock::Ticket again = ticket_of(7);
  EXPECT_EQ(lock_->advance(*node_, again), std::nullopt);

  EXPECT_FALSE(has_it);
  ASSERT_TRUE(unlock(first));
  rank.join();
  EXPECT_EQ(lock_->advance(*node_, second), std::nullopt);
  const std::uint32_t before = rings();
  ASSERT_TRUE(lock_->unlock(*node_));
  EXPECT_EQ(rings(), before + 1);
  EXPECT_EQ(lock_->advance(*node_, again), std::nullopt);
  EXPECT_EQ(lock_->advance(*node_, second), Outcome::acquired);
  EXPECT_FALSE(unlock(first));
  ASSERT_TRUE(unlock(second));
  EXPECT_EQ(lock_->advance(*node_, again), Outcome::acquired);
  ASSERT_TRUE(unlock(again));
  EXPECT_TRUE(is_usable());
}

TEST_F(QueueLockRemoteRanks, RetryWhileTheRingIsFull) {
  make_with_remote_ranks(1, true);
  QueueLock::Ticket holder = ticket_of(0);
  ASSERT_EQ(lock_->advance(*node_, holder), Outcome::acquired);
  std::vector<QueueLock::Ticket> waiting;
  for (std::int32_t rank = 1; rank <= static_cast<std::int32_t>(capacity); ++rank) {
    waiting.push_back(ticket_of(rank));
    EXPECT_EQ(lock_->advance(*node_, waiting.back()), std::nullopt);
    EXPECT_TRUE(waiting.back().is_queued);
  }
  QueueLock::Ticket late = ticket_of(99);
  EXPECT_EQ(lock_->advance(*node_, late), std::nullopt);
  EXPECT_FALSE(late.is_queued);
  ASSERT_TRUE(unlock(holder));
  for (QueueLock::Ticket& each : waiting) {
    EXPECT_EQ(lock_->advance(*node_, each), Outcome::acquired) << each.local_rank;
    EXPECT_EQ(lock_->advance(*node_, late), std::nullopt) << each.local_rank;
    EXPECT_TRUE(late.is_queued);
    ASSERT_TRUE(unlock(each));
  }
  EXPECT_EQ(lock_->advance(*node_, late), Outcome::acquired);
  EXPECT_FALSE(unlock(waiting.front()));
}

TEST_F(QueueLockRemoteRanks, ThatDiedAreSkippedAndTheirLocksPassOn) {
  make_with_remote_ranks(1, true);
  QueueLock::Ticket holder = ticket_of(3);
  QueueLock::Ticket departed = ticket_of(4);
  QueueLock::Ticket notified = ticket_of(5);
  ASSERT_EQ(lock_->advance(*node_, holder), Outcome::acquired);
  EXPECT_EQ(lock_->advance(*node_, departed), std::nullopt);
  EXPECT_EQ(lock_->advance(*node_, notified), std::nullopt);
  memory_->remote_rank_state(WorldRank{4}) = RemoteRankState::lost;
  memory_->remote_rank_state(WorldRank{3}) = RemoteRankState::left;
  EXPECT_TRUE(node_->has_left(holder.local_rank));
  EXPECT_FALSE(node_->has_left(departed.local_rank));
  std::optional<Outcome> outcome;
  ASSERT_TRUE(eventually([&] {
    outcome = lock_->advance(*node_, notified);
    return outcome.has_value();
  }));
  EXPECT_EQ(outcome, Outcome::holder_died);
  EXPECT_EQ(notified.dead_local_rank, holder.local_rank);
  EXPECT_EQ(node_->rank_at(notified.dead_local_rank), WorldRank{3});
  EXPECT_TRUE(is_usable());
}

// After the death of the agent's process their states are no longer updated.
TEST_F(QueueLockRemoteRanks, AreLostWithTheAgentHostOfTheNode) {
  make_with_remote_ranks(2, false, 1);
  QueueLock::Ticket holder = ticket_of(3);
  QueueLock::Ticket waiting = ticket_of(4);
  ForkedRank agent_host([&] {
    const auto node = other(0);
    lock_->advance(*node, holder);
    lock_->advance(*node, waiting);
  });
  ASSERT_EQ(agent_host.wait(), 0);
  ASSERT_TRUE(ends_in_time([this, memory = memory_, holder] {
    int dead = -1;
    EXPECT_EQ(lock_->lock(*node_, dead), Outcome::holder_died);
    EXPECT_EQ(dead, holder.local_rank);
  }));
  EXPECT_FALSE(node_->has_left(holder.local_rank));
  EXPECT_TRUE(is_usable());
}

TEST_F(QueueLockRemoteRanks, AreNotifiedThatARankDiedWithTheLock) {
  make_with_remote_ranks(2, false);
  ForkedRank holder([&] {
    const auto node = other(1);
    int none = -1;
    lock_->lock(*node, none);
  });
  ASSERT_EQ(holder.wait(), 0);
  QueueLock::Ticket ticket = ticket_of(12);
  std::optional<Outcome> outcome;
  ASSERT_TRUE(eventually([&] {
    outcome = lock_->advance(*node_, ticket);
    return outcome.has_value();
  }));
  EXPECT_EQ(outcome, Outcome::holder_died);
  EXPECT_EQ(ticket.dead_local_rank, 1);
  EXPECT_TRUE(is_usable());
}

// ---- Death after every single instruction ------------------------------------------------------

// Kills a rank after 0, 1, 2, … instructions of `body` while two threads of this rank wait for the
// lock, and checks each time that both get it.
class QueueLockSteps : public QueueLockTest {
 protected:
  // The rank runs `before` first, without steps. Returns the number of instructions of `body`, or
  // -1 if this process cannot trace its children.
  int survive_every_step(const std::function<void(Node&)>& before,
                         const std::function<void(Node&)>& body, int max_steps,
                         int between_deaths = steps_between_deaths) {
    int steps = 0;
    for (bool more = true; more && steps < max_steps; steps += between_deaths) {
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
        ADD_FAILURE() << "the waiters do not get the lock after a death at instruction " << steps;
        std::_Exit(1);  // The waiting threads cannot be ended in any other way.
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

// Most instructions are those of the wait before it, so only some are tried.
TEST_F(QueueLockSteps, SurvivesADeathAtInstructionsOfGivingUp) {
  const int steps = survive_every_step(
      [this](Node& node) {
        int none = -1;
        lock_->lock(node, none);
      },
      [this](Node& node) {
        int none = -1;
        lock_->wait_with_ticket(node, none, [] { return true; });
      },
      5000, 7 * steps_between_deaths);
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
