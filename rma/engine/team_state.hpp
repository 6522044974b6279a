// SPDX-License-Identifier: BSD-3-Clause
//
// TeamState: the implementation of a Team, and the shared memory in which its members synchronise.
//
// All collectives are made of one step, meet(): write into your slot, arrive, wait for the others,
// read their slots. Two sets of slots alternate, so that one meeting per step suffices. A member
// writes a set again only after a later meeting, which no member reaches before it has read that
// set. A meeting also compares what its members called, without further synchronisation.
//
// If the members are on several nodes, those of a node meet in its memory. When all of them have
// arrived, the lowest of them, the node's *leader*, exchanges data with the other leaders before it
// ends the meeting (team_nodes.hpp explains how; the code is in team_over_nodes.cpp). Members read
// the other nodes' data where it arrived, in the mailboxes.
//
//   collective   what travels in a step, in ⌈log2 nodes⌉ rounds, with 64 bytes of head each
//   barrier      nothing
//   broadcast    the root's piece, to each node once
//   allgather    all members' pieces
//   allreduce    one piece of each node: its members' combined, by its leader; every member then
//                combines all nodes' pieces in the same order
//
// Between nodes, data longer than two slots travel another way (team_long.cpp): after the leaders
// have met, they send them piece by piece (pipeline_rings.hpp, long_collectives.hpp). The memory
// for that is made when a team first needs it: pipeline rings, and, if nodes have several members,
// two *parts* for each member, which are like slots but longer.
//
// All members of a node always see the same outcome of a step. If a rank dies during a step, nodes
// may see different outcomes, as some had all that they needed and others not. The next step fails
// on all of them.
//
// Limits: A long reduction to one root is an allreduce. The root of a long broadcast sends it to
// ⌈log2 nodes⌉ others. A long allgather goes slot by slot if there are too many members for a slot
// each in a node's parts. Mailboxes take up to 2 × max_mailbox_set_bytes per node and team;
// pipeline rings and parts take as much again. Slots and pieces are smaller than the settings ask
// for if they would exceed that. A death on another node is noticed within two liveness intervals
// for each node that passes it on. If the nodes that know of it no longer take part, waiting nodes
// find out by their own checks: each checks one further node per liveness interval.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/engine/long_wait.hpp"
#include "rma/engine/pipeline_rings.hpp"
#include "rma/engine/team_nodes.hpp"
#include "rma/base/label.hpp"
#include "rma/node/node.hpp"
#include "rma/node/shared_ref_count.hpp"
#include "rma/base/rank.hpp"
#include "rma/region.hpp"
#include "rma/base/result.hpp"
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
    account,
    refused,
    without_memory,
  };
  Kind kind = Kind::barrier;
  ElementType type = ElementType::i32;
  Reduction reduction = Reduction::sum;
  TeamRank root = {};
  std::uint64_t bytes = 0;

  [[nodiscard]] std::uint64_t packed() const noexcept;
  /// One word for the call and the hash of its label. Different calls have different words, except
  /// for one pair in 2^64. Never 0.
  [[nodiscard]] std::uint64_t fingerprint(std::uint64_t label) const noexcept;
  /// Whether members compare the label in the meeting. agree() compares it itself, as errors take
  /// precedence.
  [[nodiscard]] bool has_label() const noexcept {
    return kind == Kind::barrier || kind == Kind::broadcast || kind == Kind::allgather ||
           kind == Kind::allreduce || kind == Kind::reduce;
  }
  /// "broadcast of 8 bytes from member 2", for messages; without the size if it is not known.
  static std::string describe(std::uint64_t packed, std::optional<std::uint64_t> bytes);
  [[nodiscard]] static Kind kind_of(std::uint64_t packed) noexcept {
    return static_cast<Kind>((packed & 0xffU) - 1);
  }
  /// Whether this call reports that a member has no memory for its part.
  [[nodiscard]] static bool is_without_memory(std::uint64_t packed) noexcept {
    return kind_of(packed) == Kind::without_memory;
  }
};

