// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/pipelined_collectives.hpp"

#include <algorithm>
#include <cstring>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/reduce.hpp"
#include "rma/engine/team/long_collectives.hpp"

namespace tessera::rma::detail {

/// What a node has for long data, as its leader reports; the minimum over all nodes is used.
struct PipelinedCollectives::Offer {
  std::uint64_t piece_bytes = 0;
  std::uint64_t part_bytes = 0;
  std::uint32_t memory = 0;    ///< 0: no memory
  std::uint32_t is_ready = 0;  ///< of each member: whether it has what it needs itself
};

Result<bool> PipelinedCollectives::prepare(const CollectiveCall& call) {
  if (!is_prepared_) {
    TESSERA_RETURN_IF_ERROR(make_memory(call));
  }
  return rings_.has_value() && (call.kind != CollectiveCall::Kind::allgather || is_flat() ||
                                max_gathered_bytes() >= step_.memory().slot_bytes());
}

// Once per team. The step is part of the collective that needs the memory, so that members that
// called something else get an error.
Status PipelinedCollectives::make_memory(const CollectiveCall& call) {
  const Offer offer = make_offer();
  const StepPayload payload{
      .kind = StepPayload::Kind::of_each, .bytes = sizeof offer, .phase = step_.next_phase()};
  std::memcpy(step_.own_slot(payload.phase), &offer, sizeof offer);
  Status met = step_.meet(call, payload);
  is_prepared_ = met.ok();
  if (!met.ok() || !accept_offers(payload)) {
    rings_.reset();
    if (members_.is_leader()) {
      step_.memory().free_long();
    }
  }
  return met;
}

// Before the step: after it, all members must be able to continue in the same way.
PipelinedCollectives::Offer PipelinedCollectives::make_offer() noexcept {
  Offer offer;
  const Status ready = catch_bad_alloc([&]() -> Status {
    rings_.emplace(ring_environment());
    if (members_.is_leader()) {
      offer = wanted_memory();
      const auto count = static_cast<std::uint64_t>(members_.count_on_node());
      const std::uint64_t parts = is_flat() ? 0 : 2 * count * offer.part_bytes;
      const RingShape shape{.piece_bytes = offer.piece_bytes};
      const std::uint64_t rings = PipelineRings::bytes(members_.nodes(), shape);
      offer.memory = step_.memory().make_long(rings + parts).value;
    }
    return {};
  });
  offer.is_ready = ready.ok() ? 1 : 0;
  return offer;
}

// From the setting, not from the slots, which are small if there are many members.
PipelinedCollectives::Offer PipelinedCollectives::wanted_memory() const {
  constexpr std::size_t slots_per_piece = 16;
  const auto slot = static_cast<std::size_t>(job_.settings().collective_slot_bytes);
  const RingShape shape =
      PipelineRings::shape_within(members_.nodes(), slots_per_piece * slot, max_mailbox_set_bytes);
  const std::size_t most =
      max_mailbox_set_bytes / 2 / static_cast<std::size_t>(members_.count_on_node());
  const std::size_t part =
      std::min(RingShape::depth * shape.piece_bytes, most) / cache_line * cache_line;
  return {.piece_bytes = shape.piece_bytes, .part_bytes = std::max(part, cache_line)};
}

PipelineRings::Environment PipelinedCollectives::ring_environment() {
  return {.link = *job_.link(),
          .nodes = members_.nodes(),
          .exchange = step_.exchange(),
          .liveness = step_.liveness()};
}

// False if a member lacks something.
bool PipelinedCollectives::accept_offers(const StepPayload& payload) noexcept {
  const TeamNodes& nodes = members_.nodes();
  RingShape shape{.piece_bytes = SIZE_MAX};
  bool are_ready = true;
  for (std::int32_t member = 0; member < members_.size(); ++member) {
    Offer offer;
    std::memcpy(&offer, step_.piece(TeamRank{member}, payload), sizeof offer);
    are_ready = are_ready && offer.is_ready != 0;
  }
  part_bytes_ = SIZE_MAX;
  for (std::int32_t index = 0; index < nodes.count(); ++index) {
    Offer offer;
    std::memcpy(&offer, step_.piece(members_.team_rank(nodes.leader(index)), payload),
                sizeof offer);
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
  std::byte* const own = step_.memory().long_start();
  if (members_.is_leader()) {
    PipelineRings::make(own, nodes, shape);
  }
  rings_->attach(shape, own);
  return true;
}

Status PipelinedCollectives::meet(const CollectiveCall& call, const RingWork& work) {
  const LeadersWork leaders_work = [this, &work] {
    rings_->begin();
    const std::uint32_t word = work(*rings_);
    if (word != 0) {
      rings_->poison(word);
    }
    return word;
  };
  return step_.meet(call, {.leaders_work = &leaders_work});
}

// The block of each node, beginning with this one and going backwards: in the order in which a ring
// delivers them.
template <class BlockOf>
std::vector<std::span<std::byte>> PipelinedCollectives::blocks_of_ring(
    const BlockOf& block_of) const {
  const std::int32_t count = members_.nodes().count();
  std::vector<std::span<std::byte>> blocks;
  for (std::int32_t distance = 0; distance < count; ++distance) {
    blocks.push_back(block_of((members_.nodes().own() - distance + count) % count));
  }
  return blocks;
}

// Parts follow the rings in memory.
std::byte* PipelinedCollectives::part(std::uint32_t phase, std::int32_t order) const noexcept {
  const std::size_t at = (phase % 2) * static_cast<std::size_t>(members_.count_on_node()) +
                         static_cast<std::size_t>(order);
  const RingShape shape{.piece_bytes = rings_->piece_bytes()};
  return step_.memory().long_start() + PipelineRings::bytes(members_.nodes(), shape) +
         at * part_bytes_;
}

Status PipelinedCollectives::broadcast(std::span<std::byte> bytes, const CollectiveCall& call) {
  if (is_flat()) {
    return meet(call, [&](PipelineRings& rings) {
      const TeamNodes& nodes = members_.nodes();
      return broadcast_by_binomial_tree(rings, nodes, nodes.index_of(call.root), bytes);
    });
  }
  for (std::size_t done = 0; done < bytes.size(); done += part_bytes_) {
    TESSERA_RETURN_IF_ERROR(
        broadcast_part(bytes.subspan(done, std::min(part_bytes_, bytes.size() - done)), call));
  }
  return {};
}

// From the root's part on its node to the leaders' parts on the others.
Status PipelinedCollectives::broadcast_part(std::span<std::byte> bytes,
                                            const CollectiveCall& call) {
  const TeamNodes& nodes = members_.nodes();
  const std::int32_t index = nodes.index_of(call.root);
  const bool is_on_this_node = index == nodes.own();
  std::byte* const shared =
      part(step_.next_phase(),
           is_on_this_node ? nodes.order_of(call.root) : members_.order_of(members_.leader()));
  const bool is_root = members_.self() == call.root;
  if (is_root) {
    std::memcpy(shared, bytes.data(), bytes.size());
  }
  TESSERA_RETURN_IF_ERROR(meet(call, [&](PipelineRings& rings) {
    return broadcast_by_binomial_tree(rings, nodes, index, {shared, bytes.size()});
  }));
  if (!is_root) {
    std::memcpy(bytes.data(), shared, bytes.size());
  }
  return {};
}

Status PipelinedCollectives::allreduce(std::span<std::byte> elements, const CollectiveCall& call,
                                       bool keep_result) {
  const bool all_keep = call.kind == CollectiveCall::Kind::allreduce;
  if (is_flat() && all_keep) {
    return allreduce_flat(elements, call);
  }
  std::vector<std::byte> copy;
  for (std::size_t done = 0; done < elements.size(); done += part_bytes_) {
    std::span<std::byte> some =
        elements.subspan(done, std::min(part_bytes_, elements.size() - done));
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

Status PipelinedCollectives::allreduce_flat(std::span<std::byte> bytes,
                                            const CollectiveCall& call) {
  return meet(call, [&](PipelineRings& rings) {
    return allreduce_by_halving_and_doubling(rings, members_.nodes(), bytes, call.type,
                                             call.reduction);
  });
}

// The leader combines its node's parts in the first one, in team order.
Status PipelinedCollectives::allreduce_parts(std::span<std::byte> bytes, const CollectiveCall& call,
                                             bool keep_result) {
  const std::uint32_t phase = step_.next_phase();
  std::byte* const result = part(phase, 0);
  std::memcpy(part(phase, members_.own_order()), bytes.data(), bytes.size());
  TESSERA_RETURN_IF_ERROR(meet(call, [&](PipelineRings& rings) {
    for (std::int32_t order = 1; order < members_.count_on_node(); ++order) {
      combine(result, part(phase, order), bytes.size(), call.type, call.reduction);
    }
    return allreduce_by_halving_and_doubling(rings, members_.nodes(), {result, bytes.size()},
                                             call.type, call.reduction);
  }));
  if (keep_result) {
    std::memcpy(bytes.data(), result, bytes.size());
  }
  return {};
}

// The bytes of each member, the same on all nodes. All members' data must fit into the parts of the
// node that has the fewest members.
std::size_t PipelinedCollectives::max_gathered_bytes() const noexcept {
  std::int32_t fewest = members_.size();
  for (std::int32_t index = 0; index < members_.nodes().count(); ++index) {
    fewest = std::min(fewest, members_.nodes().members_on(index));
  }
  const std::size_t room = static_cast<std::size_t>(fewest) * part_bytes_;
  return room / static_cast<std::size_t>(members_.size()) / cache_line * cache_line;
}

Status PipelinedCollectives::allgather(std::span<const std::byte> mine, std::span<std::byte> all,
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

Status PipelinedCollectives::allgather_flat(std::span<const std::byte> mine,
                                            std::span<std::byte> all, const CollectiveCall& call) {
  const TeamNodes& nodes = members_.nodes();
  const auto block_of = [&](TeamRank member) {
    return all.subspan(static_cast<std::size_t>(member.value) * mine.size(), mine.size());
  };
  const auto blocks = blocks_of_ring(
      [&](std::int32_t index) { return block_of(members_.team_rank(nodes.leader(index))); });
  return meet(call, [&](PipelineRings& rings) {
    // The data may already be in place.
    std::memmove(block_of(members_.self()).data(), mine.data(), mine.size());
    return allgather_by_ring(rings, nodes, blocks);
  });
}

// The data of all members are in the memory of the node's parts, node after node, and on each in
// the order of its members.
Status PipelinedCollectives::gather_part(std::span<const std::byte> mine, std::span<std::byte> all,
                                         std::size_t done, std::size_t bytes,
                                         const CollectiveCall& call) {
  const TeamNodes& nodes = members_.nodes();
  std::byte* const shared = part(step_.next_phase(), 0);
  const auto data_of = [&](TeamRank member) {
    const std::int32_t at = nodes.members_before(nodes.index_of(member)) + nodes.order_of(member);
    return shared + static_cast<std::size_t>(at) * bytes;
  };
  const auto blocks = blocks_of_ring([&](std::int32_t index) {
    return std::span(shared + static_cast<std::size_t>(nodes.members_before(index)) * bytes,
                     static_cast<std::size_t>(nodes.members_on(index)) * bytes);
  });
  std::memcpy(data_of(members_.self()), mine.data() + done, bytes);
  TESSERA_RETURN_IF_ERROR(
      meet(call, [&](PipelineRings& rings) { return allgather_by_ring(rings, nodes, blocks); }));
  for (std::int32_t member = 0; member < members_.size(); ++member) {
    std::memcpy(all.data() + static_cast<std::size_t>(member) * mine.size() + done,
                data_of(TeamRank{member}), bytes);
  }
  return {};
}

}  // namespace tessera::rma::detail
