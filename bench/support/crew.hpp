// SPDX-License-Identifier: BSD-3-Clause
//
// Crew: the ranks that take part in one measurement, whoever started them.
//
// The method needs no more of a job than this, so that the same code measures a Tessera job, an
// MPI communicator, threads of one process, or one process alone. A crew's calls are made outside
// the timed regions; their speed doesn't matter, but a rank that waits in one should not take
// time from a core that another rank needs.
//
// Threads: one thread of each rank calls, all ranks in the same order.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>

namespace tessera::bench {

class Crew {
 public:
  virtual ~Crew() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  /// Collective. Returns when all ranks have called it.
  virtual void barrier() = 0;
  /// Collective. Copies `bytes` of rank `root` to all ranks. Requires: one length on all ranks.
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
class SoloCrew : public Crew {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  double maximum(double value) override { return value; }
};

/// Runs `body` on `ranks` threads of this process, each with its own Crew, and returns when all
/// have returned. The first exception of a body is thrown again, after all have ended.
/// Requires: a body that throws does so on every rank, or the others wait for ever.
void run_threads(int ranks, const std::function<void(Crew&)>& body);

}  // namespace tessera::bench
