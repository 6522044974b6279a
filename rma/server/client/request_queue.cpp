// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/request_queue.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/client_connection.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;
using detail::catch_bad_alloc;

struct CoalescingThread {
  int depth = 0;  // begin() calls without their end()
  std::array<RequestQueue*, 64> queues = {};
  std::size_t count = 0;  // of queues that have kept frames

  [[nodiscard]] std::span<RequestQueue* const> used() const noexcept {
    return std::span(queues).first(count);
  }
};
thread_local CoalescingThread coalescing;

}  // namespace

void CoalescedMessages::begin() noexcept {
  ++coalescing.depth;
}

void CoalescedMessages::end() noexcept {
  if (--coalescing.depth == 0) {
    send();
  }
}

// Sends in the order in which the thread first used the queues. Callers choose that order so that
// not all ranks write to one node at a time.
void CoalescedMessages::send() noexcept {
  for (RequestQueue* const queue : coalescing.used()) {
    queue->send_coalesced();
  }
  coalescing.count = 0;
}

// A request that this thread or another waits for is not kept; it is sent after the kept frames.
bool CoalescedMessages::takes(RequestQueue& queue, const FrameHeader& header) {
  if (coalescing.depth == 0) {
    return false;
  }
  if (!is_change(header.kind) || (header.flags & flags::wants_answer) != 0) {
    send();
    return false;
  }
  const auto used = coalescing.used();
  if (std::find(used.begin(), used.end(), &queue) != used.end()) {
    return true;
  }
  if (coalescing.count == coalescing.queues.size()) {
    send();
  }
  coalescing.queues[coalescing.count++] = &queue;
  return true;
}

bool CoalescedMessages::is_any_kept() noexcept {
  return coalescing.count > 0;
}

RequestQueue::When RequestQueue::when() {
  constexpr std::int64_t pause_ns = 60'000;  // longer than a put with its fence
  constexpr int min_burst = 4;
  if (link_.is_polled()) {
    return When::soon;
  }
  const std::int64_t now = Clock::now().time_since_epoch().count();
  const std::int64_t before = last_request_.exchange(now, std::memory_order_relaxed);
  if (now - before > pause_ns) {
    burst_.store(0, std::memory_order_relaxed);
    return When::now;
  }
  return burst_.fetch_add(1, std::memory_order_relaxed) < min_burst ? When::now : When::soon;
}

std::optional<Status> RequestQueue::post(ClientConnection& owner, const PostedRequest& request,
                                         When when) {
  const FrameHeader& header = request.header;
  if (crowded_.load(std::memory_order_relaxed)) {
    wait_for_room();
  }
  const bool is_coalesced = CoalescedMessages::takes(*this, header);
  if (is_coalesced && when != When::later) {
    when = When::together;
  }
  Status status;
  bool is_left_behind = false;
  bool is_held_up = false;
  {
    const std::lock_guard guard(mutex_);
    if (link_.is_lost()) {
      return link_.loss();
    }
    if (!link_.channel().is_connected()) {
      return std::nullopt;
    }
    const bool is_looked_after = has_unsent() && !is_coalesced_;
    status = catch_bad_alloc([&] { return append(request, when); },
                             "this process has no memory for a request");
    if (is_change(header.kind)) {
      owner.changes().record(header.target, header.region);
    }
    record_unsent();
    is_coalesced_ = is_coalesced && !is_looked_after;
    is_left_behind = has_unsent() && !is_coalesced && !is_looked_after;
    is_held_up = is_left_behind && queue_.is_held_up();
  }
  if (is_held_up) {
    link_.client().progress().wake_now();
  } else if (is_left_behind) {
    link_.client().progress().wake_if_away();  // no other thread may poll this link soon
  }
  if (status.ok()) {
    return status;
  }
  // The reason may have come already: an agent notifies its peers when it shuts down.
  link_.progress();
  return link_.is_lost() ? link_.loss() : link_.client().links().loss_of(link_.node(), status);
}

// The batch is sent first, unless this operation joins it. Requires: mutex_ is locked.
Status RequestQueue::append(const PostedRequest& request, When when) {
  const FrameHeader& header = request.header;
  if (const auto* const operation = request.operation) {
    if (!batch_.takes(header, operation->scale)) {
      TESSERA_RETURN_IF_ERROR(send_batch(When::now));
    }
    batch_.add(header, operation->scale, operation->local, operation->bytes, operation->done);
    return {};
  }
  if (!batch_.is_empty()) {
    TESSERA_RETURN_IF_ERROR(send_batch(When::soon));
  }
  SendQueue::Frame frame{.body = request.body,
                         .sent = request.sent,
                         .owned = request.owned,
                         .is_body_copied = request.is_body_copied};
  iovec owned{};
  if (request.owned != nullptr) {
    owned = {request.owned->data(), request.owned->size()};
    frame.body = std::span(&owned, 1);
  }
  if (request.descriptor.empty()) {
    const auto head = encode(header);
    frame.head = head;
    return queue_.append(frame, when);
  }
  const auto head = encode(header, request.descriptor);
  frame.head = head;
  return queue_.append(frame, when);
}

