// SPDX-License-Identifier: BSD-3-Clause
//
// ReplyTable: the operations of a connection that wait for a reply, and where the replies' bytes
// go. An operation's number consists of its slot and the slot's generation, so a late reply to an
// earlier user of the slot is recognised.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/server/client/operation_batch.hpp"
#include "rma/shape.hpp"
#include "rma/transport/completion.hpp"

namespace tessera::rma::server {

class ClientConnection;

/// The operation number of deliveries to a team that may already have been freed. No thread waits
/// for them, and a missing target is not an error.
inline constexpr std::uint64_t unmonitored_operation = ~std::uint64_t{0};

/// A reply that may fill the socket's buffers before a sleeping thread polls it.
inline constexpr std::size_t min_stream_bytes = std::size_t{64} * 1024;

/// Where the bytes of a reply go if they are not contiguous.
struct ScatterTarget {
  std::byte* base = nullptr;  ///< start of `shape`, whose local side is used
  CopyShape shape;
  std::vector<Fragment> fragments;  ///< or their local sides; if empty, `shape`
};

/// A pending reply: what it completes, and where its data go. At most one of the destinations is
/// set.
struct PendingReply {
  Completion* done = nullptr;    ///< ends with the reply
  std::int64_t* word = nullptr;  ///< receives a word, sign-extended from word_bytes
  int word_bytes = 8;
  std::byte* bytes = nullptr;  ///< receives `size` bytes
  std::size_t size = 0;
  std::unique_ptr<const ScatterTarget> scatter;  ///< receives `size` bytes
  std::unique_ptr<BatchedGets> gets;  ///< receives `size` bytes; its gets end instead of `done`
  std::shared_ptr<const void> held = nullptr;  ///< stays alive until the reply has arrived
  std::uint64_t fenced = 0;                    ///< changes that are in effect then; 0: not a fence
  bool is_lock = false;                        ///< a `value` of 0 means that a lock is held

  void end(const Status& status) const;
};

class ReplyTable {
 public:
  /// An operation in the table. Its destructor removes it again unless keep() was called.
  class Entry {
   public:
    Entry(ReplyTable& table, std::uint64_t operation) noexcept
        : table_(table), operation_(operation) {}
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();
    /// The operation's number, which is never 0.
    [[nodiscard]] std::uint64_t operation() const noexcept { return operation_; }
    /// From now on the reply, or the loss of the connection, removes the operation. Returns its
    /// number.
    std::uint64_t keep() noexcept { return std::exchange(operation_, 0U); }

   private:
    ReplyTable& table_;
    std::uint64_t operation_;
  };

  /// Moves the pending reply into a slot. `requester`: the connection over which it is requested.
  /// Throws std::bad_alloc; nothing is moved then.
  [[nodiscard]] Entry insert(PendingReply& pending, const ClientConnection& requester);
  /// Records that the operation, if it is pending, is requested over `requester`.
  void record_requester(std::uint64_t operation, const ClientConnection& requester);
  /// Records that the reply's bytes arrive over `receiver`: until they are complete, only that
  /// connection may end the operation. Returns null if it is not pending.
  [[nodiscard]] const PendingReply* claim(std::uint64_t operation,
                                          const ClientConnection& receiver);
  /// Removes a pending reply; nothing if it is not pending.
  [[nodiscard]] std::optional<PendingReply> take(std::uint64_t operation);

  /// Ends all replies with `reason`, except those whose bytes arrive over another connection than
  /// `receiver`: that connection ends them.
  void end_all(const ClientConnection& receiver, const Status& reason);
  /// The same for those that were requested over `requester`.
  void end_requested_by(const ClientConnection& requester, const Status& reason);

  /// The number of pending replies.
  [[nodiscard]] std::int64_t count() const noexcept { return count_.load(); }
  /// Whether long replies are among them.
  [[nodiscard]] bool is_streaming() const noexcept {
    return streams_.load(std::memory_order_relaxed) > 0;
  }

 private:
  struct Slot {
    PendingReply pending;
    std::uint32_t generation = 0;
    bool is_used = false;
    const ClientConnection* requester = nullptr;  // by which it was requested
    const ClientConnection* receiver = nullptr;   // by which its bytes are arriving
  };
  [[nodiscard]] Slot* find(std::uint64_t operation);
  PendingReply release(Slot& slot);
  template <class Predicate>
  void end_if(const ClientConnection& receiver, const Status& reason, Predicate&& is_meant);

  std::mutex mutex_;
  std::deque<Slot> slots_;  // elements do not move
  std::vector<std::uint32_t> free_;
  std::atomic<std::int64_t> count_{0};
  std::atomic<std::int64_t> streams_{0};  // long replies among them
};

}  // namespace tessera::rma::server
