// SPDX-License-Identifier: BSD-3-Clause
//
// Statistics of a set of samples, and of the ratio of two sets.
//
// Times on a shared machine have a long tail to one side, so nothing here assumes a normal
// distribution. The headline is the median with an order-statistic confidence interval. Two
// candidates are compared by the ratio of their medians with a bootstrap interval. The mean exists
// only for the OSU column `Avg`; it is never compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::bench {

/// A closed interval.
struct Interval {
  double lo = 0;
  double hi = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Order statistics of one set of samples, in the unit of the samples.
struct Stats {
  std::int64_t samples_n = 0;
  double mean = 0;
  double min = 0;
  double p25 = 0;
  double median = 0;
  double p75 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
  Interval ci95_median;

  /// The same in another unit.
  [[nodiscard]] Stats scaled(double factor) const;
};

/// The `fraction` quantile of ascending samples, interpolated linearly between the two nearest
/// (Hyndman and Fan's type 7, the default of NumPy and R). Requires: at least one sample.
double quantile(std::span<const double> ascending, double fraction);

/// The median of samples in any order, which it changes. Requires: at least one sample.
double median_of(std::span<double> samples);

/// The 1-based ranks, in ascending order, of the samples that bound the median of `n` samples with
/// 95 % confidence: floor((n - 1.96 sqrt n) / 2) and ceil(1 + (n + 1.96 sqrt n) / 2) (Hoefler and
/// Belli, SC15, rule 7), clamped to [1, n]. Up to five samples always give [1, n].
struct RankInterval {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  friend bool operator==(const RankInterval&, const RankInterval&) = default;
};
RankInterval median_ranks95(std::int64_t n);

/// The fewest samples whose range bounds the median with 95 % confidence. With fewer, intervals are
/// the range of all samples, with less confidence.
inline constexpr std::int64_t samples_for_an_interval = 6;

/// The probability that the median lies in the range of all of `n` samples: the confidence of
/// intervals of too few samples, instead of 95 %.
double confidence_of_all(std::int64_t n);

/// Order statistics of `samples`, in any order. An empty set gives samples_n = 0.
Stats summarise(std::span<const double> samples);

/// The ratio of two medians, with its 95 % interval.
struct Ratio {
  double value = 1;
  Interval ci95 = {1, 1};
  std::int64_t samples_n = 0;  ///< number of samples; 0 for a number that was not sampled

  /// Whether the interval excludes 1, so that "faster" or "slower" may be said.
  [[nodiscard]] bool is_a_difference() const { return ci95.lo > 1 || ci95.hi < 1; }
  /// Whether there were fewer samples than a 95 % interval needs.
  [[nodiscard]] bool has_few_samples() const {
    return samples_n > 0 && samples_n < samples_for_an_interval;
  }
  /// In another unit.
  [[nodiscard]] Ratio scaled(double factor) const {
    return {value * factor, {ci95.lo * factor, ci95.hi * factor}, samples_n};
  }
};

/// A ratio as tables show it: three decimal places, or three significant digits if it is small; "-"
/// after a division by zero.
std::string ratio_text(double ratio);
/// "[0.951,0.96]"; "-" if an end is not a number.
std::string ratio_text(const Interval& interval);

struct BootstrapOptions {
  std::int64_t resamples = 1000;
  /// The most rounds that a resample draws; bounds the work for any number of rounds.
  std::int64_t rounds = 1000;
  std::uint64_t seed = 20061121;  ///< fixed, so that the same samples give the same interval
};

/// median(subject) / median(reference) of samples taken in alternation: subject[i] and reference[i]
/// belong to the same round. The bootstrap draws rounds, not samples, so a disturbance of both in
/// one round doesn't widen the interval. With more than `options.rounds` rounds, a resample draws
/// only that number (the "m out of n" bootstrap of Bickel, Götze and van Zwet). Its distance from
/// the ratio is scaled by √(m / n), as that of medians shrinks. Requires: equal, non-zero lengths.
Ratio ratio_of_medians(std::span<const double> subject, std::span<const double> reference,
                       const BootstrapOptions& options = {});

/// The same for any number computed from the medians of several sets, for example the hidden part
/// of an overlap. Requires: equal, non-zero lengths.
Ratio number_of_medians(const std::vector<std::span<const double>>& sets,
                        const std::function<double(std::span<const double> medians)>& number,
                        const BootstrapOptions& options = {});

// Time for benchmarks: monotonic nanoseconds, and the cost of reading the clock.
//
// A clock is passed as a function, so that tests of the method can use invented time.

/// Returns nanoseconds since an arbitrary start; never goes back.
using Clock = std::function<std::int64_t()>;

/// The machine's steady clock.
std::int64_t now_ns();

/// The median difference of two successive readings of `clock`, in nanoseconds: the part of a timed
/// sample that isn't the work.
double timer_cost_ns(const Clock& clock = now_ns);

/// A clock that can be stopped, so that only a part of a candidate's work is timed. Use it only if
/// that part can't be timed alone: a pause leaves about one reading of the clock in the time, which
/// only a large batch makes negligible. Threads: one. Ownership: must outlive the Clock that it
/// gives.
class PausableClock {
 public:
  explicit PausableClock(Clock clock = now_ns) : clock_(std::move(clock)) {}

  /// Time without the pauses. Requires: not paused.
  [[nodiscard]] std::int64_t now() const { return clock_() - paused_ns_; }
  [[nodiscard]] Clock clock() const {
    return [this] { return now(); };
  }

  /// Runs `untimed` without counting its time.
  template <class Untimed>
  void pause(Untimed untimed) {
    const std::int64_t start = clock_();
    untimed();
    paused_ns_ += clock_() - start;
  }

 private:
  Clock clock_;
  std::int64_t paused_ns_ = 0;
};

// How long threads of this process have been running on a processor.

/// Local. The total of all threads of this process whose name is `name`; empty if no thread has
/// that name, or if the kernel doesn't report it. Names are as in pthread_setname_np().
std::optional<std::chrono::nanoseconds> processor_time_of(std::string_view name);

/// Nanoseconds that the calling thread has been running, including in the kernel; a Clock. Throws
/// std::system_error if the kernel doesn't report it. Cost: a system call.
std::int64_t thread_time_ns();

}  // namespace tessera::bench
