// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/floor.hpp"

#include <algorithm>

#include "bench/floors/memory_floor.hpp"

namespace tessera::bench {

std::size_t BaselineOptions::buffer_bytes() const {
  return cold ? std::max(capacity_bytes, cold_bytes) : capacity_bytes;
}

std::vector<Candidate> BaselineSet::candidates(const Case& c) const {
  std::vector<Candidate> found;
  for (const auto& floor : floors) {
    add(found, floor->candidate(c));
  }
  return found;
}

BaselineSet make_baselines(RankGroup& crew, const BaselineOptions& options) {
  BaselineSet set;
  set.floors.push_back(std::make_unique<MemoryBaseline>(options));
  for (const auto make : {make_mpi_baseline, make_armci_baseline}) {
    std::string missing;
    if (auto floor = make(crew, options, missing)) {
      set.floors.push_back(std::move(floor));
    } else {
      set.missing.push_back(missing);
    }
  }
  return set;
}

}  // namespace tessera::bench
