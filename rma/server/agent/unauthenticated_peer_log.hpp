// SPDX-License-Identifier: BSD-3-Clause
//
// UnauthenticatedPeerLog: logs connections that end before they prove to belong to the job. Anyone
// can open any number of them, so the log shows the first few in full and afterwards only how many
// there were.
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

class UnauthenticatedPeerLog {
 public:
  using Clock = std::chrono::steady_clock;

  /// At most `lines` full lines are written; after a quiet `period` full lines are allowed again.
  /// Further connections are counted, and the count is logged once in a period.
  struct Limits {
    int lines = 8;
    std::chrono::milliseconds period{10'000};
  };

  UnauthenticatedPeerLog(const Limits& limits, std::function<void(const std::string&)> warn)
      : limits_(limits), warn_(std::move(warn)) {}
  ~UnauthenticatedPeerLog() { report_count(Clock::time_point::max()); }
  UnauthenticatedPeerLog(const UnauthenticatedPeerLog&) = delete;
  UnauthenticatedPeerLog& operator=(const UnauthenticatedPeerLog&) = delete;

  /// An unauthenticated connection ended. describe() returns the line, and is called only if it is
  /// written.
  template <class Describe>
  void record(Clock::time_point now, Describe&& describe) {
    if (takes_line(now)) {
      warn_(describe());
    }
  }
  /// Logs the count if it is due. To be called now and then.
  void report_count(Clock::time_point now);

 private:
  bool takes_line(Clock::time_point now);

  const Limits limits_;
  const std::function<void(const std::string&)> warn_;
  std::mutex mutex_;
  int lines_ = 0;                    // full lines since the last quiet period
  std::uint64_t counted_ = 0;        // and not yet logged
  Clock::time_point last_{};         // when such a connection last ended
  Clock::time_point last_logged_{};  // when a line or a count was last logged
};

}  // namespace tessera::rma::server
