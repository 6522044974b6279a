// SPDX-License-Identifier: BSD-3-Clause
//
// Options to measure baselines in tests, which assert no times: once or twice, quickly.
#pragma once

#include "bench/support/measure.hpp"

namespace tessera::bench {

inline MeasureOptions few_samples() {
  MeasureOptions options;
  options.samples = 3;
  options.min_samples = 3;
  options.warm_up_samples = 1;
  options.repetitions = 5;
  return options;
}

}  // namespace tessera::bench
