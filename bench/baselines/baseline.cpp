// SPDX-License-Identifier: BSD-3-Clause
#include "bench/baselines/baseline.hpp"

#include <algorithm>

#include "bench/baselines/memory_baseline.hpp"

namespace tessera::bench {

std::size_t BaselineOptions::buffer_bytes() const {
  return cold ? std::max(capacity_bytes, cold_bytes) : capacity_bytes;
}

std::vector<Candidate> BaselineSet::candidates(const Case& c) const {
  std::vector<Candidate> found;
  for (const auto& baseline : baselines) {
    add(found, baseline->candidate(c));
  }
  return found;
}

BaselineSet make_baselines(RankGroup& group, const BaselineOptions& options) {
  BaselineSet set;
  set.baselines.push_back(std::make_unique<MemoryBaseline>(options));
  for (const auto make : {make_mpi_baseline, make_armci_baseline}) {
    std::string missing;
    if (auto baseline = make(group, options, missing)) {
      set.baselines.push_back(std::move(baseline));
    } else {
      set.missing.push_back(missing);
    }
  }
  return set;
}

}  // namespace tessera::bench
