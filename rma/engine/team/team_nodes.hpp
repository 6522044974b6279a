// SPDX-License-Identifier: BSD-3-Clause
//
// TeamNodes: the nodes of a team, which of them exchange messages, and where the mailboxes are.
//
// The leaders of the nodes (the lowest member on each) disseminate. In round k the leader of node i
// delivers what it has to the leader of node i + 2^k, and receives what node i − 2^k has. After
// ⌈log2 n⌉ rounds each has everything (Hensgen, Finkel and Manber 1988; with data: Bruck et al.
// 1997). Nodes are numbered by their lowest member, whatever the order of the team's list.
//
// Each node contributes a *block*. A leader keeps blocks by their distance: its own, then those of
// nodes i − 1, i − 2 and so on. So what it sends in a round is the beginning of what it has. The
// mailbox of round k holds the blocks of the distances from 2^k.
//
// A node's mailboxes are in its team control: one for each round, in each of two sets that
// alternate by step. A leader reaches the next step but one only after all nodes have reached the
// next one. By then all members have read what this step delivered. The step in which a team is
// formed has mailboxes of its own, without room for data, as the nodes don't know yet how large the
// others' slots are.
//
// Cost: O(members) memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/node/node_memory.hpp"

namespace tessera::rma::detail {

/// The most for a set of mailboxes, for a node's pipeline rings, and for its members' parts of long
/// data.
inline constexpr std::uint64_t max_mailbox_set_bytes = 8ULL << 20;

/// What the nodes report about one step of a team: what was called, and what failed. Summaries of
/// sets of nodes are joined in any order and may overlap; the result is the same at all leaders.
struct StepSummary {
  struct Called {
    std::uint64_t call = 0;         ///< CollectiveCall::packed
    std::uint64_t fingerprint = 0;  ///< CollectiveCall::fingerprint
    std::int32_t rank = -1;         ///< a member that called it
    /// If several could be reported, the one of the lowest order is.
    std::uint32_t order = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] bool is_known() const noexcept { return rank >= 0; }
    [[nodiscard]] bool is_same(const Called& other) const noexcept {
      return call == other.call && fingerprint == other.fingerprint;
    }
  };
  Called first;  ///< of the lowest order
  Called odd;    ///< of the lowest order that differs from `first`
  std::uint64_t slot_bytes = std::numeric_limits<std::uint64_t>::max();  ///< the smallest
  std::uint32_t broken = 0;  ///< TeamControl::broken of some node
  std::uint32_t unused = 0;

  void join(const StepSummary& other) noexcept;
};
static_assert(sizeof(StepSummary) == cache_line);

/// The head of a mailbox; the blocks follow. All bytes from `summary` on arrive in one delivery.
struct TeamMailbox {
  std::atomic<std::uint64_t> flag{0};  ///< the step that it belongs to, plus one
  alignas(cache_line) StepSummary summary;
};
static_assert(sizeof(TeamMailbox) == 2 * cache_line &&
              offsetof(TeamMailbox, summary) == cache_line);

class TeamNodes {
 public:
  enum class Set : std::uint8_t { forming, even, odd };

  TeamNodes(const std::vector<WorldRank>& members, const NodeMap& map, WorldRank self);

  [[nodiscard]] std::int32_t count() const noexcept {
    return static_cast<std::int32_t>(nodes_.size());
  }
  /// The index of this rank's node in the team. Every `index` here is such a number.
  [[nodiscard]] std::int32_t own() const noexcept { return own_; }
  [[nodiscard]] NodeId node(std::int32_t index) const noexcept { return at(index).id; }
  /// The members on a node, ascending; the first one is the leader.
  [[nodiscard]] const std::vector<WorldRank>& ranks(std::int32_t index) const noexcept {
    return at(index).ranks;
  }
  [[nodiscard]] WorldRank leader(std::int32_t index) const noexcept { return ranks(index).front(); }
  [[nodiscard]] std::int32_t members_on(std::int32_t index) const noexcept {
    return static_cast<std::int32_t>(ranks(index).size());
  }
  /// How many members are on the nodes of lower index.
  [[nodiscard]] std::int32_t members_before(std::int32_t index) const noexcept {
    return members_before_[static_cast<std::size_t>(index)];
  }
  /// The node of a member, and the member's order on it, in the order of the team's list.
  [[nodiscard]] std::int32_t index_of(TeamRank member) const noexcept {
    return member_locations_[static_cast<std::size_t>(member.value)].index;
  }
  [[nodiscard]] std::int32_t order_of(TeamRank member) const noexcept {
    return member_locations_[static_cast<std::size_t>(member.value)].order;
  }

  [[nodiscard]] int rounds() const noexcept { return rounds_; }
  /// To which node this one delivers in a round, and which node delivers to it.
  [[nodiscard]] std::int32_t receiver(int round) const noexcept;
  [[nodiscard]] std::int32_t sender(int round) const noexcept;
  /// All receivers and senders, each once.
  [[nodiscard]] const std::vector<std::int32_t>& partners() const noexcept { return partners_; }

  /// The distance from another node to this one, in the direction in which blocks travel.
  [[nodiscard]] std::int32_t distance_from(std::int32_t index) const noexcept {
    return (own_ - index + count()) % count();
  }
  /// In which round the block of a distance arrives. Requires: not this node's own block.
  [[nodiscard]] static int round_of(std::int32_t distance) noexcept;
  /// How many blocks travel in a round.
  [[nodiscard]] std::int32_t blocks_in(int round) const noexcept;
  /// The members on the first `blocks` nodes in order of distance from this one.
  [[nodiscard]] std::int32_t members_within(std::int32_t blocks) const noexcept {
    return members_within(own_, blocks);
  }

  /// Bytes of all mailboxes of a node, if no member contributes more than `slot_bytes` in a step.
  [[nodiscard]] std::uint64_t mail_bytes(std::int32_t index, std::uint64_t slot_bytes) const;
  /// The offset of a mailbox from the start of the first one. `forming` ignores `slot_bytes`.
  [[nodiscard]] std::uint64_t mail_offset(std::int32_t index, Set set, int round,
                                          std::uint64_t slot_bytes) const;

 private:
  void find_partners();
  struct NodeOfTeam {
    NodeId id;
    std::vector<WorldRank> ranks;
  };
  struct MemberLocation {
    std::int32_t index = 0;
    std::int32_t order = 0;
  };
  [[nodiscard]] const NodeOfTeam& at(std::int32_t index) const noexcept {
    return nodes_[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::int32_t members_within(std::int32_t index, std::int32_t blocks) const noexcept;
  [[nodiscard]] std::uint64_t mailbox_bytes(std::int32_t index, int round,
                                            std::uint64_t slot_bytes) const noexcept;

  std::vector<NodeOfTeam> nodes_;
  std::vector<MemberLocation> member_locations_;  ///< by team rank
  // on the nodes of lower index; one entry more than nodes
  std::vector<std::int32_t> members_before_;
  std::vector<std::int32_t> partners_;
  std::int32_t own_ = 0;
  int rounds_ = 0;
};

}  // namespace tessera::rma::detail