/// The shared part of a team: one for all its members on a node.
struct TeamControl {
  struct alignas(cache_line) Check {
    /// Of the first member that arrived; it stores the other fields afterwards. 0: none has
    /// arrived.
    std::atomic<std::uint64_t> fingerprint{0};
    std::atomic<std::uint64_t> call{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::int32_t> first{-1};
    std::atomic<std::uint32_t> odd{0};  ///< a world rank that called something else, plus one
    std::atomic<std::uint64_t> odd_call{0};
    std::atomic<std::uint64_t> odd_fingerprint{0};
  };
  alignas(cache_line) FutexWord arrived{0};
  alignas(cache_line) FutexWord generation{0};
  std::atomic<std::uint32_t> sleepers{0};
  std::uint64_t slot_bytes = 0;
  /// A world rank that is gone, plus one. With left_bit if it left, with no_memory_bit if it is
  /// alive but had no memory for the team. Or a ConnectionLossWord for a rank that cannot be
  /// reached. In comments: a failure word; 0 means that nothing failed.
  std::atomic<std::uint32_t> broken{0};
  /// With several nodes: a leader sleeps on `arrived`.
  std::atomic<std::uint32_t> leader_sleeps{0};
  /// With several nodes: the last step for which all of this node's members had arrived and the
  /// leader began to exchange with the other leaders. Its generation plus one.
  std::atomic<std::uint32_t> entered{0};
  std::uint64_t bytes = 0;   ///< of the whole allocation
  std::uint32_t memory = 0;  ///< the number by which other nodes know it, or 0
  /// The memory for long data, if any: its number for other nodes, and where it is.
  std::uint32_t long_memory = 0;
  std::uint64_t long_offset = 0;
  std::uint64_t long_bytes = 0;
  Check check[2];
  static constexpr std::uint32_t left_bit = 0x8000'0000;
  static constexpr std::uint32_t no_memory_bit = 0x4000'0000;
  /// In `generation`: this meeting, and so every later one, is given up. One compare-and-swap of
  /// that word decides whether a meeting took place, so that all members return the same.
  static constexpr std::uint32_t given_up_bit = 0x8000'0000;

  /// The failure word for a rank that died.
  [[nodiscard]] static std::uint32_t died(WorldRank rank) noexcept {
    return static_cast<std::uint32_t>(rank.value) + 1;
  }
  [[nodiscard]] static std::uint32_t left(WorldRank rank) noexcept { return died(rank) | left_bit; }

  /// The generation after that of a step.
  [[nodiscard]] static std::uint32_t after(std::uint32_t step) noexcept {
    return (step + 1) & ~given_up_bit;
  }

  /// Gives up the meeting of that generation, unless it took place meanwhile. The cause is `word`,
  /// or the failure that was in `broken` before.
  void give_up(std::uint32_t under_way, std::uint32_t word) noexcept;
};

class TeamState {
 public:
  /// Collective. `keep_job` is the reference by which a user's team keeps its job alive; null for
  /// the world team, which the job owns.
  static Result<std::shared_ptr<TeamState>> create(JobState& job,
                                                   const std::shared_ptr<JobState>& keep_job,
                                                   std::span<const WorldRank> members);
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

  /// The order of a rank among the members on this node, in team order; or −1.
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
  Status agree(const Status& mine, const Asked& asked);

  /// The labels of the collectives that this team runs at present; null: there are none.
  [[nodiscard]] const LabelScope* scope() const noexcept { return scope_; }
  const LabelScope* exchange_scope(const LabelScope* scope) noexcept {
    return std::exchange(scope_, scope);
  }
  /// Draws a number for an object that members make together.
  [[nodiscard]] std::uint64_t draw_number() noexcept { return ++drawn_numbers_; }
  /// The outermost label, which names what the program called; null if there is none.
  [[nodiscard]] const Label* label() const noexcept {
    return scope_ == nullptr ? nullptr : outermost_label();
  }

  /// Collective. Called by a member that has no memory for its part, in place of what the others
  /// call. All of them get no_memory. Errors: those of a barrier before that.
  Status report_no_memory() noexcept;

  /// Collective. Returns what body() returns, a Status or a Result; after std::bad_alloc,
  /// report_no_memory().
  /// Requires: wherever body() may throw, the other members still have a meeting of this team
  /// before them.
  template <class Body>
  std::invoke_result_t<Body> do_together(Body&& body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      // Reported below.
    } catch (const std::length_error&) {  // of a container that cannot become that large
    }
    return report_no_memory();
  }

 private:
  [[nodiscard]] const Label* outermost_label() const noexcept;
  /// What leaders do after all members of all nodes have arrived; returns a failure word.
  using LeadersWork = std::function<std::uint32_t(PipelineRings&)>;

