// SPDX-License-Identifier: BSD-3-Clause
//
// One test for each code of rma/base/status.hpp, which provokes that code; the table of
// docs/errors.md names these tests. A code that no test can provoke does not belong in the table.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/base/memory.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/node/node_memory.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/fault/run.hpp"

namespace tessera::fault {
namespace {

using rma::Code;
using rma::Job;
using rma::Region;
using rma::Settings;
using rma::Status;
using rma::TeamRank;
using rma::WorldRank;

Settings small() {
  Settings settings;
  settings.arena_mib = 256;
  settings.liveness_ms = 20;
  return settings;
}

// Runs `body` on `ranks` threads and returns its status; the body of each rank must return the same
// code.
Status on_threads(std::int32_t ranks, const std::function<Status(Job&)>& body,
                  const Settings& settings = small()) {
  return run_on_threads(ranks, body, {.settings = settings, .transports = {}});
}

TEST(Code, InvalidArgumentForATeamThatTheCallerIsNotIn) {
  const Status status = on_threads(2, [](Job& job) {
    const std::vector<WorldRank> other{WorldRank{1 - job.rank().value}};
    return rma::Team::create(job, other).status();
  });
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_EQ(status.message(), "rank 0 makes a team but is not in its list of members");
}

TEST(Code, InvalidArgumentForCollectivesThatDoNotMatch) {
  const Status status = on_threads(2, [](Job& job) {
    return job.rank().value == 0 ? job.world().barrier()
                                 : job.world().allreduce(1.0, rma::Reduction::sum).status();
  });
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_TRUE(status.message().starts_with("members of a team called different collectives"));
}

TEST(Code, OutOfRangeForAByteAfterTheSlice) {
  const Status status = on_threads(2, [](Job& job) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(job.world(), 100));
    const double value = 1;
    return put(job, region.at(TeamRank{1}, 96), &value, sizeof value);
  });
  EXPECT_EQ(status.code(), Code::out_of_range);
  EXPECT_EQ(status.rank(), WorldRank{1});
  EXPECT_EQ(status.message(),
            "bytes [96, 104) do not lie in rank 1's slice of region 1, which has 100 bytes");
}

TEST(Code, ClosedForARegionThatWasFreed) {
  const Status status = on_threads(2, [](Job& job) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(job.world(), 100));
    const auto address = region.at(TeamRank{0});
    TESSERA_RETURN_IF_ERROR(region.free());
    return put_value(job, address, 1.0);
  });
  EXPECT_EQ(status.code(), Code::closed);
  EXPECT_EQ(status.message(),
            "region 1 is not known on rank 0: it was freed, or this rank is not in its team");
}

TEST(Code, ClosedForAJobThatWasStopped) {
  const Status status = on_threads(1, [](Job& job) -> Status {
    TESSERA_RETURN_IF_ERROR(job.stop());
    return job.barrier();
  });
  EXPECT_EQ(status.code(), Code::closed);
  EXPECT_EQ(status.message(), "the job was stopped");
}

TEST(Code, ClosedForACollectiveWithARankThatLeft) {
  const Status status =
      on_threads(2, [](Job& job) { return job.rank().value == 1 ? job.stop() : job.barrier(); });
  EXPECT_EQ(status.code(), Code::closed);
  EXPECT_EQ(status.rank(), WorldRank{1});
}

TEST(Code, UnsupportedForLoopbackBetweenProcesses) {
  const Outcome outcome = direct({.scenario = "leaves",
                                  .ranks = 2,
                                  .victim = -1,
                                  .signal = 0,
                                  .environment = {{"TESSERA_TRANSPORT", "loopback"}}});
  for (const int rank : {0, 1}) {
    const Report* const report = outcome.find(rank, "start");
    ASSERT_NE(report, nullptr) << describe(outcome);
    EXPECT_EQ(report->code, "unsupported");
  }
}

TEST(Code, NoMemoryForMoreThanTheMachineHas) {
  const std::uint64_t too_much = rma::total_memory_bytes();
  Settings settings = small();
  settings.arena_mib = static_cast<std::int64_t>(8 * too_much >> 20U);
  const Status status = on_threads(
      2,
      [&](Job& job) {
        // Rank 1 requests all of the memory and rank 0 a little: both are refused.
        const std::size_t mine = job.rank().value == 1 ? too_much : 1000;
        Status refused = Region::allocate(job.world(), mine).status();
        Region after = Region::allocate(job.world(), 1000).value();
        EXPECT_TRUE(after.free().ok()) << "a refused allocation must keep no memory";
        return refused;
      },
      settings);
  EXPECT_EQ(status.code(), Code::no_memory);
  EXPECT_NE(status.message().find(" are available"), std::string::npos) << status.message();
}

