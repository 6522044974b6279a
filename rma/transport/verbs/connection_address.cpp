// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/connection_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace tessera::rma::verbs {
namespace {

// Positions of the numbers. Single bytes come first, in the order of the header.
constexpr std::size_t lid_at = 4;
constexpr std::size_t queue_pair_at = 8;
constexpr std::size_t first_packet_at = 12;
constexpr std::size_t gid_at = 16;
static_assert(gid_at + sizeof(ibv_gid) == ConnectionAddress::encoded_bytes);

constexpr std::uint32_t max_24_bits = 0xff'ffff;
// 0 and 1 belong to the subnet's management.
constexpr std::uint32_t min_queue_pair = 2;

Status malformed(const std::string& what) {
  return Status::error(Code::protocol, fmt::format("the address of a queue pair {}", what))
      .hint("all processes must be of the same build of Tessera");
}

bool is_zero(const ibv_gid& gid) noexcept {
  return std::all_of(std::begin(gid.raw), std::end(gid.raw),
                     [](std::uint8_t byte) { return byte == 0; });
}

Status check(const ConnectionAddress& address) {
  if (address.network < Network::infiniband || address.network > Network::roce_v1) {
    return malformed(
        fmt::format("names the unknown network {}", static_cast<int>(address.network)));
  }
  if (address.port == 0) {
    return malformed("names port 0; ports begin with 1");
  }
  if (address.queue_pair < min_queue_pair || address.queue_pair > max_24_bits) {
    return malformed(fmt::format("has the invalid number {}", address.queue_pair));
  }
  if (address.first_packet > max_24_bits) {
    return malformed(fmt::format("starts with the invalid packet number {}", address.first_packet));
  }
  if (address.network != Network::infiniband && is_zero(address.gid)) {
    return malformed(fmt::format("has no GID, which {} needs", to_string(address.network)));
  }
  return {};
}

}  // namespace

std::string_view to_string(Network network) noexcept {
  switch (network) {
    case Network::infiniband:
      return "InfiniBand";
    case Network::roce_v2:
      return "RoCE v2";
    case Network::roce_v1:
      return "RoCE v1";
  }
  return "unknown";
}

std::string to_string(const ibv_gid& gid) {
  in6_addr address{};
  std::memcpy(&address, gid.raw, sizeof(address));
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, &address, text.data(), text.size());
  }
  return text.data();
}

std::uint32_t mtu_bytes(ibv_mtu mtu) noexcept {
  constexpr std::uint32_t smallest = 256;
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? smallest << (mtu - IBV_MTU_256) : 0;
}

ConnectionAddress::Encoded ConnectionAddress::encode() const noexcept {
  Encoded bytes{};
  bytes[0] = std::byte{version};
  bytes[1] = static_cast<std::byte>(network);
  bytes[2] = std::byte{port};
  bytes[3] = static_cast<std::byte>(mtu);
  store_low(lid, sizeof(lid), &bytes[lid_at]);
  bytes[6] = std::byte{reads_as_initiator};
  bytes[7] = std::byte{reads_as_target};
  store_low(queue_pair, sizeof(queue_pair), &bytes[queue_pair_at]);
  store_low(first_packet, sizeof(first_packet), &bytes[first_packet_at]);
  std::memcpy(&bytes[gid_at], gid.raw, sizeof(gid));
  return bytes;
}

Result<ConnectionAddress> ConnectionAddress::decode(std::span<const std::byte> bytes) {
  if (bytes.size() != encoded_bytes) {
    return malformed(fmt::format("has {} bytes instead of {}", bytes.size(), encoded_bytes));
  }
  const auto byte = [&](std::size_t index) { return std::to_integer<std::uint8_t>(bytes[index]); };
  if (byte(0) != version) {
    return malformed(fmt::format("has version {} instead of {}", byte(0), version));
  }
  // Checked before the conversion: this enumeration cannot hold every byte.
  if (byte(3) < IBV_MTU_256 || byte(3) > IBV_MTU_4096) {
    return malformed(fmt::format("names the unknown MTU {}", byte(3)));
  }
  ConnectionAddress address;
  address.network = static_cast<Network>(byte(1));
  address.port = byte(2);
  address.mtu = static_cast<ibv_mtu>(byte(3));
  address.lid = static_cast<std::uint16_t>(load_low(&bytes[lid_at], sizeof(address.lid)));
  address.reads_as_initiator = byte(6);
  address.reads_as_target = byte(7);
  address.queue_pair =
      static_cast<std::uint32_t>(load_low(&bytes[queue_pair_at], sizeof(address.queue_pair)));
  address.first_packet =
      static_cast<std::uint32_t>(load_low(&bytes[first_packet_at], sizeof(address.first_packet)));
  std::memcpy(address.gid.raw, &bytes[gid_at], sizeof(address.gid));
  TESSERA_RETURN_IF_ERROR(check(address));
  return address;
}

std::string ConnectionAddress::describe() const {
  const std::string location =
      network == Network::infiniband && lid != 0 ? fmt::format("LID {}", lid) : to_string(gid);
  return fmt::format("{}, {}, queue pair {}", to_string(network), location, queue_pair);
}

}  // namespace tessera::rma::verbs
