// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/support/statistics.hpp"

namespace tessera::bench {
namespace {

/// The next step, which rank 0 sends to the others.
struct Step {
  std::int64_t candidate = finished;
  std::int64_t repetitions = 0;
  static constexpr std::int64_t finished = -1;
};

/// Brings all ranks to the same moment, awake. A rank that slept in a barrier leaves it tens of
/// microseconds after the others, which might have done all their work by then.
void synchronise_awake(RankGroup& group) {
  constexpr double prompt_ns = 10'000;
  constexpr int attempts = 20;
  for (int i = 0; i < attempts; ++i) {
    const std::int64_t start = now_ns();
    group.barrier();
    if (group.maximum(static_cast<double>(now_ns() - start)) < prompt_ns) {
      break;
    }
  }
  group.barrier();
}

/// Runs one sample on this rank: prime, meet, time.
double timed_run(RankGroup& group, const Candidate& candidate, std::int64_t repetitions,
                 const MeasureOptions& options) {
  if (options.prime) {
    candidate.run(1);
  }
  if (candidate.cooperative) {
    synchronise_awake(group);
  }
  const std::int64_t start = options.clock();
  candidate.run(repetitions);
  const auto elapsed = static_cast<double>(options.clock() - start);
  return candidate.cooperative ? group.maximum(elapsed) : elapsed;
}

/// The ranks other than 0: runs the steps that rank 0 sends until it has finished.
void follow(RankGroup& group, const std::vector<Candidate>& candidates,
            const MeasureOptions& options) {
  for (Step step = group.share(Step{}); step.candidate != Step::finished;
       step = group.share(Step{})) {
    (void)timed_run(group, candidates[static_cast<std::size_t>(step.candidate)], step.repetitions,
                    options);
  }
}

/// Rank 0's side of a measurement.
class Leader {
 public:
  Leader(RankGroup& group, const std::vector<Candidate>& candidates, const MeasureOptions& options,
         std::vector<Measured>& results)
      : group_(group),
        candidates_(candidates),
        options_(options),
        results_(results),
        timer_cost_ns_(timer_cost_ns(options.clock)) {}

  void run() {
    double round_ns = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      results_[i].repetitions = options_.repetitions > 0 ? options_.repetitions : calibrate(i);
      round_ns += warm_up(i);
    }
    take_samples(round_ns);
    (void)group_.share(Step{});
    summarise_all();
  }

 private:
  /// One sample's elapsed time in nanoseconds, clock reading included.
  double elapsed(std::size_t candidate, std::int64_t repetitions) {
    if (candidates_[candidate].cooperative) {
      (void)group_.share(Step{static_cast<std::int64_t>(candidate), repetitions});
    }
    return timed_run(group_, candidates_[candidate], repetitions, options_);
  }

  /// One sample in nanoseconds a repetition.
  double sample(std::size_t candidate) {
    const std::int64_t repetitions = results_[candidate].repetitions;
    const double net = elapsed(candidate, repetitions) - timer_cost_ns_;
    return std::max(net, 0.0) / static_cast<double>(repetitions);
  }

  /// About the fewest repetitions for which the fastest of three samples lasts long enough.
  std::int64_t calibrate(std::size_t candidate) {
    const double wanted = std::max(options_.timer_multiple * timer_cost_ns_, 1.0);
    constexpr std::int64_t limit = std::int64_t{1} << 32;
    std::int64_t repetitions = 1;
    while (repetitions < limit) {
      double fastest = std::numeric_limits<double>::infinity();
      for (int i = 0; i < 3; ++i) {
        fastest = std::min(fastest, elapsed(candidate, repetitions));
      }
      if (fastest >= wanted) {
        break;
      }
      const double growth = std::clamp(1.1 * wanted / std::max(fastest, 1.0), 1.1, 10.0);
      repetitions = static_cast<std::int64_t>(std::ceil(static_cast<double>(repetitions) * growth));
    }
    return repetitions;
  }

