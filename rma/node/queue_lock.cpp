// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/queue_lock.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "rma/node/growing_nap.hpp"

namespace tessera::rma::detail {
namespace {

// Keeps the compiler from moving a store across. If this process dies here, others find all stores
// above and none below.
void in_this_order() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

QueueLock::QueueLock(std::uint32_t capacity) noexcept : capacity_mask_(capacity - 1) {
  for (std::uint32_t i = 0; i < capacity; ++i) {
    new (&entry(i)) QueueEntry;
  }
}

std::size_t QueueLock::bytes(std::uint32_t capacity) noexcept {
  const std::size_t all = sizeof(QueueLock) + capacity * sizeof(QueueEntry);
  return (all + cache_line - 1) / cache_line * cache_line;
}

QueueEntry& QueueLock::entry(std::uint32_t turn) noexcept {
  auto* entries =
      reinterpret_cast<QueueEntry*>(reinterpret_cast<std::byte*>(this) + sizeof(QueueLock));
  return entries[turn & capacity_mask_];
}

// The first living waiter; removes dead ones before it from the queue. Null if there is none.
QueueEntry* QueueLock::first_living(const Node& node) noexcept {
  for (; head_ != tail_; ++head_) {
    QueueEntry& first = entry(head_);
    if (!node.is_gone(static_cast<int>(first.place))) {
      return &first;
    }
    first.state.store(QueueEntry::idle);
    in_this_order();
  }
  return nullptr;
}

// Removes the head entry from the queue and wakes its waiter if it sleeps. If the notifying rank
// dies before the wake-up, the waiter finds out at its next liveness check.
void QueueLock::tell(const Node& node, QueueEntry& first, QueueEntry::State what) noexcept {
  in_this_order();
  const std::uint32_t before = first.state.exchange(what);
  in_this_order();
  ++head_;
  if (before != QueueEntry::parked) {
    return;
  }
  if (node.is_guest(static_cast<int>(first.place))) {
    node.memory().ring_agent();
  } else {
    futex_wake_all(first.state);
  }
}

// Gives the lock to the first living waiter, or frees it.
void QueueLock::hand_over(const Node& node) noexcept {
  QueueEntry* const first = first_living(node);
  if (first == nullptr) {
    owner_.store(0, std::memory_order_relaxed);
    return;
  }
  owner_.store(owner_of_turn(first->place, head_), std::memory_order_relaxed);
  tell(node, *first, QueueEntry::granted);
}

// If the owner is dead: notifies the first waiter, and gives the lock to the second. Returns the
// local rank of a dead owner if there was no waiter to notify, else −1.
int QueueLock::recover(const Node& node) noexcept {
  const int owner = place_of(owner_.load(std::memory_order_relaxed));
  if (owner < 0 || !node.is_gone(owner)) {
    return -1;
  }
  QueueEntry* const first = first_living(node);
  if (first != nullptr) {
    first->dead_place = static_cast<std::uint32_t>(owner);
    tell(node, *first, QueueEntry::holder_died);
  }
  hand_over(node);
  return first == nullptr ? owner : -1;
}

// Finishes the hand-over that a rank had begun when it died.
void QueueLock::repair(const Node& node) noexcept {
  const Owner owner = owner_.load(std::memory_order_relaxed);
  if (head_ != tail_) {
    QueueEntry& first = entry(head_);
    const bool is_waiting = !first.is_told();
    if (owner == owner_of_turn(first.place, head_) && is_waiting) {
      tell(node, first, QueueEntry::granted);
    } else if (!is_waiting) {
      ++head_;  // its waiter was notified, or found dead
    }
  }
  if (owner == 0) {
    hand_over(node);
  }
}

// Fills the next entry if it is free; the waiter that was notified releases its entry.
bool QueueLock::enqueue(const Node& node, Turn& turn) noexcept {
  QueueEntry& next = entry(tail_);
  const bool ring_full = tail_ - head_ > capacity_mask_;
  if (ring_full ||
      (next.state.load() != QueueEntry::idle && !node.is_gone(static_cast<int>(next.place)))) {
    return false;
  }
  turn.number = tail_;
  next.place = static_cast<std::uint32_t>(turn.place);
  next.state.store(node.is_guest(turn.place) ? QueueEntry::parked : QueueEntry::waiting);
  in_this_order();
  ++tail_;
  return true;
}

inline bool QueueLock::take_if_free(const Node& node, const RobustGuard& guard,
                                    int place) noexcept {
  if (guard.recovered()) [[unlikely]] {
    repair(node);
  }
  if (owner_.load(std::memory_order_relaxed) != 0) {
    return false;
  }
  owner_.store(owner_at(place), std::memory_order_relaxed);
  return true;
}

// Takes the lock if it is free, else a ticket; if it gets neither, the ring is full.
std::optional<QueueLock::Outcome> QueueLock::try_lock(Node& node, Turn& turn) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (take_if_free(node, guard, turn.place)) {
    return Outcome::acquired;
  }
  turn.is_queued = enqueue(node, turn);
  const auto now = std::chrono::steady_clock::now();
  turn.looked = std::min(turn.looked, now);
  if (!turn.is_queued && now - turn.looked >= node.policy().look_period) {
    // All waiters in the ring may be dead, and then none of them checks the owner.
    turn.looked = now;
    turn.dead_place = recover(node);
    if (turn.dead_place >= 0) {
      return Outcome::holder_died;
    }
  }
  return std::nullopt;
}

std::optional<QueueLock::Outcome> QueueLock::take_or_leave(Node& node, int place,
                                                           int& dead_place) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (take_if_free(node, guard, place)) {
    return Outcome::acquired;
  }
  dead_place = recover(node);
  return dead_place < 0 ? std::nullopt : std::optional(Outcome::holder_died);
}

