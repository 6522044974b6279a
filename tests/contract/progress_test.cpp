// SPDX-License-Identifier: BSD-3-Clause
//
// The memory model: progress without calls of the target, and threads.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/contract/every_operation.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::neighbour;
using test::ok;
using test::on_ranks;

// Rank 0 does `work` and nothing else until all other ranks have completed their operations.
void operate_while(Job& job, const std::function<void()>& work) {
  Region region = Region::allocate(job.world(), 4096).value();
  LockSet locks = LockSet::create(job.world(), 1).value();
  // If the job has one rank, a second thread of that rank operates on it.
  std::thread operating([&] {
    if (job.rank().value != 0 || job.size() == 1) {
      test::operate_on(job, region, locks, TeamRank{0});
      // Signals the end in the target's own memory, which the target can see without a call of the
      // library.
      ASSERT_TRUE(ok(fetch_add<std::int32_t>(job, region.at(TeamRank{0}), 1)));
    }
  });
  if (job.rank().value == 0) {
    const std::atomic_ref<std::int32_t> through(*reinterpret_cast<std::int32_t*>(region.local()));
    const std::int32_t all = std::max(job.size() - 1, 1);
    EXPECT_TRUE(test::eventually([&] {
      work();
      return through.load() == all;
    }));
  }
  operating.join();
  ASSERT_TRUE(ok(job.barrier()));
}

TEST(LitmusProgress, EveryOperationCompletesWhileTheTargetComputes) {
  on_ranks([](Job& job) {
    operate_while(job, [] {
      volatile double sum = 0;
      for (int i = 0; i < 20'000; ++i) {
        sum = sum + 1.0 / (i + 1);
      }
    });
  });
}

TEST(LitmusProgress, EveryOperationCompletesWhileTheTargetSleeps) {
  on_ranks([](Job& job) {
    operate_while(job, [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
  });
}

constexpr int thread_count = 4;

void on_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&body, thread] { body(thread); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(LitmusThreads, OneSidedCallsAndHandlesMayBeMadeByManyThreads) {
  on_ranks([](Job& job) {
    constexpr std::int64_t rounds = 100;
    Region region = Region::allocate(job.world(), std::size_t{64} << 10).value();
    on_threads([&](int thread) {
      const auto base = static_cast<std::uint64_t>(thread) * 8192 + 1024;
      for (std::int64_t round = 0; round < rounds; ++round) {
        for (std::int32_t rank = 0; rank < job.size(); ++rank) {
          const RemoteAddress at =
              region.at(TeamRank{rank}, base + static_cast<std::uint64_t>(job.rank().value) * 512);
          const std::vector<std::int64_t> values(30, round * 10 + thread);
          std::vector<std::int64_t> back(30);
          ASSERT_TRUE(ok(put(job, at, values.data(), 240)));
          Handle handle = get_async(job, at, back.data(), CopyShape::rows(8, 30, 8, 8));
          handle.collect(put_async(job, at + 256, values.data(), CopyShape::rows(16, 15, 16, 16)));
          ASSERT_TRUE(ok(handle.wait()));
          ASSERT_EQ(back, values);
        }
        const std::int64_t one = 1;
        ASSERT_TRUE(ok(accumulate(job, region.at(TeamRank{0}), &one, 8, Scale::of(one))));
        ASSERT_TRUE(ok(fetch_add<std::int64_t>(job, region.at(TeamRank{0}, 8), 1)));
      }
    });
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{0})).value(),
              rounds * thread_count * job.size());
    EXPECT_EQ(get_value<std::int64_t>(job, region.at(TeamRank{0}, 8)).value(),
              rounds * thread_count * job.size());
  });
}

