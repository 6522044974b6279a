// SPDX-License-Identifier: BSD-3-Clause
#include "rma/launch.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/rma/node_rig.hpp"

namespace tessera::rma {
namespace {

TEST(Launch, RefusesWhatCannotBeStarted) {
  const auto message = [](const std::vector<std::string>& arguments, const LaunchOptions& options) {
    const auto exits = launch(arguments, options);
    EXPECT_EQ(exits.status().code(), Code::invalid_argument);
    return exits.status().message();
  };
  EXPECT_EQ(message({}, {}), "there is no program to start");
  EXPECT_EQ(message({"true"}, {.ranks = 0, .nodes = 0, .started = {}}),
            "0 ranks; there must be at least one");
  EXPECT_EQ(message({"true"}, {.ranks = 2, .nodes = 3, .started = {}}),
            "2 ranks cannot be split over 3 nodes");
  EXPECT_EQ(message({"true"}, {.ranks = 2, .nodes = -1, .started = {}}),
            "2 ranks cannot be split over -1 nodes");
  EXPECT_EQ(message({"true"}, {.ranks = 4, .nodes = 3, .started = {}}),
            "4 ranks cannot be split over 3 nodes: with 2 per node they fill 2\n"
            "  hint: all nodes but the last one get the same number of ranks");
}

TEST(Launch, ReportsHowEachProcessEnded) {
  std::set<std::pair<std::int32_t, bool>> reported;
  const auto exits = launch({"true"}, {.ranks = 3, .nodes = 0, .started = [&](int rank, int pid) {
                                         reported.emplace(rank, pid > 0);
                                       }});
  ASSERT_TRUE(exits.ok());
  EXPECT_EQ(reported, (std::set<std::pair<std::int32_t, bool>>{{0, true}, {1, true}, {2, true}}));
  ASSERT_EQ(exits->size(), 3U);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ((*exits)[rank].rank, static_cast<std::int32_t>(rank));
    EXPECT_EQ((*exits)[rank].exit_code, 0);
    EXPECT_EQ((*exits)[rank].signal, 0);
  }
}

TEST(Launch, ReportsExitCodesSignalsAndMissingPrograms) {
  EXPECT_EQ((*launch({"sh", "-c", "exit 7"}, {.ranks = 1, .nodes = 0, .started = {}}))[0].exit_code,
            7);
  EXPECT_EQ(
      (*launch({"sh", "-c", "kill -9 $$"}, {.ranks = 1, .nodes = 0, .started = {}}))[0].signal,
      SIGKILL);
  testing::internal::CaptureStderr();
  EXPECT_EQ((*launch({"/there/is/no/such/program"}, {.ranks = 1, .nodes = 0, .started = {}}))[0]
                .exit_code,
            127);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tessera-run: cannot start /there/is/no/such/program: No such file or directory\n");
}

// The system may deliver a signal to any thread that does not block it.
TEST(Launch, DetectsTheEndEvenIfAnotherThreadTakesTheSignal) {
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_TRUE(detail::ends_in_time([] {
    for (int i = 0; i < 20; ++i) {
      const auto exits = launch({"sleep", "0.01"}, {.ranks = 2, .nodes = 0, .started = {}});
      EXPECT_TRUE(exits.ok());
    }
  }));
  is_over = true;
  other.join();
}

TEST(Launch, GivesTheSignalMaskOfTheCallerBack) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ASSERT_TRUE(launch({"true"}, {}).ok());
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
  }
}

TEST(Launch, DoesNotReapOtherChildrenOfTheCaller) {
  const int other = fork();
  if (other == 0) {
    _exit(5);
  }
  ASSERT_TRUE(launch({"true"}, {.ranks = 2, .nodes = 0, .started = {}}).ok());
  int state = 0;
  ASSERT_EQ(waitpid(other, &state, 0), other);
  EXPECT_EQ(WEXITSTATUS(state), 5);
}

// The output of two ranks that count interrupts, in a terminal that sends one interrupt; nothing if
// the system has no pseudo-terminals.
std::optional<std::string> interrupted_in_a_terminal() {
  int terminal = -1;
  const pid_t launcher = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (launcher < 0) {
    return std::nullopt;
  }
  if (launcher == 0) {
    _exit(launch({TESSERA_SIGNAL_COUNTER}, {.ranks = 2, .nodes = 0, .started = {}}).ok() ? 0 : 1);
  }
  std::string shown;
  bool is_sent = false;
  char byte = 0;
  while (read(terminal, &byte, 1) == 1) {
    shown += byte;
    if (!is_sent && shown.find("ready") != shown.rfind("ready")) {
      is_sent = write(terminal, "\x03", 1) == 1;  // Ctrl-C
    }
  }
  close(terminal);
  int state = 0;
  EXPECT_EQ(waitpid(launcher, &state, 0), launcher);
  EXPECT_EQ(state, 0);
  return shown;
}

// A program may stop properly at the first interrupt, and at once at the second. So each rank must
// get exactly one.
TEST(Launch, LeavesWhatATerminalSendsToTheTerminal) {
  const auto shown = interrupted_in_a_terminal();
  if (!shown) {
    GTEST_SKIP() << "no pseudo-terminal: " << std::strerror(errno);
  }
  const auto times = [&](const std::string& words) {
    int count = 0;
    for (auto at = shown->find(words); at != std::string::npos; at = shown->find(words, at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(times("counted 1"), 2) << *shown;
}

}  // namespace
}  // namespace tessera::rma
