// SPDX-License-Identifier: BSD-3-Clause
//
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
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/clock.hpp"
#include "bench/support/rank_group.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench {

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

}  // namespace tessera::bench
