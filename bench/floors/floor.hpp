// SPDX-License-Identifier: BSD-3-Clause
//
// Floor: somebody else's way to do a Case, to be measured beside ours.
//
// "memcpy" is what the memory can do, "mpi" and "armci-mpi" what a user has today. A floor owns
// its buffers (or borrows ours, so that both are measured on the same memory) and hands out a
// Candidate for each Case that it knows; the suites put these first in measure_interleaved().
//
// Rank 0 is the origin and rank 1 the target. A job of one rank has the memory floor only:
// ARMCI-MPI on Open MPI 4.1 ends such a job.
//
// Lifetime: a floor outlives its candidates. Creation and destruction are collective.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/case.hpp"
#include "bench/support/crew.hpp"

namespace tessera::bench {

struct FloorOptions {
  std::size_t capacity_bytes = 16U << 20;  ///< of each buffer: the largest span of a case
  bool attaches = false;       ///< target memory is the user's, and made a window or region of
  bool local_is_mpis = false;  ///< of MPI's floor: local buffers are of MPI_Alloc_mem
  bool cold = false;           ///< rotate through buffers that the caches can't hold
  std::size_t cold_bytes = 0;  ///< what they have then at least

  /// What each buffer must have.
  [[nodiscard]] std::size_t buffer_bytes() const;
};

/// Why a library is missing where FloorOptions::attaches.
inline constexpr const char* own_memory_only =
    "puts into memory of its own only, not the user's (-w create)";

/// Remote buffers are touched by the origin in pieces of this size before they are measured.
inline constexpr std::size_t touch_bytes = 64U << 20;

class Floor {
 public:
  virtual ~Floor() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The candidate for `c`, or none where the floor has no such operation or too small buffers:
  /// the same answer on every rank.
  [[nodiscard]] virtual std::optional<Candidate> candidate(const Case& c) = 0;
};

/// The floors that this build and this job have, and why the others are missing.
struct FloorSet {
  std::vector<std::unique_ptr<Floor>> floors;  ///< memory first
  std::vector<std::string> missing;            ///< "armci-mpi: libarmci-mpi-dev was not found"

  /// The candidates of all floors that know `c`.
  [[nodiscard]] std::vector<Candidate> candidates(const Case& c) const;
};

/// Collective. All floors of memory, MPI and ARMCI-MPI that can be had; those on MPI only where MPI
/// runs with as many ranks as `crew`, at least two (see MpiSession).
FloorSet make_floors(Crew& crew, const FloorOptions& options);

/// Collective. Each gives a null pointer and says why in `missing`, or the floor.
std::unique_ptr<Floor> make_mpi_floor(Crew& crew, const FloorOptions& options,
                                      std::string& missing);
std::unique_ptr<Floor> make_armci_floor(Crew& crew, const FloorOptions& options,
                                        std::string& missing);
/// Starts OpenSHMEM, which ends the job where it can't; so it is none of make_floors().
std::unique_ptr<Floor> make_shmem_floor(Crew& crew, const FloorOptions& options,
                                        std::string& missing);

}  // namespace tessera::bench