  /// Runs until times have settled, or a limit is reached; returns the total time of a sample.
  double warm_up(std::size_t candidate) {
    WarmUp warm_up;
    const std::int64_t start = options_.clock();
    const auto limit = static_cast<double>(options_.warm_up_limit.count());
    std::int64_t taken = 0;
    double spent = 0;
    do {
      warm_up.add(sample(candidate));
      ++taken;
      spent = static_cast<double>(options_.clock() - start);
    } while (options_.warm_up_samples > 0 ? taken < options_.warm_up_samples
                                          : !warm_up.is_settled() && spent < limit);
    // If the limit came before three windows of long samples, nothing is known about settling.
    if (options_.warm_up_samples == 0 && warm_up.movement() >= WarmUp::tolerance &&
        !std::isinf(warm_up.movement())) {
      results_[candidate].notes.push_back(
          fmt::format("warm-up did not settle: medians moved {:.1f} %", 100 * warm_up.movement()));
    }
    return spent / static_cast<double>(taken);
  }

  /// Pairs of rounds; the second has the first one's order reversed: A C B, B C A, C A B, …
  void take_samples(double round_ns) {
    const auto limit = static_cast<double>(options_.sampling_limit.count());
    const double affordable = std::min(limit / std::max(round_ns, 1.0), 1e9);
    const std::int64_t rounds =
        std::clamp(static_cast<std::int64_t>(affordable),
                   std::min(options_.min_samples, options_.samples), options_.samples);
    std::vector<std::size_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937_64 random(options_.bootstrap.seed);  // the same orders in each run
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (round % 2 == 0) {
        std::shuffle(order.begin(), order.end(), random);
      } else {
        std::reverse(order.begin(), order.end());
      }
      for (const std::size_t candidate : order) {
        results_[candidate].samples_ns.push_back(sample(candidate));
      }
    }
  }

  void summarise_all() {
    for (Measured& result : results_) {
      result.stats_ns = summarise(result.samples_ns);
      if (&result != &results_.front()) {
        result.ratio =
            ratio_of_medians(result.samples_ns, results_.front().samples_ns, options_.bootstrap);
      }
    }
  }

  RankGroup& group_;
  const std::vector<Candidate>& candidates_;
  const MeasureOptions& options_;
  std::vector<Measured>& results_;
  double timer_cost_ns_;
};

/// Collective. Prepares and checks one candidate.
Measured prepare(RankGroup& group, const Candidate& candidate, const MeasureOptions& options) {
  Measured result;
  result.name = candidate.name;
  result.bytes = candidate.bytes;
  result.operations = candidate.operations;
  if (candidate.prepare) {
    candidate.prepare();
  }
  group.barrier();
  std::string problem;
  if (options.verify && candidate.verify) {
    problem = candidate.verify();
  }
  result.valid = group.maximum(problem.empty() ? 0 : 1) == 0;
  if (!result.valid) {
    result.notes.push_back(problem.empty() ? "another rank found wrong data" : problem);
  }
  return result;
}

}  // namespace

double Measured::bytes_per_s() const {
  return stats_ns.median > 0 ? static_cast<double>(bytes) * 1e9 / stats_ns.median : 0;
}

double Measured::operations_per_s() const {
  return stats_ns.median > 0 ? operations.value_or(1) * 1e9 / stats_ns.median : 0;
}

std::vector<Measured> measure_interleaved(RankGroup& group,
                                          const std::vector<Candidate>& candidates,
                                          const MeasureOptions& options) {
  std::vector<Measured> results;
  for (const Candidate& candidate : candidates) {
    results.push_back(prepare(group, candidate, options));
  }
  if (group.rank() == 0) {
    Leader(group, candidates, options, results).run();
  } else {
    follow(group, candidates, options);
  }
  group.barrier();
  return results;
}

void WarmUp::add(double sample) {
  window_.push_back(sample);
  if (window_.size() < window_samples) {
    return;
  }
  medians_.push_back(summarise(window_).median);
  window_.clear();
  if (medians_.size() > windows) {
    medians_.erase(medians_.begin());
  }
  if (medians_.size() == windows) {
    const auto [low, high] = std::minmax_element(medians_.begin(), medians_.end());
    movement_ = *low > 0 ? (*high - *low) / *low : 0;
  }
}

