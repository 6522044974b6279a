// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/thread_limit.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace tessera::rma::detail {
namespace {

TEST(ThreadLimit, IsTheTightestOfThoseOfTheSystem) {
  const tessera::test::TemporaryFolder root;
  const auto write = [&root](const std::string& path, const std::string& text) {
    const std::filesystem::path file = root.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  write("/proc/sys/kernel/threads-max", "400\n");
  EXPECT_EQ(thread_limit(root.path()).most, 400U);
  EXPECT_EQ(thread_limit(root.path()).reason,
            "the kernel allows 400 for all programs together (kernel.threads-max)");
  write("/proc/sys/vm/max_map_count", "500\n");
  write("/proc/self/maps", "1\n2\n3\n4\n");
  EXPECT_EQ(thread_limit(root.path()).most, 248U);
  EXPECT_EQ(thread_limit(root.path()).reason,
            "each needs 2 mappings of memory, and a process may have 500 (vm.max_map_count), 4 of "
            "them in use");

  write("/proc/self/cgroup", "3:pids:/batch/step\n0::/\n");
  write("/sys/fs/cgroup/pids/batch/pids.max", "100\n");
  write("/sys/fs/cgroup/pids/batch/pids.current", "30\n");
  write("/sys/fs/cgroup/pids/batch/step/pids.max", "max\n");
  EXPECT_EQ(thread_limit(root.path()).most, 70U);
  EXPECT_EQ(thread_limit(root.path()).reason,
            "the control group allows 100 processes and threads (pids.max), 30 of them in use");
}

}  // namespace
}  // namespace tessera::rma::detail
