// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/warm_up.hpp"

#include <algorithm>

#include "bench/support/statistics.hpp"

namespace tessera::bench {

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

}  // namespace tessera::bench
