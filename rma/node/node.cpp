// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "rma/node/agent_host.hpp"

namespace tessera::rma::detail {

Node::Node(std::shared_ptr<NodeMemory> memory, std::vector<WorldRank> ranks, int local_rank,
           bool one_process, WaitPolicy policy)
    : memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      rank_span_(std::int64_t{ranks_.back().value} - ranks_.front().value + 1),
      local_rank_(local_rank),
      one_process_(one_process),
      policy_(policy),
      context_{.place = local_rank,
               .liveness = this,
               .spin = policy.spin,
               .liveness_interval = policy.liveness_interval},
      arena_(*memory_, context_) {
  if (rank_span_ != static_cast<std::int64_t>(ranks_.size())) {
    local_rank_in_span_.assign(static_cast<std::size_t>(rank_span_), -1);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      local_rank_in_span_[static_cast<std::size_t>(ranks_[i].value - ranks_.front().value)] =
          static_cast<int>(i);
    }
  }
}

Status Node::enter() {
  if (!one_process_) {
    TESSERA_RETURN_IF_ERROR(memory_->hold_liveness_lock(local_rank_));
  }
  own().presence.store(static_cast<std::uint32_t>(Presence::present));
  return {};
}

void Node::leave() noexcept {
  own().presence.store(static_cast<std::uint32_t>(Presence::left));
}

Status Node::make_remote_rank_tables(std::int32_t world_ranks) {
  NodeHeader& header = memory_->header();
  const auto remote_ranks = static_cast<std::uint64_t>(world_ranks);
  const std::uint64_t notices = ranks_.size() * remote_ranks * sizeof(std::uint64_t);
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena_.allocate(notices + remote_ranks));
  header.remote_notices_offset = offset;
  header.remote_rank_states_offset = offset + notices;
  header.world_ranks = remote_ranks;
  return {};
}

bool Node::has_left(int local_rank) const {
  if (is_remote_rank(local_rank)) {
    return memory_->remote_rank_state(rank_at(local_rank)).load() == RemoteRankState::left;
  }
  return memory_->record(local_rank).presence.load() == static_cast<std::uint32_t>(Presence::left);
}

bool Node::has_ended(int local_rank) const {
  const std::uint32_t presence = memory_->record(local_rank).presence.load();
  return presence != static_cast<std::uint32_t>(Presence::absent) && !one_process_ &&
         local_rank != local_rank_ && !memory_->has_liveness_lock(local_rank);
}

bool Node::is_gone(int local_rank) const {
  if (is_remote_rank(local_rank)) {
    // The agent records the peer state; after the death of the agent host it cannot.
    return memory_->remote_rank_state(rank_at(local_rank)).load() != RemoteRankState::unknown ||
           has_lost_agent_host(*this);
  }
  return has_left(local_rank) || has_ended(local_rank);
}

void Node::ring(int local_rank) noexcept {
  RankRecord& record = memory_->record(local_rank);
  record.doorbell.fetch_add(1);
  if (record.listeners.load() != 0) {
    futex_wake_all(record.doorbell);
  }
}

Result<bool> Node::try_send_join(int local_rank, JoinMessage message) {
  if (message.sender < 0) {
    message.sender = ranks_[static_cast<std::size_t>(local_rank_)].value;
  }
  RankRecord& record = memory_->record(local_rank);
  {
    const RobustGuard guard(record.inbox_lock, context_);
    if (record.inbox_count < record.inbox.size()) {
      // The count is incremented last: a sender that dies earlier leaves the inbox unchanged.
      record.inbox[record.inbox_count] = message;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      ++record.inbox_count;
      ring(local_rank);
      return true;
    }
  }
  if (is_gone(local_rank)) {
    return Status::error_at(ranks_[static_cast<std::size_t>(local_rank)], Code::peer_lost,
                            fmt::format("rank {} is gone and does not join the team",
                                        ranks_[static_cast<std::size_t>(local_rank)].value));
  }
  return false;
}

Status Node::send_join(int local_rank, JoinMessage message) {
  Result<bool> is_sent = false;
  poll_until(rank_waits, [&] {
    is_sent = try_send_join(local_rank, message);
    return !is_sent.ok() || *is_sent;
  });
  return is_sent.status();
}

// Empties the inbox completely: a sender that waits for room in it may be the one whose message is
// expected here.
void Node::drain_inbox() {
  RankRecord& record = own();
  const RobustGuard guard(record.inbox_lock, context_);
  join_messages_.insert(join_messages_.end(), record.inbox.begin(),
                        record.inbox.begin() + record.inbox_count);
  record.inbox_count = 0;
}

std::optional<JoinMessage> Node::take_join_message(std::uint64_t key, WorldRank sender) noexcept {
  const std::lock_guard guard(join_messages_mutex_);
  bool is_empty = true;
  try {
    drain_inbox();
  } catch (const std::bad_alloc&) {
    is_empty = false;  // the others stay in `inbox`
  }
  const auto found = std::find_if(
      join_messages_.begin(), join_messages_.end(),
      [&](const JoinMessage& each) { return each.key == key && each.sender == sender.value; });
  if (found == join_messages_.end()) {
    return is_empty ? std::nullopt : take_from_inbox(key, sender);
  }
  const JoinMessage message = *found;
  join_messages_.erase(found);
  return message;
}

std::optional<JoinMessage> Node::take_from_inbox(std::uint64_t key, WorldRank sender) noexcept {
  RankRecord& record = own();
  const RobustGuard guard(record.inbox_lock, context_);
  const auto end = record.inbox.begin() + record.inbox_count;
  const auto found = std::find_if(record.inbox.begin(), end, [&](const JoinMessage& each) {
    return each.key == key && each.sender == sender.value;
  });
  if (found == end) {
    return std::nullopt;
  }
  const JoinMessage message = *found;
  std::copy(found + 1, end, found);
  --record.inbox_count;
  return message;
}

Result<JoinMessage> Node::receive_join(std::uint64_t key, WorldRank sender,
                                       const std::function<bool()>& is_gone) {
  std::optional<JoinMessage> message;
  const bool has_arrived = listen_until(
      [&] {
        message = take_join_message(key, sender);
        return message.has_value();
      },
      is_gone);
  if (!has_arrived) {
    return Status::error_at(
        sender, Code::peer_lost,
        fmt::format("rank {} is gone and does not form the team", sender.value));
  }
  return *message;
}

}  // namespace tessera::rma::detail