QueueLock::Outcome QueueLock::lock(Node& node, int& dead_place) noexcept {
  return take(node) ? Outcome::acquired : wait_in_turn(node, dead_place, {});
}

// The common case of a free lock, without what only waiters need.
bool QueueLock::take(Node& node) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  return take_if_free(node, guard, node.place());
}

QueueLock::Outcome QueueLock::wait_in_turn(Node& node, int& dead_place,
                                           const std::function<void()>& look) noexcept {
  Turn turn{.place = node.place()};
  auto outcome = try_lock(node, turn);
  GrowingNap nap(std::chrono::microseconds(50), longest_nap);
  while (!outcome && !turn.is_queued) {
    std::this_thread::sleep_for(nap.next());
    outcome = try_lock(node, turn);
  }
  if (!outcome) {
    wait(node, turn, look);
    outcome = learn(turn);
  }
  dead_place = turn.dead_place;
  return *outcome;
}

void QueueLock::wait(Node& node, const Turn& turn, const std::function<void()>& look) noexcept {
  QueueEntry& own = entry(turn.number);
  const auto told = [&] { return own.is_told(); };
  if (spin_until(node.policy().spin, told)) {
    return;
  }
  node.hand_back_help();  // the holder may be on another node
  Turn looking{.looked = std::chrono::steady_clock::now()};
  std::uint32_t awake = QueueEntry::waiting;
  own.state.compare_exchange_strong(awake, QueueEntry::parked);
  while (!told()) {
    futex_wait(own.state, QueueEntry::parked, node.policy().look_period);
    look_after_holder(node, looking);
    if (look) {
      look();
    }
  }
}

// Acts once per liveness interval.
void QueueLock::look_after_holder(Node& node, Turn& turn) noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (now - turn.looked < node.policy().look_period) {
    return;
  }
  turn.looked = now;
  const RobustGuard guard(guard_, node.lock_context());
  if (guard.recovered()) {
    repair(node);
  }
  recover(node);
}

// Reads the outcome of the wait; releases the entry.
QueueLock::Outcome QueueLock::learn(Turn& turn) noexcept {
  QueueEntry& own = entry(turn.number);
  const bool acquired = own.state.load(std::memory_order_acquire) == QueueEntry::granted;
  turn.dead_place = static_cast<int>(own.dead_place);
  own.state.store(QueueEntry::idle);
  return acquired ? Outcome::acquired : Outcome::holder_died;
}

std::optional<QueueLock::Outcome> QueueLock::advance(Node& node, Turn& turn) noexcept {
  if (!turn.is_queued) {
    return try_lock(node, turn);
  }
  if (entry(turn.number).is_told()) {
    return learn(turn);
  }
  look_after_holder(node, turn);
  return std::nullopt;
}

bool QueueLock::unlock(Node& node, int place) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (guard.recovered()) {
    repair(node);
  }
  if (place_of(owner_.load(std::memory_order_relaxed)) != place) {
    return false;
  }
  hand_over(node);
  return true;
}

}  // namespace tessera::rma::detail
