// SPDX-License-Identifier: BSD-3-Clause
//
// QueueLock: a fair lock in shared memory whose waiters sleep, and which survives the death of any
// rank (technique of [CLUSTERS02] §3: a queue in memory that all on the node reach).
//
// A short robust lock guards the owner and a ring of waiters. It is kept valid after every store:
//
//     enqueue    fill the entry, then raise `tail`
//     hand over  name the head entry the owner, by its turn; then tell it; then raise `head`
//     recover    tell the head entry that the owner died, raise `head`; then hand over
//
// so a rank that dies in between leaves at most a hand-over to be finished, which the next one that
// gets the robust lock does (repair). The owner changes in one store, before which the old one
// still has the lock and after which the new one has it, told or not. tests/rma/queue_lock_test.cpp
// ends a rank after each single instruction of this.
//
// Ranks of other nodes wait in the same ring, so that whoever came first is served first, wherever
// it is. Their turns are taken by this node's agent, which doesn't sleep on an entry but is called
// by its bell (guests, Node::guest_place).
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
  enum State : std::uint32_t { idle, waiting, parked, granted, holder_died };
  FutexWord state{idle};
  std::uint32_t place = 0;       ///< of the waiting rank
  std::uint32_t dead_place = 0;  ///< holder_died: whose

  /// Nobody waits here, or whoever does was told. A parked waiter sleeps and must be woken.
  [[nodiscard]] bool is_told() const noexcept {
    const std::uint32_t now = state.load(std::memory_order_acquire);
    return now != waiting && now != parked;
  }
};

class alignas(cache_line) QueueLock {
 public:
  /// `capacity` entries stand behind this object in memory; a power of two. More waiters than that
  /// poll for room in the ring.
  explicit QueueLock(std::uint32_t capacity) noexcept;
  static std::size_t bytes(std::uint32_t capacity) noexcept;

  enum class Outcome : std::uint8_t { acquired, holder_died };
  /// Waits until the lock is the caller's, or its holder is found dead and the caller is the first
  /// of the queue; then the lock is not taken, and `dead_place` names the holder.
  Outcome lock(Node& node, int& dead_place) noexcept;
  /// The two steps of that: whether it was free, and is taken; and to wait for it in turn. `look`,
  /// if any, is called in each look period.
  bool take(Node& node) noexcept;
  Outcome wait_in_turn(Node& node, int& dead_place, const std::function<void()>& look) noexcept;
  /// Whose it was a moment ago, or −1.
  [[nodiscard]] int holder() const noexcept {
    return place_of(owner_.load(std::memory_order_relaxed));
  }

  /// For the holder: which of its threads that is; 0 before it unlocks.
  void note_thread(std::uint64_t thread) noexcept {
    thread_.store(thread, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t thread() const noexcept {
    return thread_.load(std::memory_order_relaxed);
  }

  /// Takes the lock for `place` if it is free. Nothing: another has it. Also tells of a dead holder
  /// behind whom nobody waits.
  std::optional<Outcome> take_or_leave(Node& node, int place, int& dead_place) noexcept;

  /// Hands the lock to the first waiter that lives. False when this rank doesn't hold it.
  bool unlock(Node& node) noexcept { return unlock(node, node.place()); }

  /// Where somebody stands who wants the lock.
  struct Turn {
    int place = 0;             ///< whose it is
    bool is_queued = false;    ///< else the ring was full
    std::uint32_t number = 0;  ///< its entry, when queued
    int dead_place = -1;       ///< Outcome::holder_died: whose
    std::chrono::steady_clock::time_point looked = std::chrono::steady_clock::time_point::max();
  };
  /// For a guest: takes the lock, or a turn in the ring, and doesn't wait. Nothing: to be called
  /// again, after a pause while the ring is full, or when the agent's bell was rung and in each
  /// look period once the turn is queued.
  std::optional<Outcome> advance(Node& node, Turn& turn) noexcept;
  /// The same as unlock() in the name of the guest at `place`.
  bool unlock(Node& node, int place) noexcept;

 private:
  // place + 1 in the low half, with queue_bit when the lock came from the queue; then the turn of
  // its entry in the high half. 0: nobody.
  using Owner = std::uint64_t;
  static constexpr Owner queue_bit = 0x8000'0000;
  static Owner owner_at(int place) noexcept { return static_cast<Owner>(place) + 1; }
  static Owner owner_of_turn(std::uint32_t place, std::uint32_t turn) noexcept {
    return (Owner{place} + 1) | queue_bit | Owner{turn} << 32U;
  }
  static int place_of(Owner owner) noexcept {
    return static_cast<int>(owner & (queue_bit - 1)) - 1;
  }

  QueueEntry& entry(std::uint32_t turn) noexcept;
  bool enqueue(const Node& node, Turn& turn) noexcept;
  bool take_if_free(const Node& node, const RobustGuard& guard, int place) noexcept;
  std::optional<Outcome> try_lock(Node& node, Turn& turn) noexcept;
  void wait(Node& node, const Turn& turn, const std::function<void()>& look) noexcept;
  void look_after_holder(Node& node, Turn& turn) noexcept;
  Outcome learn(Turn& turn) noexcept;
  QueueEntry* first_living(const Node& node) noexcept;
  void tell(const Node& node, QueueEntry& first, QueueEntry::State what) noexcept;
  void hand_over(const Node& node) noexcept;
  int recover(const Node& node) noexcept;
  void repair(const Node& node) noexcept;

  RobustLock guard_;
  std::uint32_t head_ = 0;  ///< first entry that waits
  std::uint32_t tail_ = 0;  ///< first free entry
  std::uint32_t capacity_mask_;
  std::atomic<Owner> owner_{0};
  std::atomic<std::uint64_t> thread_{0};
};

}  // namespace tessera::rma::detail
