// SPDX-License-Identifier: BSD-3-Clause
//
// The part of TeamState for long data of teams with members on several nodes.
//
// If each node has one member, the leaders work on the caller's memory itself. Otherwise members
// put long data into their parts in node memory, which alternate as slots do, and the leader works
// on one of these.
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/long_collectives.hpp"
#include "rma/engine/reduce.hpp"
#include "rma/engine/team_state.hpp"

namespace tessera::rma::detail {

/// What a node has for long data, as its leader reports; the minimum over all nodes is used.
struct TeamState::LongMemoryOffer {
  std::uint64_t piece_bytes = 0;
  std::uint64_t part_bytes = 0;
  std::uint32_t memory = 0;    ///< 0: no memory
  std::uint32_t is_ready = 0;  ///< of each member: whether it has what it needs itself
};

// From the setting, not from the slots, which are small if there are many members.
TeamState::LongMemoryOffer TeamState::wanted_long_memory() const {
  constexpr std::size_t slots_per_piece = 16;
  const auto slot = static_cast<std::size_t>(job_.settings.collective_slot_bytes);
  const RingShape shape =
      PipelineRings::shape_within(*nodes_, slots_per_piece * slot, max_mailbox_set_bytes);
  const std::size_t most = max_mailbox_set_bytes / 2 / static_cast<std::size_t>(node_members_);
  const std::size_t part =
      std::min(RingShape::depth * shape.piece_bytes, most) / cache_line * cache_line;
  return {.piece_bytes = shape.piece_bytes, .part_bytes = std::max(part, cache_line)};
}

TeamState::LongMemoryOffer TeamState::make_long_memory() {
  LongMemoryOffer offer = wanted_long_memory();
  const std::uint64_t parts =
      is_flat() ? 0 : 2 * static_cast<std::uint64_t>(node_members_) * offer.part_bytes;
  const std::uint64_t bytes =
      PipelineRings::bytes(*nodes_, {.piece_bytes = offer.piece_bytes}) + parts;
  Arena& arena = node_->arena();
  const Result<std::uint64_t> offset = arena.allocate(bytes);
  if (!offset.ok()) {
    return offer;
  }
  const Status backed = arena.back(*offset, bytes);
  const Result<RegionId> published =
      backed.ok() ? job_.publish({.offset = *offset, .bytes = bytes}) : Result<RegionId>(backed);
  if (!published.ok()) {
    arena.free(*offset, bytes);
    return offer;
  }
  control_->long_memory = published->value;
  control_->long_offset = *offset;
  control_->long_bytes = bytes;
  offer.memory = published->value;
  return offer;
}

void TeamState::free_long_memory() noexcept {
  if (control_->long_memory == 0) {
    return;
  }
  withdraw_control(RegionId{control_->long_memory});
  node_->arena().free(control_->long_offset, control_->long_bytes);
  control_->long_memory = 0;
}

// Once per team. The meeting is part of the collective that needs the memory, so that members that
// called something else get an error. If a node has no memory, all use the slots instead.
Status TeamState::prepare_long(const CollectiveCall& call) {
  if (is_long_prepared_) {
    return {};
  }
  const LongMemoryOffer offer = make_ready_for_long();
  const Payload payload{.kind = Payload::Kind::of_each, .bytes = sizeof offer, .phase = phase_++};
  std::memcpy(slot(payload.phase, order_), &offer, sizeof offer);
  Status met = meet(call, payload);
  is_long_prepared_ = met.ok();
  if (!met.ok() || !accept_offers(payload)) {
    rings_.reset();
    if (is_leader()) {
      free_long_memory();
    }
  }
  return met;
}

// Before the meeting: after it, all members must be able to continue in the same way.
TeamState::LongMemoryOffer TeamState::make_ready_for_long() noexcept {
  LongMemoryOffer offer;
  const Status ready = catch_bad_alloc([&]() -> Status {
    rings_.emplace(ring_environment());
    if (is_leader()) {
      offer = make_long_memory();
    }
    return {};
  });
  offer.is_ready = ready.ok() ? 1 : 0;
  return offer;
}

PipelineRings::Surroundings TeamState::ring_environment() {
  return {
      .link = *job_.link,
      .nodes = *nodes_,
      .wait = [this](std::atomic<std::uint64_t>& counter, std::uint64_t at_least,
                     std::int32_t partner) { return wait_for_ring(counter, at_least, partner); },
      .explain = [this](std::int32_t partner,
                        const Status& error) { return explain(partner, error); }};
}

// False if a member lacks something.
bool TeamState::accept_offers(const Payload& payload) noexcept {
  RingShape shape{.piece_bytes = SIZE_MAX};
  bool are_ready = true;
  for (std::int32_t member = 0; member < size(); ++member) {
    LongMemoryOffer offer;
    std::memcpy(&offer, piece(TeamRank{member}, payload), sizeof offer);
    are_ready = are_ready && offer.is_ready != 0;
  }
  part_bytes_ = SIZE_MAX;
  for (std::int32_t index = 0; index < nodes_->count(); ++index) {
    LongMemoryOffer offer;
    std::memcpy(&offer, piece(team_rank(nodes_->leader(index)), payload), sizeof offer);
    are_ready = are_ready && offer.memory != 0;
    if (rings_) {
      rings_->set_memory(index, RegionId{offer.memory});
    }
    shape.piece_bytes = std::min<std::size_t>(shape.piece_bytes, offer.piece_bytes);
    part_bytes_ = std::min<std::size_t>(part_bytes_, offer.part_bytes);
  }
  if (!are_ready) {
    return false;
  }
  std::byte* const own = node_->arena().at(control_->long_offset);
  if (is_leader()) {
    PipelineRings::make(own, *nodes_, shape);
  }
  rings_->place(shape, own);
  return true;
}

// The block of each node, beginning with this one and going backwards: in the order in which a ring
// delivers them.
template <class BlockOf>
std::vector<std::span<std::byte>> TeamState::blocks_of_ring(const BlockOf& block_of) const {
  const std::int32_t count = nodes_->count();
  std::vector<std::span<std::byte>> blocks;
  for (std::int32_t distance = 0; distance < count; ++distance) {
    blocks.push_back(block_of((nodes_->own() - distance + count) % count));
  }
  return blocks;
}

// Parts follow the lanes in memory.
std::byte* TeamState::part(std::uint32_t phase, std::int32_t order) const noexcept {
  const std::size_t at =
      (phase % 2) * static_cast<std::size_t>(node_members_) + static_cast<std::size_t>(order);
  return node_->arena().at(control_->long_offset) +
         PipelineRings::bytes(*nodes_, {.piece_bytes = rings_->piece_bytes()}) + at * part_bytes_;
}

Status TeamState::broadcast_long(std::span<std::byte> bytes, const CollectiveCall& call) {
  if (is_flat()) {
    const LeadersWork work = [&](PipelineRings& lanes) {
      return broadcast_by_binomial_tree(lanes, *nodes_, nodes_->index_of(call.root), bytes);
    };
    return meet(call, {.leaders_work = &work});
  }
  for (std::size_t done = 0; done < bytes.size(); done += part_bytes_) {
    TESSERA_RETURN_IF_ERROR(
        broadcast_part(bytes.subspan(done, std::min(part_bytes_, bytes.size() - done)), call));
  }
  return {};
}

// From the root's part on its node to the leaders' parts on the others.
Status TeamState::broadcast_part(std::span<std::byte> bytes, const CollectiveCall& call) {
  const std::int32_t index = nodes_->index_of(call.root);
  const bool is_here = index == nodes_->own();
  std::byte* const shared = part(
      phase_++, is_here ? nodes_->order_of(call.root) : order_of(nodes_->leader(nodes_->own())));
  if (rank_ == call.root) {
    std::memcpy(shared, bytes.data(), bytes.size());
  }
  const LeadersWork work = [&](PipelineRings& lanes) {
    return broadcast_by_binomial_tree(lanes, *nodes_, index, {shared, bytes.size()});
  };
  TESSERA_RETURN_IF_ERROR(meet(call, {.leaders_work = &work}));
  if (rank_ != call.root) {
    std::memcpy(bytes.data(), shared, bytes.size());
  }
  return {};
}

Status TeamState::allreduce_long(std::span<std::byte> bytes, const CollectiveCall& call,
                                 bool keep_result) {
  const bool all_keep = call.kind == CollectiveCall::Kind::allreduce;
  if (is_flat() && all_keep) {
    return allreduce_flat(bytes, call);
  }
  std::vector<std::byte> copy;
  for (std::size_t done = 0; done < bytes.size(); done += part_bytes_) {
    std::span<std::byte> some = bytes.subspan(done, std::min(part_bytes_, bytes.size() - done));
    if (!is_flat()) {
      TESSERA_RETURN_IF_ERROR(allreduce_parts(some, call, keep_result));
      continue;
    }
    if (!keep_result) {
      copy.assign(some.begin(), some.end());
      some = copy;
    }
    TESSERA_RETURN_IF_ERROR(allreduce_flat(some, call));
  }
  return {};
}

Status TeamState::allreduce_flat(std::span<std::byte> bytes, const CollectiveCall& call) {
  const LeadersWork work = [&](PipelineRings& lanes) {
    return allreduce_by_halving_and_doubling(lanes, *nodes_, bytes, call.type, call.reduction);
  };
  return meet(call, {.leaders_work = &work});
}

// The leader combines its node's parts in the first one, in team order.
Status TeamState::allreduce_parts(std::span<std::byte> bytes, const CollectiveCall& call,
                                  bool keep_result) {
  const std::uint32_t phase = phase_++;
  std::byte* const result = part(phase, 0);
  std::memcpy(part(phase, order_), bytes.data(), bytes.size());
  const LeadersWork work = [&](PipelineRings& lanes) {
    for (std::int32_t order = 1; order < node_members_; ++order) {
      combine(result, part(phase, order), bytes.size(), call.type, call.reduction);
    }
    return allreduce_by_halving_and_doubling(lanes, *nodes_, {result, bytes.size()}, call.type,
                                             call.reduction);
  };
  TESSERA_RETURN_IF_ERROR(meet(call, {.leaders_work = &work}));
  if (keep_result) {
    std::memcpy(bytes.data(), result, bytes.size());
  }
  return {};
}

// The bytes of each member, the same on all nodes. All members' data must fit into the parts of the
// node that has the fewest members.
std::size_t TeamState::max_gathered_bytes() const noexcept {
  std::int32_t fewest = size();
  for (std::int32_t index = 0; index < nodes_->count(); ++index) {
    fewest = std::min(fewest, nodes_->members_on(index));
  }
  const std::size_t room = static_cast<std::size_t>(fewest) * part_bytes_;
  return room / members_.size() / cache_line * cache_line;
}

Status TeamState::allgather_long(std::span<const std::byte> mine, std::span<std::byte> all,
                                 const CollectiveCall& call) {
  if (is_flat()) {
    return allgather_flat(mine, all, call);
  }
  const std::size_t most = max_gathered_bytes();
  for (std::size_t done = 0; done < mine.size(); done += most) {
    TESSERA_RETURN_IF_ERROR(gather_part(mine, all, done, std::min(most, mine.size() - done), call));
  }
  return {};
}

Status TeamState::allgather_flat(std::span<const std::byte> mine, std::span<std::byte> all,
                                 const CollectiveCall& call) {
  const auto block_of = [&](TeamRank member) {
    return all.subspan(static_cast<std::size_t>(member.value) * mine.size(), mine.size());
  };
  const auto blocks = blocks_of_ring(
      [&](std::int32_t index) { return block_of(team_rank(nodes_->leader(index))); });
  const LeadersWork work = [&](PipelineRings& lanes) {
    // The data may already be in place.
    std::memmove(block_of(rank_).data(), mine.data(), mine.size());
    return allgather_by_ring(lanes, *nodes_, blocks);
  };
  return meet(call, {.leaders_work = &work});
}

// The data of all members are in the memory of the node's parts, node after node, and on each in
// the order of its members.
Status TeamState::gather_part(std::span<const std::byte> mine, std::span<std::byte> all,
                              std::size_t done, std::size_t bytes, const CollectiveCall& call) {
  std::byte* const shared = part(phase_++, 0);
  const auto place_of = [&](TeamRank member) {
    const std::int32_t at =
        nodes_->members_before(nodes_->index_of(member)) + nodes_->order_of(member);
    return shared + static_cast<std::size_t>(at) * bytes;
  };
  const auto blocks = blocks_of_ring([&](std::int32_t index) {
    return std::span(shared + static_cast<std::size_t>(nodes_->members_before(index)) * bytes,
                     static_cast<std::size_t>(nodes_->members_on(index)) * bytes);
  });
  std::memcpy(place_of(rank_), mine.data() + done, bytes);
  const LeadersWork work = [&](PipelineRings& lanes) {
    return allgather_by_ring(lanes, *nodes_, blocks);
  };
  TESSERA_RETURN_IF_ERROR(meet(call, {.leaders_work = &work}));
  for (std::int32_t member = 0; member < size(); ++member) {
    std::memcpy(all.data() + static_cast<std::size_t>(member) * mine.size() + done,
                place_of(TeamRank{member}), bytes);
  }
  return {};
}

}  // namespace tessera::rma::detail
