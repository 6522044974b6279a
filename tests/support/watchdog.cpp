// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support/watchdog.hpp"

#include <cstdio>
#include <cstdlib>

namespace tessera::rma::test {

Watchdog::Watchdog(std::chrono::seconds limit) : limit_(limit), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Watchdog::begin(const std::string& test) {
  const std::lock_guard guard(mutex_);
  test_ = test;
  deadline_ = std::chrono::steady_clock::now() + limit_;
  changed_.notify_all();
}

void Watchdog::end() {
  const std::lock_guard guard(mutex_);
  test_.clear();
  inside_.clear();
}

void Watchdog::enter(std::int32_t rank) {
  const std::lock_guard guard(mutex_);
  inside_.insert(rank);
}

void Watchdog::leave(std::int32_t rank) {
  const std::lock_guard guard(mutex_);
  inside_.erase(rank);
}

void Watchdog::watch() {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    if (test_.empty()) {
      changed_.wait(guard);
      continue;
    }
    changed_.wait_until(guard, deadline_);
    if (test_.empty() || stopping_ || std::chrono::steady_clock::now() < deadline_) {
      continue;
    }
    std::string ranks = inside_.empty() ? " (none here)" : "";
    for (const std::int32_t rank : inside_) {
      ranks += ' ' + std::to_string(rank);
    }
    std::fprintf(stderr, "\n%s hangs: not finished after %lld s; in its body are ranks%s\n",
                 test_.c_str(), static_cast<long long>(limit_.count()), ranks.c_str());
    std::fflush(nullptr);
    // Threads that hang cannot be joined, and destructors may hang as well.
    std::_Exit(1);
  }
}

}  // namespace tessera::rma::test
