// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "rma/node/carrier.hpp"
#include "rma/node/growing_nap.hpp"

namespace tessera::rma::detail {

Node::Node(std::shared_ptr<NodeMemory> memory, std::vector<WorldRank> ranks, int place,
           bool one_process, WaitPolicy policy)
    : memory_(std::move(memory)),
      ranks_(std::move(ranks)),
      hull_(std::int64_t{ranks_.back().value} - ranks_.front().value + 1),
      place_(place),
      one_process_(one_process),
      policy_(policy),
      context_{
          .place = place, .liveness = this, .spin = policy.spin, .look_period = policy.look_period},
      arena_(*memory_, context_) {
  if (hull_ != static_cast<std::int64_t>(ranks_.size())) {
    place_in_hull_.assign(static_cast<std::size_t>(hull_), -1);
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      place_in_hull_[static_cast<std::size_t>(ranks_[i].value - ranks_.front().value)] =
          static_cast<int>(i);
    }
  }
}

Status Node::enter() {
  if (!one_process_) {
    TESSERA_RETURN_IF_ERROR(memory_->hold_life_mark(place_));
  }
  own().presence.store(static_cast<std::uint32_t>(Presence::here));
  return {};
}

void Node::leave() noexcept {
  own().presence.store(static_cast<std::uint32_t>(Presence::left));
}

Status Node::make_guest_book(std::int32_t world_ranks) {
  NodeHeader& header = memory_->header();
  const auto guests = static_cast<std::uint64_t>(world_ranks);
  const std::uint64_t notices = ranks_.size() * guests * sizeof(std::uint64_t);
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, arena_.allocate(notices + guests));
  header.guest_notices_offset = offset;
  header.guest_fates_offset = offset + notices;
  header.world_ranks = guests;
  return {};
}

bool Node::has_left(int place) const {
  if (is_guest(place)) {
    return memory_->guest_fate(rank_at(place)).load() == GuestFate::left;
  }
  return memory_->record(place).presence.load() == static_cast<std::uint32_t>(Presence::left);
}

bool Node::has_ended(int place) const {
  const std::uint32_t presence = memory_->record(place).presence.load();
  return presence != static_cast<std::uint32_t>(Presence::absent) && !one_process_ &&
         place != place_ && !memory_->has_life_mark(place);
}

bool Node::is_gone(int place) const {
  if (is_guest(place)) {
    // The agent records the peer state; after the agent has ended with its carrier, it cannot.
    return memory_->guest_fate(rank_at(place)).load() != GuestFate::unknown ||
           has_lost_carrier(*this);
  }
  return has_left(place) || has_ended(place);
}

void Node::doze(FutexWord& word, std::uint32_t expected) const noexcept {
  Helper* const needy = helper();
  const auto longest = needy == nullptr ? policy_.look_period : needy->longest_sleep();
  if (longest < policy_.look_period) {
    const Helping helping(needy);
    helping.help();
  }
  futex_wait(word, expected, std::min(longest, policy_.look_period));
}

void Node::ring(int place) noexcept {
  RankRecord& record = memory_->record(place);
  record.doorbell.fetch_add(1);
  if (record.listeners.load() != 0) {
    futex_wake_all(record.doorbell);
  }
}

Result<bool> Node::try_invite(int place, Invitation invitation) {
  if (invitation.sender < 0) {
    invitation.sender = ranks_[static_cast<std::size_t>(place_)].value;
  }
  RankRecord& record = memory_->record(place);
  {
    const RobustGuard guard(record.box_lock, context_);
    if (record.box_count < record.box.size()) {
      // The count is incremented last: a sender that dies earlier leaves the inbox unchanged.
      record.box[record.box_count] = invitation;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      ++record.box_count;
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

Status Node::invite(int place, Invitation invitation) {
  GrowingNap nap(std::chrono::milliseconds(1), longest_nap);
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_in, try_invite(place, invitation));
    if (is_in) {
      return {};
    }
    std::this_thread::sleep_for(nap.next());
  }
}

// Empties the inbox completely: a sender that waits for room in it may be the one whose message is
// waited for here.
void Node::empty_box() {
  RankRecord& record = own();
  const RobustGuard guard(record.box_lock, context_);
  invitations_.insert(invitations_.end(), record.box.begin(),
                      record.box.begin() + record.box_count);
  record.box_count = 0;
}

std::optional<Invitation> Node::take_invitation(std::uint64_t key, WorldRank sender) noexcept {
  const std::lock_guard guard(invitations_mutex_);
  bool is_empty = true;
  try {
    empty_box();
  } catch (const std::bad_alloc&) {
    is_empty = false;  // the others stay in `box`
  }
  const auto found = std::find_if(
      invitations_.begin(), invitations_.end(),
      [&](const Invitation& each) { return each.key == key && each.sender == sender.value; });
  if (found == invitations_.end()) {
    return is_empty ? std::nullopt : take_out_of_box(key, sender);
  }
  const Invitation invitation = *found;
  invitations_.erase(found);
  return invitation;
}

std::optional<Invitation> Node::take_out_of_box(std::uint64_t key, WorldRank sender) noexcept {
  RankRecord& record = own();
  const RobustGuard guard(record.box_lock, context_);
  const auto end = record.box.begin() + record.box_count;
  const auto found = std::find_if(record.box.begin(), end, [&](const Invitation& each) {
    return each.key == key && each.sender == sender.value;
  });
  if (found == end) {
    return std::nullopt;
  }
  const Invitation invitation = *found;
  std::copy(found + 1, end, found);
  --record.box_count;
  return invitation;
}

Result<Invitation> Node::accept(std::uint64_t key, WorldRank sender,
                                const std::function<bool()>& is_gone) {
  std::optional<Invitation> invitation;
  const bool came = listen_until(
      [&] {
        invitation = take_invitation(key, sender);
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
