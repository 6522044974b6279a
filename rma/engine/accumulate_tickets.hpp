// SPDX-License-Identifier: BSD-3-Clause
//
// AccumulateTickets: makes accumulates atomic if their origins carry them out ([ARMCI06] §5: lock,
// get, add, put, unlock), in jobs with TESSERA_TUNE=accumulate=origin.
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

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"

namespace tessera::rma::detail {

class Arena;
class JobState;
class LockSetState;

class AccumulateTickets {
 public:
  /// Size of an accumulate's temporary buffer: a multiple of every element's size.
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;

  /// Collective on all ranks of `job`, which already has its world team. Errors: no_memory.
  static Result<std::unique_ptr<AccumulateTickets>> create(JobState& job);
  ~AccumulateTickets();
  AccumulateTickets(const AccumulateTickets&) = delete;
  AccumulateTickets& operator=(const AccumulateTickets&) = delete;

  /// Does `work` while this thread holds the ticket of `target`. Returns the status of `work`, or
  /// else that of releasing the ticket.
  /// Errors: peer_lost (the rank that held it before died; `work` is not done, and the lock is free
  /// again), closed, unreachable.
  template <class Work>
  Status do_with_ticket(WorldRank target, Work&& work) {
    TESSERA_RETURN_IF_ERROR(begin(target));
    Ticket ticket(*this, target);
    Status done = work();
    Status ended = ticket.end();
    return done.ok() ? std::move(ended) : std::move(done);
  }

  /// Memory for one accumulate, in the arena, where RDMA devices can reach it.
  class Buffer {
   public:
    Buffer(AccumulateTickets& from, std::uint64_t offset) noexcept
        : from_(&from), offset_(offset) {}
    Buffer(Buffer&& other) noexcept
        : from_(std::exchange(other.from_, nullptr)), offset_(other.offset_) {}
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer();
    [[nodiscard]] std::span<std::byte> bytes() const noexcept;

   private:
    AccumulateTickets* from_;
    std::uint64_t offset_;
  };
  /// Errors: limit_exceeded, no_memory.
  Result<Buffer> allocate_buffer();

  /// Returns when the releases of this rank's tickets have arrived at all nodes that answer.
  void settle();

 private:
  // Ends the ticket even if the work throws.
  class Ticket {
   public:
    Ticket(AccumulateTickets& tickets, WorldRank target) noexcept
        : tickets_(&tickets), target_(target) {}
    ~Ticket() {
      if (tickets_ != nullptr) {
        tickets_->end(target_).ignore("the exception says more");
      }
    }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    Status end() { return std::exchange(tickets_, nullptr)->end(target_); }

   private:
    AccumulateTickets* tickets_;
    WorldRank target_;
  };

  AccumulateTickets(Arena& arena, std::shared_ptr<LockSetState> locks) noexcept;
  Status begin(WorldRank target);
  Status end(WorldRank target) noexcept;

  Arena& arena_;
  std::shared_ptr<LockSetState> locks_;  ///< of the world team, one per rank
  std::mutex spare_mutex_;
  std::vector<std::uint64_t> free_buffers_;  ///< offsets in the arena; has room for all buffers
  std::size_t buffers_ = 0;
};

/// Does `work`, holding the target's ticket if there are `tickets`.
template <class Work>
Status do_with_ticket(AccumulateTickets* tickets, WorldRank target, Work&& work) {
  return tickets == nullptr ? work() : tickets->do_with_ticket(target, work);
}

}  // namespace tessera::rma::detail
