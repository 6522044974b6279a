// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks under an MPI launcher: how they start and end, and what happens if one dies. The launcher
// then ends the whole run; Tessera must not hang or leave anything on the machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/fault/program.hpp"
#include "tests/fault/run.hpp"

namespace tessera::fault {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs the worker and checks that it leaves nothing on the machine. mpirun keeps its own files in
// the test's TMPDIR.
Ending run(const std::vector<std::string>& arguments, const Variables& further = {}) {
  const Traces traces;
  const ScopedEnvironment mark(traces.environment());
  const ScopedEnvironment settings(
      {{"TESSERA_TUNE", "liveness_ms=20"},
       {"TESSERA_ARENA_MIB", "256"},
       {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
       {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
       {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
       {"OMPI_MCA_hwloc_base_binding_policy", "none"},
       {"OMPI_MCA_btl_vader_backing_directory", traces.environment()[1].second}});
  const ScopedEnvironment last(further);
  Ending ending = Program(arguments).wait();
  const std::vector<std::string> left = traces.leftovers();
  EXPECT_TRUE(left.empty()) << testing::PrintToString(left);
  return ending;
}

Ending mpirun(const std::string& ranks, const std::string& scenario) {
  return run({TESSERA_MPIEXEC, "-n", ranks, MPI_FAULT_WORKER, scenario});
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(UnderMpirun, AJobStartsAndEndsMpiWhenTheProgramDidNot) {
  const Ending ending = mpirun("3", "plain");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(count_of(ending.output, "stopped, finalized 1\n"), 3) << ending.output;
}

TEST(UnderMpirun, JobsComeAndGoWithinTheProgramsMpi) {
  const Ending ending = mpirun("3", "users_mpi");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(count_of(ending.output, "MPI stayed 1\n"), 3) << ending.output;
  EXPECT_EQ(
      count_of(ending.output, "MPI is not running: MPI_Init was not called, or MPI_Finalize was\n"),
      3)
      << ending.output;
}

TEST(UnderMpirun, ASecondJobIsRefusedIfTheFirstHasEndedMpi) {
  const Ending ending = mpirun("2", "twice");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(count_of(ending.output,
                     "again: closed: MPI was finalised in this process and cannot start again\n"),
            2)
      << ending.output;
}

TEST(UnderMpirun, ARankThatDiesEndsTheRunAndLeavesNothing) {
  const Ending ending = mpirun("3", "die");
  EXPECT_NE(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(ending.signal, 0);
}

// The launcher of another MPI starts single processes that do not know of each other.
TEST(UnderAForeignLauncher, TheProcessReportsThatItSeesOnlyItself) {
  for (const auto& [launcher, ranks, variables] :
       {std::tuple<std::string, int, Variables>{
            "srun", 4, {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "0"}}},
        {"mpirun", 8, {{"PMI_SIZE", "8"}, {"PMI_RANK", "0"}}}}) {
    const Ending ending = run({MPI_FAULT_WORKER, "plain"}, variables);
    EXPECT_EQ(ending.exit_code, 1) << ending.output;
    EXPECT_NE(ending.output.find("unreachable: " + launcher + " says that it started " +
                                 std::to_string(ranks) +
                                 " processes, but this program's MPI sees only itself\n  hint: "
                                 "start it with the launcher of the MPI it was built with"),
              std::string::npos)
        << ending.output;
  }
}

TEST(UnderTesseraRun, MpiIsNotStarted) {
  const Ending ending = run({TESSERA_RUN, "-n", "2", MPI_FAULT_WORKER, "plain"});
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(count_of(ending.output, "stopped, finalized 0\n"), 2) << ending.output;
}

// The two processes would be two jobs of one rank each.
TEST(UnderTesseraRun, AProgramThatStartedMpiReportsThatItSeesOnlyItself) {
  const Ending ending = run({TESSERA_RUN, "-n", "2", MPI_FAULT_WORKER, "after_mpi"});
  EXPECT_EQ(
      count_of(ending.output,
               "after MPI_Init: unreachable: tessera-run says that it started 2 processes, but "
               "this program's MPI sees only itself\n  hint: start a program that calls "
               "MPI_Init itself with mpirun"),
      2)
      << ending.output;
}

}  // namespace
}  // namespace tessera::fault
