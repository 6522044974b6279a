// SPDX-License-Identifier: BSD-3-Clause
//
// The names of other libraries, by the way that they communicate between nodes.
#include "bench/support/options.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
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

TEST(NameByPath, IsKnownAgain) {
  for (const char* const name : {"mpi in memory", "mpi two-sided in memory overlapped"}) {
    EXPECT_TRUE(is_named_in_memory(name)) << name;
  }
  for (const char* const name : {"mpi", "mpi overlapped", "mpi two-sided overlapped", "memory"}) {
    EXPECT_FALSE(is_named_in_memory(name)) << name;
  }
}

/// "messages windows": which of them use shared memory with these variables.
std::string in_memory(const std::map<std::string, std::string>& variables,
                      bool has_its_devices = false) {
  const MpiPath path = mpi_path_on_a_host(
      [&variables](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      has_its_devices);
  return std::string(path.messages_share_memory ? "messages" : "") +
         (path.windows_share_memory ? " windows" : "");
}

const char* const both = "messages windows";

// Times of a put with a flush and of a round trip with Open MPI 4.1 on one host with these
// settings: below 1 µs through memory, otherwise above 9 µs.
TEST(MpiPath, OfOpenMpiGoesByItsComponents) {
  EXPECT_EQ(in_memory({}), both);
  EXPECT_EQ(in_memory({{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self,tcp"}}), " windows");
  EXPECT_EQ(in_memory({{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_osc", "pt2pt"}}), "");
  EXPECT_EQ(in_memory({{"OMPI_MCA_btl", "^vader,sm"}, {"OMPI_MCA_osc", "pt2pt"}}), "");
  EXPECT_EQ(in_memory({{"OMPI_MCA_btl", "^tcp"}}), both);
}

TEST(MpiPath, OfWindowsByMessagesIsThatOfMessages) {
  EXPECT_EQ(in_memory({{"OMPI_MCA_osc", "pt2pt"}}), both);
}

TEST(MpiPath, OfWindowsByRdmaIsMemoryOnOneHost) {
  EXPECT_EQ(in_memory({{"OMPI_MCA_osc", "rdma"}}), both);
  EXPECT_EQ(in_memory({{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_osc", "^sm"}}), " windows");
}

TEST(MpiPath, GoesByUcxWhereThatIsTaken) {
  EXPECT_EQ(in_memory({{"OMPI_MCA_pml", "ucx"}, {"OMPI_MCA_osc", "ucx"}}), both);
  EXPECT_EQ(
      in_memory({{"OMPI_MCA_pml", "ucx"}, {"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_osc", "pt2pt"}}),
      both)
      << "UCX doesn't use a BTL";
  EXPECT_EQ(in_memory({{"OMPI_MCA_pml", "ucx"}, {"UCX_TLS", "tcp,self"}}), " windows");
  EXPECT_EQ(in_memory({{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_osc", "ucx"}}), " windows");
  EXPECT_EQ(in_memory({{"UCX_TLS", "tcp,self"}}), both) << "without its devices it isn't taken";
}

TEST(MpiPath, GoesByUcxWhereItsDevicesAre) {
  EXPECT_EQ(in_memory({{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_osc", "pt2pt"}}, true), both);
  EXPECT_EQ(
      in_memory({{"OMPI_MCA_btl", "self,tcp"}, {"OMPI_MCA_osc", "pt2pt"}, {"OMPI_MCA_pml", "ob1"}},
                true),
      "");
  EXPECT_EQ(in_memory({{"UCX_TLS", "tcp,self"}, {"OMPI_MCA_osc", "ucx"}}, true), "");
}

TEST(MpiPath, ReadsWhatUcxMayTake) {
  const auto by = [](const char* transports) {
    return in_memory({{"OMPI_MCA_pml", "ucx"}, {"OMPI_MCA_osc", "ucx"}, {"UCX_TLS", transports}});
  };
  for (const char* const some : {"", "all", "sm,self", "shm,tcp", "mm,self", "posix,self",
                                 "tcp,self,cma", "^tcp", "^posix,sysv"}) {
    EXPECT_EQ(by(some), both) << some;
  }
  for (const char* const none : {"tcp,self", "tcp", "rc,self", "^shm", "^sm", "^mm,cma,knem"}) {
    EXPECT_EQ(by(none), "") << none;
  }
}

TEST(MpiPath, OfMpichGoesByItsOwnVariable) {
  EXPECT_EQ(in_memory({{"MPIR_CVAR_NOLOCAL", "1"}}), "");
  EXPECT_EQ(in_memory({{"MPIR_CVAR_CH3_NOLOCAL", "1"}}), "");
  EXPECT_EQ(in_memory({{"MPIR_CVAR_NOLOCAL", "0"}}), both);
}

}  // namespace
}  // namespace tessera::bench
