// SPDX-License-Identifier: BSD-3-Clause
//
// Changes: what became faster or slower between the baseline version and another one.
//
// Times of different runs depend more on the machine's load than on the code. So this compares each
// candidate's ratio to the first candidate of its rounds, if that is a baseline or a yardstick.
// Results without such a reference are only counted. A change counts if the interval excludes 1 for
// every pair of launches; therefore the interval is made of the outermost ends.
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
  std::size_t launches;   ///< of the side with fewer
};

struct Changes {
  std::vector<Change> found;  ///< the largest first
  std::size_t compared = 0;   ///< results that both have, with a reference
  std::size_t alone = 0;      ///< results without a reference, which are not compared
  /// Results with a reference, but too few samples for an interval.
  std::size_t with_few_samples = 0;
};

/// The number of launches needed for a public claim.
inline constexpr std::size_t launches_for_a_public_claim = 10;

Changes changes_of(const Variant& before, const Variant& after);

}  // namespace tessera::bench::report