  /// What a step delivers to the other nodes: `bytes` of each member, of the root, or of each node,
  /// whose leader combines its members' slots. All of them are at the beginning of slots.
  struct Payload {
    enum class Kind : std::uint8_t { nothing, of_root, of_each, combined };
    Kind kind = Kind::nothing;
    std::size_t bytes = 0;
    std::uint32_t phase = 0;
    const LeadersWork* leaders_work = nullptr;  ///< after the exchange; null: nothing
  };

  /// What a member reports in agree(): a fixed prefix, then the text of its error.
  struct Verdict {
    std::uint32_t code = 0;
    std::int32_t rank = -1;  ///< the rank that the status names, or −1
    std::uint32_t text_bytes = 0;
    std::uint32_t unused = 0;
    std::uint64_t asked = 0;
  };

  TeamState(JobState& job, std::shared_ptr<JobState> keep_job, std::vector<WorldRank> members);

  static Result<std::shared_ptr<TeamState>> prepare(JobState& job,
                                                    const std::shared_ptr<JobState>& keep_job,
                                                    std::span<const WorldRank> members);
  [[nodiscard]] Status check_members() const;
  Status find_nodes();
  void find_order();
  [[nodiscard]] std::vector<WorldRank> sorted_members() const;
  void find_control_makers();
  Status form(CollectiveCall::Kind kind);
  Result<std::uint64_t> make_control(std::uint64_t key);
  Status send_joins_on_node(const JoinMessage& invitation);
  /// Offsets of the parts of a control's memory; other nodes write into its mailboxes.
  [[nodiscard]] static std::uint64_t marks_start(std::int32_t node_members) noexcept;
  [[nodiscard]] static std::uint64_t mail_start(std::int32_t node_members) noexcept;
  [[nodiscard]] std::uint64_t first_slot_offset() const noexcept;
  [[nodiscard]] std::uint64_t control_bytes() const noexcept;
  [[nodiscard]] SharedRefCount& last_one() const noexcept;

  Status meet(const CollectiveCall& call) { return meet(call, Payload()); }
  Status meet(const CollectiveCall& call, const Payload& payload);
  Status finish_meeting(std::uint32_t generation);
  Status refuse(Status error);
  Status wait_for_others(std::uint32_t generation);
  /// A member that waits long in a step marks that it has reached the step. Others read the marks
  /// to name the members that they wait for.
  [[nodiscard]] LongWait begin_to_wait(std::uint32_t generation) const noexcept;
  [[nodiscard]] std::atomic<std::uint32_t>& mark_of(std::int32_t order) const noexcept;
  [[nodiscard]] std::vector<std::int32_t> missing_here(std::uint32_t generation) const;
  void tell_of(LongWait& wait, std::uint32_t generation, std::int32_t sender = -1) const noexcept;
  void check_members_alive(std::uint32_t generation);
  [[nodiscard]] std::uint32_t check_own_node() const;
  [[nodiscard]] std::uint64_t label_of(const CollectiveCall& call) const noexcept {
    return scope_ == nullptr || !call.has_label() ? 0 : scope_->hash();
  }
  void check_call(TeamControl::Check& check, const CollectiveCall& call) const;

  /// Two members that called different things, and what they called: the same on all members.
  struct Difference {
    WorldRank first;
    WorldRank odd;
    std::uint64_t first_call = 0;
    std::uint64_t odd_call = 0;
  };
  struct CallReport;
  Status mismatch(const TeamControl::Check& check, const CollectiveCall& own) noexcept;
  [[nodiscard]] static Status out_of_memory_status(const Difference& found);
  Status explain_difference(const Difference& found, const CollectiveCall& own);
  Status exchange_call_reports(const Difference& found, const CollectiveCall& own,
                               CallReport& first, CallReport& odd);
  [[nodiscard]] CallReport call_report_of(const CollectiveCall& own) const noexcept;
  [[nodiscard]] Status compare_call_reports(const Difference& found, const CallReport& first,
                                            const CallReport& odd) const;
  [[nodiscard]] Status broken() const noexcept { return status_of(control_->broken.load()); }
  [[nodiscard]] Status status_of(std::uint32_t word) const noexcept;
  void remember_loss(WorldRank rank, bool has_died) const noexcept;
  Result<JoinMessage> receive_join(std::uint64_t key, WorldRank maker);
  [[nodiscard]] Status wrong_root(TeamRank root) const;
  [[nodiscard]] Status check_reduction(const void* elements, std::int64_t count, ElementType type,
                                       Reduction reduction, const TeamRank* only_root) const;
  [[nodiscard]] std::byte* slot(std::uint32_t phase, std::int32_t order) const noexcept;
  Status reduce_chunk(std::byte* elements, std::size_t bytes, const CollectiveCall& call,
                      bool keep_result);

