// SPDX-License-Identifier: BSD-3-Clause
//
// BlockExchange: one exchange of blocks of different sizes among the members of a team, through the
// team's StagingWindow: alltoallv, gatherv, scatterv.
//
//   1. An allreduce: whether a member has wrong arguments, and the longest block that travels.
//   2. Rounds. In each, a sender leaves the next piece of each block in its lane of the receiver's
//      memory. Then all meet. While receivers copy their pieces out, senders already leave those of
//      the next round in the other half of the lanes. In round 0 the word of a lane announces the
//      bytes of the whole block, which the receiver compares with what it expects.
//   3. An agreement on what failed.
//
// Members begin with different receivers, so that these are not all written at once.
//
// Threads: one at a time. Cost: O(members) memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/status.hpp"
#include "rma/handle.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

class StagingWindow;
class TeamState;

/// A block of a buffer, by member.
struct ByteBlock {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
using ByteBlocks = std::vector<ByteBlock>;

/// What one member gives to an exchange.
struct BlockSides {
  std::span<const std::byte> send;
  std::span<std::byte> receive;
  ByteBlocks sent;
  ByteBlocks received;
};

class BlockExchange {
 public:
  /// Which blocks travel.
  enum class Pattern : std::uint8_t { all_to_all, to_root, from_root };
  struct Terms {
    Pattern pattern = Pattern::all_to_all;
    TeamRank root = {};
    std::size_t element_bytes = 1;
  };

  /// `sides` outlives the exchange. Throws std::bad_alloc.
  BlockExchange(TeamState& team, const BlockSides& sides, const Terms& terms);

  /// Collective. `arguments`: what is wrong with those of this member. All return an error if one
  /// of them has one, or if they give different terms.
  Status run(const Status& arguments);

 private:
  Result<std::uint64_t> agree_on_longest(const Status& arguments);
  [[nodiscard]] bool sends_to(TeamRank member) const noexcept;
  [[nodiscard]] bool receives_from(TeamRank member) const noexcept;
  [[nodiscard]] TeamRank neighbour(std::int32_t distance) const noexcept;
  void copy_own();
  Status move_all(StagingWindow& window, std::uint64_t longest);
  void leave(StagingWindow& window, std::uint64_t round);
  void leave_bytes(StagingWindow& window, TeamRank to, std::uint64_t offset, const void* from,
                   std::size_t bytes);
  void complete_puts(StagingWindow& window);
  void take(StagingWindow& window, std::uint64_t round);
  void take_piece(const StagingWindow& window, TeamRank from, std::uint64_t round);
  void expect(TeamRank from, std::uint64_t announced);
  void note(Status status);

  TeamState& team_;
  const BlockSides& sides_;
  Terms terms_;
  std::vector<std::uint64_t> announcements_;  ///< by receiver, until they were put
  Handle puts_;
  bool has_puts_ = false;
  Status first_error_;
};

}  // namespace tessera::rma::detail
