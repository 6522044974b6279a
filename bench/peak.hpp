// SPDX-License-Identifier: BSD-3-Clause
//
// The peak memory of a piece of work, compared with the data that it works on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/session.hpp"

namespace tessera::bench {

struct PeakWork {
  std::string name;
  std::string size;       ///< printed: "n = 2000"
  std::int64_t data = 0;  ///< bytes of a rank's share; of the rank with the largest share
  // bytes per rank that the work takes in addition, according to its documentation
  std::int64_t buffers = 0;
  std::function<void()> run;  ///< collective; allocates the data and frees them
};

/// Collective. Measures the peak of the rank with the highest one: its own pages, and its share of
/// the shared memory of its node. Divided by the limit, 1.3 × data + buffers, it is one case of
/// peak_targets().
void measure_peak(Session& session, const PeakWork& work);

std::vector<Target> peak_targets();

}  // namespace tessera::bench
