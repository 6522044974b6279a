// SPDX-License-Identifier: BSD-3-Clause
//
// TerminationSignals: calls a function when a signal is about to end the program.
#pragma once

#include <csignal>

#include <array>
#include <functional>
#include <thread>

namespace tessera::bench {

/// During its lifetime, the first SIGINT, SIGTERM, SIGHUP or SIGPIPE calls `last`, and then ends
/// the process as it would have done without this object. Ignores such signals that arrive
/// meanwhile. Signals that the process ignores stay ignored. `last` runs in a thread of its own,
/// which blocks all signals, while the other threads continue. It may do anything except throw or
/// destroy this object. At most one object per process. Throws std::system_error if the system
/// can't provide a pipe or a thread.
class TerminationSignals {
 public:
  explicit TerminationSignals(std::function<void(int number)> last);
  /// After it returns, `last` isn't called any more. If a signal has called `last`, the destructor
  /// does not return.
  ~TerminationSignals();
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;

 private:
  static constexpr std::array numbers = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

  void wait();

  std::function<void(int number)> last_;
  std::array<int, 2> pipe_ = {-1, -1};
  std::array<struct sigaction, numbers.size()> before_ = {};
  std::thread thread_;
};

}  // namespace tessera::bench
