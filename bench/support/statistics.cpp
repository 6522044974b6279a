// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace tessera::bench {
namespace {

/// The median of samples that may be reordered.
double median_of(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) {
    return *middle;
  }
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

/// Draws from [0, n). Not std::uniform_int_distribution, whose results differ between libraries.
std::size_t draw(std::mt19937_64& random, std::size_t n) {
  return static_cast<std::size_t>(((random() >> 32) * n) >> 32);
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

double quantile(std::span<const double> ascending, double fraction) {
  const double position = fraction * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double part = position - static_cast<double>(below);
  return ascending[below] + part * (ascending[above] - ascending[below]);
}

RankInterval median_ranks95(std::int64_t n) {
  constexpr double z = 1.96;
  const auto count = static_cast<double>(n);
  const double half_width = z * std::sqrt(count);
  const auto lo = static_cast<std::int64_t>(std::floor((count - half_width) / 2));
  const auto hi = static_cast<std::int64_t>(std::ceil(1 + (count + half_width) / 2));
  return {std::clamp<std::int64_t>(lo, 1, n), std::clamp<std::int64_t>(hi, 1, n)};
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

Ratio number_of_medians(const std::vector<std::span<const double>>& sets,
                        const std::function<double(std::span<const double> medians)>& number,
                        const BootstrapOptions& options) {
  const std::size_t rounds = sets.empty() ? 0 : sets.front().size();
  const bool are_equal = std::all_of(sets.begin(), sets.end(),
                                     [rounds](const auto& set) { return set.size() == rounds; });
  if (rounds == 0 || !are_equal) {
    throw std::invalid_argument("a ratio of medians needs equally long sets of samples");
  }
  std::vector<std::vector<double>> drawn;
  for (const auto& set : sets) {
    drawn.emplace_back(set.begin(), set.end());
  }
  const auto number_of_drawn = [&] {
    std::vector<double> medians;
    for (std::vector<double>& set : drawn) {
      medians.push_back(median_of(set));
    }
    return number(medians);
  };
  Ratio ratio;
  ratio.value = number_of_drawn();

  std::mt19937_64 random(options.seed);
  std::vector<double> resampled(static_cast<std::size_t>(options.resamples));
  for (double& value : resampled) {
    for (std::size_t i = 0; i < rounds; ++i) {
      const std::size_t round = draw(random, rounds);
      for (std::size_t set = 0; set < sets.size(); ++set) {
        drawn[set][i] = sets[set][round];
      }
    }
    value = number_of_drawn();
  }
  std::sort(resampled.begin(), resampled.end());
  ratio.ci95 = {quantile(resampled, 0.025), quantile(resampled, 0.975)};
  return ratio;
}

Ratio ratio_of_medians(std::span<const double> subject, std::span<const double> reference,
                       const BootstrapOptions& options) {
  return number_of_medians(
      {subject, reference},
      [](std::span<const double> medians) { return safe_ratio(medians[0], medians[1]); }, options);
}

}  // namespace tessera::bench
