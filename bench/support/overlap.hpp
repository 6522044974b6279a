// SPDX-License-Identifier: BSD-3-Clause
//
// Overlap: how much of a transfer hides behind computation.
//
// The method of [ARMCI06], section 6.1.2: a transfer is started, a computation of known work is
// done, the transfer is waited for. Three candidates in alternation give what hides:
//
//     blocking    |start wait|
//     computing   |compute      |
//     overlapped  |start compute wait|        hidden = (blocking + computing - overlapped) /
//     blocking
//
// The work is a number of steps, not a time: where the transfer's threads need the same core, the
// computation then takes longer, as a user's would.
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

/// One transfer that is started and waited for, by one thread of a rank.
struct Started {
  std::string name;
  std::size_t bytes = 0;
  std::function<void()> start;
  std::function<void()> wait;
  std::function<std::string()> verify = {};  ///< as a Candidate's
  bool is_cooperative = false;               ///< other ranks have their part in it
  bool computes = true;                      ///< this rank does, meanwhile
};

/// Work in registers that no memory and no other core can slow down.
class Computation {
 public:
  explicit Computation(std::int64_t steps) : steps_(steps) {}
  /// About this long on an idle core; the fastest of some trials.
  static Computation lasting(std::chrono::nanoseconds time);

  void run() const;
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  std::int64_t steps_;
};

/// A thread that computes for as long as this lives: a target that is busy.
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

/// How much more of the same work may take alone than as a part of a whole, before others must have
/// disturbed it.
inline constexpr double overlap_tolerance = 1.05;

/// The part of the transfer that the computation hid, from 0 to 1. No computation hides more than
/// it lasts, whatever was measured: to see all that can be hidden, it has to last at least as long
/// as the transfer. Requires: `transfer_ns` > 0.
double hidden_fraction(double transfer_ns, double computation_ns, double overlapped_ns);
/// Whether neither the transfer nor the computation took longer alone than both together. Else
/// others disturbed them, and what hid is not known.
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
/// Whether it hides so much that others' parts can be divided by it.
bool hides_anything(const Overlap& overlap);
/// What `subject` hides / what `reference` hides, which hides_anything(). Requires: one set of
/// rounds, one computation.
Ratio hidden_ratio(const Overlap& subject, const Overlap& reference);

}  // namespace tessera::bench
