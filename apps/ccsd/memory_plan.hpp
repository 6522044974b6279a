// SPDX-License-Identifier: BSD-3-Clause
//
// MemoryPlan: what a run will take, told before it takes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/ccsd/orbital_space.hpp"
#include "apps/ccsd/workspace.hpp"

namespace tessera::apps::ccsd {

struct PlannedMemory {
  std::string name;
  std::int64_t bytes_per_rank = 0;  ///< on the rank that has most; 2^56 stands for more than that
};

/// What a run does besides CCSD.
struct PlanOptions {
  std::int64_t tile = 0;
  bool has_triples = false;
  bool measures_rate = false;
  bool reads_file = false;
};

/// Local. For people; of 2^56 bytes "more than 64.0 PiB".
std::string human_memory(std::int64_t bytes);

struct MemoryPlan {
  std::vector<PlannedMemory> arrays;   ///< distributed, the largest first
  std::vector<PlannedMemory> buffers;  ///< of each rank
  double needed_bytes_per_rank = 0.0;  ///< of all of them, however many these are

  static MemoryPlan create(const OrbitalSpace& space, std::int64_t ranks,
                           const PlanOptions& options);

  [[nodiscard]] std::int64_t array_bytes_per_rank() const noexcept;
  [[nodiscard]] std::int64_t buffer_bytes_per_rank() const noexcept;
};

}  // namespace tessera::apps::ccsd
