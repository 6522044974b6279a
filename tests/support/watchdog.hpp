// SPDX-License-Identifier: BSD-3-Clause
//
// Watchdog: ends the program if a test takes too long, and prints the test and its ranks.
//
// Threads: enter and leave from any thread; begin and end from the thread that runs the tests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace tessera::rma::test {

class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// A test begins or ends.
  void begin(const std::string& test);
  void end();

  /// A rank enters or leaves the test's body.
  void enter(std::int32_t rank);
  void leave(std::int32_t rank);

 private:
  void watch();

  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string test_;
  std::set<std::int32_t> inside_;
  std::chrono::steady_clock::time_point deadline_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tessera::rma::test
