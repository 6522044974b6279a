// SPDX-License-Identifier: BSD-3-Clause
//
// PhaseLog: the phases of one rank (rma/phase.hpp): which are open on each thread, and what was
// recorded in each. A job without a profile and without the race check has none.
//
// A phase is known by its path: its name and the names of the phases around it. What happens in a
// phase also counts for the phases around it.
//
// Threads: all functions may be called from any thread. Open phases are in a list of the thread
// that began them, so that a wait finds its phase without a lock. They are also in a list of the
// log, so that the end of the job, or another thread, can end them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/base/status.hpp"
#include "rma/counters.hpp"
#include "rma/profile/tick_clock.hpp"
#include "rma/profile/waits.hpp"

namespace tessera::rma::detail {

class Recorder;

/// What one rank did in one phase, and in the phases within it.
struct PhaseTotals {
  struct Operations {
    std::string name;  ///< of arrays and regions
    OpTallies by_op{};
  };
  std::string path;  ///< "step/deposit"
  WaitTally time;    ///< how often, and for how long; no bytes
  std::uint64_t left_open = 0;
  WaitTallies waits{};
  std::vector<LabelledWait> calls;
  std::vector<Operations> operations;
};

class PhaseLog : public std::enable_shared_from_this<PhaseLog> {
 public:
  static constexpr std::size_t max_phases = 1000;

  /// A phase that a thread has begun. Only that thread changes `outer`.
  struct Open {
    std::shared_ptr<PhaseLog> log;
    std::string name;
    std::uint64_t number = 0;
    std::uint32_t phase = 0;
    std::uint32_t thread = 0;  ///< its number in the recorder
    std::int64_t begin = 0;    ///< ticks
    std::atomic<bool> has_ended{false};
    const Open* outer = nullptr;
  };

  /// From now on times, waits and operations are recorded. Requires: no phase has begun.
  void record_in(Recorder& recorder) noexcept { recorder_ = &recorder; }

  /// Begins a phase of this thread; returns its number, 0 if there is no memory for it.
  std::uint64_t begin(std::string_view name) noexcept;
  /// Ends that phase, and those of its thread that began within it.
  void end(std::uint64_t number) noexcept;
  /// See rma::end_phase.
  Status end_innermost(std::string_view name);
  /// The job stops: ends all phases.
  void close() noexcept;

  /// Counts an outermost wait of this thread for its phases. `label` may be empty. Throws
  /// std::bad_alloc.
  void add_wait(Wait wait, std::uint64_t bytes, std::int64_t ticks, const std::string& label);
  /// Counts operations of this thread on a region, by the index of its name. Throws
  /// std::bad_alloc.
  void add_operations(std::size_t name, Op op, const Tally& tally);

  /// This thread's innermost phase, 0 if it is in none.
  [[nodiscard]] std::uint32_t current() const noexcept;
  /// Its path. Throws std::bad_alloc.
  [[nodiscard]] std::string path_of(std::uint32_t phase) const;
  /// All paths: path i is of phase i + 1. Throws std::bad_alloc.
  [[nodiscard]] std::vector<std::string> paths() const;
  /// All phases in the order in which they first began. `names` are those of regions. Throws
  /// std::bad_alloc.
  [[nodiscard]] std::vector<PhaseTotals> totals(const TickScale& scale,
                                                const std::vector<std::string>& names) const;
  /// True if the calling thread is in a phase, of any job.
  [[nodiscard]] static bool is_in_any() noexcept { return innermost != nullptr; }

 private:
  friend class OpenPhases;
  struct Entry {
    std::string path;
    WaitTally time;  ///< in ticks, as are the others
    std::uint64_t left_open = 0;
    WaitTallies waits{};
    std::map<std::string, WaitTally> calls;
    std::map<std::size_t, OpTallies> operations;  ///< by the index of the region's name
  };

  [[nodiscard]] const Open* innermost_of_thread() const noexcept;
  std::uint32_t phase_of(std::uint32_t outer, std::string_view name);
  /// Requires: mutex_ is locked. Afterwards the thread that began the phase may free it.
  void finish(Open& open, bool is_left_open) noexcept;
  template <class Body>
  void for_each_entry_of_thread(Body&& body);

  /// The calling thread's, of all jobs.
  static inline constinit thread_local const Open* innermost = nullptr;

  Recorder* recorder_ = nullptr;
  mutable std::mutex mutex_;
  bool is_closed_ = false;
  std::uint64_t last_number_ = 0;
  std::vector<Open*> open_;
  std::vector<Entry> entries_;  ///< entry i is of phase i + 1
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> phases_;  ///< by outer and name
};

}  // namespace tessera::rma::detail
