// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/team/node_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/reduce.hpp"

namespace tessera::rma::detail {

NodeExchange::NodeExchange(JobState& job, const TeamMembers& members, const TeamMemory& memory,
                           TeamLiveness& liveness, NodeBarrier& barrier)
    : job_(job), members_(members), memory_(memory), liveness_(liveness), barrier_(barrier) {
  if (members.has_other_nodes()) {
    outbox_.reserve(sizeof(StepSummary));
  }
}

bool NodeExchange::reserve(const StepPayload& payload) noexcept {
  const TeamNodes& nodes = members_.nodes();
  std::size_t most = own_block_bytes(payload);
  for (int round = 0; round + 1 < nodes.rounds(); ++round) {
    most = std::max(most, bytes_of_blocks((1 << round) + nodes.blocks_in(round), payload));
  }
  return catch_bad_alloc([&]() -> Status {
           outbox_.reserve(sizeof(StepSummary) + most);
           return {};
         })
      .ok();
}

// The size of the first `blocks` blocks together. If members call different things, their sizes
// differ. They never exceed a mailbox, and such data are not read.
std::size_t NodeExchange::bytes_of_blocks(std::int32_t blocks,
                                          const StepPayload& payload) const noexcept {
  switch (payload.kind) {
    case StepPayload::Kind::of_each:
      return static_cast<std::size_t>(members_.nodes().members_within(blocks)) * payload.bytes;
    case StepPayload::Kind::combined:
      return static_cast<std::size_t>(blocks) * payload.bytes;
    case StepPayload::Kind::of_root:
    case StepPayload::Kind::nothing:
      break;
  }
  return 0;
}

std::size_t NodeExchange::own_block_bytes(const StepPayload& payload) const noexcept {
  return payload.kind == StepPayload::Kind::of_root ? payload.bytes : bytes_of_blocks(1, payload);
}

std::uint32_t NodeExchange::run(StepSummary& summary, const CollectiveCall& call,
                                const StepPayload& payload) {
  const TeamNodes& nodes = members_.nodes();
  const bool of_root = payload.kind == StepPayload::Kind::of_root;
  const std::int32_t distance_from_root =
      of_root ? nodes.distance_from(nodes.index_of(call.root)) : 0;
  outbox_.resize(std::max(outbox_.size(), sizeof summary + own_block_bytes(payload)));
  pack_own(call, payload, outbox_.data() + sizeof summary);
  for (int round = 0; round < nodes.rounds(); ++round) {
    const std::int32_t step = 1 << round;
    const std::int32_t blocks = nodes.blocks_in(round);
    std::size_t sent_bytes = bytes_of_blocks(blocks, payload);
    std::size_t from = bytes_of_blocks(step, payload);
    std::size_t to = bytes_of_blocks(step + blocks, payload);
    if (of_root) {
      // A node gets the piece once, in the round of its distance's highest bit.
      sent_bytes = distance_from_root < step && distance_from_root + step < nodes.count()
                       ? payload.bytes
                       : 0;
      from = 0;
      to = distance_from_root >= step && distance_from_root < 2 * step ? payload.bytes : 0;
    }
    std::memcpy(outbox_.data(), &summary, sizeof summary);
    if (const Status sent = retry([&] { return send(round, sent_bytes); }); !sent.ok()) {
      return give_up(liveness_.explain(nodes.receiver(round), sent), summary, round);
    }
    if (const std::uint32_t word = wait_for_mail(round); word != 0) {
      return give_up(word, summary, round);
    }
    const TeamMailbox& mail = memory_.mailbox(round, generation_);
    summary.join(mail.summary);
    if (to > from && round + 1 < nodes.rounds()) {
      outbox_.resize(std::max(outbox_.size(), sizeof summary + to));
      std::memcpy(outbox_.data() + sizeof summary + from, &mail + 1, to - from);
    }
  }
  return summary.broken;
}

// The failure that was received first is the cause; what this node found may be its consequence.
std::uint32_t NodeExchange::give_up(std::uint32_t found, const StepSummary& summary, int round) {
  const std::uint32_t word = summary.broken != 0 ? summary.broken : found;
  send_failure(word, round + 1);
  return word;
}

// This node can receive nothing, or has given up. Without the failure word, the other leaders would
// find later that it is gone, and report its rank as the cause.
void NodeExchange::send_failure(std::uint32_t word, int first_round) {
  StepSummary summary;
  summary.broken = word;
  outbox_.resize(sizeof summary);
  std::memcpy(outbox_.data(), &summary, sizeof summary);
  for (int round = first_round; round < members_.nodes().rounds(); ++round) {
    send(round, 0).ignore("a leader that cannot be reached is gone, or has given up before");
  }
}

void NodeExchange::pack_own(const CollectiveCall& call, const StepPayload& payload,
                            std::byte* block) const {
  if (payload.bytes == 0) {
    return;
  }
  const TeamNodes& nodes = members_.nodes();
  const std::int32_t count = members_.count_on_node();
  switch (payload.kind) {
    case StepPayload::Kind::of_each:
      for (std::int32_t order = 0; order < count; ++order) {
        std::memcpy(block + static_cast<std::size_t>(order) * payload.bytes,
                    memory_.slot(payload.phase, order), payload.bytes);
      }
      break;
    case StepPayload::Kind::of_root:
      if (nodes.index_of(call.root) == nodes.own()) {
        std::memcpy(block, memory_.slot(payload.phase, nodes.order_of(call.root)), payload.bytes);
      }
      break;
    case StepPayload::Kind::combined:
      std::memcpy(block, memory_.slot(payload.phase, 0), payload.bytes);
      for (std::int32_t order = 1; order < count; ++order) {
        combine(block, memory_.slot(payload.phase, order), payload.bytes, call.type,
                call.reduction);
      }
      // For this node's members, in a slot that no other member reads.
      std::memcpy(memory_.slot(payload.phase, members_.own_order()), block, payload.bytes);
      break;
    case StepPayload::Kind::nothing:
      break;
  }
}

Status NodeExchange::send(int round, std::size_t data_bytes) {
  const TeamNodes& nodes = members_.nodes();
  const std::int32_t index = nodes.receiver(round);
  const RegionId memory = memory_.number_on(index);
  if (memory.value == 0) {
    return {};  // it had no memory for a mailbox, and reports that to all
  }
  const std::uint64_t offset = memory_.mailbox_offset(index, round, generation_);
  return job_.link()->deliver(nodes.node(index), memory, offset + offsetof(TeamMailbox, summary),
                              std::span(outbox_.data(), sizeof(StepSummary) + data_bytes),
                              offset + offsetof(TeamMailbox, flag), std::uint64_t{generation_} + 1);
}

// Waits until the sender of that round has delivered.
std::uint32_t NodeExchange::wait_for_mail(int round) {
  const std::uint64_t expected = std::uint64_t{generation_} + 1;
  return wait_for_word(memory_.mailbox(round, generation_).flag, members_.nodes().sender(round),
                       [expected](std::uint64_t seen) { return seen == expected; });
}

std::uint32_t NodeExchange::wait_for_counter(std::atomic<std::uint64_t>& counter,
                                             std::uint64_t at_least, std::int32_t partner) {
  return wait_for_word(counter, partner,
                       [at_least](std::uint64_t seen) { return seen >= at_least; });
}

// Waits until another node has set a word of this node as required.
template <class IsEnough>
std::uint32_t NodeExchange::wait_for_word(std::atomic<std::uint64_t>& word, std::int32_t sender,
                                          const IsEnough& is_enough) {
  const auto over = [&] {
    return is_enough(word.load(std::memory_order_acquire)) || !barrier_.is_under_way(generation_);
  };
  Waiter waiter = job_.node().waiter();
  if (!waiter.spin(over)) {
    LongWait long_wait = barrier_.begin_to_wait(generation_);
    static_assert(std::endian::native == std::endian::little);
    auto& low_half = reinterpret_cast<FutexWord&>(word);
    std::uint32_t gone_before = 0;
    std::uint32_t found = 0;
    const auto is_lost = [&] {
      barrier_.check_long_wait(long_wait, generation_, sender);
      found = check_sender(sender, gone_before);
      return found != 0 && !over();
    };
    if (!waiter.sleep(OnWord(low_half), over, is_lost)) {
      return found;
    }
  }
  return barrier_.is_under_way(generation_) ? 0 : memory_.control().broken.load();
}

// The failure word if this node's agent host or the sender's node is gone, or if the sender waits
// for a node that is. It counts only if it is found twice: what the sender delivered before may
// still be on its way. `gone_before` is what the check before found.
std::uint32_t NodeExchange::check_sender(std::int32_t sender, std::uint32_t& gone_before) {
  const std::uint32_t cut_off = liveness_.check_agent_host();
  const std::uint32_t gone = cut_off != 0 ? cut_off : liveness_.check_node(sender);
  if (gone != 0 && std::exchange(gone_before, gone) != 0) {
    return gone;
  }
  gone_before = gone;
  const std::uint32_t elsewhere = gone == 0 ? liveness_.check_next_node() : 0;
  return elsewhere != 0 && liveness_.has_not_entered(sender, generation_) ? elsewhere : 0;
}

// At `offset` of what another node's block brought.
const std::byte* NodeExchange::block_from(std::int32_t index, std::size_t offset) const noexcept {
  const int round = TeamNodes::round_of(members_.nodes().distance_from(index));
  const TeamMailbox& mail = memory_.mailbox(round, generation_);
  return reinterpret_cast<const std::byte*>(&mail + 1) + offset;
}

const std::byte* NodeExchange::piece_of_member(TeamRank member,
                                               const StepPayload& payload) const noexcept {
  const TeamNodes& nodes = members_.nodes();
  const std::int32_t index = nodes.index_of(member);
  const std::int32_t order = nodes.order_of(member);
  if (index == nodes.own()) {
    return memory_.slot(payload.phase, order);
  }
  const std::int32_t distance = nodes.distance_from(index);
  const std::int32_t nearest = 1 << TeamNodes::round_of(distance);
  const std::int32_t before =
      nodes.members_within(distance) - nodes.members_within(nearest) + order;
  return block_from(index, static_cast<std::size_t>(before) * payload.bytes);
}

const std::byte* NodeExchange::piece_of_root(TeamRank root,
                                             const StepPayload& payload) const noexcept {
  const TeamNodes& nodes = members_.nodes();
  const std::int32_t index = nodes.index_of(root);
  return index == nodes.own() ? memory_.slot(payload.phase, nodes.order_of(root))
                              : block_from(index, 0);
}

const std::byte* NodeExchange::piece_of_node(std::int32_t index,
                                             const StepPayload& payload) const noexcept {
  const TeamNodes& nodes = members_.nodes();
  if (index == nodes.own()) {
    return memory_.slot(payload.phase, members_.order_of(nodes.leader(index)));
  }
  const std::int32_t distance = nodes.distance_from(index);
  const std::int32_t nearest = 1 << TeamNodes::round_of(distance);
  return block_from(index, static_cast<std::size_t>(distance - nearest) * payload.bytes);
}

}  // namespace tessera::rma::detail
