// SPDX-License-Identifier: BSD-3-Clause
//
// RequestQueue: the requests that a link's connection has to send. All aggregation is here:
// successive small operations of one kind become a list (OperationBatch); small frames that may
// wait share a system call (SendQueue); and in a CoalescingScope a thread keeps all its changes.
// Everything stays in the order in which it was posted.
//
// Threads: all functions may be called from any thread, if nothing else is said.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/server/client/operation_batch.hpp"
#include "rma/server/connection/send_queue.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/transport/completion.hpp"

namespace tessera::rma::server {

class ClientConnection;
struct PendingReply;
class RequestQueue;
struct Awaited;

/// Implements rma::CoalescingScope: from the first begin() to the last end(), the changes that this
/// thread posts are kept. They are sent together at the last end(), or before the thread posts
/// anything else to any node.
class CoalescedMessages {
 public:
  static void begin() noexcept;
  static void end() noexcept;
  /// Sends what was kept so far. To be called before the thread waits for something that is not a
  /// post.
  static void send() noexcept;
  /// Whether the frame that this thread is about to post is to be kept. If not, everything kept is
  /// sent first.
  [[nodiscard]] static bool takes(RequestQueue& queue, const FrameHeader& header);
  [[nodiscard]] static bool is_any_kept() noexcept;
};

/// A request that is posted: a frame, or a small operation that may join others.
struct PostedRequest {
  FrameHeader header;
  std::span<const std::byte> descriptor = {};
  std::span<const iovec> body = {};
  Completion* sent = nullptr;               ///< ends when the memory of `body` may be reused
  std::vector<std::byte>* owned = nullptr;  ///< a body that the queue takes over; `body` is empty
  bool is_body_copied = false;              ///< what cannot be sent at once is copied

  struct SmallOperation {
    const Scale* scale = nullptr;  ///< of an accumulate
    std::byte* local = nullptr;    ///< read at once, unless the operation is a get
    std::size_t bytes = 0;
    Completion* done = nullptr;  ///< of a get: ends with its reply
  };
  const SmallOperation* operation = nullptr;  ///< joins the batch, in place of a frame
};

class RequestQueue {
 public:
  using When = SendQueue::When;

  /// For the connection `link`, which contains the queue.
  RequestQueue(ClientConnection& link, Channel& channel) noexcept : link_(link), queue_(channel) {}

  /// When to send a small request that no thread waits for. It may wait for others in two cases:
  /// replies are outstanding, so that a thread polls this link anyway; or it is part of a burst of
  /// requests. The progress thread sends the end of a burst unless this thread waits for something
  /// first.
  When when();

  /// Posts a request of the link `owner`, whose requests this connection carries. Waits until
  /// the queue has room. Returns nothing while no connection exists. Errors:
  /// peer_lost, no_memory; `sent` does not end then.
  std::optional<Status> post(ClientConnection& owner, const PostedRequest& request, When when);
  /// Posts a frame about the connection itself. Requires: mutex() is locked. Errors: as post().
  Status post_own(const FrameHeader& header);

  /// Sends as much as the channel takes. If another thread is sending, waits for it, because a
  /// sleeping thread is not notified when another one sends what it waits for.
  void flush();
  /// The same unless another thread is sending. An error means that nothing can be sent any longer.
  Status try_flush();
  /// Sends the requests that this thread has kept so far; if they are long, leaves that to other
  /// threads.
  void send_coalesced() noexcept;

  /// Ends everything that was not sent with `reason`. Requires: mutex() is locked.
  void fail(const Status& reason);
  /// Continues over another channel. Requires: mutex() is locked; is_empty().
  void move_to(Channel& channel) noexcept { queue_.move_to(channel); }
  /// Nothing waits to be sent. Requires: mutex() is locked.
  [[nodiscard]] bool is_empty() const noexcept { return queue_.is_empty() && batch_.is_empty(); }
  /// Frees memory that was not used since the last call.
  void release_unused();
  /// Locked while something is posted or sent.
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

  [[nodiscard]] bool has_unsent() const noexcept { return unsent_.load(); }
  /// The channel had no room for everything.
  [[nodiscard]] bool is_held_up() const noexcept {
    return held_up_.load(std::memory_order_relaxed);
  }

 private:
  Status append(const PostedRequest& request, When when);
  Status send_batch(When when);
  void fail_batch(const OperationBatch::List& list, PendingReply gets, Status error);
  Status flush_locked();
  void record_unsent();
  void wait_for_room();

  ClientConnection& link_;
  std::mutex mutex_;
  SendQueue queue_;
  OperationBatch batch_;  // is sent before the next frame
  // The unsent bytes belong to a thread that sends them later itself; no other thread was notified.
  bool is_coalesced_ = false;
  // The state of the queue and the batch, for threads without the lock.
  std::atomic<bool> unsent_{false};
  std::atomic<bool> held_up_{false};
  std::atomic<bool> crowded_{false};
  std::atomic<std::int64_t> last_request_{0};  // nanoseconds of the steady clock
  std::atomic<int> burst_{0};                  // requests in succession so far
};

}  // namespace tessera::rma::server
