// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "rma/node/agent_host.hpp"
#include "rma/node/backoff.hpp"

namespace tessera::rma::detail {

Node::Node(std::shared_ptr<NodeMemory> memory, std::vector<WorldRank> ranks, int place,
           bool one_process, WaitPolicy policy)
    : memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      rank_span_(std::int64_t{ranks_.back().value} - ranks_.front().value + 1),
      local_rank_(place),
      one_process_(one_process),
      policy_(policy),
      context_{.place = place,
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
  own().presence.store(static_cast<std::uint32_t>(Presence::here));
  return {};
}

void Node::leave() noexcept {
  own().presence.store(static_cast<std::uint32_t>(Presence::left));
}

Status Node::make_remote_rank_tables(std::int32_t world_ranks) {
  NodeHeader& header = memory_->header();
  const auto guests = static_cast<std::uint64_t>(world_ranks);
  const std::uint64_t notices = ranks_.size() * guests * sizeof(std::uint64_t);
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena_.allocate(notices + guests));
  header.remote_notices_offset = offset;
  header.remote_rank_states_offset = offset + notices;
  header.world_ranks = guests;
  return {};
}

bool Node::has_left(int place) const {
  if (is_remote_rank(place)) {
    return memory_->remote_rank_state(rank_at(place)).load() == RemoteRankState::left;
  }
  return memory_->record(place).presence.load() == static_cast<std::uint32_t>(Presence::left);
}

bool Node::has_ended(int place) const {
  const std::uint32_t presence = memory_->record(place).presence.load();
  return presence != static_cast<std::uint32_t>(Presence::absent) && !one_process_ &&
         place != local_rank_ && !memory_->has_liveness_lock(place);
}

bool Node::is_gone(int place) const {
  if (is_remote_rank(place)) {
    // The agent records the peer state; after the agent has ended with its carrier, it cannot.
    return memory_->remote_rank_state(rank_at(place)).load() != RemoteRankState::unknown ||
           has_lost_agent_host(*this);
  }
  return has_left(place) || has_ended(place);
}

void Node::timed_wait(FutexWord& word, std::uint32_t expected) const noexcept {
  Helper* const needy = helper();
  const auto longest = needy == nullptr ? policy_.liveness_interval : needy->max_sleep();
  if (longest < policy_.liveness_interval) {
    const ProgressScope helping(needy);
    helping.help();
  }
  futex_wait(word, expected, std::min(longest, policy_.liveness_interval));
}

void Node::ring(int place) noexcept {
  RankRecord& record = memory_->record(place);
  record.doorbell.fetch_add(1);
  if (record.listeners.load() != 0) {
    futex_wake_all(record.doorbell);
  }
}

Result<bool> Node::try_send_join(int place, JoinMessage invitation) {
  if (invitation.sender < 0) {
    invitation.sender = ranks_[static_cast<std::size_t>(local_rank_)].value;
  }
  RankRecord& record = memory_->record(place);
  {
    const RobustGuard guard(record.inbox_lock, context_);
    if (record.inbox_count < record.box.size()) {
      // The count is incremented last: a sender that dies earlier leaves the inbox unchanged.
      record.box[record.inbox_count] = invitation;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      ++record.inbox_count;
      ring(place);
      return true;
    }
  }
  if (is_gone(place)) {
    return Status::error_at(ranks_[static_cast<std::size_t>(place)], Code::peer_lost,
                            fmt::format("rank {} is gone and does not join the team",
                                        ranks_[static_cast<std::size_t>(place)].value));
  }
  return false;
}

Status Node::invite(int place, JoinMessage invitation) {
  Backoff nap(std::chrono::milliseconds(1), max_timed_wait);
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_in, try_send_join(place, invitation));
    if (is_in) {
      return {};
    }
    std::this_thread::sleep_for(nap.next());
  }
}

// Empties the inbox completely: a sender that waits for room in it may be the one whose message is
// waited for here.
void Node::drain_inbox() {
  RankRecord& record = own();
  const RobustGuard guard(record.inbox_lock, context_);
  join_messages_.insert(join_messages_.end(), record.box.begin(),
                        record.box.begin() + record.inbox_count);
  record.inbox_count = 0;
}

std::optional<JoinMessage> Node::take_join_message(std::uint64_t key, WorldRank sender) noexcept {
  const std::lock_guard guard(join_messages_mutex_);
  bool is_empty = true;
  try {
    drain_inbox();
  } catch (const std::bad_alloc&) {
    is_empty = false;  // the others stay in `box`
  }
  const auto found = std::find_if(
      join_messages_.begin(), join_messages_.end(),
      [&](const JoinMessage& each) { return each.key == key && each.sender == sender.value; });
  if (found == join_messages_.end()) {
    return is_empty ? std::nullopt : take_from_inbox(key, sender);
  }
  const JoinMessage invitation = *found;
  join_messages_.erase(found);
  return invitation;
}

std::optional<JoinMessage> Node::take_from_inbox(std::uint64_t key, WorldRank sender) noexcept {
  RankRecord& record = own();
  const RobustGuard guard(record.inbox_lock, context_);
  const auto end = record.box.begin() + record.inbox_count;
  const auto found = std::find_if(record.box.begin(), end, [&](const JoinMessage& each) {
    return each.key == key && each.sender == sender.value;
  });
  if (found == end) {
    return std::nullopt;
  }
  const JoinMessage invitation = *found;
  std::copy(found + 1, end, found);
  --record.inbox_count;
  return invitation;
}

Result<JoinMessage> Node::accept(std::uint64_t key, WorldRank sender,
                                 const std::function<bool()>& is_gone) {
  std::optional<JoinMessage> invitation;
  const bool came = listen_until(
      [&] {
        invitation = take_join_message(key, sender);
        return invitation.has_value();
      },
      is_gone);
  if (!came) {
    return Status::error_at(
        sender, Code::peer_lost,
        fmt::format("rank {} is gone and does not form the team", sender.value));
  }
  return *invitation;
}

}  // namespace tessera::rma::detail
