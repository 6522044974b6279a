// SPDX-License-Identifier: BSD-3-Clause
//
// PipelineRings: through which the leaders of a team's nodes send each other long data, piece by
// piece, while earlier pieces are being used.
//
// A ring leads from one leader to another. It has room for `depth` pieces in the receiver's memory,
// and a counter of the pieces that have *arrived*. The receiver returns *credits* for pieces that
// it has used. The sender sends while fewer than `depth` pieces are on their way or unused. A node
// has rings from all its partners (team_nodes.hpp), numbered by how far ahead a partner is, which
// is the same on all nodes. They are consecutive in one piece of memory. The head of each has both
// counters that the partner writes, `arrived` and `credits`.
//
// Both ends of a ring must agree on which pieces travel. So the algorithm must know all sizes,
// after a step that has compared what all members called. Between two algorithms all rings are
// empty, as the next one begins after all leaders have finished the one before.
//
// A leader that gives up poisons the counters of all its partners with a failure word: a value of
// TeamControl::broken, where 0 means that nothing failed. All functions here that return
// std::uint32_t return a failure word.
//
// Threads: one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rma/engine/team/node_exchange.hpp"
#include "rma/engine/team/team_liveness.hpp"
#include "rma/engine/team/team_nodes.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::detail {

/// The size of pieces, and how many of them a ring holds.
struct RingShape {
  static constexpr std::size_t depth = 4;
  std::size_t piece_bytes = 0;  ///< a multiple of a cache line
};

/// At the start of a ring; the pieces follow.
struct RingHead {
  /// Set in a counter: the other bits are a failure word.
  static constexpr std::uint64_t poison = std::uint64_t{1} << 63U;

  alignas(cache_line) std::atomic<std::uint64_t> arrived{0};
  alignas(cache_line) std::atomic<std::uint64_t> credits{0};
};
static_assert(sizeof(RingHead) == 2 * cache_line);

class PipelineRings {
 public:
  /// Uses an arrived piece for the memory `target` of the same size. May change the piece.
  using Use = std::function<void(std::span<std::byte> piece, std::span<std::byte> target)>;
  struct Environment {
    NodeControlChannel& link;
    const TeamNodes& nodes;
    NodeExchange& exchange;  ///< waits for partners
    TeamLiveness& liveness;  ///< finds out why a delivery failed
  };

  /// Allocates all memory that rings ever need in this process. They can be used after
  /// attach().
  explicit PipelineRings(const Environment& environment);
  /// Sets the number of the memory of a node's rings, by its index in the team.
  void set_memory(std::int32_t index, RegionId memory) noexcept {
    memory_of_[static_cast<std::size_t>(index)] = memory;
  }
  /// Sets where this node's rings are, in the memory that was named; null unless this rank leads.
  void attach(RingShape shape, std::byte* own) noexcept {
    shape_ = shape;
    own_ = own;
  }

  /// Bytes of a node's rings.
  [[nodiscard]] static std::size_t bytes(const TeamNodes& nodes, RingShape shape);
  /// The largest pieces, up to `wanted` bytes, for which bytes() is at most `max_bytes`.
  [[nodiscard]] static RingShape shape_within(const TeamNodes& nodes, std::size_t wanted,
                                              std::size_t max_bytes);
  /// Initialises the heads. Requires: bytes() bytes, aligned to cache lines.
  static void make(std::byte* memory, const TeamNodes& nodes, RingShape shape);

  [[nodiscard]] std::size_t piece_bytes() const noexcept { return shape_.piece_bytes; }

  /// Starts an algorithm: all partners have used all that was sent, even if their credits are still
  /// on the way.
  void begin() noexcept;

  /// Sends `bytes`, at most a piece. Complete: at return the source may be reused.
  std::uint32_t send_piece(std::int32_t to, std::span<const std::byte> bytes);
  /// Waits for the next piece, which stays in place until release_piece().
  std::uint32_t wait_for_piece(std::int32_t from);
  [[nodiscard]] std::span<std::byte> piece(std::int32_t from, std::size_t bytes) const;
  /// Frees the room of that piece. `remaining_pieces`: how many further pieces the partner sends in
  /// this algorithm.
  void release_piece(std::int32_t from, std::size_t remaining_pieces);

  /// Blocks of memory that travel one after the other, each cut into its own pieces.
  using Blocks = std::span<const std::span<std::byte>>;

  /// Sends all of `out` to one partner, while the blocks that another one sends for `in` are used.
  struct Exchange {
    std::int32_t to = 0;
    Blocks out = {};
    std::int32_t from = 0;
    Blocks in = {};
    /// The blocks of `out` after the first are those of `in` except the last. They are forwarded:
    /// each piece after it was used.
    bool passes_on = false;
  };
  std::uint32_t exchange(const Exchange& both, const Use& use);
  std::uint32_t send(std::int32_t to, std::span<std::byte> out);
  std::uint32_t receive(std::int32_t from, std::span<std::byte> in, const Use& use);

  /// Reports to all partners, permanently, that this leader gave up.
  void poison(std::uint32_t word);

 private:
  struct Partner {
    std::int32_t index = 0;
    std::uint64_t sent = 0;
    std::uint64_t used_there = 0;  ///< of the pieces sent, as far as it has reported
    std::uint64_t used = 0;        ///< of the pieces that it sent
    std::uint64_t credited = 0;    ///< how many of them were reported to it as used
  };

  [[nodiscard]] Partner& partner(std::int32_t index);
  [[nodiscard]] const Partner& partner(std::int32_t index) const;
  [[nodiscard]] RingHead& head(std::int32_t from) const noexcept;
  [[nodiscard]] std::uint64_t ring_start(std::int32_t at, std::int32_t from) const;
  std::uint32_t wait_for_credit(Partner& to);
  std::uint32_t use_next(std::int32_t from, std::span<std::byte> target,
                         std::size_t remaining_pieces, const Use& use);
  void return_credits_if_needed(Partner& sender, std::size_t remaining_pieces);
  std::uint32_t await(std::atomic<std::uint64_t>& counter, std::uint64_t at_least,
                      std::int32_t from);
  Status deliver(const Partner& to, std::uint64_t offset, std::span<const std::byte> bytes,
                 std::uint64_t counter, std::uint64_t value);

  Environment environment_;
  RingShape shape_;
  std::byte* own_ = nullptr;
  std::vector<RegionId> memory_of_;
  /// How far partners are ahead, ascending: the numbering of rings.
  std::vector<std::int32_t> partner_distances_;
  std::vector<Partner> partners_;  ///< in the same order
};

}  // namespace tessera::rma::detail
