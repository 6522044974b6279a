// SPDX-License-Identifier: BSD-3-Clause
#include "rma/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/reduce.hpp"
#include "rma/engine/team/background_collectives.hpp"
#include "rma/protocol/block_exchange.hpp"

namespace tessera::rma {
namespace {

using detail::BlockExchange;
using detail::BlockSides;
using detail::ByteBlock;
using detail::ByteBlocks;
using detail::TeamState;

Status wrong_argument(std::string text) {
  return Status::error(Code::invalid_argument, std::move(text));
}

// A buffer of a collective, for messages and checks.
struct NamedBuffer {
  std::string_view name;
  std::size_t bytes = 0;
  std::size_t element_bytes = 1;

  [[nodiscard]] std::int64_t elements() const noexcept {
    return static_cast<std::int64_t>(bytes / element_bytes);
  }
};

Status check_length(const NamedBuffer& buffer, std::string_view what, std::size_t length,
                    std::int32_t members) {
  return length == static_cast<std::size_t>(members)
             ? Status()
             : wrong_argument(fmt::format("{} {} were given for the {} buffer of a team with {} "
                                          "members",
                                          length, what, buffer.name, members));
}

Status check_block(const NamedBuffer& buffer, std::size_t member, std::int64_t first,
                   std::int64_t count) {
  if (count < 0) {
    return wrong_argument(
        fmt::format("the count of member {} in the {} buffer is {}", member, buffer.name, count));
  }
  return first >= 0 && count <= buffer.elements() && first <= buffer.elements() - count
             ? Status()
             : wrong_argument(fmt::format("the block of member {} ({} elements from element {} on) "
                                          "lies outside the {} buffer of {} elements",
                                          member, count, first, buffer.name, buffer.elements()));
}

// The blocks in bytes. Errors: invalid_argument.
Result<ByteBlocks> read_blocks(const NamedBuffer& buffer, const MemberBlocks& blocks,
                               std::int32_t members) {
  TESSERA_RETURN_IF_ERROR(check_length(buffer, "counts", blocks.counts.size(), members));
  if (!blocks.offsets.empty()) {
    TESSERA_RETURN_IF_ERROR(check_length(buffer, "offsets", blocks.offsets.size(), members));
  }
  ByteBlocks read;
  std::int64_t next = 0;
  for (std::size_t member = 0; member < blocks.counts.size(); ++member) {
    const std::int64_t count = blocks.counts[member];
    const std::int64_t first = blocks.offsets.empty() ? next : blocks.offsets[member];
    TESSERA_RETURN_IF_ERROR(check_block(buffer, member, first, count));
    next = first + count;
    read.push_back({static_cast<std::uint64_t>(first) * buffer.element_bytes,
                    static_cast<std::uint64_t>(count) * buffer.element_bytes});
  }
  return read;
}

// Checks that blocks that will be written do not overlap.
Status check_disjoint(const ByteBlocks& blocks) {
  std::vector<std::size_t> order;
  for (std::size_t member = 0; member < blocks.size(); ++member) {
    if (blocks[member].bytes > 0) {
      order.push_back(member);
    }
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return blocks[a].offset < blocks[b].offset; });
  const auto overlap =
      std::adjacent_find(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return blocks[a].offset + blocks[a].bytes > blocks[b].offset;
      });
  return overlap == order.end()
             ? Status()
             : wrong_argument(fmt::format("the blocks of members {} and {} overlap in the receive "
                                          "buffer",
                                          *overlap, *(overlap + 1)));
}

Status check_apart(std::span<const std::byte> send, std::span<const std::byte> receive) {
  const bool are_apart = send.empty() || receive.empty() ||
                         send.data() + send.size() <= receive.data() ||
                         receive.data() + receive.size() <= send.data();
  return are_apart ? Status() : wrong_argument("the send buffer and the receive buffer overlap");
}

Status check_element_bytes(std::size_t element_bytes) {
  return element_bytes > 0 ? Status() : wrong_argument("elements of 0 bytes were given");
}

Status check_root(TeamRank root, std::int32_t members) {
  return root.value >= 0 && root.value < members
             ? Status()
             : wrong_argument(fmt::format("member {} cannot be the root: the team has {} members",
                                          root.value, members));
}

Status read_sent(BlockSides& sides, const MemberBlocks& sent, std::size_t element_bytes,
                 std::int32_t members) {
  TESSERA_ASSIGN_OR_RETURN(sides.sent,
                           read_blocks({"send", sides.send.size(), element_bytes}, sent, members));
  return {};
}

