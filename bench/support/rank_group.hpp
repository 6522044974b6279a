// SPDX-License-Identifier: BSD-3-Clause
//
// RankGroup: the ranks that take part in one measurement, however they were started.
//
// The method needs only this of a job. So the same code measures a Tessera job, an MPI
// communicator, threads of one process, or one process alone. Calls of a group are made outside the
// timed regions; their speed doesn't matter. But a rank that waits in one should not take time on a
// core that another rank needs.
//
// Threads: one thread of each rank calls, all ranks in the same order.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>

namespace tessera::bench {

class RankGroup {
 public:
  virtual ~RankGroup() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Collective. Returns when all ranks have called it.
  virtual void barrier() = 0;
  /// Collective. Copies `bytes` of rank `root` to all ranks. Requires: the same length on all
  /// ranks.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// Collective. The largest `value` of all ranks, on all ranks.
  virtual double maximum(double value) = 0;

  /// Collective. broadcast() of one plain value.
  template <class T>
  [[nodiscard]] T share(T value, int root = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
    return value;
  }
};

/// One rank alone.
class SingleRankGroup : public RankGroup {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  double maximum(double value) override { return value; }
};

/// Runs `body` on `ranks` threads of this process, each with its own group, and returns when all
/// have returned. Throws the first exception of a body again, after all threads have ended.
/// Requires: a body that throws does so on every rank; otherwise the others wait for ever.
void run_threads(int ranks, const std::function<void(RankGroup&)>& body);

}  // namespace tessera::bench
