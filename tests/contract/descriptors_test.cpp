// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that has no file descriptor for a connection continues without one: no other rank takes it
// for dead. A rank that waits long keeps no descriptor open.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "rma/notify.hpp"
#include "rma/region.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::ok;
using test::on_ranks;

constexpr std::chrono::milliseconds late{300};  // several liveness checks
constexpr WorldRank unconnected{3};  // the one of six nodes to which rank 0 does not connect

/// While an object of this class exists, the process can open no file.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

/// Whether the job has six ranks that are processes, each on a node of its own, without a
/// sanitizer.
bool fits(Job& job) {
  const auto processes = job.world().allgather_value(getpid());
  return !tessera::test::is_sanitized && processes.ok() && job.size() == 6 &&
         job.node_count() == 6 && processes->front() != processes->back();
}

constexpr const char* elsewhere =
    tessera::test::is_sanitized ? "the sanitizer needs file descriptors to inspect objects"
                                : "needs six processes on six nodes: contract.descriptors runs it";

TEST(Descriptors, ThatAreMissingAreNotReportedAsADeath) {
  on_ranks([](Job& job) {
    if (!fits(job)) {
      GTEST_SKIP() << elsewhere;
    }
    Region region = Region::allocate(job.world(), 64).value();
    if (job.rank() == unconnected) {  // connects while rank 0's agent can still accept it
      ASSERT_TRUE(ok(put_value(job, region.at(TeamRank{0}, 8), 1)));
    }
    ASSERT_TRUE(ok(job.barrier()));
    if (job.rank().value == 0) {
      const NoDescriptors none;
      EXPECT_TRUE(ok(wait_for_flag(job, region.at(TeamRank{0}), 1, unconnected)));
      EXPECT_TRUE(ok(wait_for_notifications(job, unconnected, 1).status()));
      EXPECT_TRUE(job.is_present(unconnected));
      EXPECT_TRUE(ok(job.barrier()));
    } else {
      std::this_thread::sleep_for(job.rank() == unconnected ? late : late / 2);
      if (job.rank() == unconnected) {
        EXPECT_TRUE(ok(raise_flag(job, region.at(TeamRank{0}), 1)));
        EXPECT_TRUE(ok(notify(job, WorldRank{0}).status()));
        std::this_thread::sleep_for(late);
      }
      EXPECT_TRUE(ok(job.barrier()));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Descriptors, AreNotHeldByWaitingRanks) {
  on_ranks([](Job& job) {
    if (!fits(job)) {
      GTEST_SKIP() << elsewhere;
    }
    ASSERT_TRUE(ok(job.barrier()));
    const std::ptrdiff_t before = open_descriptors();
    if (job.rank() == unconnected) {
      std::this_thread::sleep_for(late);
    }
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_TRUE(test::eventually([before] { return open_descriptors() <= before; }));
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Descriptors, ThatAreFreeLaterAreEnoughForATeam) {
  on_ranks([](Job& job) {
    if (!fits(job)) {
      GTEST_SKIP() << elsewhere;
    }
    constexpr std::array members{WorldRank{0}, unconnected};
    ASSERT_TRUE(ok(job.barrier()));
    if (job.rank() == unconnected) {
      EXPECT_TRUE(ok(Team::create(job, members).value().barrier()));
    } else if (job.rank().value == 0) {
      std::thread user([] {
        const NoDescriptors none;
        std::this_thread::sleep_for(late);
      });
      std::this_thread::sleep_for(late / 3);
      EXPECT_TRUE(ok(Team::create(job, members).value().barrier()));
      user.join();
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
