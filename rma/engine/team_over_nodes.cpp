// SPDX-License-Identifier: BSD-3-Clause
//
// The part of TeamState for teams with members on several nodes; team_state.hpp and team_nodes.hpp
// explain how it works. A "failure word" is a value of TeamControl::broken; 0 means that nothing
// failed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/engine/connection_loss_word.hpp"
#include "rma/engine/job_state.hpp"
#include "rma/engine/lost_agent_host.hpp"
#include "rma/engine/reduce.hpp"
#include "rma/engine/team_state.hpp"

namespace tessera::rma::detail {
namespace {

constexpr std::uint64_t min_slot_bytes = 256;  // as in tuning.cpp
constexpr std::chrono::seconds join_timeout_without_descriptors{2};

// The failure word of a leader that could not set up its node's part of the team.
std::uint32_t failure_word_of(WorldRank self, const Status& status) {
  const bool is_lost = status.code() == Code::peer_lost && status.rank().has_value();
  return is_lost ? TeamControl::died(*status.rank())
                 : TeamControl::died(self) | TeamControl::no_memory_bit;
}

}  // namespace

Status TeamState::find_nodes() {
  if (node_members_ == size()) {
    return {};
  }
  if (job_.link == nullptr) {
    return Status::error(Code::unreachable,
                         fmt::format("the team's members are on several nodes, and no transport of "
                                     "'{}' connects nodes",
                                     job_.settings.transport));
  }
  nodes_.emplace(members_, job_.nodes, job_.rank);
  last_checked_node_ = nodes_->own();
  memory_of_.resize(static_cast<std::size_t>(nodes_->count()));
  outbox_.reserve(sizeof(StepSummary));
  const std::uint64_t most = max_mailbox_set_bytes / members_.size() / cache_line * cache_line;
  slot_bytes_ = std::min<std::size_t>(slot_bytes_, std::max(most, min_slot_bytes));
  return {};
}

Result<RegionId> TeamState::publish_control(std::uint64_t offset) {
  return job_.publish({.offset = offset, .bytes = control_bytes()});
}

void TeamState::withdraw_control(RegionId memory) noexcept {
  if (memory.value != 0) {
    job_.link->withdraw(memory);
  }
}

// Connects before it sends join messages, so that a leader that receives this node's failure does
// not wait for it.
Status TeamState::reach_partners() {
  for (const std::int32_t index : nodes_->partners()) {
    Status reached = retry([&] { return job_.link->connect(nodes_->node(index)); });
    if (!reached.ok() && is_local_resource_error(reached)) {
      return catch_bad_alloc([&]() -> Status {
        return std::move(reached).context(
            fmt::format("making a team with rank {}", nodes_->leader(index).value));
      });
    }
  }
  return {};  // partners that cannot be reached for other reasons are found by later steps
}

// Collective among the leaders. If anything failed on a node, its leader reports that to the
// leaders that would wait for it: in its part of the forming step, or in its control.
Status TeamState::join_nodes(std::uint64_t key, const Status& made) {
  const Status reached = reach_partners();
  const Status& mine = made.ok() ? reached : made;
  std::uint32_t word =
      send_joins_to_leaders(key, mine.ok() ? RegionId{control_->memory} : RegionId{0});
  word = word != 0 ? word : receive_joins_of_leaders(key, reached.ok());
  if (!mine.ok()) {
    word = failure_word_of(job_.rank, mine);
    notify_leaders(word, 0, 0);
  }
  if (word != 0 && control_ != nullptr) {
    control_->give_up(control_->generation.load() & ~TeamControl::given_up_bit, word);
  }
  return mine.ok() && word != 0 ? broken() : mine;
}

std::uint32_t TeamState::send_joins_to_leaders(std::uint64_t key, RegionId memory) {
  std::uint32_t word = 0;
  for (const std::int32_t index : nodes_->partners()) {
    const Status sent = job_.link->invite(
        nodes_->leader(index), {.key = key, .sender = job_.rank.value, .memory = memory.value});
    if (!sent.ok() && !is_local_resource_error(sent) && word == 0) {
      word = explain(index, sent);
    }
  }
  return word;
}

// If this node couldn't reach all partners, one of them may be unable to send it a join message.
// Then the wait has a limit.
std::uint32_t TeamState::receive_joins_of_leaders(std::uint64_t key, bool is_patient) {
  const auto deadline = std::chrono::steady_clock::now() + join_timeout_without_descriptors;
  LongWait long_wait(job_.settings);
  for (const std::int32_t index : nodes_->partners()) {
    const auto gone = [&] {
      report_if_long(long_wait, job_.log, [&] {
        return fmt::format("in forming a team of {}: rank {} has not arrived", size(),
                           nodes_->leader(index).value);
      });
      const bool is_given_up = (control_ != nullptr && control_->broken.load() != 0) ||
                               (!is_patient && std::chrono::steady_clock::now() > deadline);
      return is_given_up || has_lost_agent_host(*node_) || check_node(index) != 0 ||
             check_next_node() != 0;
    };
    const Result<JoinMessage> invitation =
        node_->accept(key, nodes_->leader(index), std::cref(gone));
    if (!invitation.ok()) {
      const std::uint32_t word = control_ == nullptr ? 0 : control_->broken.load();
      return word != 0 ? word : explain(index, invitation.status());
    }
    memory_of_[static_cast<std::size_t>(index)] = RegionId{invitation->memory};
  }
  return 0;
}

// Sends the failure in place of what the leaders wait for in the remaining rounds: this node can
// receive nothing, or has given up. Otherwise they would find later that it is gone, and report its
// rank as the cause.
void TeamState::notify_leaders(std::uint32_t word, std::uint32_t generation, int first_round) {
  StepSummary summary;
  summary.broken = word;
  outbox_.resize(sizeof summary);
  std::memcpy(outbox_.data(), &summary, sizeof summary);
  for (int round = first_round; round < nodes_->rounds(); ++round) {
    send(round, generation, 0)
        .ignore("a leader that cannot be reached is gone, or has given up before");
  }
}

bool TeamState::is_leader() const noexcept {
  return job_.rank == nodes_->leader(nodes_->own());
}

Status TeamState::meet_over_nodes(std::uint32_t generation, const CollectiveCall& call,
                                  const Payload& payload) {
  step_ = generation;
  if (is_leader()) {
    return lead_meeting(generation, call, payload);
  }
  // Sequentially consistent, like what the leader does before it sleeps: one sees the other.
  const std::uint32_t arrived = control_->arrived.fetch_add(1) + 1;
  if (arrived + 1 == static_cast<std::uint32_t>(node_members_) &&
      control_->leader_sleeps.load() != 0) {
    futex_wake_all(control_->arrived);
  }
  return wait_for_others(generation);
}

Status TeamState::lead_meeting(std::uint32_t generation, const CollectiveCall& call,
                               Payload payload) {
  TeamControl::Check& check = control_->check[generation % 2];
  if (!has_room_for(payload)) {
    check_call(check, {.kind = CollectiveCall::Kind::without_memory});
    payload = Payload();
  }
  if (!wait_for_arrivals(generation)) {
    notify_leaders(control_->broken.load(), generation, 0);
    return broken();
  }
  control_->entered.store(TeamControl::after(generation));
  StepSummary summary = summarise(check);
  if (const std::uint32_t word = exchange(generation, summary, call, payload); word != 0) {
    control_->give_up(generation, word);
    return broken();
  }
  if (payload.leaders_work != nullptr && !summary.odd.is_known()) {
    TESSERA_RETURN_IF_ERROR(work_among_leaders(generation, *payload.leaders_work));
  }
  record(summary, check);
  return finish_meeting(generation);
}

// Reserves the memory before other nodes wait for what is sent from it.
bool TeamState::has_room_for(const Payload& payload) noexcept {
  std::size_t most = own_block_bytes(payload);
  for (int round = 0; round + 1 < nodes_->rounds(); ++round) {
    most = std::max(most, bytes_of_blocks((1 << round) + nodes_->blocks_in(round), payload));
  }
  return catch_bad_alloc([&]() -> Status {
           outbox_.reserve(sizeof(StepSummary) + most);
           return {};
         })
      .ok();
}

// Requires: all nodes' members have arrived and called the same.
Status TeamState::work_among_leaders(std::uint32_t generation, const LeadersWork& work) {
  rings_->begin();
  const std::uint32_t word = work(*rings_);
  if (word == 0) {
    return {};
  }
  rings_->poison(word);
  control_->give_up(generation, word);
  return broken();
}

bool TeamState::is_under_way(std::uint32_t generation) const noexcept {
  return control_->generation.load(std::memory_order_acquire) == generation;
}

// Waits until the node's other members have arrived; false if they give up.
bool TeamState::wait_for_arrivals(std::uint32_t generation) {
  TeamControl& control = *control_;
  const auto others = static_cast<std::uint32_t>(node_members_) - 1;
  const auto over = [&] { return control.arrived.load() == others || !is_under_way(generation); };
  if (!node_->spin(over)) {
    LongWait long_wait = begin_to_wait(generation);
    control.leader_sleeps.store(1);
    auto looked = std::chrono::steady_clock::now();
    while (true) {
      const std::uint32_t arrived = control.arrived.load();
      if (over()) {
        break;
      }
      node_->timed_wait(control.arrived, arrived);
      const auto now = std::chrono::steady_clock::now();
      if (now - looked >= node_->policy().liveness_interval && !over()) {
        looked = now;
        check_members_alive(generation);
        tell_of(long_wait, generation);
      }
    }
    control.leader_sleeps.store(0);
  }
  return is_under_way(generation);
}

StepSummary TeamState::summarise(const TeamControl::Check& check) const {
  const std::uint32_t order = 2 * static_cast<std::uint32_t>(nodes_->own());
  StepSummary summary;
  summary.slot_bytes = slot_bytes_;
  summary.first = {.call = check.call.load(),
                   .fingerprint = check.fingerprint.load(),
                   .rank = check.first.load(),
                   .order = order};
  if (const std::uint32_t odd = check.odd.load(); odd != 0) {
    summary.odd = {.call = check.odd_call.load(),
                   .fingerprint = check.odd_fingerprint.load(),
                   .rank = static_cast<std::int32_t>(odd) - 1,
                   .order = order + 1};
  }
  return summary;
}

// Records for the node's members what all leaders found: the same everywhere.
void TeamState::record(const StepSummary& summary, TeamControl::Check& check) {
  if (!is_formed_) {
    control_->slot_bytes = summary.slot_bytes;
  }
  if (!summary.odd.is_known()) {
    return;
  }
  check.call.store(summary.first.call);
  check.first.store(summary.first.rank);
  check.odd.store(static_cast<std::uint32_t>(summary.odd.rank) + 1);
  check.odd_call.store(summary.odd.call);
}

// The size of the first `blocks` blocks together. If members call different things, their sizes
// differ. They never exceed a mailbox, and such data are not read.
std::size_t TeamState::bytes_of_blocks(std::int32_t blocks, const Payload& payload) const noexcept {
  switch (payload.kind) {
    case Payload::Kind::of_each:
      return static_cast<std::size_t>(nodes_->members_within(blocks)) * payload.bytes;
    case Payload::Kind::combined:
      return static_cast<std::size_t>(blocks) * payload.bytes;
    case Payload::Kind::of_root:
    case Payload::Kind::nothing:
      break;
  }
  return 0;
}

std::uint32_t TeamState::exchange(std::uint32_t generation, StepSummary& summary,
                                  const CollectiveCall& call, const Payload& payload) {
  const bool of_root = payload.kind == Payload::Kind::of_root;
  const std::int32_t distance_from_root =
      of_root ? nodes_->distance_from(nodes_->index_of(call.root)) : 0;
  outbox_.resize(std::max(outbox_.size(), sizeof summary + own_block_bytes(payload)));
  pack_own(call, payload, outbox_.data() + sizeof summary);
  for (int round = 0; round < nodes_->rounds(); ++round) {
    const std::int32_t step = 1 << round;
    const std::int32_t blocks = nodes_->blocks_in(round);
    std::size_t sent_bytes = bytes_of_blocks(blocks, payload);
    std::size_t from = bytes_of_blocks(step, payload);
    std::size_t to = bytes_of_blocks(step + blocks, payload);
    if (of_root) {
      // A node gets the piece once, in the round of its distance's highest bit.
      sent_bytes = distance_from_root < step && distance_from_root + step < nodes_->count()
                       ? payload.bytes
                       : 0;
      from = 0;
      to = distance_from_root >= step && distance_from_root < 2 * step ? payload.bytes : 0;
    }
    std::memcpy(outbox_.data(), &summary, sizeof summary);
    if (const Status sent = retry([&] { return send(round, generation, sent_bytes); });
        !sent.ok()) {
      return give_up_exchange(explain(nodes_->receiver(round), sent), summary, generation, round);
    }
    if (const std::uint32_t word = wait_for_mail(round, generation); word != 0) {
      return give_up_exchange(word, summary, generation, round);
    }
    const TeamMailbox& mail = mailbox(round, generation);
    summary.join(mail.summary);
    if (to > from && round + 1 < nodes_->rounds()) {
      outbox_.resize(std::max(outbox_.size(), sizeof summary + to));
      std::memcpy(outbox_.data() + sizeof summary + from, &mail + 1, to - from);
    }
  }
  return summary.broken;
}

// The failure that was received first is the cause; what this node found may be its consequence.
std::uint32_t TeamState::give_up_exchange(std::uint32_t found, const StepSummary& summary,
                                          std::uint32_t generation, int round) {
  const std::uint32_t word = summary.broken != 0 ? summary.broken : found;
  notify_leaders(word, generation, round + 1);
  return word;
}

std::size_t TeamState::own_block_bytes(const Payload& payload) const noexcept {
  return payload.kind == Payload::Kind::of_root ? payload.bytes : bytes_of_blocks(1, payload);
}

void TeamState::pack_own(const CollectiveCall& call, const Payload& payload, std::byte* block) {
  if (payload.bytes == 0) {
    return;
  }
  switch (payload.kind) {
    case Payload::Kind::of_each:
      for (std::int32_t order = 0; order < node_members_; ++order) {
        std::memcpy(block + static_cast<std::size_t>(order) * payload.bytes,
                    slot(payload.phase, order), payload.bytes);
      }
      break;
    case Payload::Kind::of_root:
      if (nodes_->index_of(call.root) == nodes_->own()) {
        std::memcpy(block, slot(payload.phase, nodes_->order_of(call.root)), payload.bytes);
      }
      break;
    case Payload::Kind::combined:
      std::memcpy(block, slot(payload.phase, 0), payload.bytes);
      for (std::int32_t order = 1; order < node_members_; ++order) {
        combine(block, slot(payload.phase, order), payload.bytes, call.type, call.reduction);
      }
      // For this node's members, in a slot that no other member reads.
      std::memcpy(slot(payload.phase, order_), block, payload.bytes);
      break;
    case Payload::Kind::nothing:
      break;
  }
}

Status TeamState::send(int round, std::uint32_t generation, std::size_t data_bytes) {
  const std::int32_t index = nodes_->receiver(round);
  const RegionId memory = memory_of_[static_cast<std::size_t>(index)];
  if (memory.value == 0) {
    return {};  // it had no memory for a mailbox, and reports that to all
  }
  const std::uint64_t offset = mail_start(nodes_->members_on(index)) +
                               nodes_->mail_offset(index, mail_set(generation), round, slot_bytes_);
  return job_.link->deliver(nodes_->node(index), memory, offset + offsetof(TeamMailbox, summary),
                            std::span(outbox_.data(), sizeof(StepSummary) + data_bytes),
                            offset + offsetof(TeamMailbox, flag), std::uint64_t{generation} + 1);
}

// Waits until the sender of that round has delivered. Returns a failure word.
std::uint32_t TeamState::wait_for_mail(int round, std::uint32_t generation) {
  const std::uint64_t expected = std::uint64_t{generation} + 1;
  return wait_for_word(mailbox(round, generation).flag, nodes_->sender(round), generation,
                       [expected](std::uint64_t seen) { return seen == expected; });
}

std::uint32_t TeamState::wait_for_ring(std::atomic<std::uint64_t>& counter, std::uint64_t at_least,
                                       std::int32_t partner) {
  return wait_for_word(counter, partner, step_,
                       [at_least](std::uint64_t seen) { return seen >= at_least; });
}

// Waits until another node has set a word of this node as required. Returns a failure word.
template <class IsEnough>
std::uint32_t TeamState::wait_for_word(std::atomic<std::uint64_t>& word, std::int32_t sender,
                                       std::uint32_t generation, const IsEnough& is_enough) {
  const auto over = [&] {
    return is_enough(word.load(std::memory_order_acquire)) || !is_under_way(generation);
  };
  if (!node_->spin(over)) {
    LongWait long_wait = begin_to_wait(generation);
    static_assert(std::endian::native == std::endian::little);
    auto& low_half = reinterpret_cast<FutexWord&>(word);
    std::uint32_t gone_before = 0;
    auto looked = std::chrono::steady_clock::now();
    while (true) {
      const std::uint64_t seen = word.load();
      if (over()) {
        break;
      }
      node_->timed_wait(low_half, static_cast<std::uint32_t>(seen));
      const auto now = std::chrono::steady_clock::now();
      if (now - looked < node_->policy().liveness_interval || over()) {
        continue;
      }
      looked = now;
      check_members_alive(generation);
      tell_of(long_wait, generation, sender);
      // Counts only if it is found twice: what the sender delivered before may still be on its way.
      const std::uint32_t cut_off = failure_word_of_lost_agent_host(*node_);
      const std::uint32_t gone = cut_off != 0 ? cut_off : check_node(sender);
      if (gone != 0 && gone_before != 0 && !over()) {
        return gone;
      }
      gone_before = gone;
      const std::uint32_t elsewhere = gone == 0 ? check_next_node() : 0;
      if (elsewhere != 0 && has_not_entered(sender, generation) && !over()) {
        return elsewhere;
      }
    }
  }
  return is_under_way(generation) ? 0 : control_->broken.load();
}

// The failure word of the team on that node, else that of the first member there that is gone. In
// this order, as members may leave after they got an error.
std::uint32_t TeamState::check_node(std::int32_t index) {
  const RegionId memory = memory_of_[static_cast<std::size_t>(index)];
  Result<std::optional<std::uint32_t>> broken = std::optional(std::uint32_t{0});
  if (memory.value != 0) {
    broken = job_.link->read_word(nodes_->node(index), memory, offsetof(TeamControl, broken));
  }
  if (broken.ok() && broken->value_or(0) != 0) {
    return **broken;
  }
  if (broken.ok() && !broken->has_value()) {
    return 0;  // its agent would not answer about its ranks either
  }
  const std::uint32_t gone = check_ranks_of_node(index);
  if (gone != 0 || broken.ok() || is_local_resource_error(broken.status())) {
    return gone;
  }
  // A node that has freed the team's memory although no rank is gone has finished its last step, or
  // has reported why it gave up. What it sent is on its way.
  const std::uint32_t word = explain(index, broken.status());
  const bool says_nothing =
      broken.status().code() == Code::closed && word == TeamControl::left(nodes_->leader(index));
  return says_nothing ? 0 : word;
}

std::uint32_t TeamState::check_ranks_of_node(std::int32_t index) {
  for (const WorldRank rank : nodes_->ranks(index)) {
    const Result<PeerState> fate = job_.link->peer_state_of(rank);
    if (!fate.ok() && is_local_resource_error(fate.status())) {
      continue;
    }
    if (!fate.ok()) {
      return failure_word_of_silent_node(rank, fate.status());
    }
    if (*fate == PeerState::died) {
      return TeamControl::died(rank);
    }
    if (*fate == PeerState::left) {
      return TeamControl::left(rank);
    }
  }
  return 0;
}

// The failure word for a rank whose node does not answer. If its port is closed, or another
// program's, its process has ended. But while the job starts, the address may simply be wrong.
std::uint32_t TeamState::failure_word_of_silent_node(WorldRank rank, const Status& error) noexcept {
  const ConnectionLoss contact = job_.link->contact(job_.nodes.node_of(rank));
  const bool is_closed =
      (error.code() == Code::peer_lost || error.code() == Code::protocol) && !contact.is_lost;
  return is_closed && job_.world_team ? TeamControl::died(rank)
                                      : ConnectionLossWord::of(rank, contact);
}

// The failure word for the ranks of one other node, the next one at each call. A rank may wait for
// a node whose members found a death and therefore don't arrive; so it finds the dead rank itself.
std::uint32_t TeamState::check_next_node() {
  last_checked_node_ = (last_checked_node_ + 1) % nodes_->count();
  if (last_checked_node_ == nodes_->own()) {
    last_checked_node_ = (last_checked_node_ + 1) % nodes_->count();
  }
  return check_ranks_of_node(last_checked_node_);
}

// Whether some members of that node have not arrived at the step yet. If so, no node has finished
// the step. A rank that was found gone before this call then never will.
bool TeamState::has_not_entered(std::int32_t index, std::uint32_t generation) {
  const RegionId memory = memory_of_[static_cast<std::size_t>(index)];
  if (memory.value == 0) {
    return true;
  }
  const auto entered =
      job_.link->read_word(nodes_->node(index), memory, offsetof(TeamControl, entered));
  return entered.ok() && *entered == generation;  // false if that is not known
}

// The failure word for an error from that node. If the node no longer has the memory, it gave up
// the team for a reason: a rank of some node.
std::uint32_t TeamState::explain(std::int32_t index, const Status& error) noexcept {
  if (job_.log.wants(LogLevel::debug)) {
    try {
      job_.log.debug(fmt::format("a team's exchange with rank {}: {}", nodes_->leader(index).value,
                                 error.describe()));
    } catch (const std::bad_alloc&) {
      // The failure word has the essential part.
    }
  }
  if (is_local_resource_error(error)) {
    return failure_word_of(job_.rank, error);
  }
  std::uint32_t word = check_ranks_of_node(index);
  for (std::int32_t other = 0; other < nodes_->count() && word == 0; ++other) {
    word = other == nodes_->own() ? check_own_node() : check_ranks_of_node(other);
  }
  word = word != 0 ? word : failure_word_of_lost_agent_host(*node_);
  if (word != 0) {
    return word;
  }
  // Its ranks answer, or nothing is known about them: none is reported dead.
  return error.code() == Code::closed
             ? TeamControl::left(nodes_->leader(index))
             : ConnectionLossWord::of(nodes_->leader(index),
                                      job_.link->contact(nodes_->node(index)));
}

TeamNodes::Set TeamState::mail_set(std::uint32_t generation) const noexcept {
  if (!is_formed_) {
    return TeamNodes::Set::forming;
  }
  return generation % 2 == 0 ? TeamNodes::Set::even : TeamNodes::Set::odd;
}

TeamMailbox& TeamState::mailbox(int round, std::uint32_t generation) const noexcept {
  return *reinterpret_cast<TeamMailbox*>(
      reinterpret_cast<std::byte*>(control_) + mail_start(node_members_) +
      nodes_->mail_offset(nodes_->own(), mail_set(generation), round, slot_bytes_));
}

const std::byte* TeamState::piece_of_member(TeamRank member,
                                            const Payload& payload) const noexcept {
  const std::int32_t index = nodes_->index_of(member);
  const std::int32_t order = nodes_->order_of(member);
  if (index == nodes_->own()) {
    return slot(payload.phase, order);
  }
  const std::int32_t distance = nodes_->distance_from(index);
  const int round = TeamNodes::round_of(distance);
  const std::int32_t before =
      nodes_->members_within(distance) - nodes_->members_within(1 << round) + order;
  return data_of(mailbox(round, step_)) + static_cast<std::size_t>(before) * payload.bytes;
}

const std::byte* TeamState::piece_of_root(TeamRank root, const Payload& payload) const noexcept {
  if (!nodes_) {
    return slot(payload.phase, root.value);
  }
  const std::int32_t index = nodes_->index_of(root);
  return index == nodes_->own()
             ? slot(payload.phase, nodes_->order_of(root))
             : data_of(mailbox(TeamNodes::round_of(nodes_->distance_from(index)), step_));
}

const std::byte* TeamState::piece_of_node(std::int32_t index,
                                          const Payload& payload) const noexcept {
  if (index == nodes_->own()) {
    return slot(payload.phase, order_of(nodes_->leader(index)));
  }
  const std::int32_t distance = nodes_->distance_from(index);
  const int round = TeamNodes::round_of(distance);
  return data_of(mailbox(round, step_)) +
         static_cast<std::size_t>(distance - (1 << round)) * payload.bytes;
}

}  // namespace tessera::rma::detail
