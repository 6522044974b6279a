// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/overlap.hpp"

#include <algorithm>
#include <limits>

#include "bench/support/clock.hpp"

namespace tessera::bench {

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
  Candidate candidate;
  candidate.name = "computation";
  candidate.run = [computation](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      computation.run();
    }
  };
  return candidate;
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