  void combine_slots(std::uint32_t phase, std::size_t from, std::size_t bytes,
                     const CollectiveCall& call, std::byte* into) const;
  void combine_share(std::uint32_t phase, std::size_t from, std::size_t bytes,
                     const CollectiveCall& call) const;

  [[nodiscard]] Verdict verdict_of(TeamRank member, const Payload& payload) const noexcept;
  Status different_requests(TeamRank first, TeamRank other);
  Status failure_of(TeamRank member, const Payload& payload);
  Result<std::string> text_of(TeamRank member, const Verdict& verdict, Payload payload);

  /// Where a member's piece of the last step is.
  [[nodiscard]] const std::byte* piece(TeamRank member, const Payload& payload) const noexcept {
    return nodes_ ? piece_of_member(member, payload) : slot(payload.phase, member.value);
  }
  [[nodiscard]] const std::byte* piece_of_root(TeamRank root,
                                               const Payload& payload) const noexcept;

  // For members on several nodes (team_over_nodes.cpp).
  Result<RegionId> publish_control(std::uint64_t offset);
  void withdraw_control(RegionId memory) noexcept;
  Status join_nodes(std::uint64_t key, const Status& made);
  Status reach_partners();
  std::uint32_t send_joins_to_leaders(std::uint64_t key, RegionId memory);
  std::uint32_t receive_joins_of_leaders(std::uint64_t key, bool is_patient);
  void notify_leaders(std::uint32_t word, std::uint32_t generation, int first_round);
  Status meet_over_nodes(std::uint32_t generation, const CollectiveCall& call,
                         const Payload& payload);
  Status lead_meeting(std::uint32_t generation, const CollectiveCall& call, Payload payload);
  [[nodiscard]] bool has_room_for(const Payload& payload) noexcept;
  bool wait_for_arrivals(std::uint32_t generation);
  [[nodiscard]] StepSummary summarise(const TeamControl::Check& check) const;
  void record(const StepSummary& summary, TeamControl::Check& check);
  std::uint32_t exchange(std::uint32_t generation, StepSummary& summary, const CollectiveCall& call,
                         const Payload& payload);
  std::uint32_t give_up_exchange(std::uint32_t found, const StepSummary& summary,
                                 std::uint32_t generation, int round);
  [[nodiscard]] std::size_t bytes_of_blocks(std::int32_t blocks,
                                            const Payload& payload) const noexcept;
  [[nodiscard]] std::size_t own_block_bytes(const Payload& payload) const noexcept;
  void pack_own(const CollectiveCall& call, const Payload& payload, std::byte* block);
  Status send(int round, std::uint32_t generation, std::size_t data_bytes);
  std::uint32_t wait_for_mail(int round, std::uint32_t generation);
  std::uint32_t wait_for_ring(std::atomic<std::uint64_t>& counter, std::uint64_t at_least,
                              std::int32_t partner);
  template <class IsEnough>
  std::uint32_t wait_for_word(std::atomic<std::uint64_t>& word, std::int32_t sender,
                              std::uint32_t generation, const IsEnough& is_enough);
  Status work_among_leaders(std::uint32_t generation, const LeadersWork& work);
  [[nodiscard]] bool is_under_way(std::uint32_t generation) const noexcept;
  std::uint32_t check_node(std::int32_t index);
  std::uint32_t check_ranks_of_node(std::int32_t index);
  [[nodiscard]] std::uint32_t failure_word_of_silent_node(WorldRank rank,
                                                          const Status& error) noexcept;
  std::uint32_t check_next_node();
  [[nodiscard]] bool has_not_entered(std::int32_t index, std::uint32_t generation);
  std::uint32_t explain(std::int32_t index, const Status& error) noexcept;
  [[nodiscard]] TeamNodes::Set mail_set(std::uint32_t generation) const noexcept;
  [[nodiscard]] TeamMailbox& mailbox(int round, std::uint32_t generation) const noexcept;
  [[nodiscard]] static const std::byte* data_of(const TeamMailbox& mail) noexcept {
    return reinterpret_cast<const std::byte*>(&mail + 1);
  }
  [[nodiscard]] const std::byte* piece_of_member(TeamRank member,
                                                 const Payload& payload) const noexcept;
  [[nodiscard]] const std::byte* piece_of_node(std::int32_t index,
                                               const Payload& payload) const noexcept;

