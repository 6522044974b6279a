// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/queue_lock.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "rma/base/rounding.hpp"

namespace tessera::rma::detail {
namespace {

// Keeps the compiler from moving a store across. If this process dies here, others find all stores
// above and none below.
void compiler_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

QueueLock::QueueLock(std::uint32_t capacity) noexcept : capacity_mask_(capacity - 1) {
  for (std::uint32_t i = 0; i < capacity; ++i) {
    new (&entry(i)) QueueEntry;
  }
}

std::size_t QueueLock::bytes(std::uint32_t capacity) noexcept {
  return round_up(sizeof(QueueLock) + capacity * sizeof(QueueEntry), cache_line);
}

QueueEntry& QueueLock::entry(std::uint32_t ticket) noexcept {
  auto* entries =
      reinterpret_cast<QueueEntry*>(reinterpret_cast<std::byte*>(this) + sizeof(QueueLock));
  return entries[ticket & capacity_mask_];
}

// The first living waiter; removes dead ones before it from the queue, and those that have left.
// Null if there is none.
QueueEntry* QueueLock::first_living(const Node& node) noexcept {
  for (; head_ != tail_; ++head_) {
    QueueEntry& first = entry(head_);
    if (first.state.load() != QueueEntry::left &&
        !node.is_gone(static_cast<int>(first.local_rank))) {
      return &first;
    }
    first.state.store(QueueEntry::idle);
    compiler_barrier();
  }
  return nullptr;
}

// Removes the head entry from the queue and wakes its waiter if it sleeps. If the notifying rank
// dies before the wake-up, the waiter finds out at its next liveness check.
void QueueLock::notify(const Node& node, QueueEntry& first, QueueEntry::State what) noexcept {
  compiler_barrier();
  const std::uint32_t before = first.state.exchange(what);
  compiler_barrier();
  ++head_;
  if (before != QueueEntry::parked) {
    return;
  }
  if (node.is_remote_rank(static_cast<int>(first.local_rank))) {
    node.memory().wake_agent();
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
  owner_.store(owner_of_ticket(first->local_rank, head_), std::memory_order_relaxed);
  notify(node, *first, QueueEntry::granted);
}

// If the owner is dead: notifies the first waiter, and gives the lock to the second. Returns the
// local rank of a dead owner if there was no waiter to notify, else −1.
int QueueLock::recover(const Node& node) noexcept {
  const int owner = local_rank_of(owner_.load(std::memory_order_relaxed));
  if (owner < 0 || !node.is_gone(owner)) {
    return -1;
  }
  QueueEntry* const first = first_living(node);
  if (first != nullptr) {
    first->dead_local_rank = static_cast<std::uint32_t>(owner);
    notify(node, *first, QueueEntry::holder_died);
  }
  hand_over(node);
  return first == nullptr ? owner : -1;
}

// Finishes the hand-over that a rank had begun when it died.
void QueueLock::repair(const Node& node) noexcept {
  const Owner owner = owner_.load(std::memory_order_relaxed);
  if (head_ != tail_) {
    QueueEntry& first = entry(head_);
    const bool is_waiting = !first.is_notified();
    if (owner == owner_of_ticket(first.local_rank, head_) && is_waiting) {
      notify(node, first, QueueEntry::granted);
    } else if (!is_waiting) {
      ++head_;  // its waiter was notified, or found dead, or has left
    }
  }
  if (owner == 0) {
    hand_over(node);
  }
}

// Fills the next entry if it is free; the waiter that was notified releases its entry.
bool QueueLock::enqueue(const Node& node, Ticket& ticket) noexcept {
  QueueEntry& next = entry(tail_);
  const bool ring_full = tail_ - head_ > capacity_mask_;
  const std::uint32_t state = next.state.load();
  const bool is_unused = state == QueueEntry::idle || state == QueueEntry::left;
  if (ring_full || (!is_unused && !node.is_gone(static_cast<int>(next.local_rank)))) {
    return false;
  }
  ticket.number = tail_;
  next.local_rank = static_cast<std::uint32_t>(ticket.local_rank);
  next.state.store(node.is_remote_rank(ticket.local_rank) ? QueueEntry::parked
                                                          : QueueEntry::waiting);
  compiler_barrier();
  ++tail_;
  return true;
}

inline bool QueueLock::acquire_if_free(const Node& node, const RobustGuard& guard,
                                       int local_rank) noexcept {
  if (guard.recovered()) [[unlikely]] {
    repair(node);
  }
  if (owner_.load(std::memory_order_relaxed) != 0) {
    return false;
  }
  owner_.store(owner_at(local_rank), std::memory_order_relaxed);
  return true;
}

// Takes the lock if it is free, else a ticket; if it gets neither, the ring is full.
std::optional<QueueLock::Outcome> QueueLock::lock_or_enqueue(Node& node, Ticket& ticket) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (acquire_if_free(node, guard, ticket.local_rank)) {
    return Outcome::acquired;
  }
  ticket.is_queued = enqueue(node, ticket);
  const auto now = std::chrono::steady_clock::now();
  ticket.last_check = std::min(ticket.last_check, now);
  if (!ticket.is_queued && now - ticket.last_check >= node.policy().liveness_interval) {
    // All waiters in the ring may be dead, and then none of them checks the owner.
    ticket.last_check = now;
    ticket.dead_local_rank = recover(node);
    if (ticket.dead_local_rank >= 0) {
      return Outcome::holder_died;
    }
  }
  return std::nullopt;
}

std::optional<QueueLock::Outcome> QueueLock::try_lock(Node& node, int local_rank,
                                                      int& dead_local_rank) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (acquire_if_free(node, guard, local_rank)) {
    return Outcome::acquired;
  }
  dead_local_rank = recover(node);
  return dead_local_rank < 0 ? std::nullopt : std::optional(Outcome::holder_died);
}

QueueLock::Outcome QueueLock::lock(Node& node, int& dead_local_rank) noexcept {
  return try_lock(node) ? Outcome::acquired : wait_with_ticket(node, dead_local_rank, {});
}

// The common case of a free lock, without what only waiters need.
bool QueueLock::try_lock(Node& node) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  return acquire_if_free(node, guard, node.local_rank());
}

