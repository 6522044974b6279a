// SPDX-License-Identifier: BSD-3-Clause
//
// RandomStream: the random numbers of HPC Challenge's RandomAccess, from any position on: a shift
// register over GF(2) with the polynomial x⁶³ + x² + x + 1, of period 1317624576693539401.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera::bench {

class RandomStream {
 public:
  /// The first next() gives number `position` of the stream. Requires: 0 ≤ position < the period.
  explicit RandomStream(std::int64_t position) {
    // A step multiplies by x; so number n is xⁿ, computed by squaring and stepping along n's bits.
    const auto bits = static_cast<std::uint64_t>(position);
    for (int bit = 63 - std::countl_zero(bits); bit >= 0; --bit) {
      state_ = squared(state_);
      if ((bits >> static_cast<unsigned>(bit) & 1U) != 0) {
        state_ = stepped(state_);
      }
    }
  }

  std::uint64_t next() {
    const std::uint64_t value = state_;
    state_ = stepped(state_);
    return value;
  }

 private:
  static std::uint64_t stepped(std::uint64_t state) {
    constexpr std::uint64_t polynomial = 7;
    return (state << 1U) ^ ((state >> 63U) != 0 ? polynomial : 0);
  }

  /// Squaring is linear: the sum of the squares x²ʲ of the powers xʲ in the state.
  static std::uint64_t squared(std::uint64_t state) {
    std::uint64_t sum = 0;
    std::uint64_t square = 1;
    for (; state != 0; state >>= 1U) {
      sum ^= (state & 1U) != 0 ? square : 0;
      square = stepped(stepped(square));
    }
    return sum;
  }

  std::uint64_t state_ = 1;
};

}  // namespace tessera::bench
