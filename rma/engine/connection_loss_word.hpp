// SPDX-License-Identifier: BSD-3-Clause
//
// ConnectionLossWord: the failure word in TeamControl::broken for a rank whose node cannot be
// reached, from this node or another one. The rank's process may be alive; the word does not say
// that it ended.
//
//     bit 29: set   bit 28: a connection existed   bits 21–27: the system's error
//     bits 0–20: the rank, plus one; 0: the rank's number does not fit
#pragma once

#include <cstdint>

#include "rma/base/rank.hpp"
#include "rma/base/status.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::detail {

class ConnectionLossWord {
 public:
  /// The word for a rank whose node has that contact.
  [[nodiscard]] static std::uint32_t of(WorldRank rank, const ConnectionLoss& contact) noexcept;
  /// Whether a word is one of these.
  [[nodiscard]] static bool is(std::uint32_t word) noexcept { return (word >> 29U) == 1; }

  /// Requires: is(word).
  explicit ConnectionLossWord(std::uint32_t word) noexcept : word_(word) {}
  /// The rank, or −1.
  [[nodiscard]] WorldRank rank() const noexcept;
  /// The error that rank `self` gets. peer_lost if a connection existed or nothing listens for it,
  /// else unreachable; with the system's reason.
  [[nodiscard]] Status status(WorldRank self) const noexcept;

 private:
  [[nodiscard]] bool was_connected() const noexcept;
  [[nodiscard]] int error() const noexcept;

  std::uint32_t word_;
};

}  // namespace tessera::rma::detail
