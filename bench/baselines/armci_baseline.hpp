// SPDX-License-Identifier: BSD-3-Clause
//
// ArmciBaseline: an implementation of the ARMCI interface: ARMCI-MPI, or Tessera's own one. Besides
// cases, it has the operations of ARMCI that are none. Rank 0 is the origin and rank 1 the target.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench/baselines/baseline.hpp"
#include "bench/support/overlap.hpp"

namespace tessera::bench {

class ArmciBaseline : public Baseline {
 public:
  /// Fetch-and-add, and swap, of an int.
  [[nodiscard]] virtual Candidate add_int() = 0;
  [[nodiscard]] virtual Candidate swap_int() = 0;
  /// Locks and unlocks a mutex of the target.
  [[nodiscard]] virtual Candidate lock_at_target() = 0;
  /// Of all ranks.
  [[nodiscard]] virtual Candidate barrier() = 0;
  /// A get of `bytes` with separate start and wait. Requires: they fit into the buffers.
  [[nodiscard]] virtual Started started_get(std::size_t bytes) = 0;

  /// Collective. ARMCI_Barrier.
  virtual void wait_for_all() = 0;

  /// Collective. Allocates until there are `count` allocations, or for 20 s. Each holds its number
  /// at the target. Returns how many there are.
  virtual std::int64_t allocate(std::int64_t count) = 0;
  /// Gets a word from allocations `first` to `first + count`, each next address from the word
  /// before: the time of one get, not the number that a processor can have outstanding.
  [[nodiscard]] virtual Candidate get_from(std::int64_t first, std::int64_t count) = 0;
  /// Collective. Frees what allocate() has allocated.
  virtual void free_allocations() = 0;
};

/// Collective. Starts ARMCI on a job of its own beside the benchmark's; null, with the reason in
/// `missing`, without a second rank. ARMCI-MPI is made by make_armci_baseline().
std::unique_ptr<ArmciBaseline> make_tessera_armci(RankGroup& group, const BaselineOptions& options,
                                                  std::string& missing);

}  // namespace tessera::bench
