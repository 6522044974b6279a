// SPDX-License-Identifier: BSD-3-Clause
//
// The frames that are sent on a stream between nodes, each a header, a descriptor and a payload.
//
//     | header, 96 bytes | descriptor, header.descriptor_bytes | payload, header.payload_bytes |
//
// The header has a fixed size and a checksum over itself. So after 96 bytes a receiver knows
// whether the header is valid and what follows. The descriptor holds what does not fit in the
// header: the pattern of a transfer, or the type and factor of an accumulate. The payload is user
// data, which is not interpreted here. docs/wire-format.md has the tables and test vectors.
// Everything is little-endian.
//
// Decoding checks all input: an invalid byte gives Code::protocol with the value found and the
// values allowed. Ranks and regions are not known here; the code that executes a request checks
// those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/base/status.hpp"
#include "rma/element.hpp"
#include "rma/engine/lock_outcome.hpp"
#include "rma/region_id.hpp"
#include "rma/shape.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::server {

inline constexpr std::array<std::byte, 4> frame_magic = {std::byte{'T'}, std::byte{'S'},
                                                         std::byte{'R'}, std::byte{'A'}};
inline constexpr std::uint16_t wire_version = 1;
inline constexpr std::size_t header_bytes = 96;
inline constexpr std::uint32_t max_descriptor_bytes = 1U << 20U;
inline constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 40U;
/// How far from the header's offset a pattern may reach. The limit is small enough that the sum
/// with an offset below 2^62 fits in 63 bits.
inline constexpr std::int64_t max_reach_bytes = std::int64_t{1} << 60U;
inline constexpr std::size_t max_failure_text_bytes = 1000;
/// The size of a `failed` payload with the longest text.
inline constexpr std::size_t max_failure_bytes = 8 + max_failure_text_bytes;

/// What a frame requests or replies.
enum class Kind : std::uint8_t {
  put = 1,     ///< payload to the target's slice; a pattern, or contiguous
  get,         ///< bytes of the target's slice to the origin, as `data` or `value`
  accumulate,  ///< AccumulateTerms; target += scale × payload
  atomic,      ///< AtomicTerms, with the operands in `words`; or AtomicListTerms
  fence,       ///< answered when everything sent before on this stream is in effect
  lock,        ///< answered when the origin holds the lock, or its holder was found dead
  unlock,
  notify,   ///< count one more notification at the target
  flag,     ///< after earlier operations, store a 32-bit word and wake its waiters
  deliver,  ///< payload into a team's mailbox in node memory, then a 64-bit flag word
  join,     ///< a join message for a new team, into the target's inbox.
  probe,    ///< what is the target's state? answered with `value`
  done,     ///< reply: the operation is in effect; there is no result
  data,     ///< reply: the payload is the result
  value,    ///< reply: words[0] is the result
  failed,   ///< reply: the payload is the Status (encode_failure)
  bye,      ///< the last frame: the sender closes this stream properly
  path,     ///< continue over another network; the descriptor is the origin's address there
  locate,   ///< where is the target's slice on that network? answered with RemoteSpan.
  push,     ///< write the target's bytes over that network to the origin's memory at words[0], with
            ///< the key words[1]; answered when they have arrived
  introduce,    ///< the purpose of this connection: words[0] is a ConnectionUse
  acknowledge,  ///< to an agent that passes requests on: words[0] more were executed
};
inline constexpr int kind_count = 22;

/// The purpose of a connection, as `introduce` states it.
enum class ConnectionUse : std::uint8_t {
  replies = 1,  ///< of a process: replies to its forwarded requests use it
  agent = 2,    ///< of the agent of node `forwarder`: it passes requests on over it
};

/// The name of a kind, such as "put", for messages.
std::string_view to_string(Kind kind) noexcept;
/// True for done, data, value and failed, which end an operation of the receiver.
[[nodiscard]] constexpr bool is_answer(Kind kind) noexcept {
  return kind >= Kind::done && kind <= Kind::failed;
}
/// True for requests that change a slice and get no reply if they succeed; a fence shows that they
/// have.
[[nodiscard]] constexpr bool is_change(Kind kind) noexcept {
  return kind == Kind::put || kind == Kind::accumulate || kind == Kind::flag;
}

/// True for requests that another agent may pass on; others go directly to the target's agent.
[[nodiscard]] constexpr bool is_forwardable(Kind kind) noexcept {
  return kind == Kind::put || kind == Kind::get || kind == Kind::accumulate ||
         kind == Kind::atomic || kind == Kind::fence || kind == Kind::notify || kind == Kind::flag;
}

/// Bits of FrameHeader::flags. Others are refused.
namespace flags {
/// Put: words[0] has the data, words[1] their number of bytes.
inline constexpr std::uint8_t inline_data = 1;
inline constexpr std::uint8_t wants_answer = 2;  ///< put, accumulate, …: answer when in effect
inline constexpr std::uint8_t known = inline_data | wants_answer;
}  // namespace flags

