// SPDX-License-Identifier: BSD-3-Clause
//
// ShmemMemory: OpenSHMEM's symmetric memory, for parts in which all ranks act. It has the same
// functions as OwnMemory (bench/rma/memories.hpp). This header does not include <shmem.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bench/support/candidate.hpp"
#include "bench/support/measure.hpp"

namespace tessera::bench {

class ShmemMemory {
 public:
  static constexpr std::string_view name = "openshmem";

  /// Collective. Null with the reason in `missing` if it isn't available.
  static std::unique_ptr<ShmemMemory> create(RankGroup& group, std::size_t bytes_each,
                                             std::string& missing);
  /// Collective.
  ~ShmemMemory();
  ShmemMemory(const ShmemMemory&) = delete;
  ShmemMemory& operator=(const ShmemMemory&) = delete;

  /// Starts a put; it is complete, also at the target, after complete().
  void put(int rank, std::size_t at, const void* from, std::size_t bytes);
  void start_get(int rank, std::size_t at, void* to, std::size_t bytes);
  /// Starts an addition to one word, or to `values.size()` words at the offsets `at`.
  void add(int rank, std::size_t at, std::int64_t value);
  void add(int rank, std::span<const std::size_t> at, std::span<const std::int64_t> values);
  void wait(int rank) { complete(rank); }
  /// OpenSHMEM can only complete operations to all ranks at once.
  void complete(int /*rank*/) { complete_all(); }
  void complete_all();
  std::int64_t fetch_add(int rank, std::size_t at, std::int64_t increment);

 private:
  struct Heap;
  explicit ShmemMemory(std::unique_ptr<Heap> heap);
  std::unique_ptr<Heap> heap_;
};

/// Collective. Whether rank 0 can load and store the memory of OpenSHMEM's rank 1; then OpenSHMEM
/// uses no network. False if OpenSHMEM isn't available.
bool shmem_shares_memory(RankGroup& group);

/// Collective, also when run. shmem_barrier of the first `ranks` ranks, which also completes their
/// puts. Empty if OpenSHMEM isn't available.
std::optional<Candidate> shmem_barrier_candidate(RankGroup& group, int ranks);

// The end of OpenSHMEM. This header includes none of its headers.

/// Collective. Ends OpenSHMEM if it was started; Open MPI's then also ends MPI.
void end_shmem();

}  // namespace tessera::bench
