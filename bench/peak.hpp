// SPDX-License-Identifier: BSD-3-Clause
//
// The most memory that a piece of work takes, beside the data that it works on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

struct PeakWork {
  std::string name;
  std::string size;           ///< for people: "n = 2000"
  std::int64_t data = 0;      ///< bytes of a rank's share, or of the rank that has most
  std::int64_t buffers = 0;   ///< bytes a rank, besides, that its documentation says it takes
  std::function<void()> run;  ///< collective; makes the data and gives it back
};

/// Collective. The peak of the rank that has most: its own pages, and its share of what the ranks
/// of its node have together. Divided by what the design allows, 1.3 × the data and the buffers, it
/// is one case of peak_targets().
void measure_peak(Session& session, const PeakWork& work);

std::vector<Target> peak_targets();

}  // namespace tessera::bench
