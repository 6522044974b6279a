// SPDX-License-Identifier: BSD-3-Clause
//
// Several launches of one run: what their reports say together.
//
// Differences between launches exceed those within one (where pages and ranks come to lie), so that
// "faster" may be said when a ratio's interval excludes 1 in every one of at least five launches,
// and a target is met when the median of the launches' ratios meets it.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/support/statistics.hpp"

namespace tessera::bench {

/// How many launches a claim takes, that something is faster or slower.
inline constexpr std::size_t launches_for_a_claim = 5;

/// A ratio that all launches have measured: of the candidate that a table is about to another.
struct RatioOverLaunches {
  std::string what;     ///< "rma put 64 x 16 B 1024 B"
  std::string backend;  ///< "shm"
  std::string reference;
  Stats values;  ///< of the launches' ratios
  /// In how many launches the interval lies below 1; none where it was of too few samples.
  int faster = 0;
  int slower = 0;  ///< and in how many above
};

/// A target that was measured in all launches.
struct TargetOverLaunches {
  std::string name;
  bool at_most = false;  ///< as opposed to at least
  double limit = 1;
  Stats worst;                   ///< of the launches' worst
  bool has_few_samples = false;  ///< in some launch, so that nothing is decided

  [[nodiscard]] bool is_reached() const {
    return !has_few_samples && (at_most ? worst.median <= limit : worst.median >= limit);
  }
};

struct Launches {
  int count = 0;
  std::vector<RatioOverLaunches> ratios;    ///< in the order of the first report
  std::vector<TargetOverLaunches> targets;  ///< likewise
};

/// Of the reports of as many launches, which follow bench/schema.json. What is not in all of them
/// is left out. Requires: at least one report.
Launches combine(const std::vector<nlohmann::ordered_json>& reports);

void print(std::ostream& out, const Launches& launches);

}  // namespace tessera::bench
