// SPDX-License-Identifier: BSD-3-Clause
//
// The first rank of a node runs its agent. If that rank is killed, its node is lost: ranks on other
// nodes get an error that names it, and continue among themselves. If it stops, nothing is lost.
#include <gtest/gtest.h>

#include <string>

#include "tests/fault/run.hpp"

namespace tessera::fault {
namespace {

Plan on_three_nodes(const std::string& scenario, int signal) {
  return {.scenario = scenario,
          .ranks = 6,
          .victim = 2,
          .signal = signal,
          .time_limit = std::chrono::milliseconds(60'000),
          .environment = {{"TESSERA_TRANSPORT", "shm,tcp"}, {"TESSERA_RANKS_PER_NODE", "2"}}};
}

void expect_report(const Outcome& outcome, int rank, const std::string& step,
                   const std::string& code, int named_rank, const std::string& words = "") {
  const Report* const report = outcome.find(rank, step);
  ASSERT_NE(report, nullptr) << "rank " << rank << " did not report " << step;
  EXPECT_EQ(report->code, code) << "rank " << rank << ", " << step;
  EXPECT_EQ(report->named_rank, named_rank) << "rank " << rank << ", " << step;
  EXPECT_NE(report->message.find(words), std::string::npos) << report->message;
}

TEST(NodeDeath, AKilledFirstRankIsNamedAndOtherNodesContinue) {
  const Outcome outcome = direct(on_three_nodes("node:agent_host_dies", SIGKILL));
  EXPECT_FALSE(outcome.hung);
  EXPECT_TRUE(outcome.leftovers.empty());
  for (const int rank : {0, 1, 4, 5}) {
    expect_report(outcome, rank, "outcome", "peer_lost", 2,
                  "node 1 is lost with rank 2, whose process served it: ");
    expect_report(outcome, rank, "carry_on", "ok", -1);
    EXPECT_NE(outcome.find(rank, "stop"), nullptr) << "rank " << rank;
  }
  // Rank 1 had a connection with the lost node. Rank 5 had none, unless a liveness check during its
  // wait made one.
  expect_report(outcome, 1, "outcome", "peer_lost", 2, "the connection with 127.0.0.1:");
  expect_report(outcome, 5, "outcome", "peer_lost", 2, " 127.0.0.1:");
  // Rank 3 shared the lost node.
  expect_report(outcome, 3, "outcome", "peer_lost", 2);
  expect_report(outcome, 3, "outgoing", "ok", -1);
  for (const rma::RankExit& each : outcome.exits) {
    EXPECT_EQ(each.signal, each.rank == 2 ? SIGKILL : 0) << "rank " << each.rank;
    EXPECT_EQ(each.exit_code, 0) << "rank " << each.rank;
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

// Ranks of other nodes are alive, but their messages can no longer arrive.
TEST(NodeDeath, AWaiterForAnotherNodeIsNotifiedOfTheDeathOnItsOwnNode) {
  Plan plan = on_three_nodes("node:node_peer_is_unreachable", SIGKILL);
  plan.ranks = 4;
  const Outcome outcome = direct(plan);
  EXPECT_FALSE(outcome.hung);
  EXPECT_TRUE(outcome.leftovers.empty());
  expect_report(outcome, 3, "lock", "peer_lost", 0);
  expect_report(outcome, 3, "lock_again", "ok", -1);
  expect_report(outcome, 3, "flag", "peer_lost", 2, "nothing from rank 0 can arrive any more");
  expect_report(outcome, 3, "notice", "peer_lost", 2, "nothing from rank 0 can arrive any more");
  expect_report(outcome, 3, "barrier", "peer_lost", 2);
  expect_report(outcome, 3, "team", "peer_lost", 2);
  for (const int rank : {0, 1, 3}) {
    EXPECT_NE(outcome.find(rank, "stop"), nullptr) << "rank " << rank;
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

// A message that a member sent before it freed the team may arrive late.
TEST(NodeDeath, ATeamMayBeFreedWhileAnothersLastStepIsUnderWay) {
  Plan plan = on_three_nodes("node:team_is_freed_early", SIGSTOP);
  plan.ranks = 4;
  plan.continue_after = std::chrono::milliseconds(1500);
  const Outcome outcome = direct(plan);
  EXPECT_FALSE(outcome.hung);
  for (const int rank : {0, 3}) {
    expect_report(outcome, rank, "outcome", "ok", -1);
    EXPECT_EQ(outcome.find(rank, "setting"), nullptr) << "rank " << rank;
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

TEST(NodeDeath, AFirstRankThatStopsStillServesItsNode) {
  const Outcome outcome = direct(on_three_nodes("node:agent_host_stops", 0));
  EXPECT_FALSE(outcome.hung);
  EXPECT_TRUE(outcome.leftovers.empty());
  for (const int rank : {0, 1, 3, 4, 5}) {
    expect_report(outcome, rank, "outcome", "ok", -1);
    expect_report(outcome, rank, "node_peer", "ok", -1);
    expect_report(outcome, rank, "carry_on", "ok", -1);
    expect_report(outcome, rank, "stop", "ok", -1);
  }
  expect_report(outcome, 2, "left", "ok", -1);
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

TEST(NodeDeath, TheOnlyRankOfANodeThatStopsIsKnownToHaveLeftOnAllOfSixNodes) {
  Plan plan = on_three_nodes("node:only_rank_stops", 0);
  plan.ranks = 7;
  plan.environment = {{"TESSERA_TRANSPORT", "shm,tcp"}, {"TESSERA_RANKS_PER_NODE", "1"}};
  const Outcome outcome = direct(plan);
  EXPECT_FALSE(outcome.hung);
  EXPECT_TRUE(outcome.leftovers.empty());
  expect_report(outcome, 3, "left", "ok", -1);
  for (const int rank : {0, 1, 2, 4, 5, 6}) {
    expect_report(outcome, rank, "outcome", "closed", 3);
    expect_report(outcome, rank, "carry_on", "ok", -1);
    expect_report(outcome, rank, "stop", "ok", -1);
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

// An agent that forwards requests dies: its own node is lost, and requests to other nodes take
// another route.
class IntermediaryDeath : public testing::TestWithParam<const char*> {};

TEST_P(IntermediaryDeath, CostsItsOwnNodeOnly) {
  Plan plan = on_three_nodes("node:intermediary_dies", SIGKILL);
  plan.victim = 3;
  plan.delay = std::chrono::milliseconds(200);
  plan.environment = {
      {"TESSERA_TRANSPORT", "shm,tcp"},
      {"TESSERA_RANKS_PER_NODE", "1"},
      {"TESSERA_TUNE",
       std::string("liveness_ms=20,server_cluster=3,server_replies=") + GetParam()}};
  const Outcome outcome = direct(plan);
  EXPECT_FALSE(outcome.hung);
  EXPECT_TRUE(outcome.leftovers.empty());
  expect_report(outcome, 0, "outcome", "peer_lost", 3, "node 3 is lost with rank 3");
  for (const int rank : {0, 1, 2, 4, 5}) {
    expect_report(outcome, rank, "round", "ok", -1);
    expect_report(outcome, rank, "victim", "peer_lost", 3, "node 3 is lost with rank 3");
    expect_report(outcome, rank, "carry_on", "ok", -1);
    EXPECT_NE(outcome.find(rank, "stop"), nullptr) << "rank " << rank;
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

INSTANTIATE_TEST_SUITE_P(Replies, IntermediaryDeath, testing::Values("direct", "via"),
                         [](const auto& each) { return std::string(each.param); });

// A fence covers a flag even if there was no put or get before it.
TEST(NodeDeath, AFenceReportsALateFlagThoughNothingElseWasSent) {
  const Outcome outcome = direct(on_three_nodes("node:flag_comes_too_late", 0));
  EXPECT_FALSE(outcome.hung);
  expect_report(outcome, 5, "outcome", "closed", 0, "it was freed or never created");
  expect_report(outcome, 5, "later", "ok", -1);
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

}  // namespace
}  // namespace tessera::fault
