// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/connection/send_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
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

// Copies a body after its first `skipped` bytes; false if there is no memory for that.
bool copy_rest(std::span<const iovec> body, std::size_t skipped, std::vector<std::byte>& copy) {
  return detail::catch_bad_alloc(
      [&] {
        copy.reserve(total_bytes(body) - skipped);
        for_each_part_after(skipped, {}, body, [&](std::span<const std::byte> part) {
          copy.insert(copy.end(), part.begin(), part.end());
        });
        return true;
      },
      [] { return false; });
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
  kept_bytes_ = 0;
  own_bytes_ = 0;
  batch_.clear();
}

void SendQueue::release_unused() noexcept {
  if (!std::exchange(has_batched_, false) && batch_.empty()) {
    batch_ = {};
    spare_.clear();
  }
}

// While frames are kept, nothing is batched: it is sent together with them when there is room.
Status SendQueue::append(const Frame& frame, When when) {
  const std::size_t bytes = frame.head.size() + total_bytes(frame.body);
  const bool may_wait = when == When::soon || when == When::together || !batch_.empty();
  if (kept_.empty() && may_wait &&
      bytes <= (when == When::together ? max_copied_together : max_copied)) {
    TESSERA_RETURN_IF_ERROR(add_to_batch(frame, bytes, when));
  } else {
    if (when == When::together && !batch_.empty()) {
      keep_batch(0);
    }
    TESSERA_RETURN_IF_ERROR(send_batch());
    make_spare(frame.head.size(), std::max<std::size_t>(frame.body.size(), 1) + 1);
    std::size_t taken = 0;
    if (kept_.empty() && (when == When::now || when == When::soon)) {
      std::array<iovec, few_pieces> pieces;
      pieces[0] = piece_of(frame.head);
      const std::size_t more = std::min(frame.body.size(), few_pieces - 1);
      std::copy_n(frame.body.begin(), more, pieces.begin() + 1);
      TESSERA_ASSIGN_OR_RETURN(taken, channel_->send(std::span(pieces).first(more + 1)));
    }
    if (taken < bytes) {
      keep_rest(frame, taken, when);
      return {};
    }
  }
  if (frame.sent != nullptr) {
    frame.sent->end({});
  }
  return {};
}

Status SendQueue::add_to_batch(const Frame& frame, std::size_t bytes, When when) {
  has_batched_ = true;
  make_spare(0, 1);
  if (batch_.size() + bytes > batch_.capacity()) {
    // As vectors grow, but not beyond the largest batch: one more frame after it is nearly full.
    batch_.reserve(std::min(2 * (batch_.size() + bytes), full_batch + max_copied));
  }
  for_each_part_after(0, frame.head, frame.body, [&](std::span<const std::byte> part) {
    batch_.insert(batch_.end(), part.begin(), part.end());
  });
  return when == When::now || batch_.size() >= full_batch ? send_batch() : Status();
}

Status SendQueue::send_batch() {
  if (batch_.empty()) {
    return {};
  }
  const iovec all = piece_of(batch_);
  const auto taken = channel_->send(std::span(&all, 1));
  if (taken.ok() && *taken < batch_.size()) {
    keep_batch(*taken);
  }
  batch_.clear();
  return taken.status();
}

void SendQueue::make_spare(std::size_t head_bytes, std::size_t pieces) {
  if (spare_.empty()) {
    spare_.emplace_back();
  }
  spare_.front().head.reserve(head_bytes);
  spare_.front().pieces.reserve(pieces);
}

// Keeps all bytes of the spare record after the first `taken` ones.
void SendQueue::keep_spare(std::size_t taken) noexcept {
  Kept& kept = spare_.front();
  kept_bytes_ += total_bytes(kept.pieces) - taken;
  own_bytes_ += kept.own_bytes();
  kept.next = drop_front(kept.pieces, taken);
  kept_.splice(kept_.end(), spare_);
}

// There is a spare record while anything is batched.
void SendQueue::keep_batch(std::size_t taken) noexcept {
  Kept& kept = spare_.front();
  kept.head = std::exchange(batch_, {});
  kept.pieces.push_back(piece_of(kept.head));
  keep_spare(taken);
}

void SendQueue::keep_rest(const Frame& frame, std::size_t taken, When when) {
  Kept& kept = spare_.front();
  kept.head.assign(frame.head.begin(), frame.head.end());
  kept.pieces.push_back(piece_of(kept.head));
  const std::size_t of_body = taken - std::min(taken, frame.head.size());
  if (frame.is_body_copied && copy_rest(frame.body, of_body, kept.body)) {
    kept.pieces.push_back(piece_of(kept.body));
    keep_spare(taken - of_body);
    frame.sent->end({});
    return;
  }
  kept.sent = frame.sent;
  kept.pieces.insert(kept.pieces.end(), frame.body.begin(), frame.body.end());
  if (frame.owned != nullptr) {
    kept.body = std::move(*frame.owned);  // its bytes stay where the piece says
  }
  keep_spare(taken);
  const bool is_borrowed = frame.owned == nullptr && !frame.is_body_copied;
  has_deferred_ = has_deferred_ || (is_borrowed && when == When::later);
  const std::size_t offered = std::min(frame.body.size(), few_pieces - 1);
  if (taken == frame.head.size() + total_bytes(frame.body.first(offered))) {
    // There is room for more. A loss is also found by the reader, and fail() then ends `sent` with
    // the reason.
    static_cast<void>(flush());
  }
}

Status SendQueue::flush() {
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
