// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/queue_lock.hpp"

#include <chrono>
#include <new>
#include <thread>

namespace tessera::rma::detail {

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
  auto* entries = reinterpret_cast<QueueEntry*>(reinterpret_cast<std::byte*>(this) +
                                                sizeof(QueueLock));
  return entries[turn & capacity_mask_];
}

// Finishes the hand-over that a rank had begun when it died.
void QueueLock::repair() noexcept {
  if (head_ != tail_ && entry(head_).state.load() != QueueEntry::waiting) {
    if (entry(head_).state.load() == QueueEntry::granted) {
      holder_ = entry(head_).place + 1;
    }
    ++head_;
  }
}

// Takes the first waiter that lives out of the queue and tells it `as`. False when there is none.
bool QueueLock::pop(const Node& node, QueueEntry::State as) noexcept {
  while (head_ != tail_) {
    QueueEntry& first = entry(head_);
    const auto place = first.place;
    if (node.is_gone(static_cast<int>(place))) {
      first.state.store(QueueEntry::idle);
      ++head_;
      continue;
    }
    first.state.store(as);
    if (as == QueueEntry::granted) {
      holder_ = place + 1;
    }
    ++head_;
    futex_wake_all(first.state);
    return true;
  }
  return false;
}

// The holder is dead: the first waiter is told, the one behind it gets the lock.
void QueueLock::recover(const Node& node) noexcept {
  if (holder_ == 0 || !node.is_gone(static_cast<int>(holder_) - 1)) {
    return;
  }
  dead_place_ = holder_ - 1;
  holder_ = 0;
  pop(node, QueueEntry::holder_died);
  pop(node, QueueEntry::granted);
}

// Fills the next entry if it is free; an entry is given back by the waiter that was told.
bool QueueLock::enqueue(const Node& node, std::uint32_t& turn) noexcept {
  QueueEntry& next = entry(tail_);
  const bool ring_full = tail_ - head_ > capacity_mask_;
  if (ring_full || (next.state.load() != QueueEntry::idle &&
                    !node.is_gone(static_cast<int>(next.place)))) {
    return false;
  }
  turn = tail_;
  next.place = static_cast<std::uint32_t>(node.place());
  next.state.store(QueueEntry::waiting);
  ++tail_;
  return true;
}

QueueLock::Outcome QueueLock::lock(Node& node, int& dead_place) noexcept {
  while (true) {
    std::uint32_t turn = 0;
    bool queued = false;
    {
      const RobustGuard guard(guard_, node.lock_context());
      if (guard.recovered()) {
        repair();
      }
      if (holder_ == 0 && head_ == tail_) [[likely]] {
        holder_ = static_cast<std::uint32_t>(node.place()) + 1;
        return Outcome::acquired;
      }
      queued = enqueue(node, turn);
    }
    if (queued) {
      return wait(node, turn, dead_place);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

QueueLock::Outcome QueueLock::wait(Node& node, std::uint32_t turn, int& dead_place) noexcept {
  FutexWord& state = entry(turn).state;
  const auto told = [&] { return state.load(std::memory_order_acquire) != QueueEntry::waiting; };
  if (!spin_until(node.policy().spin, told)) {
    auto looked = std::chrono::steady_clock::now();
    while (!told()) {
      futex_wait(state, QueueEntry::waiting, node.policy().look_period);
      const auto now = std::chrono::steady_clock::now();
      if (now - looked < node.policy().look_period) {
        continue;
      }
      looked = now;
      const RobustGuard guard(guard_, node.lock_context());
      if (guard.recovered()) {
        repair();
      }
      recover(node);
    }
  }
  const bool acquired = state.load(std::memory_order_acquire) == QueueEntry::granted;
  dead_place = static_cast<int>(dead_place_);
  state.store(QueueEntry::idle);
  return acquired ? Outcome::acquired : Outcome::holder_died;
}

bool QueueLock::unlock(Node& node) noexcept {
  const RobustGuard guard(guard_, node.lock_context());
  if (guard.recovered()) {
    repair();
  }
  if (holder_ != static_cast<std::uint32_t>(node.place()) + 1) {
    return false;
  }
  if (head_ == tail_) [[likely]] {
    holder_ = 0;
    return true;
  }
  holder_ = 0;
  pop(node, QueueEntry::granted);
  return true;
}

}  // namespace tessera::rma::detail
