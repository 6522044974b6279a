// SPDX-License-Identifier: BSD-3-Clause
//
// TeamState: what stands behind a Team, and the shared memory in which its members meet.
//
// All collectives are made of one step, meet(): put something into your slot, arrive, wait for the
// others, look into their slots. Two sets of slots alternate, so that one meeting a step is enough:
// a member writes a set again only after a later meeting, to which nobody comes before it has read
// that set. A meeting also compares what its members called, at no extra synchronisation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rma/node/last_one.hpp"
#include "rma/node/node.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::rma::detail {

class JobState;

/// Which collective a member called, in two words that can be compared.
struct CollectiveCall {
  enum class Kind : std::uint8_t {
    form,
    barrier,
    broadcast,
    allgather,
    allreduce,
    reduce,
    agree,
    part,
    refused,
  };
  Kind kind = Kind::barrier;
  ElementType type = ElementType::i32;
  Reduction reduction = Reduction::sum;
  TeamRank root = {};
  std::uint64_t bytes = 0;

  [[nodiscard]] std::uint64_t packed() const noexcept;
  /// "broadcast of 8 bytes from member 2", for messages.
  static std::string describe(std::uint64_t packed, std::uint64_t bytes);
};

/// The shared part of a team: one for all its members on a node.
struct TeamControl {
  struct alignas(cache_line) Check {
    std::atomic<std::uint64_t> call{0};   ///< of the first member that came
    std::atomic<std::uint64_t> bytes{0};  ///< likewise, plus one
    std::atomic<std::uint32_t> odd{0};    ///< a world rank that called something else, plus one
    std::atomic<std::uint64_t> odd_call{0};
    std::atomic<std::uint64_t> odd_bytes{0};
  };
  alignas(cache_line) std::atomic<std::uint32_t> arrived{0};
  alignas(cache_line) FutexWord generation{0};
  std::atomic<std::uint32_t> sleepers{0};
  std::uint64_t slot_bytes = 0;
  std::atomic<std::uint32_t> broken{
      0};  ///< a world rank that is gone, plus one; left_bit if it left
  Check check[2];
  static constexpr std::uint32_t left_bit = 0x8000'0000;
  /// In `generation`: this meeting, and so every later one, is given up. Whether a meeting took
  /// place is decided by one compare-and-swap of that word, so that all its members say the same.
  static constexpr std::uint32_t given_up_bit = 0x8000'0000;
};

class TeamState {
 public:
  /// Collective. `keep_job` is what a team that users hold owns of its job; null for the world
  /// team, which the job owns.
  static Result<std::shared_ptr<TeamState>> create(JobState& job,
                                                   std::shared_ptr<JobState> keep_job,
                                                   std::vector<WorldRank> members);
  ~TeamState();
  TeamState(const TeamState&) = delete;
  TeamState& operator=(const TeamState&) = delete;

  [[nodiscard]] JobState& job() const noexcept { return job_; }
  [[nodiscard]] const std::shared_ptr<JobState>& keep_job() const noexcept { return keep_job_; }
  [[nodiscard]] const std::vector<WorldRank>& members() const noexcept { return members_; }
  [[nodiscard]] TeamRank rank() const noexcept { return rank_; }
  [[nodiscard]] std::int32_t size() const noexcept {
    return static_cast<std::int32_t>(members_.size());
  }
  [[nodiscard]] TeamRank team_rank(WorldRank rank) const noexcept;

  /// The order of one rank among the members on this node, or −1.
  [[nodiscard]] std::int32_t order_of(WorldRank rank) const noexcept {
    const std::int64_t at = std::int64_t{rank.value} - node_->ranks().front().value;
    return at < 0 || at >= node_->hull() ? -1 : order_on_node_[static_cast<std::size_t>(at)];
  }
  /// The order of this rank among the members on its node, and how many there are.
  [[nodiscard]] std::int32_t order() const noexcept { return order_; }
  [[nodiscard]] std::int32_t node_members() const noexcept { return node_members_; }

  Status barrier();
  Status broadcast(std::span<std::byte> bytes, TeamRank root);
  Status allgather(std::span<const std::byte> mine, std::span<std::byte> all);
  Status allreduce(void* elements, std::int64_t count, ElementType type, Reduction reduction,
                   const TeamRank* only_root);
  Status agree(const Status& mine);

 private:
  TeamState(JobState& job, std::shared_ptr<JobState> keep_job, std::vector<WorldRank> members);

  [[nodiscard]] Status check_members() const;
  void find_order();
  [[nodiscard]] std::vector<WorldRank> sorted_members() const;
  Status form();
  Result<std::uint64_t> make_control(std::uint64_t key);
  [[nodiscard]] std::uint64_t first_slot_offset() const noexcept;
  [[nodiscard]] std::uint64_t control_bytes() const noexcept;
  [[nodiscard]] LastOne& last_one() const noexcept;

  Status meet(const CollectiveCall& call);
  Status refuse(Status error);
  Status wait_for_others(std::uint32_t generation);
  void look_after_members(std::uint32_t generation);
  void check_call(TeamControl::Check& check, const CollectiveCall& call) const;
  [[nodiscard]] Status mismatch(const TeamControl::Check& check) const;
  [[nodiscard]] Status broken() const;
  [[nodiscard]] Status wrong_root(TeamRank root) const;
  [[nodiscard]] Status check_reduction(const void* elements, std::int64_t count, ElementType type,
                                       Reduction reduction, const TeamRank* only_root) const;
  [[nodiscard]] std::byte* slot(std::uint32_t turn, std::int32_t member) const noexcept;
  Status reduce_chunk(std::byte* elements, std::size_t bytes, const CollectiveCall& call,
                      bool keep_result);

  JobState& job_;
  std::shared_ptr<JobState> keep_job_;
  std::shared_ptr<Node> node_;
  std::vector<WorldRank> members_;
  std::vector<TeamRank> by_world_rank_;  ///< places sorted by world rank; empty when consecutive
  TeamRank rank_{-1};
  /// For each world rank from the node's first to its last: its order, or −1.
  std::vector<std::int32_t> order_on_node_;
  std::int32_t order_ = -1;
  std::int32_t node_members_ = 0;
  std::size_t slot_bytes_ = 0;
  std::uint64_t control_offset_ = 0;
  TeamControl* control_ = nullptr;
  std::uint32_t turn_ = 0;  ///< which of the two sets of slots comes next
};

}  // namespace tessera::rma::detail
