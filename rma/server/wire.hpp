// SPDX-License-Identifier: BSD-3-Clause
//
// What goes over a stream between nodes: frames, each a header, a descriptor and a payload.
//
//     | header, 96 bytes | descriptor, header.descriptor_bytes | payload, header.payload_bytes |
//
// The header has a fixed size and a checksum over itself, so that a receiver knows after 96 bytes
// what follows and whether to believe it. The descriptor says what the header has no room for: the
// pattern of a transfer, the type and factor of an accumulate. The payload is user data, which
// nothing here looks at. docs/wire-format.md has the tables and bytes to compare with;
// everything is little-endian.
//
// Decoding believes nothing: a byte that makes no sense is Code::protocol with what was found and
// what is possible. It knows neither ranks nor regions: who executes a request checks those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "rma/element.hpp"
#include "rma/engine/fabric.hpp"
#include "rma/rank.hpp"
#include "rma/region_id.hpp"
#include "rma/result.hpp"
#include "rma/shape.hpp"
#include "rma/status.hpp"
#include "rma/transport.hpp"

namespace tessera::rma::server {

inline constexpr std::array<std::byte, 4> frame_magic = {std::byte{'T'}, std::byte{'S'},
                                                         std::byte{'R'}, std::byte{'A'}};
inline constexpr std::uint16_t wire_version = 1;
inline constexpr std::size_t header_bytes = 96;
inline constexpr std::uint32_t max_descriptor_bytes = 1U << 20U;
inline constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 40U;
/// How far from the header's offset a pattern may reach: little enough to be added to an offset
/// below 2^62 in 63 bits.
inline constexpr std::int64_t max_reach_bytes = std::int64_t{1} << 60U;
inline constexpr std::size_t max_failure_text_bytes = 1000;
/// The payload of `failed` with the longest text.
inline constexpr std::size_t max_failure_bytes = 8 + max_failure_text_bytes;

/// What a frame asks or answers.
enum class Kind : std::uint8_t {
  put = 1,     ///< payload to the target's slice; a pattern, or contiguous
  get,         ///< bytes of the target's slice to the origin, as `data` or `value`
  accumulate,  ///< AccumulateTerms; target += scale × payload
  atomic,      ///< AtomicTerms; the operands are words
  fence,       ///< answered when all that came before on this stream is in effect
  lock,        ///< answered when the lock is the origin's, or its holder was found dead
  unlock,
  notify,     ///< count one more notification at the target
  flag,       ///< store a 32-bit word after earlier operations and wake who sleeps on it
  deliver,    ///< payload into a team's mailbox in node memory, then a 64-bit flag word
  invite,     ///< an invitation to a new team, into the target's post box
  probe,      ///< what became of the target? answered with `value`
  done,       ///< answer: it is in effect; there is nothing to return
  data,       ///< answer: the payload is what was asked for
  value,      ///< answer: words[0] is what was asked for
  failed,     ///< answer: the payload is the Status (encode_failure)
  bye,        ///< the sender closes this stream in good order: the last frame
  path,       ///< go on over another network; the descriptor is the asker's address there
  locate,     ///< where does the target's slice lie for that network? answered with RemoteSpan
  push,       ///< the target's bytes, written over that network to the origin's memory at words[0],
              ///< whose key is words[1]; answered when they are there
  introduce,  ///< what this connection is for: words[0] is a ConnectionUse
  acknowledge,  ///< from an agent to one that passes requests on: words[0] more were carried out
};
inline constexpr int kind_count = 22;

/// What `introduce` says of a connection.
enum class ConnectionUse : std::uint8_t {
  replies = 1,  ///< of a process: answers to its forwarded requests go over it
  agent = 2,    ///< of the agent of node `forwarder`: requests of others come over it
};

/// "put" and the like, for messages.
std::string_view to_string(Kind kind) noexcept;
/// True for done, data, value and failed: those that end an operation of the receiver's.
[[nodiscard]] constexpr bool is_answer(Kind kind) noexcept {
  return kind >= Kind::done && kind <= Kind::failed;
}
/// True for what changes a slice and isn't answered when it succeeds: a fence tells when it has.
[[nodiscard]] constexpr bool is_change(Kind kind) noexcept {
  return kind == Kind::put || kind == Kind::accumulate || kind == Kind::flag;
}

/// True for requests that another agent may pass on; the others go straight to the target's.
[[nodiscard]] constexpr bool is_forwardable(Kind kind) noexcept {
  return kind == Kind::put || kind == Kind::get || kind == Kind::accumulate ||
         kind == Kind::atomic || kind == Kind::fence || kind == Kind::notify || kind == Kind::flag;
}

/// Bits of FrameHeader::flags. Others are refused.
namespace flags {
inline constexpr std::uint8_t inline_data = 1;   ///< put: the data are words[0], words[1] bytes
inline constexpr std::uint8_t wants_answer = 2;  ///< put, accumulate, …: answer when in effect
inline constexpr std::uint8_t known = inline_data | wants_answer;
}  // namespace flags

struct FrameHeader {
  Kind kind = Kind::probe;
  std::uint8_t flags = 0;
  std::uint32_t descriptor_bytes = 0;
  std::uint64_t payload_bytes = 0;
  WorldRank origin = {};        ///< whose operation it is
  WorldRank target = {};        ///< whose memory it concerns
  std::int32_t reply_to = -1;   ///< the origin's node: answer over its `replies` connection if
                                ///< there is one; −1: the way that the request came
  std::int32_t forwarder = -1;  ///< node whose agent passed the frame on, or answers; −1: none
  std::uint64_t operation = 0;  ///< the origin's number for it, which the answer repeats
  std::uint64_t route = 0;      ///< how often the origin has changed its way to the target's node
  RegionId region = {};
  std::uint64_t offset = 0;                 ///< bytes from the start of the target's slice
  std::array<std::uint64_t, 2> words = {};  ///< operands and values that need no payload
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// Requires: nothing; decode() refuses what has no meaning.
[[nodiscard]] std::array<std::byte, header_bytes> encode(const FrameHeader& header) noexcept;
/// The header and the descriptor behind it. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::byte> encode(const FrameHeader& header,
                                            std::span<const std::byte> descriptor);
/// Errors: protocol for foreign bytes, another version, a wrong checksum, an unknown kind or flag,
/// negative ranks and sizes above the limits.
[[nodiscard]] Result<FrameHeader> decode(std::span<const std::byte, header_bytes> bytes);

// ---------------------------------------------------------------------------------------------
// Descriptors. Each encoder appends to `to`; each decoder wants exactly the descriptor's bytes.
// Errors of the decoders: protocol, for bytes that are too few or too many, unknown tags, more
// than max_stride_levels levels, negative counts, and patterns that overflow, move more than
// max_payload_bytes or reach beyond max_reach_bytes.

/// The target's side of `shape`; local strides are not sent. Requires: shape.check() is ok.
void encode_shape(const CopyShape& shape, std::vector<std::byte>& to);
/// A shape whose local side is dense: the rows as they are packed in a payload.
[[nodiscard]] Result<CopyShape> decode_shape(std::span<const std::byte> bytes);

/// Both sides of `shape`: of a push. Errors of the decoder: also more than most_pushed_runs runs or
/// most_pushed_bytes.
void encode_sides(const CopyShape& shape, std::vector<std::byte>& to);
[[nodiscard]] Result<CopyShape> decode_sides(std::span<const std::byte> bytes);

/// The offsets and sizes of `fragments`; one size is sent if all are the same.
/// Requires: encoded_bytes(fragments) ≤ max_descriptor_bytes, or what is sent is refused.
void encode_fragments(Fragments fragments, std::vector<std::byte>& to);
[[nodiscard]] std::size_t encoded_bytes(Fragments fragments) noexcept;
/// Fragments without local addresses, in the order in which their bytes are in a payload.
[[nodiscard]] Result<std::vector<Fragment>> decode_fragments(std::span<const std::byte> bytes);

/// What the descriptor of a put or get is; its first byte says which.
using Pattern = std::variant<CopyShape, std::vector<Fragment>>;
[[nodiscard]] Result<Pattern> decode_pattern(std::span<const std::byte> bytes);
/// All bytes that a decoded pattern moves: of a put or accumulate, the payload's.
[[nodiscard]] std::uint64_t total_bytes(const Pattern& pattern) noexcept;

struct AccumulateTerms {
  Scale scale;  ///< with the element type, of which every run holds whole ones
  Pattern pattern;
};
void encode_accumulate(const Scale& scale, const CopyShape& shape, std::vector<std::byte>& to);
void encode_accumulate(const Scale& scale, Fragments fragments, std::vector<std::byte>& to);
[[nodiscard]] Result<AccumulateTerms> decode_accumulate(std::span<const std::byte> bytes);

struct AtomicTerms {
  AtomicRequest::Kind kind = AtomicRequest::Kind::fetch_add;
  int bytes = 8;  ///< 4 or 8
  friend bool operator==(const AtomicTerms&, const AtomicTerms&) = default;
};
void encode_atomic(const AtomicTerms& terms, std::vector<std::byte>& to);
[[nodiscard]] Result<AtomicTerms> decode_atomic(std::span<const std::byte> bytes);

/// The payload of an answer to `locate`.
inline constexpr std::size_t remote_span_bytes = 24;
[[nodiscard]] std::array<std::byte, remote_span_bytes> encode(const detail::RemoteSpan& span);
[[nodiscard]] detail::RemoteSpan decode_span(std::span<const std::byte, remote_span_bytes> bytes);

/// The payload of `failed`: the code, the rank and up to max_failure_text_bytes of message().
/// Requires: an error.
void encode_failure(const Status& failure, std::vector<std::byte>& to);
/// The error that was sent; or Code::protocol where the bytes are none. Never ok.
[[nodiscard]] Status decode_failure(std::span<const std::byte> bytes);

}  // namespace tessera::rma::server
