// SPDX-License-Identifier: BSD-3-Clause
//
// Teams: their members, the order of members however a team is made, and memory that belongs to a
// team.
#include "rma/team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::ok;
using test::on_ranks;

// Checks that the team works: sums the world ranks of its members, and writes around the ring of
// members.
void use_team(Job& job, Team& team) {
  const std::int32_t sum = team.allreduce(job.rank().value, Reduction::sum).value();
  std::int32_t expected = 0;
  for (const WorldRank each : team.members()) {
    expected += each.value;
  }
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(team.world_rank(team.rank()), job.rank());
  Region region = Region::allocate(team, 64).value();
  const TeamRank next{(team.rank().value + 1) % team.size()};
  ASSERT_TRUE(ok(put_value(job, region.at(next), job.rank().value)));
  ASSERT_TRUE(ok(region.fence()));
  ASSERT_TRUE(ok(team.barrier()));
  const TeamRank before{(team.rank().value + team.size() - 1) % team.size()};
  EXPECT_EQ(get_value<std::int32_t>(job, region.at(team.rank())).value(),
            team.world_rank(before).value);
  EXPECT_TRUE(ok(region.free()));
}

void expect_team(Job& job, const std::vector<WorldRank>& members) {
  if (std::find(members.begin(), members.end(), job.rank()) == members.end()) {
    return;
  }
  Team team = Team::create(job, members).value();
  ASSERT_EQ(team.size(), static_cast<std::int32_t>(members.size()));
  ASSERT_TRUE(std::equal(members.begin(), members.end(), team.members().begin()));
  for (std::int32_t rank = -1; rank <= job.size(); ++rank) {
    const auto found = std::find(members.begin(), members.end(), WorldRank{rank});
    const std::int32_t index =
        found == members.end() ? -1 : static_cast<std::int32_t>(found - members.begin());
    EXPECT_EQ(team.team_rank(WorldRank{rank}).value, index);
  }
  use_team(job, team);
}

std::vector<WorldRank> every(const Job& job, std::int32_t first, std::int32_t step) {
  std::vector<WorldRank> list;
  for (std::int32_t rank = first; rank < job.size(); rank += step) {
    list.push_back(WorldRank{rank});
  }
  return list;
}

TEST(Team, OfTheWorldHasAllRanksInOrder) {
  on_ranks([](Job& job) {
    ASSERT_EQ(job.world().size(), job.size());
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      EXPECT_EQ(job.world().world_rank(TeamRank{rank}), WorldRank{rank});
    }
    use_team(job, job.world());
  });
}

TEST(Team, IsMadeFromAnyListByItsMembersOnly) {
  on_ranks([](Job& job) {
    expect_team(job, every(job, 0, 1));
    expect_team(job, every(job, 1, 1));  // does not begin at rank 0
    expect_team(job, every(job, 0, 2));  // not contiguous
    expect_team(job, every(job, 1, 2));
    std::vector<WorldRank> reversed = every(job, 0, 1);
    std::reverse(reversed.begin(), reversed.end());
    expect_team(job, reversed);
    expect_team(job, {job.rank()});
    std::rotate(reversed.begin(), reversed.begin() + job.size() / 2, reversed.end());
    expect_team(job, reversed);
  });
}

// New teams reuse the memory of freed ones.
TEST(Team, DoesNotUseWhatAnotherLeft) {
  on_ranks([](Job& job) {
    std::vector<WorldRank> reversed = every(job, 0, 1);
    std::reverse(reversed.begin(), reversed.end());
    for (int round = 0; round < 3; ++round) {
      expect_team(job, every(job, 0, 1));
      expect_team(job, {job.rank()});
      expect_team(job, every(job, 0, 1));
      expect_team(job, reversed);
    }
  });
}

TEST(Team, IsMadeAgainFromTheSameListManyTimes) {
  on_ranks([](Job& job) {
    const auto list = every(job, 0, 1);
    for (int round = 0; round < 30; ++round) {
      Team team = Team::create(job, list).value();
      ASSERT_TRUE(ok(team.barrier()));
    }
  });
}

TEST(Team, LivesBesideOthersWithTheSameMembers) {
  on_ranks([](Job& job) {
    std::vector<Team> teams;
    for (int i = 0; i < 5; ++i) {
      teams.push_back(Team::create(job, every(job, 0, 1)).value());
    }
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < teams.size(); ++i) {
        const auto mine = static_cast<std::int64_t>(i);
        ASSERT_EQ(teams[i].allreduce(mine, Reduction::sum).value(), mine * job.size());
      }
    }
  });
}

