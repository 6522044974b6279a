// SPDX-License-Identifier: BSD-3-Clause
//
// Changes: what became faster or slower from the baseline to what is compared with it.
//
// Times of different runs say more about the hour than about the code. So what is compared is each
// candidate's ratio to the first one of its rounds, where that is a floor or a yardstick; what has
// no such neighbour is only counted. A change counts when the interval excludes 1 for every pair of
// launches; that is why it is made of the outermost ends.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/report/dataset.hpp"
#include "bench/support/launches.hpp"

namespace tessera::bench::report {

struct Change {
  const Measurement* measurement;
  std::string backend;
  std::string reference;  ///< what both were divided by
  Ratio ratio;            ///< after / before: above 1 is slower now
  std::size_t launches;   ///< of the side that has fewer
};

struct Changes {
  std::vector<Change> found;  ///< the largest first
  std::size_t compared = 0;   ///< how many results both have beside a floor
  std::size_t alone = 0;      ///< and how many without one, of which nothing is said
  /// Nor is it of these: beside a floor, but an interval of so few samples tells nothing.
  std::size_t with_few_samples = 0;
};

/// How many launches a claim in public takes.
inline constexpr std::size_t launches_for_a_public_claim = 10;

Changes changes_of(const Variant& before, const Variant& after);

}  // namespace tessera::bench::report
