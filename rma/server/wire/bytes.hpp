// SPDX-License-Identifier: BSD-3-Clause
//
// Integers as bytes between nodes: always little-endian, whatever the byte order of this machine.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace tessera::rma::server {

/// Writes sizeof(T) bytes at `to`.
template <std::integral T>
void store(T value, std::byte* to) noexcept {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to, &value, sizeof value);
  } else {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      to[i] = static_cast<std::byte>(static_cast<std::make_unsigned_t<T>>(value) >> (8 * i));
    }
  }
}

/// Reads sizeof(T) bytes at `from`.
template <std::integral T>
[[nodiscard]] T load(const std::byte* from) noexcept {
  T value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, from, sizeof value);
  } else {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bits |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    }
    value = static_cast<T>(bits);
  }
  return value;
}

template <std::integral T>
void append(T value, std::vector<std::byte>& to) {
  std::array<std::byte, sizeof(T)> bytes;
  store(value, bytes.data());
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Reads integers from the front of a byte range. Requires: has() of the bytes that are taken.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  [[nodiscard]] bool has(std::size_t bytes) const noexcept { return left_.size() >= bytes; }
  [[nodiscard]] std::span<const std::byte> left() const noexcept { return left_; }
  template <std::integral T>
  T take() noexcept {
    const T value = load<T>(left_.data());
    left_ = left_.subspan(sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace tessera::rma::server
