// SPDX-License-Identifier: BSD-3-Clause
//
// The base of the tests of rma/node/: a node's memory without a job, its ranks as threads or forked
// processes, and processes that can be killed after any number of machine instructions.
#pragma once

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "rma/node/node.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/one_processor.hpp"

namespace tessera::rma::detail {

inline constexpr std::chrono::milliseconds rig_liveness_interval{2};
inline constexpr std::chrono::seconds rig_time_limit{20};

inline std::shared_ptr<NodeMemory> rig_memory(int ranks, std::uint64_t bytes = 256ULL << 20) {
  auto made = NodeMemory::create(ranks, bytes);
  EXPECT_TRUE(made.ok()) << made.status().describe();
  return made.ok() ? std::shared_ptr<NodeMemory>(std::move(made).take()) : nullptr;
}

/// The node as local rank `local_rank` sees it. `one_process`: all ranks are threads of this
/// process.
inline std::unique_ptr<Node> rig_node(const std::shared_ptr<NodeMemory>& memory, int local_rank,
                                      bool one_process) {
  std::vector<WorldRank> ranks;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(memory->header().ranks); ++rank) {
    ranks.push_back(WorldRank{rank});
  }
  auto node = std::make_unique<Node>(memory, std::move(ranks), local_rank, one_process,
                                     WaitPolicy{.spin = std::chrono::nanoseconds(200),
                                                .liveness_interval = rig_liveness_interval});
  EXPECT_TRUE(node->enter().ok());
  return node;
}

/// A child process that runs `body` and ends. The destructor kills it if it still runs.
class ForkedRank {
 public:
  template <class Body>
  explicit ForkedRank(const Body& body) : pid_(fork()) {
    if (pid_ == 0) {
      body();
      _exit(0);
    }
  }
  ~ForkedRank() { end(); }
  ForkedRank(const ForkedRank&) = delete;
  ForkedRank& operator=(const ForkedRank&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Kills the process and reaps it.
  void end() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      wait();
    }
  }
  /// Waits until the process has ended; returns its state as waitpid does.
  int wait() {
    int state = 0;
    while (waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return state;
  }
  /// As wait(), but returns nothing if the process has not ended after `rig_time_limit`.
  std::optional<int> wait_in_time() {
    int state = 0;
    pid_t ended = 0;
    test::eventually(
        [&] {
          ended = waitpid(pid_, &state, WNOHANG);
          return ended != 0;
        },
        rig_time_limit);
    if (ended != pid_) {
      return std::nullopt;
    }
    pid_ = -1;
    return state;
  }

 private:
  pid_t pid_;
};

/// The step, in instructions, of tests that kill a rank after each number of instructions. A
/// sanitizer adds several instructions to each access, and makes the start of a process many times
/// slower.
inline constexpr int steps_between_deaths = tessera::test::is_sanitized ? 4 : 1;

/// Runs a forked rank's `body` in single steps under ptrace, so that it can be killed after an
/// exact number of instructions.
class SteppedRank {
 public:
  /// Runs `prepare` freely and stops before `body`.
  SteppedRank(const std::function<void()>& prepare, const std::function<void()>& body)
      : rank_([&] {
          prepare();
          ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
          ::raise(SIGSTOP);
          body();
          ::raise(SIGSTOP);
        }) {
    int state = 0;
    is_possible_ = waitpid(rank_.pid(), &state, 0) == rank_.pid() && WIFSTOPPED(state) && is_quick;
  }
  [[nodiscard]] bool is_possible() const { return is_possible_; }
#ifdef __SANITIZE_THREAD__
  static constexpr bool is_quick = false;
  static constexpr const char* impossible = "ThreadSanitizer adds too many instructions";
#else
  static constexpr bool is_quick = true;
  static constexpr const char* impossible = "this process may not trace its children";
#endif

  /// Runs `count` instructions. Returns false if the body ended before.
  bool step(int count) {
    for (int i = 0; i < count; ++i) {
      int state = 0;
      if (ptrace(PTRACE_SINGLESTEP, rank_.pid(), nullptr, nullptr) != 0 ||
          waitpid(rank_.pid(), &state, 0) != rank_.pid() || !WIFSTOPPED(state) ||
          WSTOPSIG(state) != SIGTRAP) {
        return false;
      }
    }
    return true;
  }
  void end() {
    rank_.end();
  }

 private:
  // A step takes a third of the time if both processes run on the same processor.
  const tessera::test::OnOneProcessor one_;
  ForkedRank rank_;
  bool is_possible_ = false;
};

/// Waits up to `rig_time_limit`; returns true if `condition` became true.
template <class Condition>
bool eventually(Condition&& condition) {
  return test::eventually(std::forward<Condition>(condition), rig_time_limit);
}

/// Runs `body` and waits up to `rig_time_limit`; returns true if it ended. It runs in a separate
/// thread, so that a lost lock fails the test instead of hanging it. The thread of a hanging body
/// remains, with everything that `body` holds. The thread of a body that ended is joined: a rank
/// that is forked while a thread ends may inherit a held lock of the sanitizer.
template <class Body>
bool ends_in_time(Body body) {
  const auto has_ended = std::make_shared<std::atomic<bool>>(false);
  std::thread runner([has_ended, body = std::move(body)]() mutable {
    body();
    *has_ended = true;
  });
  const bool in_time = eventually([&] { return has_ended->load(); });
  if (in_time) {
    runner.join();
  } else {
    runner.detach();
  }
  return in_time;
}

}  // namespace tessera::rma::detail
