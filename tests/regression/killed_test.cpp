// SPDX-License-Identifier: BSD-3-Clause
//
// A rank that is killed leaves no memory in /dev/shm.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/fault/run.hpp"

namespace tessera::fault {
namespace {

// nwchem#1164: Global Arrays left its files in /dev/shm, which filled up with each crash.
TEST(Killed, ARanksMemoryIsFreed) {
  for (const char* const scenario : {"inside_allocations", "streaming_puts", "fights_for_lock"}) {
    const Outcome outcome = direct({.scenario = scenario, .ranks = 3, .victim = 1});
    EXPECT_FALSE(outcome.hung) << scenario;
    EXPECT_TRUE(outcome.leftovers.empty()) << scenario << ":\n" << describe(outcome);
    ASSERT_EQ(outcome.exits.size(), 3U);
    EXPECT_EQ(outcome.exits[1].signal, SIGKILL);
    for (const int survivor : {0, 2}) {
      EXPECT_EQ(outcome.exits[static_cast<std::size_t>(survivor)].exit_code, 0)
          << "rank " << survivor << " was notified, and ended by itself";
    }
  }
}

}  // namespace
}  // namespace tessera::fault
