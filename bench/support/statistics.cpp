// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/statistics.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace tessera::bench {
namespace {

/// Draws from [0, n). Not std::uniform_int_distribution, whose results differ between libraries.
std::size_t draw(std::mt19937_64& random, std::size_t n) {
  return static_cast<std::size_t>(((random() >> 32) * n) >> 32);
}

/// `number` of `options.resamples` bootstrap resamples, each of `rounds_drawn` rounds; ascending.
std::vector<double> resampled_numbers(
    const std::vector<std::span<const double>>& sets, std::size_t rounds_drawn,
    const std::function<double(std::span<const double> medians)>& number,
    const BootstrapOptions& options) {
  std::vector<std::vector<double>> drawn(sets.size(), std::vector<double>(rounds_drawn));
  std::vector<double> medians(sets.size());
  std::mt19937_64 random(options.seed);
  std::vector<double> resampled(static_cast<std::size_t>(options.resamples));
  for (double& value : resampled) {
    for (std::size_t i = 0; i < rounds_drawn; ++i) {
      const std::size_t round = draw(random, sets.front().size());
      for (std::size_t set = 0; set < sets.size(); ++set) {
        drawn[set][i] = sets[set][round];
      }
    }
    std::transform(drawn.begin(), drawn.end(), medians.begin(),
                   [](std::vector<double>& set) { return median_of(set); });
    value = number(medians);
  }
  std::sort(resampled.begin(), resampled.end());
  return resampled;
}

/// An interval around `value` with each distance from it multiplied by `factor`.
Interval scaled_towards(const Interval& interval, double value, double factor) {
  if (factor == 1 || !std::isfinite(interval.lo) || !std::isfinite(interval.hi)) {
    return interval;
  }
  return {value + factor * (interval.lo - value), value + factor * (interval.hi - value)};
}

double safe_ratio(double subject, double reference) {
  return reference > 0 ? subject / reference : std::numeric_limits<double>::infinity();
}

}  // namespace

Stats Stats::scaled(double factor) const {
  Stats result = *this;
  for (double* value :
       {&result.mean, &result.min, &result.p25, &result.median, &result.p75, &result.p95,
        &result.p99, &result.max, &result.ci95_median.lo, &result.ci95_median.hi}) {
    *value *= factor;
  }
  return result;
}

double median_of(std::span<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) {
    return *middle;
  }
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

double quantile(std::span<const double> ascending, double fraction) {
  const double position = fraction * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = position - static_cast<double>(below);
  // Neighbours may be infinite, after a division by zero.
  return part == 0 || ascending[below] == ascending[above]
             ? ascending[below]
             : ascending[below] + part * (ascending[above] - ascending[below]);
}

RankInterval median_ranks95(std::int64_t n) {
  constexpr double z = 1.96;
  const auto count = static_cast<double>(n);
  const double half_width = z * std::sqrt(count);
  const auto lo = static_cast<std::int64_t>(std::floor((count - half_width) / 2));
  const auto hi = static_cast<std::int64_t>(std::ceil(1 + (count + half_width) / 2));
  return {std::clamp<std::int64_t>(lo, 1, n), std::clamp<std::int64_t>(hi, 1, n)};
}

double confidence_of_all(std::int64_t n) {
  return n > 0 ? 1 - std::exp2(1 - static_cast<double>(n)) : 0;
}

Stats summarise(std::span<const double> samples) {
  Stats stats;
  if (samples.empty()) {
    return stats;
  }
  std::vector<double> ascending(samples.begin(), samples.end());
  std::sort(ascending.begin(), ascending.end());
  stats.samples_n = static_cast<std::int64_t>(ascending.size());
  stats.mean = std::accumulate(ascending.begin(), ascending.end(), 0.0) /
               static_cast<double>(ascending.size());
  stats.min = ascending.front();
  stats.p25 = quantile(ascending, 0.25);
  stats.median = quantile(ascending, 0.50);
  stats.p75 = quantile(ascending, 0.75);
  stats.p95 = quantile(ascending, 0.95);
  stats.p99 = quantile(ascending, 0.99);
  stats.max = ascending.back();
  const RankInterval ranks = median_ranks95(stats.samples_n);
  stats.ci95_median = {ascending[static_cast<std::size_t>(ranks.lo - 1)],
                       ascending[static_cast<std::size_t>(ranks.hi - 1)]};
  return stats;
}

