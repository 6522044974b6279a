// SPDX-License-Identifier: BSD-3-Clause
//
// ExitLockReleaser: releases a rank's locks when it leaves the job, so that no other rank waits for
// them.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace tessera::rma::mpi {

class ExitLockReleaser {
 public:
  /// `unlock_all` unlocks this rank's locks of a set; it is called until remove(`set`).
  void add(const void* set, std::function<void()> unlock_all) {
    const std::lock_guard guard(mutex_);
    sets_.emplace_back(set, std::move(unlock_all));
  }
  void remove(const void* set) noexcept {
    const std::lock_guard guard(mutex_);
    std::erase_if(sets_, [&](const auto& each) { return each.first == set; });
  }
  void release_all() {
    const std::lock_guard guard(mutex_);
    for (const auto& [set, unlock_all] : sets_) {
      unlock_all();
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<const void*, std::function<void()>>> sets_;
};

}  // namespace tessera::rma::mpi