Status read_received(BlockSides& sides, const MemberBlocks& received, std::size_t element_bytes,
                     std::int32_t members) {
  TESSERA_ASSIGN_OR_RETURN(
      sides.received,
      read_blocks({"receive", sides.receive.size(), element_bytes}, received, members));
  return received.offsets.empty() ? Status() : check_disjoint(sides.received);
}

// The blocks of a buffer that belongs to one member as a whole.
ByteBlocks block_of(TeamRank member, std::size_t bytes, std::int32_t members) {
  ByteBlocks blocks(static_cast<std::size_t>(members));
  blocks[static_cast<std::size_t>(member.value)].bytes = bytes;
  return blocks;
}

// Collective. `read` fills in the blocks of `sides`, or returns what is wrong with the arguments.
template <class Read>
Status exchange(Team& team, std::string_view verb, BlockSides sides,
                const BlockExchange::Terms& terms, const Read& read) {
  TeamState& state = team.state();
  const LabelScope scope(team, {.verb = verb});
  const detail::WaitScope wait(state.job().recorder(), detail::Wait::exchange, WorldRank{-1},
                               sides.send.size(), state.label());
  return team.name_rank(state.do_together([&]() -> Status {
    Status arguments = check_element_bytes(terms.element_bytes);
    arguments = arguments.ok() ? read(sides) : std::move(arguments);
    return BlockExchange(state, sides, terms).run(arguments);
  }));
}

}  // namespace

Status alltoallv(Team& team, std::span<const std::byte> send, const MemberBlocks& sent,
                 std::span<std::byte> receive, const MemberBlocks& received,
                 std::size_t element_bytes) {
  return exchange(team, "alltoallv", {send, receive, {}, {}}, {.element_bytes = element_bytes},
                  [&](BlockSides& sides) -> Status {
                    TESSERA_RETURN_IF_ERROR(check_apart(send, receive));
                    TESSERA_RETURN_IF_ERROR(read_sent(sides, sent, element_bytes, team.size()));
                    return read_received(sides, received, element_bytes, team.size());
                  });
}

Status alltoall(Team& team, std::span<const std::byte> send, std::span<std::byte> receive,
                std::size_t element_bytes) {
  return exchange(team, "alltoall", {send, receive, {}, {}}, {.element_bytes = element_bytes},
                  [&](BlockSides& sides) -> Status {
                    const auto members = static_cast<std::size_t>(team.size());
                    const std::size_t each = send.size() / members;
                    if (send.size() != receive.size() || each * members != send.size() ||
                        each % element_bytes != 0) {
                      return wrong_argument(fmt::format(
                          "{} elements to send and {} to receive are not the same number for each "
                          "of {} members",
                          send.size() / element_bytes, receive.size() / element_bytes, members));
                    }
                    TESSERA_RETURN_IF_ERROR(check_apart(send, receive));
                    for (std::size_t member = 0; member < members; ++member) {
                      sides.sent.push_back({member * each, each});
                    }
                    sides.received = sides.sent;
                    return {};
                  });
}

Status gatherv(Team& team, std::span<const std::byte> own, std::span<std::byte> all,
               const MemberBlocks& received, std::size_t element_bytes, TeamRank root) {
  const BlockExchange::Terms terms{BlockExchange::Pattern::to_root, root, element_bytes};
  return exchange(team, "gatherv", {own, all, {}, {}}, terms, [&](BlockSides& sides) -> Status {
    TESSERA_RETURN_IF_ERROR(check_root(root, team.size()));
    sides.sent = block_of(root, own.size(), team.size());
    if (team.rank() != root) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(check_apart(own, all));
    return read_received(sides, received, element_bytes, team.size());
  });
}

Status scatterv(Team& team, std::span<const std::byte> all, const MemberBlocks& sent,
                std::span<std::byte> own, std::size_t element_bytes, TeamRank root) {
  const BlockExchange::Terms terms{BlockExchange::Pattern::from_root, root, element_bytes};
  return exchange(team, "scatterv", {all, own, {}, {}}, terms, [&](BlockSides& sides) -> Status {
    TESSERA_RETURN_IF_ERROR(check_root(root, team.size()));
    sides.received = block_of(root, own.size(), team.size());
    if (team.rank() != root) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(check_apart(all, own));
    return read_sent(sides, sent, element_bytes, team.size());
  });
}

