// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/machine_memory_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

namespace tessera::rma::detail {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds no_wait{0};

TEST(MachineMemoryLock, IsOfOneThreadAtATime) {
  {
    const MachineMemoryLock mine;
    ASSERT_TRUE(mine.is_held());
    std::thread([] { EXPECT_FALSE(MachineMemoryLock(no_wait).is_held()); }).join();
  }
  EXPECT_TRUE(MachineMemoryLock(no_wait).is_held());
}

// A child process that holds the turn, and reports it.
struct Holder {
  Holder() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(pipe(ends.data()), 0);
    child = fork();
    if (child == 0) {
      const MachineMemoryLock lock;
      const bool is_sent = write(ends[1], "t", 1) == 1;
      while (is_sent) {  // NOLINT(bugprone-infinite-loop): until it is killed
        pause();
      }
      _exit(1);
    }
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
  }
  void end() {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  pid_t child = -1;
};

TEST(MachineMemoryLock, IsFreeAfterADeath) {
  Holder holder;
  EXPECT_FALSE(MachineMemoryLock(no_wait).is_held());
  holder.end();
  EXPECT_TRUE(MachineMemoryLock().is_held());
}

TEST(MachineMemoryLock, IsNotRequiredIfItsHolderIsStopped) {
  Holder holder;
  EXPECT_FALSE(MachineMemoryLock(milliseconds(20)).is_held()) << "it has returned";
  holder.end();
}

}  // namespace
}  // namespace tessera::rma::detail
