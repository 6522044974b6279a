// SPDX-License-Identifier: BSD-3-Clause
#include "bench/floors/floor.hpp"

#include <algorithm>

#include "bench/floors/memory_floor.hpp"

namespace tessera::bench {

std::size_t FloorOptions::buffer_bytes() const {
  return cold ? std::max(capacity_bytes, cold_bytes) : capacity_bytes;
}

std::vector<Candidate> FloorSet::candidates(const Case& c) const {
  std::vector<Candidate> found;
  for (const auto& floor : floors) {
    add(found, floor->candidate(c));
  }
  return found;
}

FloorSet make_floors(Crew& crew, const FloorOptions& options) {
  FloorSet set;
  set.floors.push_back(std::make_unique<MemoryFloor>(options));
  for (const auto make : {make_mpi_floor, make_armci_floor}) {
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
