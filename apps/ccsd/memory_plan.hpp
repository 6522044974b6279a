// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryPlan: the memory that a run will need, computed before it is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/ccsd/orbital_space.hpp"
#include "apps/ccsd/workspace.hpp"

namespace tessera::apps::ccsd {

struct PlannedMemory {
  std::string name;
  std::int64_t bytes_per_rank = 0;  ///< on the rank with the most; 2^56 means more than that
};

/// The parts of a run besides CCSD.
struct PlanOptions {
  std::int64_t tile = 0;
  bool has_triples = false;
  bool measures_rate = false;
  bool reads_file = false;
};

/// Local. A readable size; for 2^56 bytes "more than 64.0 PiB".
std::string human_memory(std::int64_t bytes);

struct MemoryPlan {
  std::vector<PlannedMemory> arrays;   ///< distributed, the largest first
  std::vector<PlannedMemory> buffers;  ///< of each rank
  double needed_bytes_per_rank = 0.0;  ///< of all of them, without that limit

  static MemoryPlan create(const OrbitalSpace& space, std::int64_t ranks,
                           const PlanOptions& options);

  [[nodiscard]] std::int64_t array_bytes_per_rank() const noexcept;
  [[nodiscard]] std::int64_t buffer_bytes_per_rank() const noexcept;
};

}  // namespace tessera::apps::ccsd
