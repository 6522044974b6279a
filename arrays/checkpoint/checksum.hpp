// SPDX-License-Identifier: BSD-3-Clause
//
// The only use of xxHash in this layer: XXH3, 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tessera::arrays::detail {

/// The checksum of contiguous bytes.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

/// The checksum of bytes that come in several parts; the same as for contiguous bytes.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void add(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] std::uint64_t value() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::arrays::detail
