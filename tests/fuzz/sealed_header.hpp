// SPDX-License-Identifier: BSD-3-Clause
//
// Sets the fields of a frame's header that a fuzzer cannot guess: magic, version and checksum
// become valid; the other fields keep the fuzzer's bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/server/wire/bytes.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {

/// Returns the header with the same fields (their positions are in docs/wire-format.md), valid
/// magic, version and checksum, and 0 in the reserved bytes.
inline std::array<std::byte, header_bytes> sealed(std::span<const std::byte, header_bytes> fields) {
  const std::byte* const from = fields.data();
  FrameHeader header;
  header.kind = static_cast<Kind>(load<std::uint8_t>(from + 6));
  header.flags = load<std::uint8_t>(from + 7);
  header.descriptor_bytes = load<std::uint32_t>(from + 8);
  header.origin = WorldRank{load<std::int32_t>(from + 12)};
  header.payload_bytes = load<std::uint64_t>(from + 16);
  header.target = WorldRank{load<std::int32_t>(from + 24)};
  header.reply_to = load<std::int32_t>(from + 28);
  header.operation = load<std::uint64_t>(from + 32);
  header.route = load<std::uint64_t>(from + 40);
  header.forwarder = load<std::int32_t>(from + 48);
  header.region = RegionId{load<std::uint32_t>(from + 52)};
  header.offset = load<std::uint64_t>(from + 56);
  header.words = {load<std::uint64_t>(from + 64), load<std::uint64_t>(from + 72)};
  return encode(header);
}

}  // namespace tessera::rma::server
