// SPDX-License-Identifier: BSD-3-Clause
//
// ConnectionAddress: what one end of a connection sends to the other to connect their queue pairs,
// and the kinds of network.
//
// Encoded in little-endian bytes: version, network, port and MTU (1 byte each), LID (2), reads in
// flight as initiator and as target (1 each), queue pair number (4), first packet number (4), GID
// (16).
//
// Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rma/base/result.hpp"
#include "rma/transport/verbs/library.hpp"

namespace tessera::rma::verbs {

/// The kind of network, best first. Both ends of a connection must have the same kind.
enum class Network : std::uint8_t { infiniband = 1, roce_v2 = 2, roce_v1 = 3 };

/// "InfiniBand", "RoCE v2" or "RoCE v1".
std::string_view to_string(Network network) noexcept;

/// A GID in the usual notation: an IPv4 address if it maps one, else IPv6.
std::string to_string(const ibv_gid& gid);

/// Zero for an invalid value.
std::uint32_t mtu_bytes(ibv_mtu mtu) noexcept;

/// Stores the low `bytes` bytes of a number, little-endian.
inline void store_low(std::uint64_t value, std::size_t bytes, std::byte* to) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) {
    to[i] = static_cast<std::byte>(value >> (8 * i));
  }
}
inline std::uint64_t load_low(const std::byte* from, std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  }
  return value;
}

struct ConnectionAddress {
  static constexpr std::size_t encoded_bytes = 32;
  static constexpr std::uint8_t version = 1;
  using Encoded = std::array<std::byte, encoded_bytes>;

  Network network = Network::infiniband;
  std::uint8_t port = 1;
  ibv_mtu mtu = IBV_MTU_256;
  std::uint16_t lid = 0;
  std::uint8_t reads_as_initiator = 1;  ///< reads and atomics that this end may start at once
  std::uint8_t reads_as_target = 1;     ///< those that it serves at once
  std::uint32_t queue_pair = 0;         ///< its number, 24 bits
  std::uint32_t first_packet = 0;       ///< sequence number of its first packet, 24 bits
  ibv_gid gid = {};

  [[nodiscard]] Encoded encode() const noexcept;
  /// Errors: protocol, with what is wrong in the bytes.
  static Result<ConnectionAddress> decode(std::span<const std::byte> bytes);

  /// For messages: "RoCE v2, 10.0.0.1, queue pair 17".
  [[nodiscard]] std::string describe() const;
};

}  // namespace tessera::rma::verbs
