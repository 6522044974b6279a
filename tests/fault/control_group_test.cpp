// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs in a control group whose memory does not suffice: each rank gets an error, and the kernel
// kills none. The tests need a control group of their own, which only root may create, and not on
// every system.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fault/program.hpp"

namespace tessera::fault {
namespace {

// A control group with a memory limit, of version 1 or 2, whichever this machine has.
class ControlGroup {
 public:
  explicit ControlGroup(int mib) {
    for (const Version& each :
         {Version{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"},
          Version{"/sys/fs/cgroup", "memory.max", "memory.events"}}) {
      folder_ = fmt::format("{}/tessera-test-{}", each.top, getpid());
      kills_ = each.kills;
      if (mkdir(folder_.c_str(), 0755) != 0) {
        continue;
      }
      std::ofstream limit(folder_ + "/" + each.limit);
      limit << (std::int64_t{mib} << 20) << std::flush;
      if (limit) {
        exists_ = true;
        return;
      }
      rmdir(folder_.c_str());
    }
  }
  ~ControlGroup() {
    if (exists_) {
      rmdir(folder_.c_str());
    }
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  [[nodiscard]] bool exists() const { return exists_; }
  /// Starts tessera-run in the group.
  [[nodiscard]] Program start(std::vector<std::string> arguments) const {
    const std::string script =
        fmt::format("echo $$ > {}/cgroup.procs && exec \"$0\" \"$@\"", folder_);
    arguments.insert(arguments.begin(), {"sh", "-c", script, TESSERA_RUN});
    return Program(arguments);
  }
  /// The number of processes that the kernel has killed.
  [[nodiscard]] int kills() const {
    std::ifstream file(folder_ + "/" + kills_);
    std::string word;
    int count = -1;
    while (file >> word) {
      if (word == "oom_kill") {
        file >> count;
      }
    }
    return count;
  }

 private:
  struct Version {
    const char* top;
    const char* limit;
    const char* kills;
  };
  std::string folder_;
  std::string kills_;
  bool exists_ = false;
};

constexpr const char* why_skipped =
    "this needs a control group of its own: root, and /sys/fs/cgroup with the memory controller";

// All ranks pass the check of available memory, but there is enough for only one of them.
TEST(ControlGroup, NodesThatAskForMemoryAtOnceAreRefused) {
  const ControlGroup group(300);
  if (!group.exists()) {
    GTEST_SKIP() << why_skipped;
  }
  for (int tries = 0; tries < 2; ++tries) {
    const Ending ending =
        group.start({"-n", "4", "--nodes", "4", FAULT_WORKER, "take-mib:100", "9", "1"}).wait();
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    EXPECT_EQ(occurrences(ending.output, " no_memory: "), 4U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, "100.0 MiB of shared memory were requested on this node"),
              4U)
        << ending.output;
    EXPECT_EQ(occurrences(ending.output, " available of the 300.0 MiB of its control group, of "),
              4U)
        << ending.output;
  }
  EXPECT_EQ(group.kills(), 0);
}

TEST(ControlGroup, TeamsThatAskForMemoryAtOnceAreRefusedUnlessThereIsEnough) {
#ifdef TESSERA_SANITIZED
  const ControlGroup group(520);  // 220 of them are for the sanitizer
#else
  const ControlGroup group(300);
#endif
  if (!group.exists()) {
    GTEST_SKIP() << why_skipped;
  }
  for (int tries = 0; tries < 2; ++tries) {
    const Ending ending =
        group.start({"-n", "4", FAULT_WORKER, "take-mib-alone:100", "9", "1"}).wait();
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    EXPECT_GE(occurrences(ending.output, ": ok\n"), 1U) << ending.output;
    EXPECT_EQ(occurrences(ending.output, ": ok\n") + occurrences(ending.output, " no_memory: "), 4U)
        << ending.output;
  }
  EXPECT_EQ(group.kills(), 0);
}

TEST(ControlGroup, JobsThatAskForMemoryAtOnceAreRefusedUnlessThereIsEnough) {
  const ControlGroup group(300);
  if (!group.exists()) {
    GTEST_SKIP() << why_skipped;
  }
  for (int tries = 0; tries < 2; ++tries) {
    std::vector<Program> jobs;
    for (int job = 0; job < 3; ++job) {
      jobs.push_back(group.start({"-n", "1", FAULT_WORKER, "take-mib:150", "9", "1"}));
    }
    for (Program& job : jobs) {
      const Ending ending = job.wait();
      EXPECT_EQ(ending.exit_code, 0) << ending.output;
      EXPECT_EQ(occurrences(ending.output, ": ok\n") + occurrences(ending.output, " no_memory: "),
                1U)
          << ending.output;
    }
  }
  EXPECT_EQ(group.kills(), 0);
}

// Each request is too small for a check of the group's memory of its own.
TEST(ControlGroup, ManySmallRequestsAreRefusedInTime) {
  const ControlGroup group(100);
  if (!group.exists()) {
    GTEST_SKIP() << why_skipped;
  }
  const Ending ending =
      group.start({"-n", "1", FAULT_WORKER, "take-small-pieces", "9", "1"}).wait();
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(occurrences(ending.output, " no_memory: "), 1U) << ending.output;
  EXPECT_EQ(group.kills(), 0);
}

}  // namespace
}  // namespace tessera::fault
