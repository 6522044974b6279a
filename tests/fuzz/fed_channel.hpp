// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the fuzz targets of both sides of a connection: a channel whose remote end is the
// input, and valid values for the header fields that a fuzzer cannot guess.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "rma/server/wire/bytes.hpp"
#include "rma/transport/channel.hpp"
#include "tests/fuzz/sealed_header.hpp"

namespace tessera::rma::server {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

// Used instead of assert(), which release builds leave out.
inline void must(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// A stream whose remote end is the input.
class FedChannel final : public detail::Channel {
 public:
  void give(View bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  /// Marks the end of the input. Before this call, a receive without bytes means that nothing has
  /// arrived yet.
  void end() { is_ended_ = true; }
  /// From now on returns at most `max_in` bytes at once, and accepts none until make_room().
  void begin(std::size_t max_in) {
    max_in_ = max_in;
    room_ = 0;
    sent_.clear();
  }
  void make_room(std::size_t bytes) { room_ = bytes; }
  [[nodiscard]] bool is_empty() const { return next_ == bytes_.size(); }
  [[nodiscard]] const Bytes& sent() const { return sent_; }

  Result<std::size_t> send(std::span<const iovec> pieces) override {
    if (total_ > max_sent) {
      return Status::error(Code::peer_lost, "the output limit of the fuzzer is reached");
    }
    auto moved = move(pieces, room_, [&](std::byte* at, std::size_t bytes) {
      sent_.assign(at, at + bytes);  // lets a sanitizer see reads of invalid bytes
      return bytes;
    });
    room_ -= *moved;
    total_ += *moved;
    return moved;
  }
  Result<std::size_t> receive(std::span<const iovec> into) override {
    if (is_empty() && is_ended_) {
      return Status::error(Code::peer_lost, "the input is at its end");
    }
    return move(into, max_in_, [&](std::byte* at, std::size_t bytes) {
      const std::size_t some = std::min(bytes, bytes_.size() - next_);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(next_), some, at);
      next_ += some;
      return some;
    });
  }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] std::string peer() const override { return "the fuzzer"; }

 private:
  template <class Take>
  static Result<std::size_t> move(std::span<const iovec> pieces, std::size_t most, Take&& take) {
    std::size_t moved = 0;
    for (const iovec& piece : pieces) {
      const std::size_t wanted = std::min(piece.iov_len, most - moved);
      const std::size_t taken =
          wanted == 0 ? 0 : take(static_cast<std::byte*>(piece.iov_base), wanted);
      moved += taken;
      if (taken < piece.iov_len) {
        break;
      }
    }
    return moved;
  }

  // Overlapping rows let few bytes of input request much output; more of it finds nothing new.
  static constexpr std::size_t max_sent = std::size_t{40} << 20U;

  Bytes bytes_;
  std::size_t next_ = 0;
  std::size_t max_in_ = SIZE_MAX;
  std::size_t room_ = SIZE_MAX;
  std::size_t total_ = 0;
  bool is_ended_ = false;
  Bytes sent_;
};

/// Returns the first frame in `bytes`, as long as its header says, or all bytes if there are fewer.
/// Sets magic, version, checksum and reserved bytes to valid values, and calls fix(choice, header).
/// The frame's first byte gives `choice`: 2 leaves unknown flags set; 3 leaves the header as fix()
/// returns it, except for unknown flags; fix() gives all other values their meaning.
template <class Fix>
std::span<std::byte> first_frame(std::span<std::byte> bytes, Fix&& fix) {
  if (bytes.size() < header_bytes) {
    return bytes;
  }
  const auto header = bytes.first<header_bytes>();
  const unsigned choice = std::to_integer<unsigned>(header[0]) % 64;
  fix(choice, header);
  if (choice != 2) {
    header[7] &= std::byte{flags::known};
  }
  if (choice != 3) {
    const auto right = sealed(header);
    std::copy(right.begin(), right.end(), header.begin());
  }
  const std::uint64_t left = bytes.size() - header_bytes;
  const std::uint64_t descriptor = load<std::uint32_t>(header.data() + 8);
  const std::uint64_t payload = load<std::uint64_t>(header.data() + 16);
  return bytes.first(header_bytes + std::min(left, descriptor + std::min(payload, left)));
}

}  // namespace tessera::rma::server
