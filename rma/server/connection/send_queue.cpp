// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/connection/send_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "rma/server/connection/pieces.hpp"

namespace tessera::rma::server {
namespace {

iovec piece_of(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// Calls action(bytes) for each part of the frame after its first `skipped` bytes.
template <class Action>
void for_each_part_after(std::size_t skipped, std::span<const std::byte> head,
                         std::span<const iovec> body, Action&& action) {
  const auto visit = [&](std::span<const std::byte> bytes) {
    const std::size_t some = std::min(skipped, bytes.size());
    skipped -= some;
    action(bytes.subspan(some));
  };
  visit(head);
  for (const iovec& piece : body) {
    visit({static_cast<const std::byte*>(piece.iov_base), piece.iov_len});
  }
}

// Copying this much costs less than another system call and another wake-up of the receiver. Frames
// with When::together are sent together anyway, from their own memory.
constexpr std::size_t max_copied = std::size_t{16} * 1024 + 512;
constexpr std::size_t max_copied_together = 1024;
constexpr std::size_t full_batch = 4 * max_copied;
// Pieces of a frame that are sent at once; frames of more are continued by flush().
constexpr std::size_t few_pieces = 8;

Status truncated() {
  return Status::no_memory(
      "this process had no memory for the rest of a frame that it had sent in part");
}

}  // namespace

SendQueue::~SendQueue() {
  fail(Status::error(Code::peer_lost, fmt::format("the connection with {} was closed with bytes "
                                                  "unsent",
                                                  channel_->peer())));
}

void SendQueue::fail(const Status& reason) {
  for (const Kept& each : kept_) {
    if (each.sent != nullptr) {
      each.sent->end(reason);
    }
  }
  kept_.clear();
  has_deferred_ = false;
  is_truncated_ = false;
  kept_bytes_ = 0;
  own_bytes_ = 0;
  batch_.clear();
}

void SendQueue::release_unused() noexcept {
  if (!std::exchange(has_batched_, false) && batch_.empty()) {
    batch_ = {};
  }
}

// While frames are kept, nothing is batched: it is sent together with them when there is room.
Status SendQueue::append(const Frame& frame, When when) {
  if (is_truncated_) {
    return truncated();
  }
  const std::size_t bytes = frame.head.size() + total_bytes(frame.body);
  const bool may_wait = when == When::soon || when == When::together || !batch_.empty();
  if (kept_.empty() && may_wait &&
      bytes <= (when == When::together ? max_copied_together : max_copied)) {
    has_batched_ = true;
    if (batch_.size() + bytes > batch_.capacity()) {
      // As vectors grow, but not beyond the largest batch: one more frame after it is nearly full.
      batch_.reserve(std::min(2 * (batch_.size() + bytes), full_batch + max_copied));
    }
    for_each_part_after(0, frame.head, frame.body, [&](std::span<const std::byte> part) {
      batch_.insert(batch_.end(), part.begin(), part.end());
    });
    if (when == When::now || batch_.size() >= full_batch) {
      TESSERA_RETURN_IF_ERROR(send_batch());
    }
  } else {
    if (!batch_.empty()) {
      TESSERA_RETURN_IF_ERROR(move_batch(when));
    }
    // If bytes will probably be kept, the record for them is made before anything is sent; that is
    // cheap compared with sending.
    const bool is_likely_kept = bytes > max_copied || !kept_.empty();
    Prepared prepared = is_likely_kept ? prepare(frame) : Prepared();
    std::size_t taken = 0;
    if (kept_.empty() && (when == When::now || when == When::soon)) {
      std::array<iovec, few_pieces> pieces;
      pieces[0] = piece_of(frame.head);
      const std::size_t more = std::min(frame.body.size(), few_pieces - 1);
      std::copy_n(frame.body.begin(), more, pieces.begin() + 1);
      TESSERA_ASSIGN_OR_RETURN(taken, channel_->send(std::span(pieces).first(more + 1)));
    }
    if (taken < bytes) {
      return keep_rest(frame, std::move(prepared), taken, when);
    }
  }
  if (frame.sent != nullptr) {
    frame.sent->end({});
  }
  return {};
}

Status SendQueue::send_batch() {
  if (batch_.empty()) {
    return {};
  }
  const iovec all = piece_of(batch_);
  const auto taken = channel_->send(std::span(&all, 1));
  if (taken.ok() && *taken < batch_.size()) {
    try {
      keep(prepare({.head = std::span(batch_).subspan(*taken)}), 0);
    } catch (const std::bad_alloc&) {
      // The owners of these frames were notified that they are taken, so the rest stays in the
      // batch.
      batch_.erase(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(*taken));
      return {};
    }
  }
  batch_.clear();
  return taken.status();
}

// Moves the batch out of the way of a frame that does not join it.
Status SendQueue::move_batch(When when) {
  if (when != When::together) {
    TESSERA_RETURN_IF_ERROR(send_batch());
    return batch_.empty()
               ? Status()
               : Status::no_memory("this process has no memory for data that it cannot send yet");
  }
  keep(prepare({.head = batch_}), 0);
  batch_.clear();
  return {};
}

SendQueue::Prepared SendQueue::prepare(const Frame& frame) {
  Prepared prepared(1);
  Kept& kept = prepared.front();
  kept.sent = frame.sent;
  kept.head.assign(frame.head.begin(), frame.head.end());
  kept.pieces.reserve(frame.body.size() + 1);
  kept.pieces.push_back(piece_of(kept.head));
  kept.pieces.insert(kept.pieces.end(), frame.body.begin(), frame.body.end());
  return prepared;
}

// Keeps all bytes after the first `taken` ones.
void SendQueue::keep(Prepared frame, std::size_t taken) noexcept {
  Kept& kept = frame.front();
  kept_bytes_ += total_bytes(kept.pieces) - taken;
  own_bytes_ += kept.own_bytes();
  kept.next = drop_front(kept.pieces, taken);
  kept_.splice(kept_.end(), frame);
}

// `prepared`: the record for the rest, if it was made before.
Status SendQueue::keep_rest(const Frame& frame, Prepared prepared, std::size_t taken, When when) {
  if (frame.is_body_copied && keep_copy(frame, taken)) {
    frame.sent->end({});
    return {};
  }
  if (prepared.empty()) {
    try {
      prepared = prepare(frame);
    } catch (const std::bad_alloc&) {
      return keep_without_memory(frame, taken);
    }
  }
  const bool is_borrowed = frame.owned == nullptr && !frame.is_body_copied;
  if (frame.owned != nullptr) {
    prepared.front().body = std::move(*frame.owned);  // its bytes stay where the piece says
  }
  keep(std::move(prepared), taken);
  has_deferred_ = has_deferred_ || (is_borrowed && when == When::later);
  const std::size_t offered = std::min(frame.body.size(), few_pieces - 1);
  if (taken == frame.head.size() + total_bytes(frame.body.first(offered))) {
    // There is room for more. A loss is also found by the reader, and fail() then ends `sent` with
    // the reason.
    static_cast<void>(flush());
  }
  return {};
}

// Keeps a copy of the rest; returns false if there is no memory for it.
bool SendQueue::keep_copy(const Frame& frame, std::size_t taken) {
  const std::size_t of_body = taken - std::min(taken, frame.head.size());
  try {
    std::vector<std::byte> copy;
    copy.reserve(total_bytes(frame.body) - of_body);
    for_each_part_after(of_body, {}, frame.body, [&](std::span<const std::byte> part) {
      copy.insert(copy.end(), part.begin(), part.end());
    });
    const iovec rest = piece_of(copy);
    Prepared own = prepare({.head = frame.head, .body = std::span(&rest, 1)});
    own.front().body = std::move(copy);
    keep(std::move(own), taken - of_body);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// If nothing of the frame was sent, it counts as not posted. A short rest may fit into the batch's
// memory. Otherwise nothing can ever be sent on this stream after it. Requires: nothing is batched.
Status SendQueue::keep_without_memory(const Frame& frame, std::size_t taken) {
  if (taken == 0) {
    return Status::no_memory("this process has no memory for data that it cannot send yet");
  }
  if (frame.head.size() + total_bytes(frame.body) - taken > batch_.capacity()) {
    is_truncated_ = true;
    return truncated();
  }
  for_each_part_after(taken, frame.head, frame.body, [&](std::span<const std::byte> part) {
    batch_.insert(batch_.end(), part.begin(), part.end());
  });
  if (frame.sent != nullptr) {
    frame.sent->end({});
  }
  return {};
}

Status SendQueue::flush() {
  if (is_truncated_) {
    return truncated();
  }
  while (!kept_.empty()) {
    TESSERA_ASSIGN_OR_RETURN(const std::size_t taken, send_kept());
    if (taken == 0) {
      return {};
    }
    advance(taken);
  }
  return send_batch();
}

// A frame of many pieces is sent alone; others are sent together, which saves the receiver
// wake-ups.
Result<std::size_t> SendQueue::send_kept() {
  constexpr std::size_t most = 64;
  const Kept& first = kept_.front();
  const auto rest_of = [](const Kept& kept) { return std::span(kept.pieces).subspan(kept.next); };
  if (kept_.size() == 1 || rest_of(first).size() > most) {
    return channel_->send(rest_of(first));
  }
  std::array<iovec, most> together;
  std::size_t count = 0;
  for (const Kept& each : kept_) {
    const auto rest = rest_of(each);
    if (count + rest.size() > most) {
      break;
    }
    std::copy(rest.begin(), rest.end(), together.begin() + static_cast<std::ptrdiff_t>(count));
    count += rest.size();
  }
  return channel_->send(std::span(together).first(count));
}

void SendQueue::advance(std::size_t taken) {
  kept_bytes_ -= taken;
  while (taken > 0) {
    Kept& first = kept_.front();
    const auto rest = std::span(first.pieces).subspan(first.next);
    const std::size_t of_first = std::min(taken, total_bytes(rest));
    taken -= of_first;
    first.next += drop_front(rest, of_first);
    if (first.next < first.pieces.size()) {
      return;
    }
    Completion* const sent = first.sent;
    own_bytes_ -= first.own_bytes();
    kept_.pop_front();
    has_deferred_ = has_deferred_ && !kept_.empty();
    if (sent != nullptr) {
      sent->end({});
    }
  }
}

}  // namespace tessera::rma::server
