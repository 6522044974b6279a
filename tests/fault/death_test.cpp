// SPDX-License-Identifier: BSD-3-Clause
//
// One rank of a job dies in the middle of an operation. Every case checks the same: the survivors
// get an error that names the dead rank within a few liveness checks. They continue with everything
// that does not need the dead rank, they end by returning from main(), and nothing is left on the
// machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/fault/run.hpp"

namespace tessera::fault {
namespace {

// Liveness checks are 20 ms apart here. The tests do not measure time: this limit only
// distinguishes a prompt report from a late one.
constexpr long soon_ms = 10'000;

void expect_clean_end(const Plan& plan, const Outcome& outcome) {
  EXPECT_FALSE(outcome.hung);
  EXPECT_TRUE(outcome.leftovers.empty());
  for (const rma::RankExit& each : outcome.exits) {
    const bool is_struck = each.rank == plan.victim && plan.signal == SIGKILL;
    EXPECT_EQ(each.signal, is_struck ? SIGKILL : 0) << "rank " << each.rank;
    EXPECT_EQ(each.exit_code, 0) << "rank " << each.rank;
  }
}

void expect_report(const Outcome& outcome, int rank, const std::string& step,
                   const std::string& code, int named_rank) {
  const Report* const report = outcome.find(rank, step);
  ASSERT_NE(report, nullptr) << "rank " << rank << " did not report " << step;
  EXPECT_EQ(report->code, code) << "rank " << rank << ", " << step;
  EXPECT_EQ(report->named_rank, named_rank) << "rank " << rank << ", " << step;
  EXPECT_LT(report->elapsed_ms, soon_ms);
}

// If a scenario puts to a victim on another node before its loss is known, stop() reports the loss
// of those puts and flags once more.
bool may_be_reported_again(const Plan& plan, const Outcome& outcome, int rank) {
  const std::string& scenario = plan.scenario;
  const bool puts = scenario.starts_with("waits_for_receive") || scenario == "exchanges_messages" ||
                    scenario == "inside_halo_updates" ||
                    scenario == "inside_block_and_async_collectives";
  const Report* const report = outcome.find(rank, "stop");
  return puts && std::getenv("TESSERA_RANKS_PER_NODE") != nullptr && report != nullptr &&
         report->code == "peer_lost";
}

// Checks that all survivors got `code` with the victim's number in the scenario's step, and that
// they then continued.
void expect_survivors(const Plan& plan, const Outcome& outcome, const std::string& code) {
  for (int rank = 0; rank < plan.ranks; ++rank) {
    if (rank != plan.victim) {
      expect_report(outcome, rank, "outcome", code, plan.victim);
      expect_report(outcome, rank, "carry_on", "ok", -1);
      const bool again = may_be_reported_again(plan, outcome, rank);
      expect_report(outcome, rank, "stop", again ? code : "ok", again ? plan.victim : -1);
    }
  }
}

Outcome expect_loss(const Plan& plan) {
  Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  expect_survivors(plan, outcome, "peer_lost");
  if (testing::Test::HasFailure()) {
    ADD_FAILURE() << plan.scenario << " with victim " << plan.victim << ":\n" << describe(outcome);
  }
  return outcome;
}

// ---- The survivors wait for the dead rank ------------------------------------------------------

class RankThatOthersWaitFor : public testing::TestWithParam<const char*> {};

TEST_P(RankThatOthersWaitFor, IsReportedLostByAllSurvivors) {
  expect_loss({.scenario = GetParam(), .ranks = 3, .victim = 1});
}

TEST_P(RankThatOthersWaitFor, IsReportedLostWhenItIsTheFirst) {
  expect_loss({.scenario = GetParam(), .ranks = 2, .victim = 0});
}

INSTANTIATE_TEST_SUITE_P(
    Fault, RankThatOthersWaitFor,
    testing::Values("absent_from_barrier", "absent_from_broadcast", "absent_from_allreduce",
                    "absent_from_allgather", "absent_from_alltoallv", "absent_from_scan",
                    "absent_from_allreduce_async", "absent_from_split", "absent_from_team_creation",
                    "absent_from_lock_set_creation", "absent_from_allocation", "absent_from_attach",
                    "absent_from_free", "absent_from_lock_set_free", "waits_for_flag",
                    "waits_for_notification", "notified", "waits_for_message", "waits_for_receive",
                    "waits_for_receives"),
    [](const auto& each) { return std::string(each.param); });

TEST(Fault, AWaiterForAMemberThatKnowsOfTheDeathIsNotifiedToo) {
  for (const int victim : {1, 3}) {
    expect_loss({.scenario = "deserted_barrier", .ranks = 4, .victim = victim});
    expect_loss({.scenario = "deserted_team_creation", .ranks = 4, .victim = victim});
  }
}

TEST(Fault, AnImpossibleNotificationIsDetectedAmongOthers) {
  const Plan plan{.scenario = "waits_for_notification_among_others", .ranks = 3, .victim = 1};
  const Outcome outcome = expect_loss(plan);
  expect_report(outcome, 0, "notified", "peer_lost", 1);
}

TEST(Fault, AWaiterForAnyRanksMessageIsNotifiedThatNoRankIsLeft) {
  expect_loss({.scenario = "waits_for_message_from_any", .ranks = 2, .victim = 0});
}

TEST(Fault, AnImpossibleMessageIsDetectedAmongOthers) {
  const Plan plan{.scenario = "waits_for_message_among_others", .ranks = 3, .victim = 1};
  const Outcome outcome = expect_loss(plan);
  expect_report(outcome, 0, "notified", "peer_lost", 1);
}

// ---- The dead rank was in the middle of an operation -------------------------------------------

void expect_loss_at_any_moment(const std::string& scenario) {
  for (const int delay_ms : {0, 3, 11}) {
    expect_loss({.scenario = scenario,
                 .ranks = 4,
                 .victim = delay_ms % 4,
                 .delay = std::chrono::milliseconds(delay_ms)});
  }
}

class BusyRank : public testing::TestWithParam<const char*> {};

TEST_P(BusyRank, DiesAtAnyMomentWithoutHarmToOthers) {
  expect_loss_at_any_moment(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Fault, BusyRank,
                         testing::Values("inside_barriers", "inside_collectives",
                                         "inside_block_and_async_collectives", "inside_allocations",
                                         "inside_arena", "streaming_puts", "streaming_gets",
                                         "streaming_accumulates", "streaming_fetch_adds",
                                         "fights_for_lock"),
                         [](const auto& each) { return std::string(each.param); });

// Even the rank that exchanges no ghost cells with the victim gets the error.
TEST(Fault, ADeathIsReportedToAllRanksThatExchangeGhostCells) {
  expect_loss_at_any_moment("inside_halo_updates");
}

TEST(Fault, ADeathIsReportedToAllRanksThatExchangeMessagesWithIt) {
  expect_loss_at_any_moment("exchanges_messages");
}

TEST(Fault, AttachedMemoryGoesWithItsRank) {
  expect_loss({.scenario = "attached_memory", .ranks = 3, .victim = 1});
  expect_loss({.scenario = "attached_memory", .ranks = 2, .victim = 0});
}

// ---- The dead rank held a lock -----------------------------------------------------------------

// From another node, the death of a rank looks like the loss of its connection.
TEST(Fault, ALockOfADeadRankGoesToItsWaitersAndOneIsNotified) {
  const std::string died = std::getenv("TESSERA_RANKS_PER_NODE") == nullptr
                               ? "died"
                               : "died, or lost its connection to the lock's node,";
  for (const char* scenario : {"holds_lock", "holds_contended_lock"}) {
    const Outcome outcome = expect_loss({.scenario = scenario, .ranks = 4, .victim = 2});
    EXPECT_EQ(outcome.count("notified"), 1) << scenario << "\n" << describe(outcome);
    for (const Report& each : outcome.reports) {
      if (each.step == "notified") {
        EXPECT_EQ(each.named_rank, 2);
        EXPECT_EQ(each.message,
                  "rank 2 " + died +
                      " while it held lock 1 of rank 0|  hint: repair what the lock guards; "
                      "the lock itself is free again");
      }
    }
  }
}

TEST(Fault, ADeadWaiterIsLeftOutOfTheQueue) {
  const Outcome outcome = expect_loss({.scenario = "waits_for_lock", .ranks = 3, .victim = 1});
  EXPECT_EQ(outcome.count("notified"), 0) << describe(outcome);
}

class InternalLock : public testing::TestWithParam<const char*> {};

TEST_P(InternalLock, OfADeadRankIsTakenOver) {
  expect_loss({.scenario = GetParam(), .ranks = 3, .victim = 1});
  expect_loss({.scenario = GetParam(), .ranks = 3, .victim = 0});
}

INSTANTIATE_TEST_SUITE_P(Fault, InternalLock,
                         testing::Values("holds_stripes", "holds_bitmap", "holds_inboxes"),
                         [](const auto& each) { return std::string(each.param); });

// ---- Memory ------------------------------------------------------------------------------------

TEST(Fault, MemoryThatADeadRankSharedGoesWithTheLastOfTheOthers) {
  for (const int victim : {0, 1, 2}) {
    expect_loss({.scenario = "uses_much_memory", .ranks = 3, .victim = victim});
  }
}

// ---- Not dead ----------------------------------------------------------------------------------

TEST(Fault, ARankThatLeavesProperlyIsNotReportedDead) {
  const Plan plan{.scenario = "leaves", .ranks = 3, .victim = 1, .signal = 0};
  const Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  expect_survivors(plan, outcome, "closed");
  expect_report(outcome, 1, "left", "ok", -1);
  for (const int rank : {0, 2}) {
    const Report* const report = outcome.find(rank, "outcome");
    ASSERT_NE(report, nullptr);
    EXPECT_EQ(report->message, "rank 1 has left the job and takes part in no further collectives");
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

TEST(Fault, AStoppedRankIsNotReportedDead) {
  const Plan plan{.scenario = "pauses",
                  .ranks = 3,
                  .victim = 1,
                  .signal = SIGSTOP,
                  .continue_after = std::chrono::milliseconds(400)};
  const Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    expect_report(outcome, rank, "outcome", "ok", -1);
    expect_report(outcome, rank, "stop", "ok", -1);
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

// ---- While the job starts ----------------------------------------------------------------------

void expect_failed_start(const Plan& plan, const std::string& code, int named_rank) {
  const Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    if (rank != plan.victim) {
      expect_report(outcome, rank, "start", code, named_rank);
    }
  }
  EXPECT_FALSE(testing::Test::HasFailure()) << plan.scenario << ":\n" << describe(outcome);
}

// Job::start makes six exchanges and then forms the world team. The victim stops before each of
// them, and after each.
TEST(FaultAtStart, ARankThatDiesIsNamedAtEveryStep) {
  for (int exchange = 0; exchange < 6; ++exchange) {
    for (const char* where : {"", "+"}) {
      expect_failed_start({.scenario = "start:" + std::to_string(exchange) + where,
                           .ranks = 3,
                           .victim = exchange % 3},
                          "peer_lost", exchange % 3);
    }
  }
}

// The first rank whose wait times out reports it and ends. The others may receive that report
// before their own wait times out.
TEST(FaultAtStart, ARankThatDoesNotComeIsATimeOut) {
  const Plan plan{.scenario = "start:0",
                  .ranks = 3,
                  .victim = 2,
                  .delay = std::chrono::milliseconds(1000),
                  .environment = {{"TESSERA_START_TIMEOUT_MS", "200"}}};
  const Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  int timed_out = 0;
  for (const int rank : {0, 1}) {
    const Report* const report = outcome.find(rank, "start");
    ASSERT_NE(report, nullptr);
    if (report->code == "timed_out") {
      ++timed_out;
      EXPECT_TRUE(
          report->message.ends_with("of 3 ranks reached the start of the job within 200 ms"));
    } else {
      EXPECT_EQ(report->code, "peer_lost");
      EXPECT_EQ(report->named_rank, 1 - rank);
    }
  }
  EXPECT_GE(timed_out, 1);
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

// ---- Limits of one rank ------------------------------------------------------------------------

// Checks that all ranks fail with the same code, which names the rank that reached its limit.
void expect_all_refused(const Plan& plan, const std::string& code, const std::string& hint) {
  const Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  for (int rank = 0; rank < plan.ranks; ++rank) {
    const Report* const report = outcome.find(rank, "start");
    ASSERT_NE(report, nullptr) << "rank " << rank << "\n" << describe(outcome);
    EXPECT_EQ(report->code, code);
    EXPECT_EQ(report->named_rank, rank == plan.victim ? -1 : plan.victim);
    EXPECT_NE(report->message.find(hint), std::string::npos) << report->message;
  }
  EXPECT_FALSE(testing::Test::HasFailure()) << plan.scenario << ":\n" << describe(outcome);
}

TEST(FaultAtStart, OneRanksLimitOnOpenFilesIsReportedToAll) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "a sanitizer needs file descriptors itself";
#endif
  for (const int victim : {0, 1}) {
    for (const char* room : {"0", "1"}) {  // in addition to the descriptors that are open
      expect_all_refused({.scenario = std::string("start-with-files:") + room,
                          .ranks = 3,
                          .victim = victim,
                          .signal = 0},
                         "limit_exceeded", "open files");
    }
  }
}

TEST(FaultAtStart, OneRanksLimitOnAddressSpaceIsReportedToAll) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "a sanitizer needs address space itself";
#endif
  for (const int victim : {0, 1}) {
    expect_all_refused({.scenario = "start-with-mib:16", .ranks = 3, .victim = victim, .signal = 0},
                       "no_memory", "address space");
  }
}

// The node's first rank allocates an arena that fits its address space, and the others use that
// size.
TEST(FaultAtStart, TheArenaShrinksIntoTheAddressSpaceOfTheFirstRank) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "a sanitizer needs address space itself";
#endif
  const Plan plan{.scenario = "start-with-mib:600",
                  .ranks = 2,
                  .victim = 0,
                  .signal = 0,
                  .environment = {{"TESSERA_ARENA_MIB", "67108864"}}};
  const Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  for (const int rank : {0, 1}) {
    expect_report(outcome, rank, "start", "ok", -1);
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

// The victim's process id is that of its own process namespace. Outside, that id denotes a
// different process or none, so the victim's memory cannot be attached.
TEST(FaultAtStart, MemoryOfARankInAProcessNameSpaceOfItsOwnIsNotAttached) {
  const Outcome outcome = direct({.scenario = "attach-apart", .victim = 1, .signal = 0});
  EXPECT_FALSE(outcome.hung);
  if (outcome.count("impossible") > 0) {
    GTEST_SKIP() << "this user may not create namespaces";
  }
  for (const int rank : {0, 1, 2}) {
    const Report* const attach = outcome.find(rank, "attach");
    ASSERT_NE(attach, nullptr) << "rank " << rank;
    EXPECT_EQ(attach->code, "unsupported") << "rank " << rank;
    EXPECT_EQ(attach->named_rank, 1) << "rank " << rank;
    EXPECT_NE(attach->message.find("hint: allocate the region"), std::string::npos)
        << attach->message;
    ASSERT_NE(outcome.find(rank, "allocate"), nullptr) << "rank " << rank;
    EXPECT_EQ(outcome.find(rank, "allocate")->code, "ok") << "rank " << rank;
    EXPECT_EQ(outcome.exits[static_cast<std::size_t>(rank)].exit_code, 0) << "rank " << rank;
  }
  EXPECT_FALSE(HasFailure()) << describe(outcome);
}

TEST(FaultAtStart, ThereAreHintsAgainstRanksOnSeveralNodes) {
  const Plan plan{.scenario = "leaves",
                  .ranks = 2,
                  .victim = -1,
                  .signal = 0,
                  .environment = {{"TESSERA_RANKS_PER_NODE", "1"}, {"TESSERA_TRANSPORT", "shm"}}};
  const Outcome outcome = direct(plan);
  expect_clean_end(plan, outcome);
  for (const int rank : {0, 1}) {
    const Report* const report = outcome.find(rank, "start");
    ASSERT_NE(report, nullptr) << describe(outcome);
    EXPECT_EQ(report->code, "unreachable");
    EXPECT_TRUE(report->message.ends_with(
        "|  hint: add tcp to TESSERA_TRANSPORT, or start all ranks on one machine without "
        "TESSERA_RANKS_PER_NODE"))
        << report->message;
  }
}

}  // namespace
}  // namespace tessera::fault
