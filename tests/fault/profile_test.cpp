// SPDX-License-Identifier: BSD-3-Clause
//
// Profiles of jobs in which a rank dies: the survivors do not wait for it, and each writes its own
// part.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fault/program.hpp"
#include "tests/fault/run.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::fault {
namespace {

using tessera::test::TemporaryFolder;

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
  EXPECT_TRUE(outcome.leftovers.empty()) << describe(outcome);
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

// Two ranks end without stopping their job, in one of the ways of exit_without_stop.cpp.
Ending exit_by(const std::string& way, const std::string& mode, const TemporaryFolder& folder) {
  return Program({"env", "TESSERA_PROFILE=" + mode, "TESSERA_PROFILE_FILE=" + folder.file("p.json"),
                  TESSERA_RUN, "-n", "2", EXIT_WITHOUT_STOP, way})
      .wait();
}

TEST(AProfileWithoutStop, IsWrittenAtTheExitWithAWarning) {
  for (const std::string way : {"exit", "fork"}) {
    const TemporaryFolder folder;
    const Ending ending = exit_by(way, "summary", folder);
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    EXPECT_EQ(occurrences(ending.output, "tessera profile: 2 ranks on 1 node"), 1U)
        << ending.output;
    EXPECT_EQ(occurrences(ending.output, "alone"), 0U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, "sync rho"), 1U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, "free rho"), 1U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, "ends without stopping its job"), 1U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, "call job%stop() in Fortran"), 1U) << ending.output;
  }
}

TEST(AProfileWithoutStop, IsOnlyOfTheRankThatFails) {
  const TemporaryFolder folder;
  const Ending ending = exit_by("fail", "json", folder);
  EXPECT_EQ(ending.exit_code, 3) << ending.output;
  const std::string text = tessera::test::contents_of(folder.file("p.json.rank1"));
  EXPECT_NE(text.find("exited without stopping its job"), std::string::npos)
      << text << ending.output;
}

TEST(AProfileWithoutStop, IsNotWrittenTwiceNorAfterAnAbruptEnd) {
  const TemporaryFolder folder;
  const Ending stopped = exit_by("stop", "summary", folder);
  EXPECT_EQ(occurrences(stopped.output, "tessera profile:"), 1U) << stopped.output;
  EXPECT_EQ(occurrences(stopped.output, "without stopping"), 0U) << stopped.output;
  const Ending aborted = exit_by("abort", "summary", folder);
  EXPECT_EQ(occurrences(aborted.output, "tessera profile:"), 0U) << aborted.output;
}

}  // namespace
}  // namespace tessera::fault