std::string ratio_text(double ratio) {
  constexpr double small = 0.1;
  if (!std::isfinite(ratio)) {
    return "-";
  }
  return ratio != 0 && std::abs(ratio) < small ? fmt::format("{:.3g}", ratio)
                                               : fmt::format("{:.3f}", ratio);
}

std::string ratio_text(const Interval& interval) {
  return std::isfinite(interval.lo) && std::isfinite(interval.hi)
             ? fmt::format("[{},{}]", ratio_text(interval.lo), ratio_text(interval.hi))
             : "-";
}

Ratio number_of_medians(const std::vector<std::span<const double>>& sets,
                        const std::function<double(std::span<const double> medians)>& number,
                        const BootstrapOptions& options) {
  const std::size_t rounds = sets.empty() ? 0 : sets.front().size();
  const bool are_equal = std::all_of(sets.begin(), sets.end(),
                                     [rounds](const auto& set) { return set.size() == rounds; });
  if (rounds == 0 || !are_equal) {
    throw std::invalid_argument("a ratio of medians needs equally long sets of samples");
  }
  std::vector<double> medians;
  for (const auto& set : sets) {
    std::vector<double> samples(set.begin(), set.end());
    medians.push_back(median_of(samples));
  }
  Ratio ratio;
  ratio.value = number(medians);
  ratio.samples_n = static_cast<std::int64_t>(rounds);
  const std::size_t drawn = std::min(rounds, static_cast<std::size_t>(options.rounds));
  const std::vector<double> resampled = resampled_numbers(sets, drawn, number, options);
  ratio.ci95 = scaled_towards({quantile(resampled, 0.025), quantile(resampled, 0.975)}, ratio.value,
                              std::sqrt(static_cast<double>(drawn) / static_cast<double>(rounds)));
  return ratio;
}

Ratio ratio_of_medians(std::span<const double> subject, std::span<const double> reference,
                       const BootstrapOptions& options) {
  return number_of_medians(
      {subject, reference},
      [](std::span<const double> medians) { return safe_ratio(medians[0], medians[1]); }, options);
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double timer_cost_ns(const Clock& clock) {
  // One difference is only a few ticks of the clock, so each measurement spans `readings` of them.
  constexpr int readings = 32;
  std::array<double, 65> costs = {};
  for (double& cost : costs) {
    const std::int64_t start = clock();
    std::int64_t end = start;
    for (int i = 0; i < readings; ++i) {
      end = clock();
    }
    cost = static_cast<double>(end - start) / readings;
  }
  const auto middle = costs.begin() + costs.size() / 2;
  std::nth_element(costs.begin(), middle, costs.end());
  return *middle;
}

// Reads schedstat, which counts nanoseconds. The ticks of `stat` are 10 ms, as much as an idle
// thread may take in a second.
std::optional<std::chrono::nanoseconds> processor_time_of(std::string_view name) {
  std::optional<std::chrono::nanoseconds> total;
  std::error_code gone;
  for (std::filesystem::directory_iterator each("/proc/self/task", gone), end; !gone && each != end;
       each.increment(gone)) {
    std::string its_name;
    std::getline(std::ifstream(each->path() / "comm") >> std::ws, its_name);
    std::int64_t running_ns = 0;
    if (its_name == name && std::ifstream(each->path() / "schedstat") >> running_ns) {
      total = total.value_or(std::chrono::nanoseconds(0)) + std::chrono::nanoseconds(running_ns);
    }
  }
  return total;
}

std::int64_t thread_time_ns() {
  timespec time = {};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot read the processor time of a thread");
  }
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return time.tv_sec * ns_per_s + time.tv_nsec;
}

}  // namespace tessera::bench
