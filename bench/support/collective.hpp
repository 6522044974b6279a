// SPDX-License-Identifier: BSD-3-Clause
//
// Collective: an operation among all ranks, and the contents of its buffers before and after, which
// are the same for all implementations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::bench {

/// A collective operation among all ranks. Reductions compute with doubles. `bytes` are each
/// rank's, a multiple of a double's size.
struct Collective {
  enum class Kind : std::uint8_t { barrier, broadcast, allreduce, reduce, allgather };
  Kind kind = Kind::barrier;
  std::size_t bytes = 0;
};

/// One rank's buffers of a collective. Numbers are whole, so that sums are exact in any order.
class CollectiveBuffers {
 public:
  CollectiveBuffers(const Collective& collective, int rank, int ranks);

  /// What this rank contributes; also its result if the operation is done in place.
  [[nodiscard]] std::span<double> own() { return own_; }
  /// Room for the result of an allgather or of a reduction out of place; otherwise the same as
  /// own().
  [[nodiscard]] std::span<double> all() { return all_; }

  /// Local. Fills own() with this rank's contribution.
  void fill();
  /// Local. An error message for `result`, after the operation on buffers that all ranks had
  /// filled; empty if the result is right. A reduction's result is on rank 0; a barrier has none.
  [[nodiscard]] std::string problem(std::span<const double> result) const;

 private:
  [[nodiscard]] double expected(std::size_t index) const;

  Collective collective_;
  int rank_;
  int ranks_;
  std::vector<double> own_;
  std::vector<double> all_;
};

}  // namespace tessera::bench
