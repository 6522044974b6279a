// SPDX-License-Identifier: BSD-3-Clause
//
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
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench {

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
