// SPDX-License-Identifier: BSD-3-Clause
//
// A rank is killed at a random moment while all append time steps to a file, again and again to the
// same file. Each time the file has exactly the steps that were flushed, or one more whose flush
// did not return; h5py reads it, and so does the next run.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>

#include "tests/fault/program.hpp"
#include "tests/fault/run.hpp"
#include "tests/support/random_shape.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::fault {
namespace {

constexpr int ranks = 3;
constexpr int rounds = 8;
constexpr int max_rounds = 30;  // if no step was flushed yet
constexpr int max_delay_ms = 60;

// Prints the number of steps, if all elements are right.
constexpr const char* checker = R"(
import sys, h5py, numpy as np
f = h5py.File(sys.argv[1], 'r')
steps = int(f.attrs['steps'])
for name in ('T', 'fields/plain'):
    d = f[name]
    assert d.shape == (steps, 40, 30), (name, d.shape, steps)
    assert (d[...] == 1 + np.arange(steps)[:, None, None]).all(), name
print(steps)
)";

Ending run_python(const std::string& program, const std::string& path) {
  return Program({"/usr/bin/python3", "-c", program, path}).wait();
}

// The number of steps in the file; 0 if it does not exist.
long steps_in(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return 0;
  }
  const Ending ending = run_python(checker, path);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  return ending.exit_code == 0 ? std::stol(ending.output) : -1;
}

// The most steps that a survivor has flushed.
long flushed_steps(const Outcome& outcome) {
  long most = 0;
  for (const Report& each : outcome.reports) {
    most = each.step == "flushed" ? std::max(most, each.elapsed_ms) : most;
  }
  return most;
}

void expect_survivors(const Plan& plan, const Outcome& outcome) {
  EXPECT_FALSE(outcome.hung);
  EXPECT_TRUE(outcome.leftovers.empty());
  for (int rank = 0; rank < plan.ranks; ++rank) {
    if (rank == plan.victim) {
      continue;
    }
    const Report* const report = outcome.find(rank, "outcome");
    ASSERT_NE(report, nullptr) << "rank " << rank;
    EXPECT_EQ(report->code, "peer_lost") << report->message;
    EXPECT_EQ(report->named_rank, plan.victim) << report->message;
  }
}

TEST(OutputDeath, LeavesAPrefixOfTheSteps) {
  if (run_python("import h5py, numpy", "").exit_code != 0) {
    GTEST_SKIP() << "this machine has no h5py for /usr/bin/python3 (Debian's python3-h5py)";
  }
  const ::tessera::test::TemporaryFolder folder;
  const std::string path = folder.file("run.h5");
  std::mt19937_64 random = rma::test::make_random();
  long before = 0;
  for (int round = 0; round < rounds || (before == 0 && round < max_rounds); ++round) {
    // On a busy machine the first step takes longer.
    const int longest_ms = before == 0 ? max_delay_ms * (round + 1) : max_delay_ms;
    const Plan plan{.scenario = "inside_output_appends",
                    .ranks = ranks,
                    .victim = static_cast<int>(rma::test::random_in(random, 0, ranks - 1)),
                    .delay = std::chrono::milliseconds(rma::test::random_in(random, 0, longest_ms)),
                    .environment = {{"FAULT_OUTPUT", path}}};
    const Outcome outcome = direct(plan);
    expect_survivors(plan, outcome);
    const long steps = steps_in(path);
    const long flushed = std::max(before, flushed_steps(outcome));
    EXPECT_GE(steps, flushed) << "a flush that returned is lost";
    EXPECT_LE(steps, flushed + 1);
    if (HasFailure()) {
      FAIL() << "round " << round << ", victim " << plan.victim << ", after " << plan.delay.count()
             << " ms:\n"
             << describe(outcome);
    }
    before = steps;
  }
  EXPECT_GT(before, 0) << "no run lived long enough";
}

}  // namespace
}  // namespace tessera::fault
