// SPDX-License-Identifier: BSD-3-Clause
//
// Each check of all ranks together: its states, and its messages.
#include <gtest/gtest.h>

#include "tests/apps/tool/environment_of.hpp"

namespace tessera::tool {
namespace {

using rma::NodeId;

Snapshot alone() {
  Snapshot all = job_of(1, 1);
  all.ranks.front() = healthy();
  return all;
}

TEST(CheckLauncher, ReportsTheLauncherAndTheNumberOfRanks) {
  EXPECT_EQ(check_launcher(alone()), green("launcher", "none: this process runs alone"));
  EXPECT_EQ(check_launcher(job_of(2, 3)), green("launcher", "mpirun: 6 ranks on 2 nodes"));
  EXPECT_EQ(check_launcher(job_of(1, 3)), green("launcher", "mpirun: 3 ranks on one node"));
  EXPECT_EQ(check_launcher(emulated(2, 2)),
            green("launcher", "mpirun: 4 ranks on 2 nodes that 1 machine emulates"));
}

TEST(CheckLauncher, IsYellowInAnAllocationOfMore) {
  Snapshot all = alone();
  all.ranks.front().launch.allocated = 8;
  EXPECT_EQ(check_launcher(all),
            yellow("launcher", "none: this process runs alone in a Slurm allocation of 8 tasks",
                   "run it with srun --mpi=pmix or mpirun to check all of them"));
}

TEST(CheckLauncher, IsRedIfEachProcessIsAlone) {
  Snapshot all = alone();
  Launch& launch = all.ranks.front().launch;
  launch.launcher = "srun";
  launch.announced_ranks = 4;
  const char* const found =
      "srun started 4 processes, but they cannot find each other: they would be 4 jobs of one rank";
  EXPECT_EQ(check_launcher(all),
            red("launcher", found,
                "start it with the mpirun of Open MPI v4.1.4; under Slurm with srun --mpi=pmix"));
  launch.remedy = "start it with the right one";
  EXPECT_EQ(check_launcher(all), red("launcher", found, "start it with the right one"));
  launch.setting = "alone";
  EXPECT_EQ(check_launcher(all), red("launcher", found, "unset TESSERA_BOOTSTRAP, which is alone"));
}

TEST(CheckLauncher, IsRedIfRanksCouldNotConnect) {
  Snapshot all = alone();
  all.ranks.front().launch.error = "this process was not started by tessera-run";
  all.ranks.front().launch.remedy = "start it as: tessera-run -n 4 program";
  EXPECT_EQ(check_launcher(all), red("launcher", "this process was not started by tessera-run",
                                     "start it as: tessera-run -n 4 program"));
}

TEST(CheckSameSettings, IsYellowOrRedIfRanksDiffer) {
  const char* const name = "settings of all ranks";
  const char* const remedy =
      "pass the same environment to all ranks: mpirun -x NAME, or srun --export=ALL";
  EXPECT_EQ(check_same_settings(alone()), green(name, "there is one rank"));
  Snapshot all = job_of(1, 3);
  all.ranks[1].configuration.changed = {"TESSERA_LOG=debug", "TESSERA_PROFILE=json",
                                        "TESSERA_PROFILE_FILE=here.json"};
  EXPECT_EQ(check_same_settings(all), green(name, "the same on all ranks"));
  all.ranks[1].configuration.changed = {"TESSERA_TUNE=spin_ns=5"};
  EXPECT_EQ(check_same_settings(all),
            yellow(name, "TESSERA_TUNE=spin_ns=5 is set on only one of ranks 0 and 1", remedy));
  for (const char* const line :
       {"TESSERA_TUNE=profile_events=5", "TESSERA_TUNE=collective_slot=256"}) {
    all.ranks[1].configuration.changed = {line};
    EXPECT_EQ(check_same_settings(all).state, State::yellow) << line;
  }
  for (const char* const line : {"TESSERA_TRANSPORT=shm", "TESSERA_RANKS_PER_NODE=2",
                                 "TESSERA_BOOTSTRAP=mpi", "TESSERA_TUNE=halo_pack_bytes=0"}) {
    all.ranks[1].configuration.changed = {line};
    EXPECT_EQ(check_same_settings(all).state, State::red) << line;
  }
  all.ranks[1].configuration.changed = {"TESSERA_TUNE=spin_ns=5"};
  all.ranks[2].configuration.changed = {"TESSERA_TUNE=chunk=1", "TESSERA_TUNE=halo_pack_bytes=0"};
  EXPECT_EQ(check_same_settings(all),
            red(name,
                "TESSERA_TUNE=halo_pack_bytes=0 is set on only one of ranks 0 "
                "and 2, but must be the same on all ranks",
                remedy));
}

TEST(CheckProcessors, CountsThoseOfAMachineForAllItsRanks) {
  EXPECT_EQ(check_processors(alone()), green("processors", "4 of 4 may be used by 1 rank"));
  EXPECT_EQ(check_processors(job_of(2, 4)),
            green("processors", "4 of 4 may be used by 4 ranks on h1; all 2 machines have enough"));
  // Emulated nodes share the machine.
  EXPECT_EQ(check_processors(emulated(2, 3)),
            yellow("processors", "6 ranks share 4 processors: ranks wait for a processor",
                   "start at most 4 ranks on each machine"));
  EXPECT_EQ(check_processors(job_of(2, 5)).found,
            "5 ranks share 4 processors on h1: ranks wait for a processor");
}

TEST(CheckProcessors, IsYellowIfTheGroupGivesLessTime) {
  Snapshot all = job_of(1, 2);
  all.ranks.front().processors.quota = 1.5;
  EXPECT_EQ(
      check_processors(all),
      yellow("processors", "2 ranks have the time of 1.5 processors, by a control group's quota",
             "raise the control group's limit (CPUs of the container or batch job)"));
  all = alone();
  all.ranks.front().processors.quota = 0.5;
  EXPECT_EQ(check_processors(all).found,
            "1 rank has the time of 0.5 processors, by a control group's quota");
}

TEST(CheckBinding, NamesRanksThatShareAProcessor) {
  const char* const remedy =
      "use mpirun --bind-to core, or --bind-to none; also check the batch system's cpuset, and "
      "taskset";
  Snapshot all = job_of(1, 2);
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

TEST(CheckBinding, OneProcessorInAllIsGreen) {
  Snapshot all = job_of(1, 2);
  for (Environment& each : all.ranks) {
    each.processors = {.usable = {0}, .online = 1, .quota = 0};
  }
  EXPECT_EQ(check_binding(all), green("binding", "none: each rank may use all processors"));
}

TEST(CheckAgent, IsYellowIfRanksTakeAllProcessors) {
  const Finding own = green("agent",
                            "each node has a processor for it; with TESSERA_SERVER=adaptive it "
                            "polls for 1 s after a request");
  EXPECT_EQ(check_agent(job_of(1, 4)), green("agent", "not needed on one node"));
  EXPECT_EQ(check_agent(job_of(2, 3)), own);
  const auto none = [](const std::string& node, const std::string& reason) {
    return yellow("agent", "on " + node + " it has no processor of its own: " + reason,
                  "leave one processor of each node free if other nodes' requests should not wait "
                  "for computations");
  };
  EXPECT_EQ(check_agent(job_of(2, 4)),
            none("h1", "4 processors for 4 threads of ranks and 1 of agents"));
  EXPECT_EQ(check_agent(emulated(4, 1)),
            none("node 0", "4 processors for 4 threads of ranks and 4 of agents"));
  EXPECT_EQ(check_agent(emulated(2, 1)), own);
  Snapshot threaded = job_of(2, 1);
  threaded.ranks[1].blas.openblas_variable = "4";
  EXPECT_EQ(check_agent(threaded),
            none("h2", "4 processors for 4 threads of ranks and 1 of agents"));
  Snapshot limited = job_of(2, 1);
  limited.ranks[1].processors.quota = 1.5;
  EXPECT_EQ(check_agent(limited), none("h2",
                                       "a control group allows the time of 1.5 processors for 1 "
                                       "thread of ranks and 1 of agents"));
  limited.ranks[1].processors.quota = 2;
  EXPECT_EQ(check_agent(limited), own);
  limited.ranks[1].processors.agent_threads = 2;
  EXPECT_EQ(check_agent(limited), none("h2",
                                       "a control group allows the time of 2 processors for 1 "
                                       "thread of ranks and 2 of agents"));
}

TEST(CheckBlas, IsGreenForOneThreadARankAndForOneRank) {
  EXPECT_EQ(check_blas(alone()), green("BLAS threads", "OpenBLAS reports 4"));
  EXPECT_EQ(check_blas(job_of(1, 4)),
            green("BLAS threads", "OPENBLAS_NUM_THREADS=1; OpenBLAS reports 4"));
  EXPECT_EQ(check_blas(job_of(1, 8)),  // on 4 processors: a thread for each rank
            green("BLAS threads", "OPENBLAS_NUM_THREADS=1; OpenBLAS reports 4"));
}

TEST(CheckBlas, IsYellowForMoreThreadsThanProcessors) {
  Snapshot all = job_of(1, 2);
  const auto set = [&all](std::string Blas::*what, const std::string& text) {
    for (Environment& rank : all.ranks) {
      rank.blas.*what = text;
    }
  };
  set(&Blas::openblas_variable, "");
  EXPECT_EQ(check_blas(all), yellow("BLAS threads",
                                    "4 for each of 2 ranks on 4 processors; only Tessera's own "
                                    "operations limit themselves to their share",
                                    "export OPENBLAS_NUM_THREADS=2"));
  set(&Blas::omp_variable, "8");
  EXPECT_EQ(check_blas(all),
            yellow("BLAS threads",
                   "OMP_NUM_THREADS=8 for each of 2 ranks on 4 processors; OpenBLAS reports 4",
                   "export OMP_NUM_THREADS=2"));
  set(&Blas::openblas_variable, "many");  // overrides the other variable
  EXPECT_EQ(check_blas(all),
            yellow("BLAS threads",
                   "OPENBLAS_NUM_THREADS=many is not a number of threads; OpenBLAS reports 4",
                   "export OPENBLAS_NUM_THREADS=1"));
  for (Environment& rank : all.ranks) {
    rank.blas.setting = 16;
    rank.blas.config = "";
  }
  EXPECT_EQ(check_blas(all), yellow("BLAS threads",
                                    "TESSERA_BLAS_THREADS=16 for each of 2 ranks on 4 processors; "
                                    "OpenBLAS did not report its threads",
                                    "export TESSERA_BLAS_THREADS=2"));
}

TEST(CheckBlas, AddsUpTheThreadsOfEachMachinesRanks) {
  Snapshot all = job_of(2, 3);  // 4 processors each
  all.ranks[4].blas.openblas_variable = "2";
  EXPECT_EQ(check_blas(all).state, State::green) << "4 threads on 4 processors";
  all.ranks[4].blas.openblas_variable = "3";
  EXPECT_EQ(check_blas(all), yellow("BLAS threads",
                                    "OPENBLAS_NUM_THREADS=3 for one rank, 5 for all 3 on 4 "
                                    "processors on h2; OpenBLAS reports 4",
                                    "export OPENBLAS_NUM_THREADS=1"));
  all.ranks[4].blas.openblas_variable = "x";
  EXPECT_EQ(check_blas(all).state, State::yellow);
}

TEST(CheckConnections, ReportsWhatWasTriedAndWhatNot) {
  const char* const name = "connections between nodes";
  EXPECT_EQ(check_connections(job_of(1, 2)), green(name, "not tested: all ranks are on one node"));
  Snapshot all = job_of(2, 1);
  all.connections.slowest = std::chrono::microseconds(700);
  EXPECT_EQ(
      check_connections(all),
      green(name, "all 2 made; the slowest took 0.7 ms: h1 at 10.0.0.1:4000; h2 at 10.0.0.2:4000"));
  all.connections_error = "MPI_Allgather: broken";
  EXPECT_EQ(check_connections(all),
            red(name, "MPI_Allgather: broken", "fix this first; no connection could be tested"));
}

TEST(CheckConnections, IsYellowForASlowOne) {
  Snapshot all = job_of(2, 1);
  all.connections.slowest = std::chrono::milliseconds(1001);
  all.connections.slowest_from = NodeId{1};
  all.connections.slowest_to = NodeId{0};
  EXPECT_EQ(
      check_connections(all),
      yellow("connections between nodes", "all 2 made; the slowest took 1001.0 ms, from h2 to h1",
             "check for lost packets between the two: ping, ip -s link, ethtool -S"));
}

TEST(CheckConnections, IsRedAndNamesThePairsWithoutAConnection) {
  Snapshot all = job_of(3, 1);
  all.connections.failed = {
      {NodeId{0}, NodeId{2}, "connecting to 10.0.0.3:4000: no answer within 3000 ms"},
      {NodeId{1}, NodeId{1}, "there is no network interface 'ib0'"}};
  EXPECT_EQ(check_connections(all),
            red("connections between nodes",
                "h1 cannot reach h3: connecting to 10.0.0.3:4000: no answer within 3000 ms; h2 "
                "cannot accept connections: there is no network interface 'ib0'",
                "open all TCP ports between the nodes (firewall, security group), or choose "
                "another network by TESSERA_INTERFACE"));
  for (int more = 0; more < 5; ++more) {
    all.connections.failed.push_back({NodeId{2}, NodeId{0}, "refused"});
  }
  const std::string found = check_connections(all).found;
  EXPECT_TRUE(found.ends_with("; h3 cannot reach h1: refused; and 3 more")) << found;
}

TEST(CheckConnections, DoesNotBlameFirewallsIfNodesCannotListen) {
  Snapshot all = job_of(2, 1);
  all.connections.failed = {
      {NodeId{0}, NodeId{0}, "TESSERA_TUNE=tcp_congestion=foo is not usable"}};
  EXPECT_EQ(check_connections(all),
            red("connections between nodes",
                "h1 cannot accept connections: TESSERA_TUNE=tcp_congestion=foo is not usable",
                "fix the cause in the message: TESSERA_INTERFACE, TESSERA_TUNE=tcp_congestion, or "
                "a limit"));
}

TEST(CheckClocks, IsYellowIfTheyDiffer) {
  const char* const name = "clocks of all machines";
  EXPECT_EQ(check_clocks(job_of(1, 2)), green(name, "there is one machine"));
  Snapshot all = job_of(2, 1);
  all.ranks[1].clock.seconds = 1000.25;
  EXPECT_EQ(check_clocks(all), green(name, "agree within 0.250 s"));
  all.ranks[1].clock.seconds = 1003.2;
  EXPECT_EQ(check_clocks(all),
            yellow(name, "h2 is 3.2 s ahead of h1: times in logs and traces cannot be compared",
                   "synchronise the clocks with chrony or ntpd"));
}

TEST(CheckJob, HasAllStates) {
  EXPECT_EQ(check_job(alone()), green("job", "a job of one rank starts, moves data and ends"));
  Snapshot all = job_of(2, 2);
  EXPECT_EQ(check_job(all),
            green("job", "a job of 4 ranks on 2 nodes starts, moves data and ends"));
  all.job_errors[2] = "cannot map 64.0 MiB\n  hint: raise the limit";
  EXPECT_EQ(check_job(all), red("job", "on rank 2: cannot map 64.0 MiB", "raise the limit"));
  all.job_errors[2] = "put 3 to rank 1, but got 4 back";
  EXPECT_EQ(check_job(all).remedy, "report it, with the output of `tessera doctor --json -`");
  all.is_job_tried = false;
  EXPECT_EQ(check_job(all), yellow("job", "not tested", "fix the red findings first"));
}

}  // namespace
}  // namespace tessera::tool
