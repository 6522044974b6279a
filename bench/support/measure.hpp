// SPDX-License-Identifier: BSD-3-Clause
//
// RankGroup: the ranks that take part in one measurement, however they were started.
//
// The method needs only this of a job. So the same code measures a Tessera job, an MPI
// communicator, threads of one process, or one process alone. Calls of a group are made outside the
// timed regions; their speed doesn't matter. But a rank that waits in one should not take time on a
// core that another rank needs.
//
// Threads: one thread of each rank calls, all ranks in the same order.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench {

class RankGroup {
 public:
  virtual ~RankGroup() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Collective. Returns when all ranks have called it.
  virtual void barrier() = 0;
  /// Collective. Copies `bytes` of rank `root` to all ranks. Requires: the same length on all
  /// ranks.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Collective. The largest `value` of all ranks, on all ranks.
  virtual double maximum(double value) = 0;

  /// Collective. broadcast() of one plain value.
  template <class T>
  [[nodiscard]] T share(T value, int root = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
    return value;
  }
};

// measure_interleaved(): times several candidates in alternation, in one process or one job.
//
// Two numbers taken minutes apart on a shared machine depend more on other load than on the code.
// Here all candidates are prepared, checked and warmed up first; then each round takes one sample
// of each. Rounds come in pairs: a random order, then the same order reversed (B A C, C A B, …). So
// a slow drift, and a candidate's effect on the next one, affect all alike. Rounds are the pairs of
// ratio_of_medians().
//
// A sample is a batch of repetitions that lasts at least `timer_multiple` times a clock reading.
// Its result is (elapsed − clock reading) / repetitions. So the percentiles of a short operation
// are those of batch means. Before each sample the candidate runs once untimed. This brings its
// data back into the caches that the others have used.
//
// Rank 0 leads: it decides counts, keeps samples, and sends the others the next step. They take
// part only in cooperative candidates; otherwise they wait in RankGroup::broadcast.

struct MeasureOptions {
  std::int64_t samples = 200;        ///< of each candidate, if the time allows
  std::int64_t min_samples = 11;     ///< taken even if the time limit is reached
  std::int64_t warm_up_samples = 0;  ///< 0: until WarmUp has settled
  std::int64_t repetitions = 0;      ///< in a sample; 0: chosen by timer_multiple
  double timer_multiple = 50;        ///< a sample lasts at least this many clock readings
  std::chrono::nanoseconds warm_up_limit = std::chrono::milliseconds(250);  ///< of each candidate
  std::chrono::nanoseconds sampling_limit = std::chrono::seconds(2);        ///< of all together
  bool prime = true;  ///< one untimed repetition before a sample; false measures cold caches
  bool verify = true;
  BootstrapOptions bootstrap = {};
  Clock clock = now_ns;
};

/// The results of one candidate on rank 0.
struct Measured {
  std::string name;
  std::size_t bytes = 0;
  std::optional<double> operations;  ///< of one repetition, over all ranks; empty if not counted
  std::int64_t repetitions = 0;      ///< in each sample
  std::vector<double> samples_ns;    ///< per repetition, one per round
  Stats stats_ns;
  Ratio ratio;                     ///< time of this one / time of the first candidate
  bool valid = true;               ///< false if verify() found an error
  std::vector<std::string> notes;  ///< remarks that a reader of the number needs

  /// Bytes a second at the median, or 0.
  [[nodiscard]] double bytes_per_s() const;
  /// Operations a second at the median, or 0; without a count, each repetition counts as one.
  [[nodiscard]] double operations_per_s() const;
};

/// Collective over the rank group. Measures all candidates; the first is the reference of the
/// ratios. Returns one entry per candidate on rank 0. On other ranks the entries have no samples,
/// but the same `valid`. Requires: the same names and kinds of candidates, in the same order, on
/// every rank.
std::vector<Measured> measure_interleaved(RankGroup& group,
                                          const std::vector<Candidate>& candidates,
                                          const MeasureOptions& options = {});