struct FrameHeader {
  Kind kind = Kind::probe;
  std::uint8_t flags = 0;
  std::uint32_t descriptor_bytes = 0;
  std::uint64_t payload_bytes = 0;
  WorldRank origin = {};        ///< the rank that started the operation
  WorldRank target = {};        ///< the rank whose memory is accessed
  std::int32_t reply_to = -1;   ///< the origin's node: reply over its `replies` connection if there
                                ///< is one; −1: reply where the request came from
  std::int32_t forwarder = -1;  ///< node whose agent passed the frame on, or replies; −1: none
  std::uint64_t operation = 0;  ///< the origin's number for the operation; the reply repeats it
  std::uint64_t route = 0;      ///< how often the origin has changed its route to the target's node
  RegionId region = {};
  std::uint64_t offset = 0;                 ///< bytes from the start of the target's slice
  std::array<std::uint64_t, 2> words = {};  ///< operands and results that need no payload
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// Requires: nothing; decode() refuses invalid headers.
[[nodiscard]] std::array<std::byte, header_bytes> encode(const FrameHeader& header) noexcept;
/// The header followed by the descriptor. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::byte> encode(const FrameHeader& header,
                                            std::span<const std::byte> descriptor);
/// Errors: protocol for foreign bytes, another version, a wrong checksum, an unknown kind or flag,
/// negative ranks and sizes above the limits.
[[nodiscard]] Result<FrameHeader> decode(std::span<const std::byte, header_bytes> bytes);

// ---------------------------------------------------------------------------------------------
// Descriptors. Each encoder appends to `to`; each decoder takes exactly the descriptor's bytes.
// Errors of the decoders: protocol. They refuse too few or too many bytes, unknown tags, more than
// max_stride_levels levels and negative counts. They also refuse patterns that overflow, move more
// than max_payload_bytes or reach beyond max_reach_bytes.

/// The target's side of `shape`; local strides are not sent. Requires: shape.check() is ok.
void encode_shape(const CopyShape& shape, std::vector<std::byte>& to);
/// Returns a shape whose local side is contiguous, as the rows are packed in a payload.
[[nodiscard]] Result<CopyShape> decode_shape(std::span<const std::byte> bytes);

/// Both sides of `shape`, for a push. The decoder also refuses more than max_assisted_get_runs runs
/// or max_assisted_get_bytes.
void encode_sides(const CopyShape& shape, std::vector<std::byte>& to);
[[nodiscard]] Result<CopyShape> decode_sides(std::span<const std::byte> bytes);

/// The offsets and sizes of `fragments`; if all sizes are equal, the size is sent once. Requires:
/// encoded_bytes(fragments) ≤ max_descriptor_bytes; the receiver refuses more.
void encode_fragments(Fragments fragments, std::vector<std::byte>& to);
[[nodiscard]] std::size_t encoded_bytes(Fragments fragments) noexcept;
/// Fragments without local addresses, in the order of their bytes in a payload.
[[nodiscard]] Result<std::vector<Fragment>> decode_fragments(std::span<const std::byte> bytes);

/// The descriptor of a put or get; its first byte selects the alternative.
using Pattern = std::variant<CopyShape, std::vector<Fragment>>;
[[nodiscard]] Result<Pattern> decode_pattern(std::span<const std::byte> bytes);
/// The number of bytes that a decoded pattern moves; for a put or accumulate, the payload's size.
[[nodiscard]] std::uint64_t total_bytes(const Pattern& pattern) noexcept;

struct AccumulateTerms {
  Scale scale;  ///< with the element type; each run consists of whole elements
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
/// The size of the descriptor of one atomic; that of a list is longer.
inline constexpr std::size_t atomic_terms_bytes = 8;

/// The most words in one list: their descriptor stays within max_descriptor_bytes.
inline constexpr std::size_t max_listed_atomics = 4096;
struct AtomicListTerms {
  AtomicTerms terms;
  std::vector<AtomicList::Item> items;  ///< `previous` is not sent
};
/// Requires: 1 to max_listed_atomics items.
void encode_atomics(const AtomicList& list, std::vector<std::byte>& to);
/// Also refuses words at offsets that are not aligned to them or beyond max_reach_bytes.
[[nodiscard]] Result<AtomicListTerms> decode_atomics(std::span<const std::byte> bytes);

/// The payload of the reply to `locate`.
inline constexpr std::size_t remote_span_bytes = 24;
[[nodiscard]] std::array<std::byte, remote_span_bytes> encode(const detail::RemoteSpan& span);
[[nodiscard]] detail::RemoteSpan decode_span(std::span<const std::byte, remote_span_bytes> bytes);

/// The payload of `failed`: the code, the rank and up to max_failure_text_bytes of message().
/// Requires: an error.
void encode_failure(const Status& failure, std::vector<std::byte>& to);
/// The error that was sent, or Code::protocol if the bytes are not a valid failure. Never ok.
[[nodiscard]] Status decode_failure(std::span<const std::byte> bytes);

/// The first word of a `lock` request that does not wait for the lock.
inline constexpr std::uint64_t lock_without_waiting = 1;

/// The reply to `lock`: 0 (acquired), the rank that died or left while it held the lock, or that
/// another rank holds it.
[[nodiscard]] std::uint64_t lock_word(const detail::LockOutcome& outcome) noexcept;
[[nodiscard]] detail::LockOutcome lock_outcome(std::uint64_t word) noexcept;

}  // namespace tessera::rma::server
