// SPDX-License-Identifier: BSD-3-Clause
//
// Recorder: where a rank of a job that is profiled writes down its waits, with a WaitScope around
// each. A job that isn't profiled has none, and its scopes do nothing but see that.
//
// A wait that begins within another of the same thread (an allocation has meetings, a blocking
// transfer of a collective may have a fence) belongs to the outer one: sums count that alone, while
// traces show both.
//
// Threads: all functions may be called from any thread. Sums are atomic; events take a short lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "rma/profile/waits.hpp"
#include "rma/rank.hpp"

namespace tessera::rma::detail {

/// Of steady_clock, which the processes of a machine share.
[[nodiscard]] inline std::int64_t profile_clock_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Recorder {
 public:
  /// Keeps at most so many events; none where there is no trace.
  explicit Recorder(std::size_t most_events) : most_events_(most_events) {
    events_.reserve(most_events);  // taken from the kernel as they come
  }

  /// What ended without waiting; nothing within a wait.
  void note_done(Wait wait) noexcept;

  /// Nothing is recorded any more: what follows is the profile's own.
  void close() noexcept { is_open_.store(false, std::memory_order_relaxed); }

  [[nodiscard]] WaitTallies tallies() const noexcept;
  /// In the order in which they ended.
  [[nodiscard]] std::vector<WaitEvent> take_events();
  [[nodiscard]] std::uint64_t dropped_events() const noexcept { return dropped_.load(); }

 private:
  friend class WaitScope;
  struct AtomicTally {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> total_ns{0};
    std::atomic<std::uint64_t> longest_ns{0};
  };

  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }
  void add(const WaitEvent& event) noexcept;
  void keep(WaitEvent event) noexcept;

  std::atomic<bool> is_open_{true};
  std::array<AtomicTally, wait_count> tallies_;
  std::size_t most_events_;
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;
  std::vector<WaitEvent> events_;
  std::unordered_map<std::thread::id, std::uint32_t> threads_;
};

/// Stands for a wait while it lives.
class WaitScope {
 public:
  /// `peer` −1: several; `recorder` null: nothing happens.
  WaitScope(Recorder* recorder, Wait wait, WorldRank peer = WorldRank{-1},
            std::uint64_t bytes = 0) noexcept
      : recorder_(recorder) {
    if (recorder_ != nullptr) [[unlikely]] {
      begin(wait, peer, bytes);
    }
  }
  ~WaitScope() {
    if (recorder_ != nullptr) [[unlikely]] {
      end();
    }
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  void begin(Wait wait, WorldRank peer, std::uint64_t bytes) noexcept;
  void end() noexcept;

  Recorder* recorder_;
  WaitEvent event_;
};

}  // namespace tessera::rma::detail