  // For long data of members on several nodes (team_long.cpp).
  struct LongMemoryOffer;
  [[nodiscard]] bool is_long(std::size_t bytes) const noexcept {
    return nodes_ && is_formed_ && bytes > 2 * slot_bytes_;
  }
  [[nodiscard]] bool is_leader() const noexcept;
  /// True if no node has several members.
  [[nodiscard]] bool is_flat() const noexcept { return nodes_->count() == size(); }
  Status prepare_long(const CollectiveCall& call);
  [[nodiscard]] LongMemoryOffer wanted_long_memory() const;
  LongMemoryOffer make_long_memory();
  LongMemoryOffer make_ready_for_long() noexcept;
  void free_long_memory() noexcept;
  bool accept_offers(const Payload& payload) noexcept;
  PipelineRings::Surroundings ring_environment();
  [[nodiscard]] std::byte* part(std::uint32_t phase, std::int32_t order) const noexcept;
  template <class BlockOf>
  [[nodiscard]] std::vector<std::span<std::byte>> blocks_of_ring(const BlockOf& block_of) const;
  Status broadcast_long(std::span<std::byte> bytes, const CollectiveCall& call);
  Status broadcast_part(std::span<std::byte> bytes, const CollectiveCall& call);
  Status allreduce_long(std::span<std::byte> bytes, const CollectiveCall& call, bool keep_result);
  Status allreduce_flat(std::span<std::byte> bytes, const CollectiveCall& call);
  Status allreduce_parts(std::span<std::byte> bytes, const CollectiveCall& call, bool keep_result);
  [[nodiscard]] std::size_t max_gathered_bytes() const noexcept;
  Status allgather_long(std::span<const std::byte> mine, std::span<std::byte> all,
                        const CollectiveCall& call);
  Status allgather_flat(std::span<const std::byte> mine, std::span<std::byte> all,
                        const CollectiveCall& call);
  Status gather_part(std::span<const std::byte> mine, std::span<std::byte> all, std::size_t done,
                     std::size_t bytes, const CollectiveCall& call);

  JobState& job_;
  std::shared_ptr<JobState> keep_job_;
  std::shared_ptr<Node> node_;
  std::vector<WorldRank> members_;
  // team ranks sorted by world rank; empty if members are consecutive
  std::vector<TeamRank> by_world_rank_;
  TeamRank rank_{-1};
  /// For each world rank from the node's first to its last: its order, or −1.
  std::vector<std::int32_t> order_on_node_;
  std::int32_t order_ = -1;
  std::int32_t node_members_ = 0;
  // the members here, ascending; the first one makes the control
  std::vector<WorldRank> sorted_on_node_;
  std::uint64_t key_ = 0;  ///< by which members find each other
  std::size_t slot_bytes_ = 0;
  std::uint64_t control_offset_ = 0;
  TeamControl* control_ = nullptr;
  std::uint32_t phase_ = 0;  ///< which of the two sets of slots is used next
  const LabelScope* scope_ = nullptr;
  std::uint64_t drawn_numbers_ = 0;
  const Status* own_error_ = nullptr;  ///< what this member reports while it meets the others

  std::optional<TeamNodes> nodes_;      ///< empty if all members are on one node
  std::vector<RegionId> memory_of_;     ///< of the leader's partners, by index; else number 0
  std::vector<std::byte> outbox_;       ///< of the leader: a summary, then its node's block, …
  std::uint32_t step_ = 0;              ///< the generation of the last step
  std::int32_t last_checked_node_ = 0;  ///< index of the node that check_next_node() checked last
  bool is_formed_ = false;

  bool is_long_prepared_ = false;
  std::size_t part_bytes_ = 0;  ///< of long data for which each member has room in node memory
  std::optional<PipelineRings> rings_;  ///< empty if a member had no memory for them
};

}  // namespace tessera::rma::detail
