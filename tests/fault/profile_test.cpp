// SPDX-License-Identifier: BSD-3-Clause
//
// Profiles of jobs in which a rank dies: the survivors are not kept waiting, and each leaves what
// it knows.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fault/run.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::fault {
namespace {

struct Case {
  int victim = 1;
  std::string ranks_per_node = "0";
};

class ProfileOfADeath : public testing::TestWithParam<Case> {};

TEST_P(ProfileOfADeath, IsAFileOfEachSurvivor) {
  const tessera::test::TemporaryFolder folder;
  const Plan plan{.scenario = "absent_from_barrier",
                  .ranks = 3,
                  .victim = GetParam().victim,
                  .environment = {{"TESSERA_PROFILE", "json"},
                                  {"TESSERA_PROFILE_FILE", folder.file("p.json")},
                                  {"TESSERA_TRANSPORT", "shm,tcp"},
                                  {"TESSERA_RANKS_PER_NODE", GetParam().ranks_per_node}}};
  const Outcome outcome = direct(plan);
  EXPECT_FALSE(outcome.hung) << describe(outcome);
  EXPECT_TRUE(outcome.left_behind.empty()) << describe(outcome);
  std::vector<std::string> expected;
  for (int rank = 0; rank < plan.ranks; ++rank) {
    if (rank == plan.victim) {
      continue;
    }
    expected.push_back("p.json.rank" + std::to_string(rank));
    const Report* const report = outcome.find(rank, "stop");
    ASSERT_NE(report, nullptr) << describe(outcome);
    EXPECT_EQ(report->code, "ok") << describe(outcome);
    const std::string text = tessera::test::contents_of(folder.file(expected.back()));
    EXPECT_NE(text.find("\"complete\": false"), std::string::npos) << text;
    EXPECT_NE(text.find("\"wait\": \"barrier\""), std::string::npos) << text;
  }
  EXPECT_EQ(folder.names(), expected);
}

INSTANTIATE_TEST_SUITE_P(Fault, ProfileOfADeath,
                         testing::Values(Case{1, "0"}, Case{0, "0"}, Case{1, "1"}, Case{0, "1"}));

}  // namespace
}  // namespace tessera::fault