TEST(Team, SplitsByColourInTheOrderOfKeys) {
  on_ranks([](Job& job) {
    const std::int32_t me = job.rank().value;
    Team half = job.world().split(me % 2, -me).value();
    EXPECT_EQ(half.size(), (job.size() + 1 - me % 2) / 2);
    for (std::int32_t i = 1; i < half.size(); ++i) {
      EXPECT_LT(half.world_rank(TeamRank{i}).value, half.world_rank(TeamRank{i - 1}).value);
    }
    use_team(job, half);
    // Equal keys: the order is that of the ranks in the parent team.
    Team same = job.world().split(7, 0).value();
    EXPECT_EQ(same.size(), job.size());
    EXPECT_EQ(same.rank().value, me);
    use_team(job, same);
  });
}

TEST(Team, SplitsToOneselfForNegativeColours) {
  on_ranks([](Job& job) {
    Team team = job.world().split(job.rank().value == 0 ? -1 : 3, 0).value();
    EXPECT_EQ(team.size(), job.rank().value == 0 ? 1 : job.size() - 1);
    use_team(job, team);
  });
}

TEST(Team, SplitsAgainAndAgain) {
  on_ranks([](Job& job) {
    Team team = job.world().split(0, -job.rank().value).value();
    while (team.size() > 1) {
      use_team(job, team);
      team = team.split(team.rank().value < (team.size() + 1) / 2 ? 0 : 1, 0).value();
    }
    use_team(job, team);
  });
}

TEST(Team, OutlivesTheTeamThatItWasSplitFrom) {
  on_ranks([](Job& job) {
    Team child;
    {
      Team parent = job.world().split(0, 0).value();
      child = parent.split(0, -job.rank().value).value();
    }
    use_team(job, child);
  });
}

TEST(Team, CreationReportsWhatIsWrongWithTheList) {
  on_ranks([](Job& job) {
    EXPECT_TRUE(fails(Team::create(job, {}), Code::invalid_argument, {"at least one member"}));
    const std::vector<WorldRank> twice{job.rank(), job.rank()};
    EXPECT_TRUE(
        fails(Team::create(job, twice), Code::invalid_argument,
              {"rank " + std::to_string(job.rank().value) + " is in the team's list twice"}));
    const std::vector<WorldRank> outside{job.rank(), WorldRank{job.size()}};
    EXPECT_TRUE(fails(Team::create(job, outside), Code::invalid_argument,
                      {"rank " + std::to_string(job.size()) + " cannot be in a team"}));
    const std::vector<WorldRank> negative{job.rank(), WorldRank{-1}};
    EXPECT_TRUE(fails(Team::create(job, negative), Code::invalid_argument, {"rank -1"}));
    if (job.size() > 1) {
      const std::vector<WorldRank> others{WorldRank{(job.rank().value + 1) % job.size()}};
      EXPECT_TRUE(
          fails(Team::create(job, others), Code::invalid_argument, {"not in its list of members"}));
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Team, OfDifferingOrdersIsRefusedByAllOfThem) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    const bool is_odd = job.rank().value == job.size() - 1;
    std::vector<WorldRank> list = every(job, 0, 1);
    if (is_odd) {
      std::reverse(list.begin(), list.end());
    }
    for (int round = 0; round < 3; ++round) {
      const auto team = Team::create(job, list);
      EXPECT_TRUE(fails(team, Code::invalid_argument,
                        {"gave the ranks of a team in another order", "from the same list"}));
    }
    expect_team(job, every(job, 0, 1));
  });
}

TEST(Team, DoesNotReachRanksOutsideIt) {
  on_ranks([](Job& job) {
    if (job.size() == 1) {
      return;
    }
    Team team = job.world().split(job.rank().value == 0 ? 0 : 1, 0).value();
    Region region = Region::allocate(team, 64).value();
    RemoteAddress outside = region.at(TeamRank{0});
    outside.rank = WorldRank{job.rank().value == 0 ? 1 : 0};
    EXPECT_TRUE(fails(put_value(job, outside, 1.0), Code::invalid_argument,
                      {"has no slice of region", "not in the region's team"}));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

}  // namespace
}  // namespace tessera::rma