TEST(Code, LimitExceededForAnArenaThatIsFull) {
  Settings settings = small();
  settings.arena_mib = 64;
  const Status status = on_threads(
      2,
      [](Job& job) {
        Status refused = Region::allocate(job.world(), 40 << 20, {.sparse = true}).status();
        Region after = Region::allocate(job.world(), 20 << 20, {.sparse = true}).value();
        EXPECT_TRUE(after.free().ok());
        return refused;
      },
      settings);
  EXPECT_EQ(status.code(), Code::limit_exceeded);
  EXPECT_TRUE(status.message().ends_with("hint: set TESSERA_ARENA_MIB to a larger value"))
      << status.message();
}

TEST(Code, UnreachableForRanksOnOtherNodes) {
  Settings settings = small();
  settings.ranks_per_node = 1;
  settings.transport = "shm";
  const Status status = on_threads(
      2, [](Job&) { return Status(); }, settings);
  EXPECT_EQ(status.code(), Code::unreachable);
}

// In a new network namespace the loopback interface is down, so no address has a route.
TEST(Code, UnreachableForNodesWithoutANetwork) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string result = "SKIPPED";
    if (unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) {
      Settings settings = small();
      settings.ranks_per_node = 2;
      settings.transport = "shm,tcp";
      result = on_threads(
                   4, [](Job&) { return Status(); }, settings)
                   .describe();
    }
    static_cast<void>(!write(ends[1], result.data(), result.size()));
    _exit(0);
  }
  close(ends[1]);
  std::string result(4096, '\0');
  const ssize_t bytes = read(ends[0], result.data(), result.size());
  result.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  close(ends[0]);
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  if (result == "SKIPPED") {
    GTEST_SKIP() << "this user may not create network namespaces";
  }
  EXPECT_TRUE(result.starts_with("unreachable: ")) << result;
  EXPECT_NE(result.find("cannot be reached: Network is unreachable"), std::string::npos) << result;
  EXPECT_EQ(result.find("died"), std::string::npos) << result;
}

TEST(Code, PeerLostForARankThatDied) {
  const Outcome outcome = direct({.scenario = "absent_from_barrier", .ranks = 2, .victim = 1});
  const Report* const report = outcome.find(0, "outcome");
  ASSERT_NE(report, nullptr) << describe(outcome);
  EXPECT_EQ(report->code, "peer_lost");
  EXPECT_EQ(report->named_rank, 1);
  EXPECT_EQ(report->message, "rank 1 died");
}

TEST(Code, TimedOutForARankThatNeverCame) {
  rma::ThreadGroup group(2);
  Settings settings = small();
  settings.start_timeout_ms = 20;
  const auto job =
      Job::start({.bootstrap = group.member(WorldRank{0}), .settings = settings, .transports = {}});
  EXPECT_EQ(job.status().code(), Code::timed_out);
  EXPECT_EQ(job.status().message(),
            "only 1 of 2 threads reached the start of the job within 20 ms");
}

TEST(Code, ProtocolForALaunchVariableThatMakesNoSense) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      std::pair("TESSERA_LAUNCH", "3:x:2")};
  const ScopedEnvironment environment(wrong);
  const auto job = Job::start();
  EXPECT_EQ(job.status().code(), Code::protocol);
  EXPECT_EQ(job.status().message(),
            "TESSERA_LAUNCH=3:x:2 does not describe a job\n"
            "  hint: unset it, or start the program again under tessera-run");
}

TEST(Code, ProtocolForMemoryOfAnotherVersion) {
  using rma::detail::Descriptor;
  Descriptor foreign(memfd_create("another", 0));
  ASSERT_EQ(ftruncate(foreign.get(), 128 << 20), 0);
  const auto refused = rma::detail::NodeMemory::adopt(std::move(foreign), Descriptor());
  EXPECT_EQ(refused.status().code(), Code::protocol);
}

TEST(Code, InternalForALocalRankThatAnotherProcessHolds) {
  auto memory = rma::detail::NodeMemory::create(2, 64 << 20).value();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int child = fork();
  if (child == 0) {
    char byte = memory->hold_liveness_lock(1).ok() ? 'y' : 'n';
    const bool is_sent = write(ends[1], &byte, 1) == 1;
    while (is_sent) {  // NOLINT(bugprone-infinite-loop): until it is killed
      pause();
    }
    _exit(1);
  }
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1);
  EXPECT_EQ(memory->hold_liveness_lock(1).code(), Code::internal);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace tessera::fault
