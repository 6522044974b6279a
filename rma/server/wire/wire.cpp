// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/wire/wire.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): a switch of xxHash
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "rma/server/wire/bytes.hpp"

namespace tessera::rma::server {
namespace {

// The offset of each field; docs/wire-format.md has the same table.
namespace at {
constexpr std::size_t magic = 0;
constexpr std::size_t version = 4;
constexpr std::size_t kind = 6;
constexpr std::size_t flags = 7;
constexpr std::size_t descriptor_bytes = 8;
constexpr std::size_t origin = 12;
constexpr std::size_t payload_bytes = 16;
constexpr std::size_t target = 24;
constexpr std::size_t reply_to = 28;
constexpr std::size_t operation = 32;
constexpr std::size_t route = 40;
constexpr std::size_t forwarder = 48;
constexpr std::size_t region = 52;
constexpr std::size_t offset = 56;
constexpr std::size_t words = 64;
constexpr std::size_t reserved = 80;  // zeros, for a later version
constexpr std::size_t checksum = 92;
}  // namespace at
static_assert(at::checksum + sizeof(std::uint32_t) == header_bytes);

// Bits of the reply to `lock`.
constexpr std::uint64_t left_bit = std::uint64_t{1} << 32U;
constexpr std::uint64_t busy_bit = std::uint64_t{1} << 33U;

std::uint32_t checksum_of(const std::byte* header) noexcept {
  return static_cast<std::uint32_t>(XXH3_64bits(header, at::checksum));
}

Status refuse(std::string what) {
  return Status::error(Code::protocol, std::move(what));
}

// Whether these bytes are a Tessera frame at all; nothing else in them is used before this check.
Status check_envelope(const std::byte* header) {
  if (!std::equal(frame_magic.begin(), frame_magic.end(), header + at::magic)) {
    return refuse(fmt::format(
        "a frame begins with {:08x} instead of {:08x}: the sender is not "
        "Tessera, or bytes were lost",
        load<std::uint32_t>(header + at::magic), load<std::uint32_t>(frame_magic.data())));
  }
  const auto version = load<std::uint16_t>(header + at::version);
  if (version != wire_version) {
    return refuse(fmt::format("a frame has wire version {}; this library speaks version {}",
                              version, wire_version));
  }
  const auto sent = load<std::uint32_t>(header + at::checksum);
  const std::uint32_t computed = checksum_of(header);
  if (sent != computed) {
    return refuse(fmt::format("a frame header's checksum is {:08x}, but its bytes give {:08x}",
                              sent, computed));
  }
  return {};
}

// Values that a correct sender never sends, even if the checksum is right.
Status check_fields(const FrameHeader& header) {
  const int kind = static_cast<int>(header.kind);
  if (kind < 1 || kind > kind_count) {
    return refuse(fmt::format("a frame has kind {}; valid are 1 to {}", kind, kind_count));
  }
  const std::string_view name = to_string(header.kind);
  if ((header.flags & ~unsigned{flags::known}) != 0) {
    return refuse(fmt::format("a {} frame has flags {:#04x}; known are {:#04x}", name, header.flags,
                              flags::known));
  }
  if (header.descriptor_bytes > max_descriptor_bytes) {
    return refuse(
        fmt::format("a {} frame announces a descriptor of {} bytes; at most {} are "
                    "possible",
                    name, header.descriptor_bytes, max_descriptor_bytes));
  }
  if (header.payload_bytes > max_payload_bytes) {
    return refuse(fmt::format("a {} frame announces a payload of {} bytes; at most {} are possible",
                              name, header.payload_bytes, max_payload_bytes));
  }
  if (header.origin.value < 0 || header.target.value < 0) {
    return refuse(fmt::format("a {} frame goes from rank {} to rank {}; ranks start at 0", name,
                              header.origin.value, header.target.value));
  }
  if (header.reply_to < -1 || header.forwarder < -1) {
    return refuse(
        fmt::format("a {} frame names node {} for answers and {} as forwarder; the "
                    "minimum is -1",
                    name, header.reply_to, header.forwarder));
  }
  return {};
}

}  // namespace

std::string_view to_string(Kind kind) noexcept {
  constexpr std::array<std::string_view, kind_count> names = {
      "put",  "get",     "accumulate", "atomic", "fence",     "lock",       "unlock", "notify",
      "flag", "deliver", "join",       "probe",  "done",      "data",       "value",  "failed",
      "bye",  "path",    "locate",     "push",   "introduce", "acknowledge"};
  const auto index = static_cast<std::size_t>(kind) - 1;
  return index < names.size() ? names[index] : "unknown kind of frame";
}

std::array<std::byte, header_bytes> encode(const FrameHeader& header) noexcept {
  std::array<std::byte, header_bytes> bytes = {};
  std::byte* const to = bytes.data();
  std::copy(frame_magic.begin(), frame_magic.end(), to + at::magic);
  store(wire_version, to + at::version);
  store(static_cast<std::uint8_t>(header.kind), to + at::kind);
  store(header.flags, to + at::flags);
  store(header.descriptor_bytes, to + at::descriptor_bytes);
  store(header.origin.value, to + at::origin);
  store(header.payload_bytes, to + at::payload_bytes);
  store(header.target.value, to + at::target);
  store(header.reply_to, to + at::reply_to);
  store(header.operation, to + at::operation);
  store(header.route, to + at::route);
  store(header.forwarder, to + at::forwarder);
  store(header.region.value, to + at::region);
  store(header.offset, to + at::offset);
  store(header.words[0], to + at::words);
  store(header.words[1], to + at::words + sizeof header.words[0]);
  store(checksum_of(to), to + at::checksum);
  return bytes;
}

std::vector<std::byte> encode(const FrameHeader& header, std::span<const std::byte> descriptor) {
  const auto fixed = encode(header);
  std::vector<std::byte> head(header_bytes + descriptor.size());
  std::copy(fixed.begin(), fixed.end(), head.begin());
  std::copy(descriptor.begin(), descriptor.end(), head.begin() + header_bytes);
  return head;
}

Result<FrameHeader> decode(std::span<const std::byte, header_bytes> bytes) {
  const std::byte* const from = bytes.data();
  TESSERA_RETURN_IF_ERROR(check_envelope(from));
  FrameHeader header;
  header.kind = static_cast<Kind>(load<std::uint8_t>(from + at::kind));
  header.flags = load<std::uint8_t>(from + at::flags);
  header.descriptor_bytes = load<std::uint32_t>(from + at::descriptor_bytes);
  header.origin = WorldRank{load<std::int32_t>(from + at::origin)};
  header.payload_bytes = load<std::uint64_t>(from + at::payload_bytes);
  header.target = WorldRank{load<std::int32_t>(from + at::target)};
  header.reply_to = load<std::int32_t>(from + at::reply_to);
  header.operation = load<std::uint64_t>(from + at::operation);
  header.route = load<std::uint64_t>(from + at::route);
  header.forwarder = load<std::int32_t>(from + at::forwarder);
  header.region = RegionId{load<std::uint32_t>(from + at::region)};
  header.offset = load<std::uint64_t>(from + at::offset);
  header.words[0] = load<std::uint64_t>(from + at::words);
  header.words[1] = load<std::uint64_t>(from + at::words + sizeof header.words[0]);
  TESSERA_RETURN_IF_ERROR(check_fields(header));
  if (std::any_of(from + at::reserved, from + at::checksum,
                  [](std::byte each) { return each != std::byte{0}; })) {
    return refuse(fmt::format("a {} frame has values other than 0 in the reserved bytes {} to {}",
                              to_string(header.kind), at::reserved, at::checksum - 1));
  }
  return header;
}

std::uint64_t lock_word(const detail::LockOutcome& outcome) noexcept {
  if (outcome.is_acquired) {
    return 0;
  }
  if (outcome.is_busy) {
    return busy_bit;
  }
  const auto rank = static_cast<std::uint32_t>(outcome.holder.value);
  return (std::uint64_t{rank} + 1) | (outcome.holder_left ? left_bit : 0);
}

detail::LockOutcome lock_outcome(std::uint64_t word) noexcept {
  if (word == 0) {
    return {.is_acquired = true};
  }
  if ((word & busy_bit) != 0) {
    return {.is_acquired = false, .is_busy = true};
  }
  return {.is_acquired = false,
          .holder = WorldRank{static_cast<std::int32_t>((word & (left_bit - 1)) - 1)},
          .holder_left = (word & left_bit) != 0};
}

}  // namespace tessera::rma::server
