// SPDX-License-Identifier: BSD-3-Clause
//
// Lanes: how the leaders of a team's nodes send each other long data, piece after piece, while the
// pieces before are being used.
//
// A lane leads from one leader to another: a ring of `depth` pieces in the receiver's memory, with
// a counter of the pieces that have *arrived*. The receiver counts those that it has used, and
// tells the sender by *credits*; the sender sends as long as less than `depth` pieces are on their
// way or unused. A node has lanes from all its partners (team_nodes.hpp), numbered by how far ahead
// a partner is, which is the same on all nodes. One memory holds a node's lanes, one behind the
// other; in the head of each are both counters that the partner writes, `arrived` and `credits`.
//
// Both ends of a lane must agree on which pieces travel: an algorithm that knows the sizes, after
// a meeting that has compared what all called. Between two such algorithms all lanes are empty, as
// the next one begins when all leaders are through with the one before.
//
// A leader that gives up poisons the counters of all its partners with the word that says why.
// A "word" is what TeamControl::broken says; 0 means that nothing is wrong.
//
// Threads: one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rma/engine/node_link.hpp"
#include "rma/engine/team_nodes.hpp"

namespace tessera::rma::detail {

/// How large pieces are, and how many of them a lane holds.
struct LaneShape {
  static constexpr std::size_t depth = 4;
  std::size_t piece_bytes = 0;  ///< a multiple of a cache line
};

/// At the start of a lane; the pieces follow.
struct LaneHead {
  /// In a counter: the rest is a word.
  static constexpr std::uint64_t poison = std::uint64_t{1} << 63U;

  alignas(cache_line) std::atomic<std::uint64_t> arrived{0};
  alignas(cache_line) std::atomic<std::uint64_t> credits{0};
};
static_assert(sizeof(LaneHead) == 2 * cache_line);

class Lanes {
 public:
  /// Waits until the counter is `at_least` that, or poisoned; returns a word when `partner` cannot
  /// bring it there any more.
  using Wait = std::function<std::uint32_t(std::atomic<std::uint64_t>& counter,
                                           std::uint64_t at_least, std::int32_t partner)>;
  /// What is done with a piece that arrived, for the memory of the same size that it is meant for.
  /// The piece itself may be changed.
  using Use = std::function<void(std::span<std::byte> piece, std::span<std::byte> place)>;
  /// Tells why a delivery to a partner failed.
  using Explain = std::function<std::uint32_t(std::int32_t partner, const Status& error)>;

  struct Surroundings {
    NodeLink& link;
    const TeamNodes& nodes;
    Wait wait;
    Explain explain;
  };

  /// Takes all memory that lanes ever need in this process. They can be used behind place().
  explicit Lanes(Surroundings surroundings);
  /// The memory of lanes of a node, by its index in the team.
  void name_memory(std::int32_t index, RegionId memory) noexcept {
    memory_of_[static_cast<std::size_t>(index)] = memory;
  }
  /// Where this node's are, in the memory that was named; null for who doesn't lead.
  void place(LaneShape shape, std::byte* own) noexcept {
    shape_ = shape;
    own_ = own;
  }

  /// Bytes of a node's lanes.
  [[nodiscard]] static std::size_t bytes(const TeamNodes& nodes, LaneShape shape);
  /// The largest pieces, up to `wanted` bytes, for which that is at most `most_bytes`.
  [[nodiscard]] static LaneShape shape_within(const TeamNodes& nodes, std::size_t wanted,
                                              std::size_t most_bytes);
  /// Makes the heads. Requires: room for bytes(), aligned to cache lines.
  static void make(std::byte* memory, const TeamNodes& nodes, LaneShape shape);

  [[nodiscard]] std::size_t piece_bytes() const noexcept { return shape_.piece_bytes; }

  /// All partners have used all that was sent: the credits that are still on their way don't count.
  void begin() noexcept;

  /// Sends `bytes`, at most a piece. Complete: the source may be reused.
  std::uint32_t send_piece(std::int32_t to, std::span<const std::byte> bytes);
  /// Waits for the next piece, which stays where it is until use_up().
  std::uint32_t await_piece(std::int32_t from);
  [[nodiscard]] std::span<std::byte> piece(std::int32_t from, std::size_t bytes) const;
  /// Its room may be used again; so many pieces more will come before anything else is done.
  void use_up(std::int32_t from, std::size_t to_come);

  /// Blocks of memory that travel one behind the other, each cut into pieces of its own.
  using Blocks = std::span<const std::span<std::byte>>;

  /// Sends all of `out` to one partner while what the other one sends for `in` is used.
  struct Exchange {
    std::int32_t to = 0;
    Blocks out = {};
    std::int32_t from = 0;
    Blocks in = {};
    /// All of `out` behind the first block are the blocks of `in`, but for its last, which are
    /// passed on: each piece when it was used.
    bool passes_on = false;
  };
  std::uint32_t exchange(const Exchange& both, const Use& use);
  std::uint32_t send(std::int32_t to, std::span<std::byte> out);
  std::uint32_t receive(std::int32_t from, std::span<std::byte> in, const Use& use);

  /// Tells all partners, for good, that this leader gave up.
  void poison(std::uint32_t word);

 private:
  struct Partner {
    std::int32_t index = 0;
    std::uint64_t sent = 0;
    std::uint64_t used_there = 0;  ///< of those sent, as far as it has told
    std::uint64_t used = 0;        ///< of those that it sent
    std::uint64_t told = 0;        ///< how many of them it knows to be used
  };

  [[nodiscard]] Partner& partner(std::int32_t index);
  [[nodiscard]] const Partner& partner(std::int32_t index) const;
  [[nodiscard]] LaneHead& head(std::int32_t from) const noexcept;
  [[nodiscard]] std::uint64_t lane_start(std::int32_t at, std::int32_t from) const;
  std::uint32_t await_credit(Partner& to);
  std::uint32_t use_next(std::int32_t from, std::span<std::byte> place, std::size_t to_come,
                         const Use& use);
  void tell_if_needed(Partner& sender, std::size_t to_come);
  std::uint32_t await(std::atomic<std::uint64_t>& counter, std::uint64_t at_least,
                      std::int32_t from);
  Status deliver(const Partner& to, std::uint64_t offset, std::span<const std::byte> bytes,
                 std::uint64_t counter, std::uint64_t value);

  Surroundings around_;
  LaneShape shape_;
  std::byte* own_ = nullptr;
  std::vector<RegionId> memory_of_;
  std::vector<std::int32_t>
      ahead_;                      ///< how far partners are ahead, ascending: as lanes are numbered
  std::vector<Partner> partners_;  ///< in the same order
};

}  // namespace tessera::rma::detail
