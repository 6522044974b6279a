// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/connection/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <utility>

namespace tessera::rma::server {
namespace {

std::size_t total(std::span<const iovec> pieces) noexcept {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) {
    bytes += piece.iov_len;
  }
  return bytes;
}

iovec piece_of(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// Removes `bytes` from the front of `pieces`; returns how many pieces are consumed.
std::size_t drop_front(std::span<iovec> pieces, std::size_t bytes) noexcept {
  std::size_t used = 0;
  while (used < pieces.size() && bytes >= pieces[used].iov_len) {
    bytes -= pieces[used].iov_len;
    ++used;
  }
  if (bytes > 0) {
    pieces[used].iov_base = static_cast<std::byte*>(pieces[used].iov_base) + bytes;
    pieces[used].iov_len -= bytes;
  }
  return used;
}

// Copying this much costs less than another system call and another wake-up of the receiver. Frames
// with When::together are sent together anyway, from their own memory.
constexpr std::size_t max_copied = std::size_t{16} * 1024 + 512;
constexpr std::size_t max_copied_together = 1024;
constexpr std::size_t full_batch = 4 * max_copied;

// Grows as vectors do, but not beyond the largest batch: one more frame after it is nearly full.
void make_room(std::vector<std::byte>& batch, std::size_t bytes) {
  const std::size_t needed = batch.size() + bytes;
  if (needed > batch.capacity()) {
    batch.reserve(std::min(2 * needed, full_batch + max_copied));
  }
}

}  // namespace

FrameWriter::~FrameWriter() {
  fail(Status::error(Code::peer_lost, fmt::format("the connection with {} was closed with bytes "
                                                  "unsent",
                                                  channel_->peer())));
}

void FrameWriter::fail(const Status& reason) {
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

// While frames are kept, nothing is batched: it is sent together with them when there is room.
bool FrameWriter::joins_batch(std::size_t bytes, When when) const noexcept {
  const std::size_t most = when == When::together ? max_copied_together : max_copied;
  const bool may_wait = when == When::soon || when == When::together;
  return kept_.empty() && bytes <= most && (may_wait || !batch_.empty());
}

Status FrameWriter::add_to_batch(std::span<const std::byte> head, std::span<const iovec> body,
                                 When when) {
  has_batched_ = true;
  make_room(batch_, head.size() + total(body));
  batch_.insert(batch_.end(), head.begin(), head.end());
  for (const iovec& piece : body) {
    const auto* const bytes = static_cast<const std::byte*>(piece.iov_base);
    batch_.insert(batch_.end(), bytes, bytes + piece.iov_len);
  }
  return when == When::now || batch_.size() >= full_batch ? send_batch() : Status();
}

void FrameWriter::look() noexcept {
  if (!std::exchange(has_batched_, false) && batch_.empty()) {
    batch_ = {};
  }
}

Status FrameWriter::send_batch() {
  if (batch_.empty()) {
    return {};
  }
  const iovec all = piece_of(batch_);
  const auto taken = channel_->send(std::span(&all, 1));
  if (taken.ok() && *taken < batch_.size()) {
    try {
      keep(prepare(std::span(batch_).subspan(*taken), {}, nullptr), 0);
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
Status FrameWriter::move_batch(When when) {
  if (when != When::together || batch_.empty()) {
    TESSERA_RETURN_IF_ERROR(send_batch());
    return batch_.empty()
               ? Status()
               : Status::no_memory("this process has no memory for data that it cannot send yet");
  }
  keep(prepare(batch_, {}, nullptr), 0);
  batch_.clear();
  return {};
}

Status FrameWriter::post(std::span<const std::byte> head, std::span<const iovec> body,
                         Completion* sent, When when) {
  constexpr std::size_t few = 8;
  TESSERA_RETURN_IF_ERROR(check_whole());
  const std::size_t bytes = head.size() + total(body);
  if (joins_batch(bytes, when)) {
    TESSERA_RETURN_IF_ERROR(add_to_batch(head, body, when));
    if (sent != nullptr) {
      sent->end({});
    }
    return {};
  }
  TESSERA_RETURN_IF_ERROR(move_batch(when));
  Prepared frame = is_likely_kept(bytes) ? prepare(head, body, sent) : Prepared();
  std::size_t taken = 0;
  if (may_send(when)) {
    std::array<iovec, few> pieces;
    pieces[0] = piece_of(head);
    const std::size_t more = std::min(body.size(), few - 1);
    std::copy_n(body.begin(), more, pieces.begin() + 1);
    TESSERA_ASSIGN_OR_RETURN(taken, channel_->send(std::span(pieces).first(more + 1)));
    if (taken == bytes) {
      if (sent != nullptr) {
        sent->end({});
      }
      return {};
    }
  }
  const bool has_room = taken == head.size() + total(body.first(std::min(body.size(), few - 1)));
  if (frame.empty()) {
    TESSERA_RETURN_IF_ERROR(keep_rest(head, body, taken, sent));
  } else {
    keep(std::move(frame), taken);
  }
  has_deferred_ = has_deferred_ || when == When::later;
  if (has_room) {
    // A loss is also found by the reader, and fail() then ends `sent` with the reason.
    static_cast<void>(flush());
  }
  return {};
}

Status FrameWriter::post(std::span<const std::byte> head, std::vector<std::byte> body, When when) {
  const iovec piece = piece_of(body);
  const std::size_t bytes = head.size() + body.size();
  Prepared frame =
      is_likely_kept(bytes) ? prepare(head, std::span(&piece, 1), nullptr) : Prepared();
  TESSERA_ASSIGN_OR_RETURN(const std::size_t taken, send_some(head, body, when));
  if (taken == bytes) {
    return {};
  }
  if (frame.empty()) {
    return keep_rest(head, std::span(&piece, 1), taken, nullptr, &body);
  }
  frame.front().body = std::move(body);  // the bytes stay at the address that the piece has
  keep(std::move(frame), taken);
  return {};
}

Status FrameWriter::post_copy(std::span<const std::byte> head, std::span<const std::byte> body,
                              Completion& sent, When when) {
  const iovec piece = piece_of(body);
  const std::size_t bytes = head.size() + body.size();
  Prepared frame = is_likely_kept(bytes) ? prepare(head, std::span(&piece, 1), &sent) : Prepared();
  TESSERA_ASSIGN_OR_RETURN(const std::size_t taken, send_some(head, body, when));
  if (taken == bytes) {
    sent.end({});
    return {};
  }
  const std::size_t of_body = taken - std::min(taken, head.size());
  try {
    std::vector<std::byte> copy(body.begin() + static_cast<std::ptrdiff_t>(of_body), body.end());
    const iovec rest = piece_of(copy);
    Prepared own = prepare(head, std::span(&rest, 1), nullptr);
    own.front().body = std::move(copy);
    keep(std::move(own), taken - of_body);
  } catch (const std::bad_alloc&) {
    if (frame.empty()) {
      return keep_rest(head, std::span(&piece, 1), taken, &sent);
    }
    keep(std::move(frame), taken);
    return {};
  }
  sent.end({});
  return {};
}

// If so, the record that keeps it is made before anything is sent; that is cheap compared with
// sending.
bool FrameWriter::is_likely_kept(std::size_t bytes) const noexcept {
  return bytes > max_copied || !kept_.empty();
}

// If memory runs out and nothing of the frame was sent, it counts as not posted. A short rest may
// fit into the batch's memory. Otherwise nothing can ever be sent on this stream after it.
Status FrameWriter::keep_rest(std::span<const std::byte> head, std::span<const iovec> body,
                              std::size_t taken, Completion* sent,
                              std::vector<std::byte>* own_body) {
  try {
    Prepared frame = prepare(head, body, sent);
    if (own_body != nullptr) {
      frame.front().body = std::move(*own_body);
    }
    keep(std::move(frame), taken);
    return {};
  } catch (const std::bad_alloc&) {
    // Handled below.
  }
  if (taken == 0) {
    return Status::no_memory("this process has no memory for data that it cannot send yet");
  }
  if (add_rest_to_batch(head, body, taken)) {
    if (sent != nullptr) {
      sent->end({});
    }
    return {};
  }
  is_truncated_ = true;
  return check_whole();
}

// Returns false if it does not fit into the memory that exists. Requires: nothing is kept or
// batched.
bool FrameWriter::add_rest_to_batch(std::span<const std::byte> head, std::span<const iovec> body,
                                    std::size_t taken) noexcept {
  if (head.size() + total(body) - taken > batch_.capacity()) {
    return false;
  }
  const auto add = [&](std::span<const std::byte> bytes) {
    const std::size_t skipped = std::min(taken, bytes.size());
    taken -= skipped;
    batch_.insert(batch_.end(), bytes.begin() + static_cast<std::ptrdiff_t>(skipped), bytes.end());
  };
  add(head);
  for (const iovec& piece : body) {
    add({static_cast<const std::byte*>(piece.iov_base), piece.iov_len});
  }
  return true;
}

Status FrameWriter::check_whole() const noexcept {
  return is_truncated_
             ? Status::no_memory(
                   "this process had no memory for the rest of a frame that it had sent in part")
             : Status();
}

// Returns the number of bytes that need not be kept; 0 while other frames are kept.
Result<std::size_t> FrameWriter::send_some(std::span<const std::byte> head,
                                           std::span<const std::byte> body, When when) {
  TESSERA_RETURN_IF_ERROR(check_whole());
  const std::array pieces{piece_of(head), piece_of(body)};
  if (joins_batch(head.size() + body.size(), when)) {
    TESSERA_RETURN_IF_ERROR(add_to_batch(head, std::span(pieces).last(1), when));
    return head.size() + body.size();
  }
  TESSERA_RETURN_IF_ERROR(move_batch(when));
  return may_send(when) ? channel_->send(pieces) : Result<std::size_t>(std::size_t{0});
}

FrameWriter::Prepared FrameWriter::prepare(std::span<const std::byte> head,
                                           std::span<const iovec> body, Completion* sent) {
  Prepared frame(1);
  Kept& kept = frame.front();
  kept.sent = sent;
  kept.head.assign(head.begin(), head.end());
  kept.pieces.reserve(body.size() + 1);
  kept.pieces.push_back(piece_of(kept.head));
  kept.pieces.insert(kept.pieces.end(), body.begin(), body.end());
  return frame;
}

// Keeps all bytes after the first `taken` ones.
void FrameWriter::keep(Prepared frame, std::size_t taken) noexcept {
  Kept& kept = frame.front();
  kept_bytes_ += total(kept.pieces) - taken;
  own_bytes_ += kept.own_bytes();
  kept.next = drop_front(kept.pieces, taken);
  kept_.splice(kept_.end(), frame);
}

Status FrameWriter::flush() {
  TESSERA_RETURN_IF_ERROR(check_whole());
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
Result<std::size_t> FrameWriter::send_kept() {
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

void FrameWriter::advance(std::size_t taken) {
  kept_bytes_ -= taken;
  while (taken > 0) {
    Kept& first = kept_.front();
    const auto rest = std::span(first.pieces).subspan(first.next);
    const std::size_t of_first = std::min(taken, total(rest));
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

Result<std::size_t> FrameSink::receive_payload(Channel& channel, std::vector<iovec>& places,
                                               std::size_t next, iovec rest) {
  const std::size_t own = places.size();
  const bool fits = own - next < IOV_MAX;
  places.push_back(rest);
  auto bytes = channel.receive(std::span(places).subspan(next, own - next + fits));
  places.pop_back();
  return bytes;
}

void FrameSink::store_payload(std::span<const iovec> places, std::span<const std::byte> bytes) {
  for (const iovec& place : places) {
    const std::size_t some = std::min(place.iov_len, bytes.size());
    if (some == 0) {
      continue;
    }
    std::memcpy(place.iov_base, bytes.data(), some);
    bytes = bytes.subspan(some);
    if (bytes.empty()) {
      return;
    }
  }
}

FrameReader::FrameReader(Channel& channel, FrameSink& sink, BufferPool* pool)
    : channel_(&channel),
      sink_(sink),
      pool_(pool),
      buffer_(pool == nullptr ? buffer_bytes : std::size_t{0}) {}

FrameReader::~FrameReader() {
  first_ = last_;
  give_back();
}

bool FrameReader::has_buffer() noexcept {
  if (buffer_.empty() && pool_ != nullptr) {
    buffer_ = pool_->take();
  }
  return !buffer_.empty();
}

// Returns the buffer to the pool unless it holds bytes.
void FrameReader::give_back() noexcept {
  if (first_ == last_ && pool_ != nullptr && !buffer_.empty()) {
    pool_->give(std::exchange(buffer_, {}));
    first_ = last_ = 0;
  }
}

Status FrameReader::begin_with(std::span<const std::byte> bytes) {
  if (!bytes.empty() && !has_buffer()) {
    return Status::no_memory("this process has no memory for a receive buffer");
  }
  while (!bytes.empty()) {
    const std::size_t some = std::min(bytes.size(), buffer_.size() - last_);
    std::copy_n(bytes.begin(), some, buffer_.begin() + static_cast<std::ptrdiff_t>(last_));
    last_ += some;
    bytes = bytes.subspan(some);
    TESSERA_RETURN_IF_ERROR(consume());
  }
  give_back();
  return sink_.caught_up();
}

// Without memory for a buffer nothing is received; the bytes wait in the channel.
Result<bool> FrameReader::advance() {
  if (!has_buffer()) {
    return false;
  }
  auto has_come = receive_some();
  give_back();
  return has_come;
}

Result<bool> FrameReader::receive_some() {
  constexpr int most_receives = 16;
  bool has_come = is_held_up_;
  is_latency_critical_ = false;
  if (is_held_up_) {
    TESSERA_RETURN_IF_ERROR(consume());
    TESSERA_RETURN_IF_ERROR(sink_.caught_up());
  }
  Received received{.bytes = 0, .may_be_more = true};
  for (int i = 0;
       i < most_receives && received.may_be_more && !is_held_up_ && !is_latency_critical_; ++i) {
    TESSERA_ASSIGN_OR_RETURN(received, receive());
    if (received.bytes == 0) {
      break;
    }
    has_come = true;
    TESSERA_RETURN_IF_ERROR(consume());
    TESSERA_RETURN_IF_ERROR(sink_.caught_up());
  }
  return has_come;
}

// Receives first into the payload's destination and then into the buffer. So one call gets the end
// of one frame and the beginning of the next.
Result<FrameReader::Received> FrameReader::receive() {
  if (first_ == last_) {
    first_ = last_ = 0;
  } else if (last_ == buffer_.size()) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(first_), buffer_.end(),
              buffer_.begin());
    last_ -= std::exchange(first_, 0);
  }
  const iovec rest{buffer_.data() + last_, buffer_.size() - last_};
  if (stage_ != Stage::payload || discard_bytes_ > 0) {
    TESSERA_ASSIGN_OR_RETURN(const std::size_t bytes, channel_->receive(std::span(&rest, 1)));
    last_ += bytes;
    return Received{bytes, bytes == rest.iov_len};
  }
  const bool fits = payload_.size() - next_piece_ < IOV_MAX;
  TESSERA_ASSIGN_OR_RETURN(const std::size_t bytes,
                           sink_.receive_payload(*channel_, payload_, next_piece_, rest));
  const std::size_t wanted = total(std::span(payload_).subspan(next_piece_));
  const bool is_filled = bytes == wanted + rest.iov_len;
  fill_payload(std::min(bytes, wanted));
  last_ += bytes - std::min(bytes, wanted);
  return Received{bytes, is_filled || !fits};
}

void FrameReader::fill_payload(std::size_t bytes) {
  next_piece_ += drop_front(std::span(payload_).subspan(next_piece_), bytes);
}

// Processes the contents of the buffer, frame by frame.
Status FrameReader::consume() {
  while (true) {
    Result<bool> more = stage_ == Stage::header       ? take_header()
                        : stage_ == Stage::descriptor ? take_descriptor()
                                                      : take_payload();
    TESSERA_RETURN_IF_ERROR(more.status());
    if (!*more) {
      return {};
    }
  }
}

Result<bool> FrameReader::take_header() {
  if (buffered().size() < header_bytes) {
    return false;
  }
  is_held_up_ = !sink_.is_ready();
  if (is_held_up_) {
    return false;
  }
  TESSERA_ASSIGN_OR_RETURN(header_, decode(buffered().first<header_bytes>()));
  is_held_up_ = !sink_.takes(header_);
  if (is_held_up_) {
    return false;
  }
  first_ += header_bytes;
  descriptor_.clear();
  stage_ = Stage::descriptor;
  return true;
}

Result<bool> FrameReader::take_descriptor() {
  const std::size_t wanted = header_.descriptor_bytes - descriptor_.size();
  if (descriptor_.empty() && buffered().size() >= wanted) {
    // The usual case: the descriptor is complete and is used in place.
    const auto whole = buffered().first(wanted);
    first_ += wanted;
    payload_.clear();
    next_piece_ = 0;
    TESSERA_RETURN_IF_ERROR(sink_.begin(header_, whole, payload_));
    TESSERA_RETURN_IF_ERROR(begin_payload());
    return true;
  }
  const std::size_t some = std::min(wanted, buffered().size());
  const auto part = buffered().first(some);
  descriptor_.insert(descriptor_.end(), part.begin(), part.end());
  first_ += some;
  if (some < wanted) {
    return false;
  }
  payload_.clear();
  next_piece_ = 0;
  TESSERA_RETURN_IF_ERROR(sink_.begin(header_, descriptor_, payload_));
  TESSERA_RETURN_IF_ERROR(begin_payload());
  return true;
}

Status FrameReader::begin_payload() {
  discard_bytes_ = payload_.empty() ? header_.payload_bytes : 0;
  if (discard_bytes_ == 0 && total(payload_) != header_.payload_bytes) {
    return Status::error(Code::internal, fmt::format("{} bytes of payload were given room for {}",
                                                     header_.payload_bytes, total(payload_)));
  }
  stage_ = Stage::payload;
  return {};
}

Result<bool> FrameReader::take_payload() {
  if (discard_bytes_ > 0) {
    const std::size_t gone = std::min(discard_bytes_, buffered().size());
    first_ += gone;
    discard_bytes_ -= gone;
    if (discard_bytes_ > 0) {
      return false;
    }
  }
  const auto places = std::span(payload_).subspan(next_piece_);
  const std::size_t some = std::min(total(places), buffered().size());
  if (some > 0) {
    sink_.store_payload(places, buffered().first(some));
    first_ += some;
  }
  // Empty pieces at the end need no bytes.
  fill_payload(some);
  if (next_piece_ < payload_.size()) {
    return false;
  }
  stage_ = Stage::header;
  TESSERA_RETURN_IF_ERROR(sink_.end(header_));
  is_latency_critical_ = is_latency_critical_ || sink_.is_awaited(header_);
  return true;
}

}  // namespace tessera::rma::server
