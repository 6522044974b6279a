// SPDX-License-Identifier: BSD-3-Clause
//
// What others are called by the way that they go between nodes.
#include "bench/support/paths.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tessera::bench {
namespace {

const std::vector<std::string> windows = {"mpi", "mpi subarray", "armci-mpi", "global arrays"};
const std::vector<std::string> messages = {"mpi two-sided",  "mpi overlapped", "mpi neighbours",
                                           "mpi collective", "pdgemm",         "pdgemr2d",
                                           "pdtran"};
const std::vector<std::string> neither = {"tcp",  "shm",        "memcpy",      "tcp polling",
                                          "mpix", "tessera-mg", "plain loops", "tcp overlapped"};

void expect_in_memory(const std::vector<std::string>& backends, const PathsInMemory& paths,
                      bool in_memory) {
  for (const std::string& each : backends) {
    EXPECT_EQ(goes_through_memory(each, paths), in_memory) << each;
    EXPECT_EQ(name_by_path(each, paths), in_memory ? each + " in memory" : each);
  }
}

TEST(NameByPath, IsPlainOverANetwork) {
  for (const auto* const backends : {&windows, &messages, &neither}) {
    expect_in_memory(*backends, {}, false);
  }
}

TEST(NameByPath, GoesByWindowsMessagesOrTheHeap) {
  expect_in_memory(windows, {.mpi_windows = true}, true);
  expect_in_memory(messages, {.mpi_windows = true}, false);
  expect_in_memory(windows, {.mpi_messages = true}, false);
  expect_in_memory(messages, {.mpi_messages = true}, true);
  expect_in_memory({"openshmem"}, {.openshmem = true}, true);
  expect_in_memory({"openshmem"}, {.mpi_messages = true, .mpi_windows = true}, false);
  expect_in_memory(neither, {true, true, true}, false);
}

TEST(NameByPath, LeavesAComputationAtTheEnd) {
  const PathsInMemory paths = {.mpi_messages = true};
  EXPECT_EQ(name_by_path("mpi two-sided overlapped", paths), "mpi two-sided in memory overlapped");
  EXPECT_EQ(name_by_path("mpi overlapped", paths), "mpi overlapped in memory");
}

}  // namespace
}  // namespace tessera::bench