TEST(LitmusThreads, FencesAndDetachedOperationsMayComeFromManyThreads) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 4096).value();
    std::array<std::int64_t, thread_count> sources{};
    on_threads([&](int thread) {
      const auto index = static_cast<std::size_t>(thread);
      for (std::int64_t round = 1; round <= 60; ++round) {
        sources[index] = round;
        const RemoteAddress at = region.at(neighbour(job), 64 * index);
        put_async(job, at, &sources[index], 8).detach();
        ASSERT_TRUE(ok(round % 2 == 0 ? job.fence(at.rank) : job.wait_all()));
        ASSERT_TRUE(ok(job.fence_all()));
      }
    });
    ASSERT_TRUE(ok(job.barrier()));
    for (std::size_t index = 0; index < thread_count; ++index) {
      EXPECT_EQ(get_value<std::int64_t>(job, region.at(job.world().rank(), 64 * index)).value(),
                60);
    }
  });
}

// Both threads begin to wait at the same time: neither may leave its operation to the other.
TEST(LitmusThreads, WaitsCompleteWhatTheirThreadDetached) {
  on_ranks([](Job& job) {
    constexpr std::size_t bytes = 256 * 1024;
    Region region = Region::allocate(job.world(), bytes).value();
    std::memset(region.local(), 7, bytes);
    ASSERT_TRUE(ok(job.barrier()));
    std::barrier together(thread_count);
    on_threads([&](int thread) {
      std::vector<unsigned char> fetched(bytes);
      for (int round = 0; round < 30; ++round) {
        fetched.back() = 1;
        get_async(job, region.at(neighbour(job)), fetched.data(), bytes).detach();
        together.arrive_and_wait();
        const Status status = thread % 2 == 0 ? job.wait_all() : job.fence_all();
        EXPECT_TRUE(ok(status));
        EXPECT_EQ(fetched.back(), 7);
        together.arrive_and_wait();
      }
    });
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(LitmusThreads, DifferentTeamsMayBeInCollectivesAtOnce) {
  on_ranks([](Job& job) {
    std::vector<Team> teams;
    for (int thread = 0; thread < thread_count; ++thread) {
      teams.push_back(job.world().split(0, job.rank().value).value());
    }
    on_threads([&](int thread) {
      Team& team = teams[static_cast<std::size_t>(thread)];
      for (int round = 0; round < 40; ++round) {
        ASSERT_EQ(team.allreduce(thread, Reduction::sum).value(), thread * job.size());
      }
    });
  });
}

// Each thread of a rank has a team of its own, and the ranks use these teams in different orders.
TEST(LitmusThreads, RegionsOfDifferentTeamsMayBeMadeAtOnce) {
  on_ranks([](Job& job) {
    std::vector<Team> teams;
    for (int thread = 0; thread < thread_count; ++thread) {
      const bool forward = thread % 2 == 0;
      teams.push_back(job.world().split(0, forward ? job.rank().value : -job.rank().value).value());
    }
    on_threads([&](int thread) {
      Team& team = teams[static_cast<std::size_t>(thread)];
      const TeamRank next{(team.rank().value + 1) % team.size()};
      for (std::int64_t round = 0; round < 30; ++round) {
        Region region = Region::allocate(team, 64).value();
        const std::int64_t sent = round * thread_count + thread;
        ASSERT_TRUE(ok(put_value(job, region.at(next), sent)));
        ASSERT_TRUE(ok(region.fence()));
        ASSERT_TRUE(ok(team.barrier()));
        ASSERT_EQ(get_value<std::int64_t>(job, region.at(team.rank())).value(), sent);
      }
    });
  });
}

TEST(LitmusThreads, RegionsComeAndGoWhileOthersAreUsed) {
  on_ranks([](Job& job) {
    Region steady = Region::allocate(job.world(), 64).value();
    std::atomic<bool> over{false};
    std::thread user([&] {
      for (std::int64_t round = 1; !over; ++round) {
        const RemoteAddress at = steady.at(job.world().rank());
        EXPECT_TRUE(ok(put_value(job, at, round)));
        EXPECT_EQ(get_value<std::int64_t>(job, at).value(), round);
      }
    });
    for (int round = 0; round < tessera::test::rounds(150); ++round) {
      std::vector<Region> some;
      for (int i = 0; i < 3; ++i) {
        some.push_back(Region::allocate(job.world(), 64).value());
      }
      EXPECT_TRUE(ok(put_value(job, some[1].at(neighbour(job)), round)));
    }
    over = true;
    user.join();
  });
}

}  // namespace
}  // namespace tessera::rma
