// SPDX-License-Identifier: BSD-3-Clause
//
// GrantedLocks: locks that a message has handed over to this process and that no thread has taken
// yet.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <mutex>
#include <set>

namespace tessera::rma::mpi {

/// A lock of a set, as the message that hands it over names it.
struct LockName {
  std::uint64_t set = 0;  ///< the same on all members
  std::int32_t owner = 0;
  std::int64_t index = 0;
  friend auto operator<=>(const LockName&, const LockName&) = default;
};

class GrantedLocks {
 public:
  void add(const LockName& name) {
    const std::lock_guard guard(mutex_);
    names_.insert(name);
  }
  [[nodiscard]] bool take(const LockName& name) {
    const std::lock_guard guard(mutex_);
    return names_.erase(name) > 0;
  }

 private:
  std::mutex mutex_;
  std::set<LockName> names_;
};

}  // namespace tessera::rma::mpi
