// SPDX-License-Identifier: BSD-3-Clause
//
// Who waits long in a collective says so in the log, and for whom.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "rma/engine/long_wait.hpp"
#include "rma/job.hpp"
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
TEST(LongWait, IsToldByTheOthers) {
  const char* const level = std::getenv("TESSERA_LOG");
  if (level == nullptr || std::string_view(level) != "info") {
    GTEST_SKIP() << "nobody is told without TESSERA_LOG=info: contract.long_wait";
  }
  on_ranks([](Job& job) {
    if (job.rank().value == job.size() - 1) {
      std::this_thread::sleep_for(seconds(6));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
