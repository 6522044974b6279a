// SPDX-License-Identifier: BSD-3-Clause
//
// Each check of all ranks together: when it is green, yellow and red, and what it says then.
#include <gtest/gtest.h>

#include "tests/apps/tool/surroundings_of.hpp"

namespace tessera::tool {
namespace {

using rma::NodeId;

Picture alone() {
  Picture all = job_of(1, 1);
  all.ranks.front() = healthy();
  return all;
}

TEST(CheckLauncher, SaysWhoStartedHowManyRanks) {
  EXPECT_EQ(check_launcher(alone()), green("launcher", "none: this process is alone"));
  EXPECT_EQ(check_launcher(job_of(2, 3)), green("launcher", "mpirun: 6 ranks on 2 nodes"));
  EXPECT_EQ(check_launcher(job_of(1, 3)), green("launcher", "mpirun: 3 ranks on one node"));
  EXPECT_EQ(check_launcher(emulated(2, 2)),
            green("launcher", "mpirun: 4 ranks on 2 nodes that 1 machine emulates"));
}

TEST(CheckLauncher, IsYellowInAnAllocationOfMore) {
  Picture all = alone();
  all.ranks.front().launch.allocated = 8;
  EXPECT_EQ(check_launcher(all),
            yellow("launcher", "none, so this process is alone in a Slurm allocation of 8 tasks",
                   "start it as srun --mpi=pmix, or with mpirun, to look at all of them"));
}

TEST(CheckLauncher, IsRedWhereEachProcessIsAlone) {
  Picture all = alone();
  Launch& launch = all.ranks.front().launch;
  launch.launcher = "srun";
  launch.told_ranks = 4;
  const char* const found =
      "srun started 4 processes, and each of them is alone: they would be 4 jobs of one rank";
  EXPECT_EQ(check_launcher(all),
            red("launcher", found,
                "start it with the mpirun of Open MPI v4.1.4; under Slurm with srun --mpi=pmix"));
  launch.remedy = "start it with the right one";
  EXPECT_EQ(check_launcher(all), red("launcher", found, "start it with the right one"));
  launch.asked = "alone";
  EXPECT_EQ(check_launcher(all), red("launcher", found, "unset TESSERA_BOOTSTRAP, which is alone"));
}

TEST(CheckLauncher, IsRedWhereRanksCouldNotMeet) {
  Picture all = alone();
  all.ranks.front().launch.error = "this process was not started by tessera-run";
  all.ranks.front().launch.remedy = "start it as: tessera-run -n 4 program";
  EXPECT_EQ(check_launcher(all), red("launcher", "this process was not started by tessera-run",
                                     "start it as: tessera-run -n 4 program"));
}

TEST(CheckSameSettings, IsYellowOrRedWhereRanksDiffer) {
  const char* const name = "settings of all ranks";
  const char* const remedy =
      "give all ranks the same environment: mpirun -x NAME, or srun --export=ALL";
  EXPECT_EQ(check_same_settings(alone()), green(name, "there is one rank"));
  Picture all = job_of(1, 3);
  all.ranks[1].configuration.changed = {"TESSERA_LOG=debug", "TESSERA_PROFILE=json",
                                        "TESSERA_PROFILE_FILE=here.json"};
  EXPECT_EQ(check_same_settings(all), green(name, "are the same"));
  all.ranks[1].configuration.changed = {"TESSERA_SPIN_NS=5"};
  EXPECT_EQ(check_same_settings(all),
            yellow(name, "TESSERA_SPIN_NS=5 holds on only one of the ranks 0 and 1", remedy));
  for (const char* const line : {"TESSERA_PROFILE_EVENTS=5", "TESSERA_COLLECTIVE_SLOT=256"}) {
    all.ranks[1].configuration.changed = {line};
    EXPECT_EQ(check_same_settings(all).state, State::yellow) << line;
  }
  for (const char* const line : {"TESSERA_TRANSPORT=shm", "TESSERA_RANKS_PER_NODE=2",
                                 "TESSERA_BOOTSTRAP=mpi", "TESSERA_GHOST_LETTER=0"}) {
    all.ranks[1].configuration.changed = {line};
    EXPECT_EQ(check_same_settings(all).state, State::red) << line;
  }
  all.ranks[1].configuration.changed = {"TESSERA_SPIN_NS=5"};
  all.ranks[2].configuration.changed = {"TESSERA_CHUNK=1", "TESSERA_ACCUMULATE=origin"};
  EXPECT_EQ(check_same_settings(all),
            red(name,
                "TESSERA_ACCUMULATE=origin holds on only one of the ranks 0 and 2, and has to be "
                "the same",
                remedy));
}

TEST(CheckProcessors, CountsThoseOfAMachineForAllItsRanks) {
  EXPECT_EQ(check_processors(alone()), green("processors", "4 of 4 may be used by 1 rank"));
  EXPECT_EQ(
      check_processors(job_of(2, 4)),
      green("processors", "4 of 4 may be used by 4 ranks on h1; enough on all of 2 machines"));
  // Emulated nodes share the machine.
  EXPECT_EQ(check_processors(emulated(2, 3)),
            yellow("processors", "6 ranks share 4 processors: ranks wait for each other's turn",
                   "start at most 4 ranks a machine"));
  EXPECT_EQ(check_processors(job_of(2, 5)).found,
            "5 ranks share 4 processors on h1: ranks wait for each other's turn");
}

TEST(CheckProcessors, IsYellowWhereTheGroupGivesLessTime) {
  Picture all = job_of(1, 2);
  all.ranks.front().processors.quota = 1.5;
  EXPECT_EQ(check_processors(all),
            yellow("processors", "2 ranks have 1.5 processors' worth of time, by a control group",
                   "raise the control group's limit (CPUs of the container or batch job)"));
  all = alone();
  all.ranks.front().processors.quota = 0.5;
  EXPECT_EQ(check_processors(all).found,
            "1 rank has 0.5 processors' worth of time, by a control group");
}

TEST(CheckBinding, TellsRanksThatShareAProcessor) {
  const char* const remedy =
      "mpirun --bind-to core, or none; a cpuset of the batch system or taskset may do it, too";
  Picture all = job_of(1, 2);
  EXPECT_EQ(check_binding(all), green("binding", "none: each rank may use all processors"));
  all.ranks[0].processors.usable = {0, 1, 3};
  all.ranks[1].processors.usable = {2};
  EXPECT_EQ(check_binding(all), green("binding", "rank 0 to 0-1,3 of 4"));
  all.ranks[0].processors.usable = {2};
  EXPECT_EQ(check_binding(all),
            red("binding", "all 2 ranks are bound to processor 2 of 4", remedy));
  all = job_of(1, 3);
  all.ranks[0].processors.usable = {0};
  all.ranks[1].processors.usable = {1};
  all.ranks[2].processors.usable = {1};
  EXPECT_EQ(check_binding(all),
            yellow("binding", "ranks 1 and 2 are both bound to processor 1", remedy));
}

TEST(CheckBinding, OneProcessorIsNobodysChoice) {
  Picture all = job_of(1, 2);
  for (Surroundings& each : all.ranks) {
    each.processors = {.usable = {0}, .online = 1, .quota = 0};
  }
  EXPECT_EQ(check_binding(all), green("binding", "none: each rank may use all processors"));
}

TEST(CheckAgent, IsYellowWhereRanksTakeAllProcessors) {
  const Finding own = green("agent",
                            "each node has a processor for it; with TESSERA_SERVER=adaptive it "
                            "stays awake for 1 s after a request");
  EXPECT_EQ(check_agent(job_of(1, 4)), green("agent", "one node needs none"));
  EXPECT_EQ(check_agent(job_of(2, 3)), own);
  const auto none = [](const std::string& node, const std::string& reason) {
    return yellow("agent", "that of " + node + " has no processor to itself: " + reason,
                  "leave a processor of each node free where other nodes' requests should not wait "
                  "for computations");
  };
  EXPECT_EQ(check_agent(job_of(2, 4)),
            none("h1", "4 processors for 4 threads of ranks and 1 of agents"));
  EXPECT_EQ(check_agent(emulated(4, 1)),
            none("node 0", "4 processors for 4 threads of ranks and 4 of agents"));
  EXPECT_EQ(check_agent(emulated(2, 1)), own);
  Picture threaded = job_of(2, 1);
  threaded.ranks[1].blas.openblas_variable = "4";
  EXPECT_EQ(check_agent(threaded),
            none("h2", "4 processors for 4 threads of ranks and 1 of agents"));
  Picture limited = job_of(2, 1);
  limited.ranks[1].processors.quota = 1.5;
  EXPECT_EQ(check_agent(limited), none("h2",
                                       "a control group gives 1.5 processors' worth of time for 1 "
                                       "thread of ranks and 1 of agents"));
  limited.ranks[1].processors.quota = 2;
  EXPECT_EQ(check_agent(limited), own);
  limited.ranks[1].processors.agent_threads = 2;
  EXPECT_EQ(check_agent(limited), none("h2",
                                       "a control group gives 2 processors' worth of time for 1 "
                                       "thread of ranks and 2 of agents"));
}

TEST(CheckBlas, IsGreenForOneThreadARankAndForOneRank) {
  EXPECT_EQ(check_blas(alone()), green("BLAS threads", "OpenBLAS says 4"));
  EXPECT_EQ(check_blas(job_of(1, 4)),
            green("BLAS threads", "OPENBLAS_NUM_THREADS=1; OpenBLAS says 4"));
  EXPECT_EQ(check_blas(job_of(1, 8)),  // on 4 processors: no more threads than ranks
            green("BLAS threads", "OPENBLAS_NUM_THREADS=1; OpenBLAS says 4"));
}

TEST(CheckBlas, IsYellowForMoreThreadsThanProcessors) {
  Picture all = job_of(1, 2);
  const auto set = [&all](std::string Blas::*what, const std::string& text) {
    for (Surroundings& rank : all.ranks) {
      rank.blas.*what = text;
    }
  };
  set(&Blas::openblas_variable, "");
  EXPECT_EQ(check_blas(all),
            yellow("BLAS threads",
                   "4 for each of 2 ranks on 4 processors, but in Tessera's own operations, which "
                   "take their share",
                   "export OPENBLAS_NUM_THREADS=2"));
  set(&Blas::omp_variable, "8");
  EXPECT_EQ(check_blas(all),
            yellow("BLAS threads",
                   "OMP_NUM_THREADS=8 for each of 2 ranks on 4 processors; OpenBLAS says 4",
                   "export OMP_NUM_THREADS=2"));
  set(&Blas::openblas_variable, "many");  // goes before the other
  EXPECT_EQ(check_blas(all),
            yellow("BLAS threads",
                   "OPENBLAS_NUM_THREADS=many is not a number of threads; OpenBLAS says 4",
                   "export OPENBLAS_NUM_THREADS=1"));
  for (Surroundings& rank : all.ranks) {
    rank.blas.setting = 16;
    rank.blas.config = "";
  }
  EXPECT_EQ(check_blas(all),
            yellow("BLAS threads",
                   "TESSERA_BLAS_THREADS=16 for each of 2 ranks on 4 processors; OpenBLAS could "
                   "not be asked",
                   "export TESSERA_BLAS_THREADS=2"));
}

TEST(CheckBlas, AddsUpTheThreadsOfEachMachinesRanks) {
  Picture all = job_of(2, 3);  // of 4 processors each
  all.ranks[4].blas.openblas_variable = "2";
  EXPECT_EQ(check_blas(all).state, State::green) << "4 threads on 4 processors";
  all.ranks[4].blas.openblas_variable = "3";
  EXPECT_EQ(check_blas(all),
            yellow("BLAS threads",
                   "OPENBLAS_NUM_THREADS=3 for one rank, 5 for all 3 on 4 processors on h2; "
                   "OpenBLAS says 4",
                   "export OPENBLAS_NUM_THREADS=1"));
  all.ranks[4].blas.openblas_variable = "x";
  EXPECT_EQ(check_blas(all).state, State::yellow);
}

TEST(CheckConnections, SaysWhatWasTriedAndWhatNot) {
  const char* const name = "connections between nodes";
  EXPECT_EQ(check_connections(job_of(1, 2)), green(name, "not tried: all ranks are on one node"));
  Picture all = job_of(2, 1);
  all.connections.slowest = std::chrono::microseconds(700);
  EXPECT_EQ(
      check_connections(all),
      green(name, "all 2 made, the slowest in 0.7 ms: h1 at 10.0.0.1:4000; h2 at 10.0.0.2:4000"));
  all.connections_error = "MPI_Allgather: broken";
  EXPECT_EQ(check_connections(all),
            red(name, "MPI_Allgather: broken", "fix that first; nothing could be tried"));
}

TEST(CheckConnections, IsYellowForASlowOne) {
  Picture all = job_of(2, 1);
  all.connections.slowest = std::chrono::milliseconds(1001);
  all.connections.slowest_from = NodeId{1};
  all.connections.slowest_to = NodeId{0};
  EXPECT_EQ(
      check_connections(all),
      yellow("connections between nodes", "all 2 made, the slowest in 1001.0 ms, from h2 to h1",
             "look for lost packets between the two: ping, ip -s link, ethtool -S"));
}

TEST(CheckConnections, IsRedAndNamesWhoDoesNotReachWhom) {
  Picture all = job_of(3, 1);
  all.connections.failed = {
      {NodeId{0}, NodeId{2}, "connecting to 10.0.0.3:4000: no answer within 3000 ms"},
      {NodeId{1}, NodeId{1}, "there is no network interface 'ib0'"}};
  EXPECT_EQ(check_connections(all),
            red("connections between nodes",
                "h1 doesn't reach h3: connecting to 10.0.0.3:4000: no answer within 3000 ms; h2 "
                "can't listen: there is no network interface 'ib0'",
                "open all TCP ports between the nodes (firewall, security group), or name another "
                "network: TESSERA_INTERFACE"));
  for (int more = 0; more < 5; ++more) {
    all.connections.failed.push_back({NodeId{2}, NodeId{0}, "refused"});
  }
  const std::string found = check_connections(all).found;
  EXPECT_TRUE(found.ends_with("; h3 doesn't reach h1: refused; and 3 more")) << found;
}

TEST(CheckConnections, IsNoMatterOfFirewallsWhereNodesCannotListen) {
  Picture all = job_of(2, 1);
  all.connections.failed = {{NodeId{0}, NodeId{0}, "TESSERA_TCP_CONGESTION=foo is not usable"}};
  EXPECT_EQ(
      check_connections(all),
      red("connections between nodes", "h1 can't listen: TESSERA_TCP_CONGESTION=foo is not usable",
          "remove what keeps it from listening, as it says: TESSERA_INTERFACE, "
          "TESSERA_TCP_CONGESTION, or a limit"));
}

TEST(CheckClocks, IsYellowWhereTheyAreApart) {
  const char* const name = "clocks of all machines";
  EXPECT_EQ(check_clocks(job_of(1, 2)), green(name, "there is one machine"));
  Picture all = job_of(2, 1);
  all.ranks[1].clock.seconds = 1000.25;
  EXPECT_EQ(check_clocks(all), green(name, "agree within 0.250 s"));
  all.ranks[1].clock.seconds = 1003.2;
  EXPECT_EQ(check_clocks(all),
            yellow(name, "h2 is 3.2 s ahead of h1: logs and traces don't fit together",
                   "keep them right with chrony or ntpd"));
}

TEST(CheckJob, HasAllStates) {
  EXPECT_EQ(check_job(alone()),
            green("job", "one of this process alone starts, moves data and ends"));
  Picture all = job_of(2, 2);
  EXPECT_EQ(check_job(all), green("job", "one of 4 ranks on 2 nodes starts, moves data and ends"));
  all.trial_errors[2] = "cannot map 64.0 MiB\n  hint: raise the limit";
  EXPECT_EQ(check_job(all), red("job", "on rank 2: cannot map 64.0 MiB", "raise the limit"));
  all.trial_errors[2] = "put 3 to rank 1 and got 4 from there";
  EXPECT_EQ(check_job(all).remedy, "report it, with what `tessera doctor --json` writes");
  all.is_job_tried = false;
  EXPECT_EQ(check_job(all), yellow("job", "not tried", "fix what is red first"));
}

}  // namespace
}  // namespace tessera::tool
