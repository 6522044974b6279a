// SPDX-License-Identifier: BSD-3-Clause
//
// QueueLock: a fair lock in shared memory whose waiters sleep, and which survives the death of any
// rank (technique of seed 001 §3: a queue in memory that all on the node reach).
//
// A short robust lock guards the holder and a ring of waiters. It is kept valid after every store:
//
//     enqueue    fill the entry, then raise `tail`
//     hand over  mark the head entry granted, then name it the holder, then raise `head`
//
// so a rank that dies in between leaves at most a hand-over to be finished, which the next one that
// gets the robust lock does (repair).
#pragma once

#include <cstdint>

#include "rma/node/node.hpp"
#include "rma/node/robust_lock.hpp"

namespace tessera::rma::detail {

struct QueueEntry {
  enum State : std::uint32_t { idle, waiting, granted, holder_died };
  FutexWord state{idle};
  std::uint32_t place = 0;  ///< of the waiting rank
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

  /// Hands the lock to the first waiter that lives. False when this rank doesn't hold it.
  bool unlock(Node& node) noexcept;

 private:
  QueueEntry& entry(std::uint32_t turn) noexcept;
  bool enqueue(const Node& node, std::uint32_t& turn) noexcept;
  Outcome wait(Node& node, std::uint32_t turn, int& dead_place) noexcept;
  bool pop(const Node& node, QueueEntry::State as) noexcept;
  void recover(const Node& node) noexcept;
  void repair() noexcept;

  RobustLock guard_;
  std::uint32_t holder_ = 0;    ///< place + 1, or 0
  std::uint32_t head_ = 0;      ///< first entry that waits
  std::uint32_t tail_ = 0;      ///< first free entry
  std::uint32_t capacity_mask_;
  std::uint32_t dead_place_ = 0;  ///< of the last holder that died
};

}  // namespace tessera::rma::detail