namespace {

// Copies this member's block into `all`, and broadcasts the blocks one after another.
Status broadcast_blocks(TeamState& state, std::span<const std::byte> own, std::span<std::byte> all,
                        const ByteBlocks& blocks) {
  const ByteBlock& mine = blocks[static_cast<std::size_t>(state.rank().value)];
  if (!own.empty()) {
    std::memmove(all.data() + mine.offset, own.data(), own.size());
  }
  for (std::int32_t member = 0; member < state.size(); ++member) {
    const ByteBlock& block = blocks[static_cast<std::size_t>(member)];
    if (block.bytes > 0) {
      TESSERA_RETURN_IF_ERROR(
          state.broadcast(all.subspan(block.offset, block.bytes), TeamRank{member}));
    }
  }
  return {};
}

// Gathers blocks that are padded to the length of the longest one.
Status gather_padded(TeamState& state, std::span<const std::byte> own, std::span<std::byte> all,
                     const ByteBlocks& blocks, std::size_t longest) {
  return state.do_together([&]() -> Status {
    std::vector<std::byte> mine(longest);
    std::copy(own.begin(), own.end(), mine.begin());
    std::vector<std::byte> padded(longest * blocks.size());
    TESSERA_RETURN_IF_ERROR(state.allgather(mine, padded));
    for (std::size_t member = 0; member < blocks.size(); ++member) {
      if (blocks[member].bytes > 0) {
        std::memcpy(all.data() + blocks[member].offset, padded.data() + member * longest,
                    blocks[member].bytes);
      }
    }
    return {};
  });
}

Status read_gathered(const Team& team, std::span<const std::byte> own, std::span<std::byte> all,
                     const MemberBlocks& received, std::size_t element_bytes, BlockSides& sides) {
  TESSERA_RETURN_IF_ERROR(check_element_bytes(element_bytes));
  sides.receive = all;
  TESSERA_RETURN_IF_ERROR(read_received(sides, received, element_bytes, team.size()));
  const std::uint64_t mine = sides.received[static_cast<std::size_t>(team.rank().value)].bytes;
  return mine == own.size()
             ? Status()
             : wrong_argument(fmt::format("{} elements were given for a block of {}",
                                          own.size() / element_bytes, mine / element_bytes));
}

std::uint64_t hash_of(std::span<const std::int64_t> counts, std::size_t element_bytes) noexcept {
  std::uint64_t hash = element_bytes;
  for (const std::int64_t count : counts) {
    hash = Label::mix(hash, static_cast<std::uint64_t>(count));
  }
  return hash;
}

}  // namespace

Status allgatherv(Team& team, std::span<const std::byte> own, std::span<std::byte> all,
                  const MemberBlocks& received, std::size_t element_bytes) {
  constexpr std::size_t short_bytes = std::size_t{64} << 10U;
  TeamState& state = team.state();
  const LabelScope scope(team, {.verb = "allgatherv"});
  const detail::WaitScope wait(state.job().recorder(), detail::Wait::allgather, WorldRank{-1},
                               own.size(), state.label());
  return team.name_rank(state.do_together([&]() -> Status {
    BlockSides sides;
    const Status arguments = read_gathered(team, own, all, received, element_bytes, sides);
    TESSERA_RETURN_IF_ERROR(
        state.agree(arguments, {.hash = hash_of(received.counts, element_bytes)}));
    std::uint64_t longest = 0;
    std::uint64_t total = 0;
    for (const ByteBlock& block : sides.received) {
      longest = std::max(longest, block.bytes);
      total += block.bytes;
    }
    const std::uint64_t padded = longest * sides.received.size();
    return padded <= std::max<std::uint64_t>(2 * total, short_bytes)
               ? gather_padded(state, own, all, sides.received, longest)
               : broadcast_blocks(state, own, all, sides.received);
  }));
}

namespace {

// The result of a reduction of no elements.
template <class T>
T neutral(Reduction reduction) {
  if constexpr (RealElement<T>) {
    using Limits = std::numeric_limits<T>;
    const T largest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    switch (reduction) {
      case Reduction::min:
      case Reduction::abs_min:
        return largest;
      case Reduction::max:
        return lowest;
      case Reduction::bit_and:
        return static_cast<T>(-1);
      case Reduction::logical_and:
        return T{1};
      default:
        break;
    }
  }
  return reduction == Reduction::product ? T{1} : T{0};
}

void fill_neutral(std::span<std::byte> elements, ElementType type, Reduction reduction) {
  dispatch(type, [&]<class T>(Tag<T>) {
    auto* const first = reinterpret_cast<T*>(elements.data());
    std::fill(first, first + elements.size() / sizeof(T), neutral<T>(reduction));
  });
}

// The members whose elements are combined: all before this one, and perhaps itself.
enum class ScanKind : std::uint8_t { inclusive, exclusive };

class Scan {
 public:
  Scan(TeamState& state, ElementType type, Reduction reduction, ScanKind kind) noexcept
      : state_(state), type_(type), reduction_(reduction), kind_(kind) {}

