// SPDX-License-Identifier: BSD-3-Clause
//
// EndingSignals: the last that a program does when it is told to end.
#pragma once

#include <csignal>

#include <array>
#include <functional>
#include <thread>

namespace tessera::bench {

/// While it lives, the first SIGINT, SIGTERM, SIGHUP or SIGPIPE calls `last`, and then ends the
/// process as it would have without; those that come meanwhile are passed over, and those that the
/// process ignores stay ignored. `last` runs in a thread of its own, which blocks all signals,
/// while the others go on. It may do anything, but must not throw, nor end this object. One at a
/// time in a process. Throws std::system_error where the system has no pipe or thread for it.
class EndingSignals {
 public:
  explicit EndingSignals(std::function<void(int number)> last);
  /// When this returns `last` isn't called any more. Where it has been called nothing returns.
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

 private:
  static constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

  void wait();

  std::function<void(int number)> last_;
  std::array<int, 2> pipe_ = {-1, -1};
  std::array<struct sigaction, numbers.size()> before_ = {};
  std::thread thread_;
};

}  // namespace tessera::bench
