// SPDX-License-Identifier: BSD-3-Clause
//
// Counter: every number is drawn exactly once.
#include "arrays/counter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::arrays {
namespace {

using rma::Code;
using rma::Job;
using rma::Team;
using rma::TeamRank;
using rma::test::fails;
using rma::test::ok;
using rma::test::on_team;

TEST(Counter, GivesEachTaskToOneRank) {
  on_team([](Job& job, Team& team) {
    constexpr std::int64_t tasks = 1000;
    constexpr std::int64_t chunk = 3;
    auto counter = Counter::create(job, team, TeamRank{team.size() - 1});
    ASSERT_TRUE(ok(counter));
    std::vector<std::int32_t> drawn(tasks, 0);
    while (true) {
      const std::int64_t first = counter->next(chunk).value();
      if (first >= tasks) {
        break;
      }
      for (std::int64_t task = first; task < std::min(first + chunk, tasks); ++task) {
        ++drawn[static_cast<std::size_t>(task)];
      }
    }
    EXPECT_TRUE(ok(team.allreduce(std::span(drawn), rma::Reduction::sum)));
    EXPECT_EQ(drawn, std::vector<std::int32_t>(tasks, 1));
    EXPECT_TRUE(ok(counter->reset(40)));
    EXPECT_GE(counter->next().value(), 40);
    EXPECT_TRUE(ok(team.barrier()));
    EXPECT_EQ(counter->next(0).value(), 40 + team.size());
    EXPECT_TRUE(ok(team.barrier()));
  });
}

TEST(Counter, RefusesAnOwnerOutsideTheTeam) {
  on_team([](Job& job, Team& team) {
    EXPECT_TRUE(fails(Counter::create(job, team, TeamRank{team.size()}), Code::invalid_argument,
                      {"cannot own a counter"}));
  });
}

}  // namespace
}  // namespace tessera::arrays
