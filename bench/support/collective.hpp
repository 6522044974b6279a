// SPDX-License-Identifier: BSD-3-Clause
//
// Collective: an operation among all ranks, and what is in its buffers before and after, which is
// the same whoever does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::bench {

/// A collective operation among all ranks, on doubles where it computes. `bytes` are each rank's, a
/// multiple of a double's.
struct Collective {
  enum class Kind : std::uint8_t { barrier, broadcast, allreduce, reduce, allgather };
  Kind kind = Kind::barrier;
  std::size_t bytes = 0;
};

/// One rank's buffers of a collective. Numbers are whole, so that sums are exact in any order.
class CollectiveBuffers {
 public:
  CollectiveBuffers(const Collective& collective, int rank, int ranks);

  /// What this rank gives, and has back where the operation is done in place.
  [[nodiscard]] std::span<double> own() { return own_; }
  /// Room for what an allgather or a reduction out of place gives: in all other cases as own().
  [[nodiscard]] std::span<double> all() { return all_; }

  /// Local. What each rank has to give.
  void fill();
  /// Local. What is wrong in `result` after the operation on buffers that all ranks had filled;
  /// empty where nothing is. A reduction's result is rank 0's; a barrier has none.
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
