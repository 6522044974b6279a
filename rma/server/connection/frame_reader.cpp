// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/connection/frame_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "rma/server/connection/pieces.hpp"

namespace tessera::rma::server {
Result<std::size_t> FrameSink::receive_payload(Channel& channel, std::vector<iovec>& destinations,
                                               std::size_t next, iovec rest) {
  const std::size_t own = destinations.size();
  const bool fits = own - next < IOV_MAX;
  destinations.push_back(rest);
  auto bytes = channel.receive(std::span(destinations).subspan(next, own - next + fits));
  destinations.pop_back();
  return bytes;
}

void FrameSink::store_payload(std::span<const iovec> destinations,
                              std::span<const std::byte> bytes) {
  for (const iovec& piece : destinations) {
    const std::size_t some = std::min(piece.iov_len, bytes.size());
    if (some == 0) {
      continue;
    }
    std::memcpy(piece.iov_base, bytes.data(), some);
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

// Without memory for a buffer nothing is received; the bytes wait in the channel. After an error
// the destructor returns the buffer.
Result<bool> FrameReader::advance() {
  constexpr int max_receives = 16;
  if (!has_buffer()) {
    return false;
  }
  bool has_come = false;
  is_latency_critical_ = false;
  Received received{.bytes = 0, .may_be_more = true};
  for (int i = 0; i < max_receives && received.may_be_more && !is_latency_critical_; ++i) {
    if (!is_held_up_) {
      TESSERA_ASSIGN_OR_RETURN(received, receive());
      if (received.bytes == 0) {
        break;
      }
    }
    has_come = true;
    TESSERA_RETURN_IF_ERROR(consume());
    TESSERA_RETURN_IF_ERROR(sink_.caught_up());
    if (is_held_up_) {
      break;
    }
  }
  give_back();
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
  const auto destinations = std::span(payload_).subspan(next_piece_);
  const std::size_t wanted = total_bytes(destinations);
  const bool is_filled = bytes == wanted + rest.iov_len;
  next_piece_ += drop_front(destinations, std::min(bytes, wanted));
  last_ += bytes - std::min(bytes, wanted);
  return Received{bytes, is_filled || !fits};
}

// Processes the contents of the buffer, frame by frame.
Status FrameReader::consume() {
  while (true) {
    if (stage_ == Stage::header) {
      if (buffered().size() < header_bytes) {
        return {};
      }
      TESSERA_ASSIGN_OR_RETURN(header_, decode(buffered().first<header_bytes>()));
      is_held_up_ = !sink_.takes(header_);
      if (is_held_up_) {
        return {};
      }
      first_ += header_bytes;
      descriptor_.clear();
      stage_ = Stage::descriptor;
    }
    if (stage_ == Stage::descriptor) {
      auto descriptor = buffered().first(
          std::min(header_.descriptor_bytes - descriptor_.size(), buffered().size()));
      first_ += descriptor.size();
      if (descriptor.size() < header_.descriptor_bytes) {  // otherwise it is used in place
        descriptor_.insert(descriptor_.end(), descriptor.begin(), descriptor.end());
        if (descriptor_.size() < header_.descriptor_bytes) {
          return {};
        }
        descriptor = descriptor_;
      }
      const bool is_whole = buffered().size() >= header_.payload_bytes;
      const auto payload = buffered().first(is_whole ? header_.payload_bytes : 0);
      payload_.clear();
      next_piece_ = 0;
      TESSERA_RETURN_IF_ERROR(sink_.begin(header_, descriptor, payload, payload_));
      discard_bytes_ = payload_.empty() ? header_.payload_bytes : 0;
      if (discard_bytes_ == 0 && total_bytes(payload_) != header_.payload_bytes) {
        return Status::error(Code::internal,
                             fmt::format("{} bytes of payload were given room for {}",
                                         header_.payload_bytes, total_bytes(payload_)));
      }
      stage_ = Stage::payload;
    }
    if (!take_payload()) {
      return {};
    }
    stage_ = Stage::header;
    TESSERA_RETURN_IF_ERROR(sink_.end(header_));
    is_latency_critical_ = is_latency_critical_ || sink_.is_latency_critical(header_);
  }
}

// Returns whether the payload is complete.
bool FrameReader::take_payload() {
  if (discard_bytes_ > 0) {
    const std::size_t gone = std::min(discard_bytes_, buffered().size());
    first_ += gone;
    discard_bytes_ -= gone;
    if (discard_bytes_ > 0) {
      return false;
    }
  }
  const auto destinations = std::span(payload_).subspan(next_piece_);
  const std::size_t some = std::min(total_bytes(destinations), buffered().size());
  if (some > 0) {
    sink_.store_payload(destinations, buffered().first(some));
    first_ += some;
  }
  // Empty pieces at the end need no bytes.
  next_piece_ += drop_front(destinations, some);
  return next_piece_ >= payload_.size();
}

}  // namespace tessera::rma::server
