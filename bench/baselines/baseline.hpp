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
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/support/candidate.hpp"
#include "bench/support/measure.hpp"

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

/// The target rank; rank 0 is the origin.
inline constexpr int peer_rank = 1;

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

// ArmciBaseline: an implementation of the ARMCI interface: ARMCI-MPI, or Tessera's own one. Besides
// cases, it has the operations of ARMCI that are none. Rank 0 is the origin and rank 1 the target.

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

// GlobalArrays: the Global Arrays library, for parts that compare Tessera with it. This header
// includes none of its headers.

/// An array of doubles in Global Arrays' own distribution. Boxes use global indices, row-major, and
/// exclude their ends.
class GlobalArray {
 public:
  struct Box {
    std::vector<std::int64_t> lo;
    std::vector<std::int64_t> hi;
  };

  /// Collective.
  virtual ~GlobalArray() = default;

  /// The block of a rank.
  [[nodiscard]] virtual Box block_of(int rank) const = 0;

  /// Locally complete on return. Requires: room for the box.
  virtual void put(const Box& box, const double* from) = 0;
  virtual void get(const Box& box, double* to) = 0;
  virtual void accumulate(const Box& box, const double* from, double alpha) = 0;

  /// `places` holds the indices of one element after the other, as many elements as values.
  virtual void gather(std::span<const std::int64_t> places, std::span<double> values) = 0;
  virtual void scatter(std::span<const std::int64_t> places, std::span<const double> values) = 0;
  virtual void scatter_accumulate(std::span<const std::int64_t> places,
                                  std::span<const double> values, double alpha) = 0;
};

/// A counter from which ranks draw numbers (NGA_Read_inc).
class GlobalCounter {
 public:
  /// Collective.
  virtual ~GlobalCounter() = default;
  /// Returns the counter's value and adds `count` to it.
  virtual std::int64_t draw(std::int64_t count) = 0;
};

class GlobalArrays {
 public:
  static constexpr std::string_view name = "global arrays";

  /// Collective, like all functions except those of a single array. Null, with the reason in
  /// `missing`, if this build lacks Global Arrays or MPI doesn't run with these ranks. It can't be
  /// started twice in a process.
  static std::unique_ptr<GlobalArrays> start(RankGroup& group, std::string& missing);
  virtual ~GlobalArrays() = default;

  /// All elements are zero.
  [[nodiscard]] virtual std::unique_ptr<GlobalArray> create(
      std::span<const std::int64_t> extents) = 0;
  /// Starts at 0; lives on rank 0.
  [[nodiscard]] virtual std::unique_ptr<GlobalCounter> create_counter() = 0;
  /// Returns after all ranks have called it, and all puts of all ranks have arrived.
  virtual void sync() = 0;
};

}  // namespace tessera::bench
