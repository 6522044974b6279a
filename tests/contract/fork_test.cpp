// SPDX-License-Identifier: BSD-3-Clause
//
// A child process that a rank makes by fork() is not a rank: its calls are refused, it does not
// disturb any rank, and it may exit normally. Its parent continues.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "rma/coalescing_scope.hpp"
#include "rma/handle.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::neighbour;
using test::ok;
using test::on_ranks;

// The objects that a rank owns when it forks.
struct Belongings {
  Job job;
  Region region;
  Team team;
  LockSet locks;
  void* local;
  Handle under_way;
  std::array<std::int64_t, 512> fetched{};
};

bool is_error_of_child(const Status& status) {
  return status.code() == Code::closed &&
         status.message().find("a child that rank ") != std::string_view::npos;
}

constexpr int all_refused = 0;
// Returns the number of the first call that was not refused with Code::closed, or all_refused.
// Destroys all objects that the child has.
int act_as_a_rank(Belongings own) {
  const TeamRank next = neighbour(own.job);
  const WorldRank world_next = own.job.world().world_rank(next);
  const RemoteAddress at = own.region.at(next);
  if (!own.under_way.done()) {
    return -1;
  }
  int number = 0;
  for (const Status& status :
       {put_value(own.job, at, std::int64_t{-1}), get_value<std::int64_t>(own.job, at).status(),
        own.job.barrier(), own.team.barrier(), own.region.fence(), own.under_way.wait(),
        Region::allocate(own.job.world(), 8).status(), notify(own.job, world_next).status(),
        wait_for_notifications(own.job, world_next, 1000).status(), own.locks.lock(next, 0),
        own.job.free_local(own.local), own.job.allocate_local(8).status()}) {
    ++number;
    // The operation under way may have completed before the fork.
    if (number == 6 ? status.code() != Code::closed && !status.ok() : !is_error_of_child(status)) {
      return number;
    }
  }
  return all_refused;
}

// Returns the exit code; −1 if the child does not end in time.
int wait_for(pid_t child) {
  constexpr std::chrono::seconds time_limit{20};
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  int state = 0;
  while (waitpid(child, &state, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

TEST(Fork, AChildIsNotARankAndItsParentContinues) {
  on_ranks([](Job& job) {
    Belongings own{.job = job,
                   .region = Region::allocate(job.world(), 4096).value(),
                   .team = Team::create(job, job.world().members()).value(),
                   .locks = LockSet::create(job.world(), 1).value(),
                   .local = job.allocate_local(sizeof(std::int64_t)).value(),
                   .under_way = {}};
    *static_cast<std::int64_t*>(own.local) = 99;
    const TeamRank next = neighbour(job);
    ASSERT_TRUE(ok(put_value(job, own.region.at(next), std::int64_t{7})));
    ASSERT_TRUE(ok(own.locks.lock(next, 0)));
    ASSERT_TRUE(ok(own.locks.unlock(next, 0)));
    ASSERT_TRUE(ok(job.barrier()));
    own.under_way = get_async(job, own.region.at(next), own.fetched.data(), sizeof own.fetched);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      _exit(act_as_a_rank(std::move(own)));
    }
    EXPECT_EQ(wait_for(child), all_refused);
    EXPECT_EQ(*static_cast<std::int64_t*>(own.local), 99);
    EXPECT_TRUE(ok(job.free_local(own.local)));
    EXPECT_TRUE(ok(own.under_way.wait()));
    EXPECT_EQ(own.fetched.front(), 7);
    EXPECT_TRUE(ok(job.barrier()));
    EXPECT_TRUE(ok(own.team.barrier()));
    EXPECT_TRUE(ok(own.locks.lock(next, 0)));
    EXPECT_TRUE(ok(own.locks.unlock(next, 0)));
    EXPECT_TRUE(ok(put_value(job, own.region.at(next), std::int64_t{8})));
    EXPECT_TRUE(ok(own.region.fence()));
    EXPECT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, own.region.at(next)).value(), 8);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Fork, AChildWritesNothingThatMembersRead) {
  on_ranks([](Job& job) {
    constexpr int rounds = 2000;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int refused = 0;
      for (int i = 0; i < rounds; ++i) {
        int value = -1;
        const bool all =
            job.world().allgather_value(value).status().code() == Code::closed &&
            job.world().allreduce(value, Reduction::sum).status().code() == Code::closed &&
            job.world().broadcast_value(value, {0}).code() == Code::closed &&
            job.world().agree({}).code() == Code::closed;
        refused += all ? 1 : 0;
      }
      _exit(refused == rounds ? all_refused : 1);
    }
    for (int i = 0; i < rounds; ++i) {
      const auto all = job.world().allgather_value(i);
      ASSERT_TRUE(ok(all.status()));
      for (const int each : *all) {
        ASSERT_EQ(each, i);
      }
      ASSERT_TRUE(ok(job.world().agree({})));
    }
    EXPECT_EQ(wait_for(child), all_refused);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Fork, WhatAParentKeepsBackIsSentOnce) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), sizeof(std::int64_t)).value();
    const std::int64_t one = 1;
    std::optional<CoalescingScope> one_message(std::in_place, job);
    Handle added = accumulate_async(job, region.at(neighbour(job)), &one, sizeof one,
                                    Scale::one(ElementType::i64));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      one_message.reset();
      const Status waited = added.wait();  // on one node it completed before the fork
      _exit(waited.ok() || waited.code() == Code::closed ? all_refused : 1);
    }
    EXPECT_EQ(wait_for(child), all_refused);
    one_message.reset();
    EXPECT_TRUE(ok(added.wait()));
    EXPECT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(job.world().rank())).value(), 1);
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