QueueLock::Outcome QueueLock::wait_with_ticket(
    Node& node, int& dead_local_rank, const std::function<bool()>& on_liveness_check) noexcept {
  Ticket ticket{.local_rank = node.local_rank()};
  std::optional<Outcome> outcome;
  poll_until(release_waits, [&] {
    outcome = lock_or_enqueue(node, ticket);
    return outcome.has_value() || ticket.is_queued;
  });
  if (!outcome) {
    outcome = wait(node, ticket, on_liveness_check) ? read_outcome(ticket) : Outcome::given_up;
  }
  dead_local_rank = ticket.dead_local_rank;
  return *outcome;
}

// True if this waiter was notified; false if it has left the queue.
bool QueueLock::wait(Node& node, const Ticket& ticket,
                     const std::function<bool()>& on_liveness_check) noexcept {
  QueueEntry& own = entry(ticket.number);
  const auto is_notified = [&] { return own.is_notified(); };
  // Without a yield phase, and without the progress of others.
  if (spin_until(node.policy().spin, is_notified)) {
    return true;
  }
  node.waiter().yield_progress();  // the holder may be on another node
  std::uint32_t awake = QueueEntry::waiting;
  own.state.compare_exchange_strong(awake, QueueEntry::parked);
  return Waiter(node.policy()).sleep(OnWord(own.state), is_notified, [&] {
    check_holder(node);
    return on_liveness_check && on_liveness_check() && leave(node, ticket);
  });
}

// Removes a waiter from the queue; false if it was notified before. Entries that have left at the
// end of the queue are free at once, so that a ring never fills with them.
bool QueueLock::leave(const Node& node, const Ticket& ticket) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (guard.recovered()) {
    repair(node);
  }
  QueueEntry& own = entry(ticket.number);
  if (own.is_notified()) {
    return false;
  }
  own.state.store(QueueEntry::left);
  compiler_barrier();
  while (tail_ != head_ && entry(tail_ - 1).state.load() == QueueEntry::left) {
    --tail_;
  }
  return true;
}

void QueueLock::check_holder(Node& node) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (guard.recovered()) {
    repair(node);
  }
  recover(node);
}

// Reads the outcome of the wait; releases the entry.
QueueLock::Outcome QueueLock::read_outcome(Ticket& ticket) noexcept {
  QueueEntry& own = entry(ticket.number);
  const bool acquired = own.state.load(std::memory_order_acquire) == QueueEntry::granted;
  ticket.dead_local_rank = static_cast<int>(own.dead_local_rank);
  own.state.store(QueueEntry::idle);
  return acquired ? Outcome::acquired : Outcome::holder_died;
}

std::optional<QueueLock::Outcome> QueueLock::advance(Node& node, Ticket& ticket) noexcept {
  if (!ticket.is_queued) {
    return lock_or_enqueue(node, ticket);
  }
  if (entry(ticket.number).is_notified()) {
    return read_outcome(ticket);
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - ticket.last_check >= node.policy().liveness_interval) {
    ticket.last_check = now;
    check_holder(node);
  }
  return std::nullopt;
}

bool QueueLock::unlock(Node& node, int local_rank) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (guard.recovered()) {
    repair(node);
  }
  if (local_rank_of(owner_.load(std::memory_order_relaxed)) != local_rank) {
    return false;
  }
  hand_over(node);
  return true;
}

}  // namespace tessera::rma::detail
