// SPDX-License-Identifier: BSD-3-Clause
//
// Teams that differ from the world team: they reveal code that takes a member's number for a
// rank's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/job.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::test {

/// "team 0 2 3".
inline std::string name_of(const Team& team) {
  std::string name = "team";
  for (const WorldRank member : team.members()) {
    name += ' ' + std::to_string(member.value);
  }
  return name;
}

/// Collective over all ranks. Calls `body(team)` on the members of each team for which there are
/// enough ranks: one rank, the first two, another order, not from rank 0, with a gap.
template <class Body>
void for_each_team(Job& job, Body&& body) {
  const std::vector<std::vector<std::int32_t>> lists{{0},    {1},       {0, 1},       {1, 0},
                                                     {2, 3}, {0, 2, 3}, {3, 1, 2, 0}, {6, 1, 4}};
  for (const std::vector<std::int32_t>& list : lists) {
    if (*std::max_element(list.begin(), list.end()) >= job.size()) {
      continue;
    }
    std::vector<WorldRank> members;
    for (const std::int32_t rank : list) {
      members.push_back({rank});
    }
    if (std::find(members.begin(), members.end(), job.rank()) != members.end()) {
      Team team = Team::create(job, members).value();
      const testing::ScopedTrace trace(__FILE__, __LINE__, name_of(team));
      body(team);
    }
  }
  EXPECT_TRUE(ok(job.barrier()));
}

}  // namespace tessera::rma::test
