// SPDX-License-Identifier: BSD-3-Clause
//
// TeamRegistry: what a job knows about all its teams: how many were made of each set of ranks, and
// which have a background thread.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tessera::rma::detail {

class BackgroundCollectives;

class TeamRegistry {
 public:
  /// How many teams of a set of ranks were made. Members make such teams in the same order, so the
  /// number of a team is the same on all of them. Throws std::bad_alloc.
  std::atomic<std::uint32_t>& count_of(std::uint64_t set_hash) {
    const std::lock_guard guard(mutex_);
    return counts_[set_hash];
  }
  /// Throws std::bad_alloc.
  void add(const std::shared_ptr<BackgroundCollectives>& background);
  /// Ends the threads. Called when the job has stopped.
  void stop_threads() noexcept;

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::atomic<std::uint32_t>> counts_;
  std::vector<std::weak_ptr<BackgroundCollectives>> backgrounds_;
};

}  // namespace tessera::rma::detail