Status RequestQueue::post_own(const FrameHeader& header) {
  return catch_bad_alloc([&] { return queue_.post(encode(header), {}, nullptr); });
}

// An error means that the link will be lost, which ends the pending replies. If memory runs out,
// the error goes to the gets that needed it, or else to the next fence. Requires: mutex_ is locked.
Status RequestQueue::send_batch(When when) {
  if (batch_.is_empty()) {
    return {};
  }
  PendingReply gets;
  OperationBatch::List list;
  Status sent = catch_bad_alloc([&]() -> Status {
    list = batch_.take();
    if (list.gets != nullptr) {
      gets.size = list.bytes;
      gets.gets = std::move(list.gets);
      list.header.operation = link_.owner_of(list.header).replies().insert(gets, link_).keep();
    }
    return queue_.post(encode(list.header, list.descriptor), std::move(list.body), when);
  });
  if (sent.code() == Code::no_memory) {
    fail_batch(list, std::move(gets), std::move(sent));
    return {};
  }
  return sent;
}

// Nothing of the batch was sent, and other requests still can be.
void RequestQueue::fail_batch(const OperationBatch::List& list, PendingReply gets, Status error) {
  const bool are_gets = batch_.has_gets();
  batch_.fail(error);  // if it could not even be taken
  if (!are_gets) {
    link_.client().options().stray_error(std::move(error));
  } else if (list.header.operation != 0) {
    if (const auto mine = link_.owner_of(list.header).replies().take(list.header.operation)) {
      mine->end(error);
    }
  } else if (gets.gets != nullptr) {
    gets.end(error);
  }
}

// Requires: mutex_ is locked.
void RequestQueue::record_unsent() {
  unsent_ = !is_empty();
  held_up_.store(queue_.is_held_up(), std::memory_order_relaxed);
  // A batch bounds itself, and the next thread that polls sends it.
  crowded_.store(queue_.is_held_up() && queue_.own_bytes() >= link_.client().options().kept_bytes,
                 std::memory_order_relaxed);
}

void RequestQueue::wait_for_room() {
  Client& client = link_.client();
  detail::LongWait long_wait(client.options().wait_warning);
  client.progress().advance_until(
      [&] { return !crowded_.load(std::memory_order_relaxed) || link_.is_lost(); },
      [&] {
        client.report_long_wait(long_wait, "room to send to", link_.node());
        return false;
      });
}

// An error means that nothing can be sent any longer; ClientConnection::progress() finds the same
// error. Requires: mutex_ is locked.
Status RequestQueue::flush_locked() {
  Status batched = send_batch(When::soon);
  Status flushed = queue_.flush();
  record_unsent();
  return batched.ok() ? std::move(flushed) : std::move(batched);
}

void RequestQueue::flush() {
  if (has_unsent() && !link_.is_lost()) {
    const std::lock_guard guard(mutex_);
    flush_locked().ignore("progress() finds it, and has the peer's reason");
  }
}

Status RequestQueue::try_flush() {
  if (has_unsent()) {
    const std::unique_lock guard(mutex_, std::try_to_lock);
    if (guard.owns_lock()) {
      return flush_locked();
    }
  }
  return {};
}

// Bytes that had no room are left to other threads from now on, as long puts in the background
// already are.
void RequestQueue::send_coalesced() noexcept {
  bool is_held_up = false;
  {
    const std::lock_guard guard(mutex_);
    if (!link_.is_lost() && !queue_.has_deferred()) {
      flush_locked().ignore("progress() finds it, and has the peer's reason");
    }
    is_held_up = queue_.is_held_up();
  }
  if (is_held_up) {
    link_.client().progress().wake_now();
  }
}

void RequestQueue::fail(const Status& reason) {
  batch_.fail(reason);
  queue_.fail(reason);
  record_unsent();
}

void RequestQueue::release_unused() {
  const std::unique_lock guard(mutex_, std::try_to_lock);
  if (guard.owns_lock()) {
    queue_.release_unused();
  }
}

}  // namespace tessera::rma::server