  // Works in chunks, so that the buffer for all members' elements stays small.
  Status run(std::span<std::byte> elements) {
    constexpr std::size_t max_bytes = std::size_t{1} << 20U;
    constexpr std::size_t largest_element = 16;
    const auto members = static_cast<std::size_t>(state_.size());
    const std::size_t chunk =
        std::max(max_bytes / members / largest_element, std::size_t{1}) * largest_element;
    std::vector<std::byte> all;
    all.reserve(std::min(chunk, elements.size()) * members);
    for (std::size_t done = 0; done < elements.size(); done += chunk) {
      const auto some = elements.subspan(done, std::min(chunk, elements.size() - done));
      all.resize(some.size() * members);
      TESSERA_RETURN_IF_ERROR(state_.allgather(some, all));
      combine_earlier(all, some);
    }
    return {};
  }

 private:
  void combine_earlier(std::span<std::byte> all, std::span<std::byte> own) const {
    const auto self = static_cast<std::size_t>(state_.rank().value);
    const std::size_t operands = kind_ == ScanKind::inclusive ? self + 1 : self;
    if (operands == 0) {
      return fill_neutral(own, type_, reduction_);
    }
    std::memcpy(own.data(), all.data(), own.size());
    for (std::size_t member = 1; member < operands; ++member) {
      detail::combine(own.data(), all.data() + member * own.size(), own.size(), type_, reduction_);
    }
    if (operands == 1) {
      detail::finish_alone(own.data(), own.size(), type_, reduction_);
    }
  }

  TeamState& state_;
  ElementType type_;
  Reduction reduction_;
  ScanKind kind_;
};

Status check_scan(const void* elements, std::int64_t count, ElementType type, Reduction reduction) {
  std::uint64_t bytes = 0;
  if (!detail::is_defined(type, reduction)) {
    return wrong_argument(
        fmt::format("reduction {} is not defined for {}", to_string(reduction), to_string(type)));
  }
  if (count < 0 ||
      __builtin_mul_overflow(static_cast<std::uint64_t>(count), size_of(type), &bytes)) {
    return wrong_argument(fmt::format("{} elements cannot be scanned", count));
  }
  return elements == nullptr && count > 0
             ? wrong_argument("the elements to scan are at a null pointer")
             : Status();
}

Status scan_elements(Team& team, std::string_view verb, void* elements, std::int64_t count,
                     ElementType type, Reduction reduction, ScanKind kind) {
  TeamState& state = team.state();
  const LabelScope scope(team, {.verb = verb});
  const detail::WaitScope wait(state.job().recorder(), detail::Wait::reduce, WorldRank{-1}, 0,
                               state.label());
  return team.name_rank(state.do_together([&]() -> Status {
    const std::uint64_t what =
        static_cast<std::uint64_t>(type) << 8U | static_cast<std::uint64_t>(reduction);
    TESSERA_RETURN_IF_ERROR(
        state.agree(check_scan(elements, count, type, reduction),
                    {.hash = Label::mix(what, static_cast<std::uint64_t>(count))}));
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
    return Scan(state, type, reduction, kind).run({static_cast<std::byte*>(elements), bytes});
  }));
}

Handle start(Team& team, const detail::BackgroundCall& call) {
  TeamState& state = team.state();
  return Handle(detail::catch_bad_alloc([&] { return state.start(call); },
                                        [&] { return state.job().reserve().operation(); }));
}

}  // namespace

Status scan(Team& team, void* elements, std::int64_t count, ElementType type, Reduction reduction) {
  return scan_elements(team, "scan", elements, count, type, reduction, ScanKind::inclusive);
}

Status exclusive_scan(Team& team, void* elements, std::int64_t count, ElementType type,
                      Reduction reduction) {
  return scan_elements(team, "exclusive_scan", elements, count, type, reduction,
                       ScanKind::exclusive);
}

Handle barrier_async(Team& team) {
  return start(team, {.kind = detail::CollectiveCall::Kind::barrier});
}

Handle allreduce_async(Team& team, void* elements, std::int64_t count, ElementType type,
                       Reduction reduction) {
  return start(team, {.kind = detail::CollectiveCall::Kind::allreduce,
                      .elements = elements,
                      .count = count,
                      .type = type,
                      .reduction = reduction});
}

}  // namespace tessera::rma
