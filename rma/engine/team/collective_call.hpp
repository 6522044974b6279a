// SPDX-License-Identifier: BSD-3-Clause
//
// CollectiveCall: which collective a member called, in words that other members can compare.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rma/base/rank.hpp"
#include "rma/element.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

struct CollectiveCall {
  enum class Kind : std::uint8_t {
    form,
    barrier,
    broadcast,
    allgather,
    allreduce,
    reduce,
    agree,
    part,
    account,
    refused,
    without_memory,
  };
  Kind kind = Kind::barrier;
  ElementType type = ElementType::i32;
  Reduction reduction = Reduction::sum;
  TeamRank root = {};
  std::uint64_t bytes = 0;

  [[nodiscard]] std::uint64_t packed() const noexcept {
    // One more than the kind, so that no call packs to 0, which means none.
    return (static_cast<std::uint64_t>(kind) + 1) | static_cast<std::uint64_t>(type) << 8U |
           static_cast<std::uint64_t>(reduction) << 16U |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(root.value)) << 32U;
  }
  /// One word for the call and the hash of its label. Different calls have different words, except
  /// for one pair in 2^64. Never 0.
  [[nodiscard]] std::uint64_t fingerprint(std::uint64_t label) const noexcept {
    // Each part is a bijection of its word: if only one of the words differs, so does the sum.
    constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;
    std::uint64_t mixed = packed() * golden;
    mixed = (mixed ^ mixed >> 32U) * golden;
    const std::uint64_t sum = mixed + bytes * 0xd134'2543'de82'ef95 + label;
    return sum == 0 ? golden : sum;
  }
  /// Whether members compare the label in the step. agree() compares it itself, as errors take
  /// precedence.
  [[nodiscard]] bool has_label() const noexcept {
    return kind == Kind::barrier || kind == Kind::broadcast || kind == Kind::allgather ||
           kind == Kind::allreduce || kind == Kind::reduce;
  }
  /// "broadcast of 8 bytes from member 2", for messages; without the size if it is not known.
  static std::string describe(std::uint64_t packed, std::optional<std::uint64_t> bytes);
  [[nodiscard]] static Kind kind_of(std::uint64_t packed) noexcept {
    return static_cast<Kind>((packed & 0xffU) - 1);
  }
  /// Whether this call reports that a member has no memory for its part.
  [[nodiscard]] static bool is_without_memory(std::uint64_t packed) noexcept {
    return kind_of(packed) == Kind::without_memory;
  }
};

}  // namespace tessera::rma::detail