// WarmUp: decides when times have settled.
//
// Samples are taken in windows. Times have settled when the medians of the last three windows lie
// within 1 % of each other. Caches, page tables, branch predictors and clock frequency
// settle; the load of other programs doesn't. So the caller also limits the time, and
// reports if it reached the limit.

class WarmUp {
 public:
  static constexpr std::size_t window_samples = 15;
  static constexpr std::size_t windows = 3;
  static constexpr double tolerance = 0.01;

  void add(double sample);

  /// Relative distance of the extreme medians of the last windows; infinite until there are enough
  /// windows.
  [[nodiscard]] double movement() const { return movement_; }
  [[nodiscard]] bool is_settled() const { return movement_ < tolerance; }
  /// The median of the last full window, or 0.
  [[nodiscard]] double median() const { return medians_.empty() ? 0 : medians_.back(); }

 private:
  std::vector<double> window_;
  std::vector<double> medians_;
  double movement_ = std::numeric_limits<double>::infinity();
};

// Overlap: how much of a transfer is hidden by computation.
//
// The method of [ARMCI06], section 6.1.2: start a transfer, do a computation of known work, wait
// for the transfer. Three candidates in alternation give the hidden part:
//
//     blocking    |start wait|
//     computing   |compute      |
//     overlapped  |start compute wait|
//     hidden = (blocking + computing - overlapped) / blocking
//
// The work is a number of steps, not a time. If the transfer's threads need the same core, the
// computation takes longer, as a user's would.

/// One transfer that one thread of a rank starts and waits for.
struct Started {
  std::string name;
  std::size_t bytes = 0;
  std::function<void()> start;
  std::function<void()> wait;
  std::function<std::string()> verify = {};  ///< as Candidate::verify
  bool is_cooperative = false;               ///< other ranks take part in it
  bool computes = true;                      ///< this rank computes meanwhile
};

/// Work in registers, which neither memory nor other cores can slow down.
class Computation {
 public:
  explicit Computation(std::int64_t steps) : steps_(steps) {}
  /// A computation of about this time on an idle core; the fastest of some trials.
  static Computation lasting(std::chrono::nanoseconds time);

  void run() const;
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  std::int64_t steps_;
};

/// A thread that computes during the object's lifetime: a busy target.
class BackgroundComputation {
 public:
  BackgroundComputation();
  ~BackgroundComputation();
  BackgroundComputation(const BackgroundComputation&) = delete;
  BackgroundComputation& operator=(const BackgroundComputation&) = delete;

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

/// Starts and waits.
Candidate blocking_candidate(const Started& transfer);
/// Only computes.
Candidate computing_candidate(const Computation& computation);
/// Starts, computes, waits.
Candidate overlapped_candidate(const Started& transfer, const Computation& computation);

/// Tolerance for the time of a part measured alone relative to the time of the whole. Beyond it,
/// other load must have disturbed the measurement.
inline constexpr double overlap_tolerance = 1.05;

/// The part of the transfer that the computation hid, from 0 to 1. A computation can't hide more
/// than its own duration: to see all that can be hidden, it must last at least as long as the
/// transfer. Requires: `transfer_ns` > 0.
double hidden_fraction(double transfer_ns, double computation_ns, double overlapped_ns);
/// Whether neither the transfer nor the computation took longer alone than both together. Otherwise
/// other load disturbed the measurement, and the hidden part is unknown.
bool is_credible_overlap(double transfer_ns, double computation_ns, double overlapped_ns);

/// The three candidates of one transfer, as measured.
struct Overlap {
  std::span<const double> blocking_ns;
  std::span<const double> computing_ns;
  std::span<const double> overlapped_ns;
};
/// hidden_fraction() of the medians, with its interval.
Ratio hidden(const Overlap& overlap);
/// hidden_fraction() of each round.
std::vector<double> hidden_by_rounds(const Overlap& overlap);
/// Whether the hidden part is large enough to divide by.
bool hides_anything(const Overlap& overlap);
/// Hidden part of `subject` / hidden part of `reference`. Requires: hides_anything(reference), the
/// same rounds and the same computation.
Ratio hidden_ratio(const Overlap& subject, const Overlap& reference);

}  // namespace tessera::bench
