// SPDX-License-Identifier: BSD-3-Clause
//
// What a program prints about the run of its ranks, and its exit code.
#include "apps/common/run_ranks.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>

#include "apps/common/exit_codes.hpp"

namespace tessera::apps {
namespace {

using rma::Code;
using rma::Job;
using rma::Status;

constexpr int ranks = 3;

/// How a run of threads ended, and what it printed.
struct RunResult {
  int exit_code = -1;
  std::string errors;
};

RunResult run_and_capture(const RankProgram& body) {
  testing::internal::CaptureStderr();
  const int exit_code = run_ranks("program", ranks, body);
  return {exit_code, testing::internal::GetCapturedStderr()};
}

bool is_last(const Job& job) {
  return job.rank().value == job.size() - 1;
}

TEST(RunRanks, GivesTheExitCodeOfTheFirstRank) {
  const RunResult result =
      run_and_capture([](Job& job) { return Outcome{.exit_code = 3 + job.rank().value}; });
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.errors, "");
}

TEST(RunRanks, ReportsAnErrorOnce) {
  const RunResult result = run_and_capture([](Job&) {
    return Outcome{Status::error(Code::invalid_argument, "no such class"), exit_usage};
  });
  EXPECT_EQ(result.exit_code, exit_usage);
  EXPECT_EQ(result.errors, "program: no such class\n");
}

TEST(RunRanks, AnErrorNeverExitsWithZero) {
  EXPECT_EQ(run_and_capture([](Job& job) {
              return is_last(job) ? Outcome{Status::error(Code::closed, "gone"), 0} : Outcome{};
            }).exit_code,
            exit_failed);
}

// A rank could not allocate memory and left; the error of the other ranks must not hide that.
TEST(RunRanks, MissingMemoryOfOneRankIsReportedAsTheUsersToFix) {
  const RunResult result = run_and_capture([](Job& job) -> Outcome {
    if (is_last(job)) {
      throw std::bad_alloc();
    }
    return outcome_of(job.barrier().ok() ? rma::Result<int>(0)
                                         : Status::error(Code::peer_lost, "rank 2 is gone"));
  });
  EXPECT_EQ(result.exit_code, exit_usage);
  EXPECT_NE(result.errors.find("program: rank 2 could not allocate memory: "), std::string::npos)
      << result.errors;
}

TEST(OutcomeOf, ReportsWhatTheUserCanFix) {
  const auto code_of = [](Code code) {
    return outcome_of(Status::error(code, "no"), {Code::unsupported}).exit_code;
  };
  EXPECT_EQ(outcome_of(1).exit_code, 1);
  EXPECT_EQ(code_of(Code::invalid_argument), exit_usage);
  EXPECT_EQ(code_of(Code::no_memory), exit_usage);
  EXPECT_EQ(code_of(Code::limit_exceeded), exit_usage);
  EXPECT_EQ(code_of(Code::unsupported), exit_usage);
  EXPECT_EQ(code_of(Code::protocol), exit_failed);
  EXPECT_EQ(code_of(Code::peer_lost), exit_failed);
}

}  // namespace
}  // namespace tessera::apps
