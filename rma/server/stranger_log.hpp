// SPDX-License-Identifier: BSD-3-Clause
//
// StrangerLog: what an agent says of connections that don't prove to belong to the job. Anybody can
// make any number of them, so the log has the first few in full, and then how many there were.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace tessera::rma::server {

class StrangerLog {
 public:
  using Clock = std::chrono::steady_clock;

  /// Lines in full until so many have come; they may come again after a quiet `period`. The others
  /// are counted, and told of once in a period.
  struct Limits {
    int lines = 8;
    std::chrono::milliseconds period{10'000};
  };

  StrangerLog(const Limits& limits, std::function<void(const std::string&)> warn)
      : limits_(limits), warn_(std::move(warn)) {}
  ~StrangerLog() { tell_count(Clock::time_point::max()); }
  StrangerLog(const StrangerLog&) = delete;
  StrangerLog& operator=(const StrangerLog&) = delete;

  /// A stranger's connection ended as `describe()` says, which is called only if that is written.
  template <class Describe>
  void note(Clock::time_point now, Describe&& describe) {
    if (takes_line(now)) {
      warn_(describe());
    }
  }
  /// Tells of those that were counted, if it is time. To be called now and then.
  void tell_count(Clock::time_point now);

 private:
  bool takes_line(Clock::time_point now);

  const Limits limits_;
  const std::function<void(const std::string&)> warn_;
  std::mutex mutex_;
  int lines_ = 0;              // in full, since the last quiet period
  std::uint64_t counted_ = 0;  // and not told of
  Clock::time_point last_{};   // when one ended last
  Clock::time_point told_{};   // when lines came last, or a count
};

}  // namespace tessera::rma::server
