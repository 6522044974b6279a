// SPDX-License-Identifier: BSD-3-Clause
//
// AccumulateTurns: makes accumulates atomic if their origins carry them out ([ARMCI06] §5: lock,
// get, add, put, unlock), in jobs with TESSERA_ACCUMULATE=origin.
//
// There is a queue lock for each rank of the job. A thread that accumulates to a rank, from any
// node, holds that rank's lock meanwhile. So does a thread that does an atomic in a region with
// Atomics::strict. Tickets are served in the order in which they were drawn.
//
// The holder may wait for replies, and meanwhile do the agent's work, which takes no tickets.
// Stripe locks are taken while a ticket is held, never the other way round. A thread holds one
// ticket at a time.
//
// Threads: all functions except create() may be called from any thread.
// Cost: as LockSet. Also 1 MiB of node memory for each thread that accumulated at the same time as
// others, kept until the job ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "rma/rank.hpp"
#include "rma/result.hpp"

namespace tessera::rma::detail {

class Arena;
class JobState;
class LockSetState;

class AccumulateTurns {
 public:
  /// Size of an accumulate's temporary buffer: a multiple of every element's size.
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;

  /// Collective on all ranks of `job`, which already has its world team. Errors: no_memory.
  static Result<std::unique_ptr<AccumulateTurns>> create(JobState& job);
  ~AccumulateTurns();
  AccumulateTurns(const AccumulateTurns&) = delete;
  AccumulateTurns& operator=(const AccumulateTurns&) = delete;

  /// Does `work` while this thread holds the ticket of `target`. Returns the status of `work`, or
  /// else that of releasing the ticket.
  /// Errors: peer_lost (the rank that held it before died; `work` is not done, and the lock is free
  /// again), closed, unreachable.
  template <class Work>
  Status do_in_turn(WorldRank target, Work&& work) {
    TESSERA_RETURN_IF_ERROR(begin(target));
    Turn turn(*this, target);
    Status done = work();
    Status ended = turn.end();
    return done.ok() ? std::move(ended) : std::move(done);
  }

  /// Memory for one accumulate, in the arena, where RDMA devices can reach it.
  class Buffer {
   public:
    Buffer(AccumulateTurns& from, std::uint64_t offset) noexcept : from_(&from), offset_(offset) {}
    Buffer(Buffer&& other) noexcept
        : from_(std::exchange(other.from_, nullptr)), offset_(other.offset_) {}
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer();
    [[nodiscard]] std::span<std::byte> bytes() const noexcept;

   private:
    AccumulateTurns* from_;
    std::uint64_t offset_;
  };
  /// Errors: limit_exceeded, no_memory.
  Result<Buffer> lend();

  /// Returns when the releases of this rank's tickets have arrived at all nodes that answer.
  void settle();

 private:
  // Ends the ticket even if the work throws.
  class Turn {
   public:
    Turn(AccumulateTurns& turns, WorldRank target) noexcept : turns_(&turns), target_(target) {}
    ~Turn() {
      if (turns_ != nullptr) {
        turns_->end(target_).ignore("the exception says more");
      }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Status end() { return std::exchange(turns_, nullptr)->end(target_); }

   private:
    AccumulateTurns* turns_;
    WorldRank target_;
  };

  AccumulateTurns(Arena& arena, std::shared_ptr<LockSetState> locks) noexcept;
  Status begin(WorldRank target);
  Status end(WorldRank target) noexcept;

  Arena& arena_;
  std::shared_ptr<LockSetState> locks_;  ///< of the world team, one per rank
  std::mutex spare_mutex_;
  std::vector<std::uint64_t> spare_;  ///< offsets in the arena of unused buffers
};

/// Does `work`, holding the target's ticket if there are `turns`.
template <class Work>
Status do_in_turn(AccumulateTurns* turns, WorldRank target, Work&& work) {
  return turns == nullptr ? work() : turns->do_in_turn(target, work);
}

}  // namespace tessera::rma::detail
