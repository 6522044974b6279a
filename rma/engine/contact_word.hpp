// SPDX-License-Identifier: BSD-3-Clause
//
// ContactWord: what TeamControl::broken says of a rank whose node this node, or another one, has no
// connection to. Its process may live; nothing here says that it has ended.
//
//     bit 29: set   bit 28: there was a connection   bits 21–27: the system's error
//     bits 0–20: the rank, plus one; 0: a rank whose number has no room there
#pragma once

#include <cstdint>

#include "rma/engine/node_link.hpp"
#include "rma/rank.hpp"
#include "rma/status.hpp"

namespace tessera::rma::detail {

class ContactWord {
 public:
  /// The word for a rank of a node with that contact.
  [[nodiscard]] static std::uint32_t of(WorldRank rank, const Contact& contact) noexcept;
  /// Whether a word is one of these.
  [[nodiscard]] static bool is(std::uint32_t word) noexcept { return (word >> 29U) == 1; }

  /// Requires: is(word).
  explicit ContactWord(std::uint32_t word) noexcept : word_(word) {}
  /// The rank, or −1.
  [[nodiscard]] WorldRank rank() const noexcept;
  /// What `self` is told: peer_lost of a connection that was there or that nothing listens for,
  /// else unreachable; with the system's reason.
  [[nodiscard]] Status status(WorldRank self) const noexcept;

 private:
  [[nodiscard]] bool was_there() const noexcept;
  [[nodiscard]] int error() const noexcept;

  std::uint32_t word_;
};

}  // namespace tessera::rma::detail
