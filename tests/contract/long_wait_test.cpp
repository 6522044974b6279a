// SPDX-License-Identifier: BSD-3-Clause
//
// Who waits long in a collective, for a lock or for a notification says so in the log, and for
// whom.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "rma/engine/long_wait.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using std::chrono::seconds;
using test::ok;
using test::on_ranks;

TEST(LongWait, IsDueBehindTwiceTheTimeEachTime) {
  detail::LongWait wait;
  const auto start = detail::LongWait::Clock::now();
  EXPECT_FALSE(wait.is_due(start + seconds(4)));
  EXPECT_TRUE(wait.is_due(start + seconds(6)));
  EXPECT_FALSE(wait.is_due(start + seconds(9)));
  EXPECT_TRUE(wait.is_due(start + seconds(11)));
  EXPECT_FALSE(wait.is_due(start + seconds(19)));
  EXPECT_EQ(wait.length(start + seconds(11)), seconds(11));
}

// What is told is looked for in the output: contract.long_wait.
class LongWaits : public testing::Test {
 protected:
  void SetUp() override {
    const char* const level = std::getenv("TESSERA_LOG");
    if (level == nullptr || std::string_view(level) != "info") {
      GTEST_SKIP() << "nobody is told without TESSERA_LOG=info: contract.long_wait";
    }
  }
  static void outlast_the_first_word() { std::this_thread::sleep_for(seconds(6)); }
};

TEST_F(LongWaits, InCollectivesNameWhoHasNotCome) {
  on_ranks([](Job& job) {
    if (job.rank().value == job.size() - 1) {
      outlast_the_first_word();
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST_F(LongWaits, ForLocksAndNotificationsNameWhoHasThem) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), 1).value();
    const bool is_first = job.rank().value == 0;
    if (is_first) {
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
    }
    EXPECT_TRUE(ok(job.barrier()));
    if (is_first) {
      outlast_the_first_word();
      EXPECT_TRUE(ok(notify(job, WorldRank{job.size() - 1}).status()));
    } else if (job.rank().value == job.size() - 1) {
      EXPECT_TRUE(ok(wait_for_notifications(job, WorldRank{0}, 1).status()));
    } else {
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, 0)));
    }
    if (job.rank().value != job.size() - 1) {
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, 0)));
    }
    EXPECT_TRUE(ok(locks.free()));
  });
}

// On this node and on another.
TEST_F(LongWaits, ForAnOwnLockSaySo) {
  on_ranks([](Job& job) {
    LockSet locks = LockSet::create(job.world(), 2).value();
    if (job.rank().value > 0) {
      const std::int64_t own = job.rank().value - 1;
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, own)));
      std::thread liberator([&] {
        outlast_the_first_word();
        EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, own)));
      });
      EXPECT_TRUE(ok(locks.lock(TeamRank{0}, own)));
      liberator.join();
      EXPECT_TRUE(ok(locks.unlock(TeamRank{0}, own)));
    }
    EXPECT_TRUE(ok(locks.free()));
  });
}

}  // namespace
}  // namespace tessera::rma
