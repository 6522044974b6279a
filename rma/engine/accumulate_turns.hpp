// SPDX-License-Identifier: BSD-3-Clause
//
// AccumulateTurns: what makes accumulates atomic where their origins do them ([ARMCI06] §5:
// lock, get, add, put, unlock), in jobs with TESSERA_ACCUMULATE=origin.
//
// A queue lock for each rank of the job. Whoever accumulates to a rank, from its node or from
// elsewhere, has that rank's turn meanwhile; so has whoever does an atomic in a region with
// Atomics::strict. Turns come in the order in which they were asked for.
//
// The holder may wait for answers, and help the agent meanwhile, which takes no turns. It takes
// stripe locks within its turn, never the other way round, and has one turn at a time.
//
// Threads: all but create() from any thread.
// Cost: as LockSet; 1 MiB of node memory for each thread that accumulated at the same time as
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
  /// Of an accumulate's temporary: a multiple of every element's size.
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;

  /// Collective on all ranks of `job`, which has its world team. Errors: no_memory.
  static Result<std::unique_ptr<AccumulateTurns>> create(JobState& job);
  ~AccumulateTurns();
  AccumulateTurns(const AccumulateTurns&) = delete;
  AccumulateTurns& operator=(const AccumulateTurns&) = delete;

  /// Does `work` while it is this thread's turn at `target`, and returns its status, or that of
  /// the turn's end. Errors: peer_lost (whoever had the turn before died; `work` isn't done, and
  /// the turn is free again), closed, unreachable.
  template <class Work>
  Status do_in_turn(WorldRank target, Work&& work) {
    TESSERA_RETURN_IF_ERROR(begin(target));
    Turn turn(*this, target);
    Status done = work();
    Status ended = turn.end();
    return done.ok() ? std::move(ended) : std::move(done);
  }

  /// Memory for one accumulate, in the arena, where devices know it.
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

  /// Returns when the ends of this rank's turns have come to all nodes that answer.
  void settle();

 private:
  // The end of a turn, also where the work throws.
  class Turn {
   public:
    Turn(AccumulateTurns& turns, WorldRank target) noexcept : turns_(&turns), target_(target) {}
    ~Turn() {
      if (turns_ != nullptr) {
        turns_->end(target_).ignore("what was thrown tells more");
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
  std::shared_ptr<LockSetState> locks_;  ///< of the world team, one a rank
  std::mutex spare_mutex_;
  std::vector<std::uint64_t> spare_;  ///< buffers that nobody uses now, by their place in the arena
};

/// Does `work`, in the target's turn if there are `turns`.
template <class Work>
Status do_in_turn(AccumulateTurns* turns, WorldRank target, Work&& work) {
  return turns == nullptr ? work() : turns->do_in_turn(target, work);
}

}  // namespace tessera::rma::detail
