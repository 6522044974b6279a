// SPDX-License-Identifier: BSD-3-Clause
//
// Several launches of one run: what their reports show together.
//
// Differences between launches exceed those within one launch (different pages, different placement
// of ranks). So "faster" may be said only if a ratio's interval excludes 1 in each of at least five
// launches. A target is met if the median of the launches' ratios meets it.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/support/statistics.hpp"

namespace tessera::bench {

/// The number of launches needed to claim that something is faster or slower.
inline constexpr std::size_t launches_for_a_claim = 5;

/// A ratio that all launches have measured: of the candidate that the table is about to another
/// one.
struct RatioOverLaunches {
  std::string what;     ///< "rma put 64 x 16 B 1024 B"
  std::string backend;  ///< "shm"
  std::string reference;
  Stats values;  ///< of the launches' ratios
  /// The number of launches whose interval lies below 1; intervals of too few samples don't count.
  int faster = 0;
  int slower = 0;  ///< the number of launches whose interval lies above 1
};

/// A target that was measured in all launches.
struct TargetOverLaunches {
  std::string name;
  bool at_most = false;  ///< as opposed to at least
  double limit = 1;
  Stats worst;                   ///< of the launches' worst
  bool has_few_samples = false;  ///< in some launch; then nothing is decided

  [[nodiscard]] bool is_reached() const {
    return !has_few_samples && (at_most ? worst.median <= limit : worst.median >= limit);
  }
};

struct Launches {
  int count = 0;
  std::vector<RatioOverLaunches> ratios;    ///< in the order of the first report
  std::vector<TargetOverLaunches> targets;  ///< in the order of the first report
};

/// Combines the reports of several launches, which follow bench/schema.json. Leaves out what is not
/// in all of them. Requires: at least one report.
Launches combine(const std::vector<nlohmann::ordered_json>& reports);

void print(std::ostream& out, const Launches& launches);

}  // namespace tessera::bench
