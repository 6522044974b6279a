// SPDX-License-Identifier: BSD-3-Clause
//
// QueueLock: a fair lock in shared memory whose waiters sleep, and which survives the death of any
// rank (technique of [CLUSTERS02] §3: a queue in memory that all ranks of the node access).
//
// A short robust lock protects the owner and a ring of waiters. They are kept valid after every
// store:
//
//     enqueue    fill the entry, then increment `tail`
//     hand over  make the head entry the owner, by its ticket; notify it; increment `head`
//     recover    notify the head entry that the owner died, increment `head`; then hand over
//     leave      mark the entry as left; decrement `tail` while the last entry is left
//
// If a rank dies in between, at most one hand-over is unfinished. The next rank that gets the
// robust lock finishes it (repair). The owner changes in one store: before it the old owner has the
// lock, after it the new one, even if that was not notified yet. tests/rma/queue_lock_test.cpp ends
// a rank after each single instruction of this.
//
// Ranks of other nodes wait in the same ring, so all ranks get the lock in the order of arrival.
// This node's agent enqueues their tickets. It does not sleep on an entry; its bell wakes it
// (Node::remote_rank_slot).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "rma/node/node.hpp"
#include "rma/node/robust_lock.hpp"

namespace tessera::rma::detail {

struct QueueEntry {
  enum State : std::uint32_t { idle, waiting, parked, granted, holder_died, left };
  FutexWord state{idle};
  std::uint32_t local_rank = 0;       ///< of the waiting rank
  std::uint32_t dead_local_rank = 0;  ///< holder_died: local rank of the holder

  /// No rank waits here, or it was notified. A parked waiter sleeps and must be woken.
  [[nodiscard]] bool is_notified() const noexcept {
    const std::uint32_t now = state.load(std::memory_order_acquire);
    return now != waiting && now != parked;
  }
};

class alignas(cache_line) QueueLock {
 public:
  /// `capacity` entries, a power of two, follow this object in memory. Further waiters poll for
  /// room in the ring.
  explicit QueueLock(std::uint32_t capacity) noexcept;
  static std::size_t bytes(std::uint32_t capacity) noexcept;

  enum class Outcome : std::uint8_t { acquired, holder_died, given_up };
  /// Waits until the caller has the lock, or its holder is found dead and the caller is first in
  /// the queue. In the second case the lock is not taken, and `dead_local_rank` names the holder.
  Outcome lock(Node& node, int& dead_local_rank) noexcept;
  /// The two steps of lock(). The first acquires the lock if it is free, and returns whether it
  /// was. The second waits in the queue; it calls `on_liveness_check`, if any, once per liveness
  /// interval, and gives up if that returns true.
  bool try_lock(Node& node) noexcept;
  Outcome wait_with_ticket(Node& node, int& dead_local_rank,
                           const std::function<bool()>& on_liveness_check) noexcept;
  /// The holder a moment ago, or −1.
  [[nodiscard]] int holder() const noexcept {
    return local_rank_of(owner_.load(std::memory_order_relaxed));
  }

  /// Called by the holder: which of its threads has the lock; 0 before it unlocks.
  void record_thread(std::uint64_t thread) noexcept {
    thread_.store(thread, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t thread() const noexcept {
    return thread_.load(std::memory_order_relaxed);
  }

  /// Acquires the lock for `local_rank` if it is free. nullopt: another rank has it. If no rank
  /// waits, it also reports a dead holder.
  std::optional<Outcome> try_lock(Node& node, int local_rank, int& dead_local_rank) noexcept;

  /// Hands the lock to the first living waiter. False if this rank doesn't hold it.
  bool unlock(Node& node) noexcept { return unlock(node, node.local_rank()); }

  /// The ticket of a rank that wants the lock.
  struct Ticket {
    int local_rank = 0;        ///< local rank of the waiter
    bool is_queued = false;    ///< false: the ring was full
    std::uint32_t number = 0;  ///< its entry, if queued
    int dead_local_rank = -1;  ///< Outcome::holder_died: local rank of the holder
    std::chrono::steady_clock::time_point last_check = std::chrono::steady_clock::time_point::max();
  };
  /// For a remote rank, without waiting: acquires the lock, or enqueues the ticket. nullopt: call
  /// again; if the ring is full, after a pause; if the ticket is queued, after the agent's bell has
  /// rung and once per liveness interval.
  std::optional<Outcome> advance(Node& node, Ticket& ticket) noexcept;
  /// As unlock(), on behalf of the remote rank `local_rank`.
  bool unlock(Node& node, int local_rank) noexcept;

 private:
  // Low half: local_rank + 1, with queue_bit if the lock came from the queue. High half: the ticket
  // of its entry. 0: free.
  using Owner = std::uint64_t;
  static constexpr Owner queue_bit = 0x8000'0000;
  static Owner owner_at(int local_rank) noexcept { return static_cast<Owner>(local_rank) + 1; }
  static Owner owner_of_ticket(std::uint32_t local_rank, std::uint32_t ticket) noexcept {
    return (Owner{local_rank} + 1) | queue_bit | Owner{ticket} << 32U;
  }
  static int local_rank_of(Owner owner) noexcept {
    return static_cast<int>(owner & (queue_bit - 1)) - 1;
  }

  QueueEntry& entry(std::uint32_t ticket) noexcept;
  bool enqueue(const Node& node, Ticket& ticket) noexcept;
  bool acquire_if_free(const Node& node, const RobustGuard& guard, int local_rank) noexcept;
  std::optional<Outcome> lock_or_enqueue(Node& node, Ticket& ticket) noexcept;
  bool wait(Node& node, const Ticket& ticket,
            const std::function<bool()>& on_liveness_check) noexcept;
  bool leave(const Node& node, const Ticket& ticket) noexcept;
  void check_holder(Node& node) noexcept;
  Outcome read_outcome(Ticket& ticket) noexcept;
  QueueEntry* first_living(const Node& node) noexcept;
  void notify(const Node& node, QueueEntry& first, QueueEntry::State what) noexcept;
  void hand_over(const Node& node) noexcept;
  int recover(const Node& node) noexcept;
  void repair(const Node& node) noexcept;

  RobustLock guard_;
  std::uint32_t head_ = 0;  ///< first waiting entry
  std::uint32_t tail_ = 0;  ///< first free entry
  std::uint32_t capacity_mask_;
  std::atomic<Owner> owner_{0};
  std::atomic<std::uint64_t> thread_{0};
};

}  // namespace tessera::rma::detail
