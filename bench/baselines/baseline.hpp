// SPDX-License-Identifier: BSD-3-Clause
//
// Baseline (class Baseline): another library's or a hand-written way to do a Case, measured in the
// same run as Tessera's.
//
// "memcpy" shows what the memory can do, "mpi" and "armci-mpi" what users have today. A baseline
// owns its buffers, or borrows Tessera's so that both are measured on the same memory. It returns a
// Candidate for each Case that it supports. The suites put these first in measure_interleaved().
//
// Rank 0 is the origin and rank 1 the target. A job of one rank has only the memory baseline:
// ARMCI-MPI on Open MPI 4.1 ends such a job.
//
// Lifetime: a baseline outlives its candidates. Creation and destruction are collective.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/case.hpp"
#include "bench/support/rank_group.hpp"

namespace tessera::bench {

struct BaselineOptions {
  std::size_t capacity_bytes = 16U << 20;  ///< of each buffer: the largest span of a case
  bool attaches = false;                   ///< target memory is the user's, made a window or region
  bool local_is_mpis = false;  ///< MPI's baseline: local buffers come from MPI_Alloc_mem
  bool cold = false;           ///< rotate through buffers that are too large for the caches
  std::size_t cold_bytes = 0;  ///< then the minimum size of a buffer

  /// The size of each buffer.
  [[nodiscard]] std::size_t buffer_bytes() const {
    return cold ? std::max(capacity_bytes, cold_bytes) : capacity_bytes;
  }
};

/// Why a library is missing with BaselineOptions::attaches.
inline constexpr const char* own_memory_only =
    "can write only to memory that it allocated itself, not to the user's (-w create)";

/// The origin touches remote buffers in pieces of this size before a measurement.
inline constexpr std::size_t touch_bytes = 64U << 20;

class Baseline {
 public:
  virtual ~Baseline() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The candidate for `c`; empty if the baseline has no such operation, or its buffers are too
  /// small. The same answer on every rank.
  [[nodiscard]] virtual std::optional<Candidate> candidate(const Case& c) = 0;
};

/// Collective. Each returns the baseline, or null and the reason in `missing`.
std::unique_ptr<Baseline> make_mpi_baseline(RankGroup& group, const BaselineOptions& options,
                                            std::string& missing);
std::unique_ptr<Baseline> make_armci_baseline(RankGroup& group, const BaselineOptions& options,
                                              std::string& missing);
/// Starts OpenSHMEM, which ends the job if it can't start.
std::unique_ptr<Baseline> make_shmem_baseline(RankGroup& group, const BaselineOptions& options,
                                              std::string& missing);

}  // namespace tessera::bench