Computation Computation::lasting(std::chrono::nanoseconds time) {
  constexpr std::int64_t trial_steps = 100'000;
  constexpr int trials = 10;
  const Computation trial(trial_steps);
  std::int64_t fastest_ns = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < trials; ++i) {
    const std::int64_t start = now_ns();
    trial.run();
    fastest_ns = std::min(fastest_ns, now_ns() - start);
  }
  const double step_ns =
      static_cast<double>(std::max<std::int64_t>(fastest_ns, 1)) / static_cast<double>(trial_steps);
  return Computation(static_cast<std::int64_t>(static_cast<double>(time.count()) / step_ns) + 1);
}

void Computation::run() const {
  double x = 0.5;
  for (std::int64_t i = 0; i < steps_; ++i) {
    x = x * 0.999 + 0.001;  // each step waits for the one before
  }
  const volatile double wanted = x;
  (void)wanted;
}

BackgroundComputation::BackgroundComputation()
    : thread_([this] {
        const Computation some(1000);
        while (!ends_.load(std::memory_order_relaxed)) {
          some.run();
        }
      }) {}

BackgroundComputation::~BackgroundComputation() {
  ends_ = true;
  thread_.join();
}

Candidate blocking_candidate(const Started& transfer) {
  Candidate candidate;
  candidate.name = transfer.name;
  candidate.bytes = transfer.bytes;
  candidate.verify = transfer.verify;
  candidate.cooperative = transfer.is_cooperative;
  candidate.run = [transfer](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      transfer.start();
      transfer.wait();
    }
  };
  return candidate;
}

Candidate computing_candidate(const Computation& computation) {
  return by_one("computation", [computation] { computation.run(); });
}

Candidate overlapped_candidate(const Started& transfer, const Computation& computation) {
  Candidate candidate;
  candidate.name = transfer.name + " overlapped";
  candidate.bytes = transfer.bytes;
  candidate.cooperative = transfer.is_cooperative;
  candidate.run = [transfer, computation](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      transfer.start();
      if (transfer.computes) {
        computation.run();
      }
      transfer.wait();
    }
  };
  return candidate;
}

double hidden_fraction(double transfer_ns, double computation_ns, double overlapped_ns) {
  const double most = std::min(computation_ns / transfer_ns, 1.0);
  return std::clamp((transfer_ns + computation_ns - overlapped_ns) / transfer_ns, 0.0, most);
}

bool is_credible_overlap(double transfer_ns, double computation_ns, double overlapped_ns) {
  return std::max(transfer_ns, computation_ns) <= overlap_tolerance * overlapped_ns;
}

namespace {

/// A smaller hidden part can't be distinguished from noise.
constexpr double min_hidden = 0.05;

}  // namespace

Ratio hidden(const Overlap& overlap) {
  return number_of_medians(
      {overlap.blocking_ns, overlap.computing_ns, overlap.overlapped_ns},
      [](std::span<const double> ns) { return hidden_fraction(ns[0], ns[1], ns[2]); });
}

std::vector<double> hidden_by_rounds(const Overlap& overlap) {
  std::vector<double> parts;
  for (std::size_t i = 0; i < overlap.blocking_ns.size(); ++i) {
    parts.push_back(
        hidden_fraction(overlap.blocking_ns[i], overlap.computing_ns[i], overlap.overlapped_ns[i]));
  }
  return parts;
}

bool hides_anything(const Overlap& overlap) {
  return hidden(overlap).ci95.lo >= min_hidden;
}

Ratio hidden_ratio(const Overlap& subject, const Overlap& reference) {
  return number_of_medians({subject.blocking_ns, subject.computing_ns, subject.overlapped_ns,
                            reference.blocking_ns, reference.computing_ns, reference.overlapped_ns},
                           [](std::span<const double> ns) {
                             return hidden_fraction(ns[0], ns[1], ns[2]) /
                                    std::max(hidden_fraction(ns[3], ns[4], ns[5]), min_hidden);
                           });
}

}  // namespace tessera::bench
