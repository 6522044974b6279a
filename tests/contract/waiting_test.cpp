// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of waiting: a rank that waits three seconds for another rank sleeps, whatever it waits
// for. The test measures the processor time of the waiting process, including its node's agent.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::ok;
using test::on_ranks;

constexpr std::chrono::seconds wait_length{3};
constexpr double max_seconds = 0.1;

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void expect_cheap(const std::string& what, double used) {
  EXPECT_LE(used, max_seconds) << "waiting " << wait_length.count() << " s for " << what
                               << " used more processor time (in seconds) than allowed";
}

class Waiting : public testing::Test {
 protected:
  void SetUp() override {
    if (::tessera::test::is_sanitized || test::ranks_are_threads()) {
      GTEST_SKIP() << "needs ranks that are processes, without a sanitizer";
    }
  }
  // Rank 0 delays what the other ranks wait for. Checks the processor time that this rank used.
  template <class Late, class Others>
  static void let_others_wait(Job& job, const std::string& what, Late&& late, Others&& others) {
    ASSERT_TRUE(ok(job.barrier()));
    const double before = processor_seconds();
    if (job.rank().value == 0) {
      std::this_thread::sleep_for(wait_length);
      late();
    } else {
      others();
    }
    expect_cheap(what, processor_seconds() - before);
    EXPECT_TRUE(ok(job.barrier()));
  }
  template <class Call>
  static void let_others_wait(Job& job, const std::string& what, Call&& call) {
    let_others_wait(job, what, call, call);
  }

  template <class Work>
  static double cost_of(Work&& work) {
    const double before = processor_seconds();
    work();
    return processor_seconds() - before;
  }
  // Rank 1 operates on rank 0 while the process of rank 0, and therefore its node's agent, is
  // stopped. The cost of the same work without a stop is subtracted.
  static void wait_for_a_stopped_rank(const std::string& what,
                                      const std::function<void(Job&, Region&)>& work) {
    on_ranks([&](Job& job) {
      if (job.size() < 2 || job.node_of(WorldRank{0}) == job.node_of(WorldRank{1})) {
        return;
      }
      const auto processes = job.world().allgather_value(getpid()).value();
      Region region = Region::allocate(job.world(), std::size_t{64} << 20U).value();
      // Makes sure that both have a connection.
      EXPECT_TRUE(ok(put_value(job, region.at(TeamRank{(job.rank().value + 1) % job.size()}), 1)));
      EXPECT_TRUE(ok(job.barrier()));
      if (job.rank().value == 1) {
        const pid_t process = processes[0];
        const double without_a_wait = cost_of([&] { work(job, region); });
        kill(process, SIGSTOP);
        std::thread waker([&] {
          std::this_thread::sleep_for(wait_length);
          kill(process, SIGCONT);
        });
        const double used = cost_of([&] { work(job, region); });
        waker.join();
        expect_cheap(what, used - without_a_wait);
      }
      EXPECT_TRUE(ok(job.barrier()));
      EXPECT_TRUE(ok(region.free()));
    });
  }
};

TEST_F(Waiting, ForABarrierSleeps) {
  on_ranks(
      [](Job& job) { let_others_wait(job, "a barrier", [&] { EXPECT_TRUE(ok(job.barrier())); }); });
}

TEST_F(Waiting, ForAReductionSleeps) {
  on_ranks([](Job& job) {
    let_others_wait(job, "a reduction", [&] {
      double number = 1.0;
      EXPECT_TRUE(ok(job.world().allreduce(std::span(&number, 1), Reduction::sum)));
    });
  });
}

TEST_F(Waiting, ForALongBroadcastSleeps) {
  on_ranks([](Job& job) {
    let_others_wait(job, "a long broadcast", [&] {
      std::vector<std::byte> bytes(std::size_t{4} << 20U);
      EXPECT_TRUE(ok(job.world().broadcast(bytes, TeamRank{0})));
    });
  });
}

TEST_F(Waiting, ForAnAllocationSleeps) {
  on_ranks([](Job& job) {
    let_others_wait(job, "an allocation",
                    [&] { EXPECT_TRUE(ok(Region::allocate(job.world(), std::size_t{1} << 20U))); });
  });
}

TEST_F(Waiting, ForANewTeamSleeps) {
  on_ranks([](Job& job) {
    let_others_wait(job, "a team", [&] {
      std::vector<WorldRank> all;
      for (std::int32_t rank = 0; rank < job.size(); ++rank) {
        all.push_back(WorldRank{rank});
      }
      EXPECT_TRUE(ok(Team::create(job, all)));
    });
  });
}

TEST_F(Waiting, ForALockSleeps) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), 1).value();
    if (job.rank().value == 0) {
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
    }
    let_others_wait(
        job, "a lock", [&] { EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0))); },
        [&] {
          EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
          EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
        });
    EXPECT_TRUE(ok(locks.free()));
  });
}

TEST_F(Waiting, ForAFlagSleeps) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    let_others_wait(
        job, "a flag",
        [&] {
          for (std::int32_t rank = 1; rank < job.size(); ++rank) {
            EXPECT_TRUE(ok(raise_flag(job, region.at(TeamRank{rank}), 5)));
          }
        },
        [&] {
          EXPECT_TRUE(
              ok(wait_for_flag(job, region.at(TeamRank{job.rank().value}), 5, WorldRank{0})));
        });
    EXPECT_TRUE(ok(region.free()));
  });
}

TEST_F(Waiting, ForANotificationSleeps) {
  on_ranks([](Job& job) {
    let_others_wait(
        job, "a notification",
        [&] {
          for (std::int32_t rank = 1; rank < job.size(); ++rank) {
            EXPECT_TRUE(ok(notify(job, WorldRank{rank})));
          }
        },
        [&] { EXPECT_TRUE(ok(wait_for_notifications(job, WorldRank{0}, 1))); });
  });
}

TEST_F(Waiting, ForTheAnswerToAGetSleeps) {
  wait_for_a_stopped_rank("the answer to a get", [](Job& job, Region& region) {
    EXPECT_TRUE(ok(get_value<int>(job, region.at(TeamRank{0}))));
  });
}

TEST_F(Waiting, ForTheAnswerToAnAtomicOperationSleeps) {
  wait_for_a_stopped_rank("the answer to an atomic operation", [](Job& job, Region& region) {
    EXPECT_TRUE(ok(fetch_add(job, region.at(TeamRank{0}), std::int64_t{1})));
  });
}

TEST_F(Waiting, ForAFenceSleeps) {
  wait_for_a_stopped_rank("a fence", [](Job& job, Region& region) {
    EXPECT_TRUE(ok(put_value(job, region.at(TeamRank{0}), 2)));
    EXPECT_TRUE(ok(job.fence(WorldRank{0})));
  });
}

TEST_F(Waiting, ForRoomForAPutSleeps) {
  wait_for_a_stopped_rank("room for a put", [](Job& job, Region& region) {
    const std::vector<std::byte> bytes(std::size_t{32} << 20U);
    EXPECT_TRUE(ok(put(job, region.at(TeamRank{0}), bytes.data(), bytes.size())));
  });
}

TEST_F(Waiting, ForTheAnswerToANotificationSleeps) {
  wait_for_a_stopped_rank("the answer to a notification",
                          [](Job& job, Region&) { EXPECT_TRUE(ok(notify(job, WorldRank{0}))); });
}

}  // namespace
}  // namespace tessera::rma
