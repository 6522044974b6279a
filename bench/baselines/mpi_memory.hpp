// SPDX-License-Identifier: BSD-3-Clause
//
// MpiMemory: MPI's window with a slice on every rank, for parts in which all ranks act. It has the
// same functions as OwnMemory (bench/rma/memories.hpp). This header does not include <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bench/support/case.hpp"
#include "bench/support/rank_group.hpp"

namespace tessera::bench {

class MpiMemory {
 public:
  static constexpr std::string_view name = "mpi";

  /// Collective. Empty if MPI doesn't run with these ranks, or can't create windows.
  static std::unique_ptr<MpiMemory> create(RankGroup& group, std::size_t bytes_each);
  /// Collective.
  ~MpiMemory();
  MpiMemory(const MpiMemory&) = delete;
  MpiMemory& operator=(const MpiMemory&) = delete;

  /// Starts a put; it is complete, also at the target, after complete().
  void put(int rank, std::size_t at, const void* from, std::size_t bytes);
  void start_get(int rank, std::size_t at, void* to, std::size_t bytes);
  /// Starts an addition to one word, or to `values.size()` words at the offsets `at`.
  void add(int rank, std::size_t at, std::int64_t value);
  void add(int rank, std::span<const std::size_t> at, std::span<const std::int64_t> values);
  void wait(int rank) { complete(rank); }
  void complete(int rank) const;
  void complete_all();
  std::int64_t fetch_add(int rank, std::size_t at, std::int64_t increment);

  /// A put, get or accumulate of a box of doubles. It is locally complete on return, as Tessera's
  /// and Global Arrays' are, and complete at the target after complete(). It uses a subarray type
  /// that is made once. The slice of `rank` begins with a dense row-major block.
  struct Box {
    std::vector<std::int64_t> block;  ///< extents of the block
    std::vector<std::int64_t> lo;     ///< start of the box in the block
    std::vector<std::int64_t> extents;
  };
  [[nodiscard]] std::function<void()> box_mover(Operation operation, int rank, const Box& box,
                                                double* local) const;

 private:
  struct Window;
  explicit MpiMemory(std::unique_ptr<Window> window);
  std::unique_ptr<Window> window_;
};

}  // namespace tessera::bench
