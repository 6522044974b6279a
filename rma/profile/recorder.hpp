// SPDX-License-Identifier: BSD-3-Clause
//
// Recorder: records the waits of one rank of a profiled job, with a WaitScope around each. A job
// that isn't profiled has none; its scopes only check that.
//
// A wait that begins within another one of the same thread belongs to the outer one. (An allocation
// has meetings; a blocking transfer of a collective may have a fence.) Sums count the outer one
// alone, traces show both. The outer one has a label if the call has one, such as "sync rho".
//
// Threads: all functions may be called from any thread. Sums are atomic; events take a short lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/label.hpp"
#include "rma/profile/phase_log.hpp"
#include "rma/profile/tick_clock.hpp"
#include "rma/profile/waits.hpp"

namespace tessera::rma::detail {

/// A wait, in ticks of the recorder's clock.
struct TimedWait {
  std::int64_t begin = 0;
  std::int64_t duration = 0;
  std::uint64_t bytes = 0;
  std::int32_t peer = -1;
  std::uint32_t thread = 0;
  std::uint32_t label = 0;  ///< its number, plus one; 0: none. Of a phase: its number
  Wait wait = Wait::put;
  bool is_phase = false;
};

class Recorder {
 public:
  /// Keeps at most `max_events` events; 0 if there is no trace.
  explicit Recorder(std::size_t max_events)
      : keeps_waits_(max_events > 0), max_events_(max_events) {
    events_.reserve(max_events);  // the kernel backs these pages only when they are touched
  }

  /// Records an operation that ended without waiting; ignored within a wait.
  void record_done(Wait wait) noexcept;

  /// From now on no events are kept, and operations that end without waiting are not recorded. The
  /// profile's own waits come after its tallies were read.
  void close() noexcept { is_open_.store(false, std::memory_order_relaxed); }

  /// Waits also count for the phases in which they are. Requires: nothing was recorded yet.
  void set_phases(std::shared_ptr<PhaseLog> phases) noexcept { phases_ = std::move(phases); }
  /// From now on there are phases.
  void expect_phases() noexcept { keeps_waits_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t now() const noexcept { return clock_.now(); }
  [[nodiscard]] TickScale scale() const noexcept { return clock_.scale(); }
  /// The calling thread's number in traces. Throws std::bad_alloc.
  [[nodiscard]] std::uint32_t number_of_thread();
  /// Keeps a phase as an event in a trace. Phases have room of their own, as the outer ones end
  /// last.
  void keep_phase(std::int64_t begin, std::int64_t duration, std::uint32_t thread,
                  std::uint32_t phase) noexcept;

  [[nodiscard]] WaitTallies tallies() const noexcept;
  /// The parts of tallies(), by label.
  [[nodiscard]] std::vector<LabelledWait> labelled() const;
  /// Waits in the order in which they ended, and then phases in theirs.
  [[nodiscard]] std::vector<WaitEvent> take_events();
  [[nodiscard]] std::uint64_t dropped_events() const noexcept { return dropped_.load(); }

 private:
  friend class WaitScope;
  struct AtomicTally {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> total_ticks{0};
    std::atomic<std::uint64_t> max_ticks{0};
  };

  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }
  /// Whether each wait is kept as an event, or may be in a phase.
  [[nodiscard]] bool keeps_waits() const noexcept {
    return keeps_waits_.load(std::memory_order_relaxed);
  }
  void add(Wait wait, std::uint64_t bytes, std::int64_t duration) noexcept {
    AtomicTally& tally = tallies_[static_cast<std::size_t>(wait)];
    const auto ticks = static_cast<std::uint64_t>(duration);
    tally.count.fetch_add(1, std::memory_order_relaxed);
    if (bytes != 0) {
      tally.bytes.fetch_add(bytes, std::memory_order_relaxed);
    }
    tally.total_ticks.fetch_add(ticks, std::memory_order_relaxed);
    if (tally.max_ticks.load(std::memory_order_relaxed) < ticks) [[unlikely]] {
      raise_to(tally.max_ticks, ticks);
    }
  }
  static void raise_to(std::atomic<std::uint64_t>& maximum, std::uint64_t value) noexcept;
  /// Counts the wait for its label, if it has one, and keeps it as an event in a trace. An
  /// outermost one also counts for its phases.
  void keep(TimedWait wait, const Label* label, bool is_outermost) noexcept;
  [[nodiscard]] std::uint32_t thread_index();
  [[nodiscard]] WaitTally& tally_of(const std::string& label, std::uint32_t& index);

  /// In how many nested waits the thread is, of all jobs.
  static inline constinit thread_local int depth = 0;

  TickClock clock_;
  std::atomic<bool> is_open_{true};
  std::atomic<bool> keeps_waits_;
  std::array<AtomicTally, wait_count> tallies_;
  std::size_t max_events_;
  std::atomic<std::uint64_t> dropped_{0};
  mutable std::mutex mutex_;
  std::shared_ptr<PhaseLog> phases_;
  std::vector<TimedWait> events_;
  std::vector<TimedWait> phase_events_;
  std::vector<LabelledWait> labels_;  ///< in ticks
  std::unordered_map<std::string, std::uint32_t> label_indices_;
  std::unordered_map<std::thread::id, std::uint32_t> threads_;
};

/// Records a wait for its lifetime. All functions are inline, also on the path of exceptions. So
/// the compiler stores nothing that is known at the call, and a barrier costs less than 60
/// instructions.
class WaitScope {
 public:
  /// `peer` −1: several ranks. `recorder` null: does nothing. `label` must outlive it; null: the
  /// wait is known by its kind alone.
  WaitScope(Recorder* recorder, Wait wait, WorldRank peer = WorldRank{-1}, std::uint64_t bytes = 0,
            const Label* label = nullptr) noexcept
      : recorder_(recorder), bytes_(bytes), label_(label), peer_(peer.value), wait_(wait) {
    if (recorder_ != nullptr) [[unlikely]] {
      begin();
    }
  }
  [[gnu::always_inline]] ~WaitScope() {
    if (recorder_ != nullptr) [[unlikely]] {
      end();
    }
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

 private:
  void begin() noexcept {
    ++Recorder::depth;
    begin_ = recorder_->clock_.now();
  }
  [[gnu::always_inline]] void end() noexcept {
    // A thread may have moved to a processor whose counter is a few ticks late.
    const std::int64_t duration = std::max<std::int64_t>(recorder_->clock_.now() - begin_, 0);
    if (--Recorder::depth == 0) [[likely]] {
      recorder_->add(wait_, bytes_, duration);
      if (label_ != nullptr || recorder_->keeps_waits()) [[unlikely]] {
        recorder_->keep({begin_, duration, bytes_, peer_, 0, 0, wait_}, label_, true);
      }
    } else if (recorder_->keeps_waits()) [[unlikely]] {
      recorder_->keep({begin_, duration, bytes_, peer_, 0, 0, wait_}, nullptr, false);
    }
  }

  Recorder* recorder_;
  std::int64_t begin_ = 0;  ///< ticks
  std::uint64_t bytes_;
  const Label* label_;
  std::int32_t peer_;
  Wait wait_;
};

}  // namespace tessera::rma::detail
