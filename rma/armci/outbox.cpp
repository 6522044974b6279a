// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/outbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::rma::armci::detail {

Outbox::Outbox(MailboxRegion& region)
    : region_(region), sent_(static_cast<std::size_t>(region.size())) {
  for (std::uint32_t slot = max_short_messages; slot > 0; --slot) {
    free_slots_.push_back(slot - 1);
  }
  pending_.reserve(free_slots_.size());
}

// ---- Slots --------------------------------------------------------------------------------------

bool Outbox::has_slot_for(WorldRank to) {
  if (!outgoing_.empty() && first_to(to) != nullptr) {
    return false;  // it would overtake
  }
  if (free_slots_.empty()) {
    collect_slots();
  }
  return !free_slots_.empty();
}

std::uint32_t Outbox::take_slot() noexcept {
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

// Writes the slot's header and the part of the message that goes into the slot; returns the units
// in use.
std::uint32_t Outbox::fill_slot(std::uint32_t slot, WorldRank to, std::int32_t tag,
                                std::span<const std::byte> message, std::size_t bytes_in_slot) {
  const SlotHeader header{.previous = sent(to), .tag = tag, .bytes = message.size()};
  std::memcpy(region_.slot(slot), &header, sizeof header);
  if (bytes_in_slot > 0) {
    std::memcpy(region_.slot(slot) + sizeof header, message.data(), bytes_in_slot);
  }
  return units_of(bytes_in_slot);
}

Status Outbox::announce(WorldRank to, Announcement announcement) {
  sent(to) = announcement.encode();
  return region_.announce(to, announcement);
}

Status Outbox::send_short(std::int32_t tag, std::span<const std::byte> message, WorldRank to) {
  const std::uint32_t slot = take_slot();
  const std::uint32_t number = Announcement::decode(sent(to)).number + 1;
  const std::uint32_t units = fill_slot(slot, to, tag, message, message.size());
  pending_.push_back({to, number, slot});
  Status status = announce(to, {.number = number, .units = units, .slot = slot});
  if (is_rank_loss(status)) {
    release_slots_of(to);
  }
  return status;
}

void Outbox::collect_slots() {
  std::erase_if(pending_, [&](const Pending& each) {
    // A long message's slot stays until its last part is taken.
    const bool is_taken =
        each.to != window_user_ && distance(region_.taken(each.to), each.number) >= 0;
    if (is_taken) {
      free_slots_.push_back(each.slot);
    }
    return is_taken;
  });
}

void Outbox::release_slots_of(WorldRank rank) {
  std::erase_if(pending_, [&](const Pending& each) {
    if (each.to == rank) {
      free_slots_.push_back(each.slot);
    }
    return each.to == rank;
  });
}

// ---- Outgoing messages --------------------------------------------------------------------------

Outbox::Ticket Outbox::add(std::int32_t tag, std::span<const std::byte> message, WorldRank to) {
  outgoing_.push_back({.ticket = ++last_ticket_, .tag = tag, .message = message, .to = to});
  return last_ticket_;
}

const Outbox::Outgoing* Outbox::find(Ticket ticket) const noexcept {
  const auto found = std::find_if(outgoing_.begin(), outgoing_.end(),
                                  [&](const Outgoing& each) { return each.ticket == ticket; });
  return found == outgoing_.end() ? nullptr : &*found;
}

const Outbox::Outgoing* Outbox::first_to(WorldRank to) const noexcept {
  const auto found = std::find_if(outgoing_.begin(), outgoing_.end(),
                                  [&](const Outgoing& each) { return each.to == to; });
  return found == outgoing_.end() ? nullptr : &*found;
}

std::optional<Outbox::Ticket> Outbox::oldest(std::optional<WorldRank> to) const noexcept {
  if (outgoing_.empty()) {
    return std::nullopt;
  }
  const Outgoing* const first = to.has_value() ? first_to(*to) : &outgoing_.front();
  return first == nullptr ? std::nullopt : std::optional(first->ticket);
}

WorldRank Outbox::awaited(Ticket ticket) const noexcept {
  const WorldRank to = find(ticket)->to;
  const Outgoing& first = *first_to(to);
  if (first.has_begun) {
    return to;
  }
  if (!is_short(first.message.size()) && window_user_.has_value()) {
    return *window_user_;
  }
  return free_slots_.empty() ? pending_.front().to : to;
}

bool Outbox::advance() {
  if (outgoing_.empty()) {
    return false;
  }
  collect_slots();
  bool has_advanced = false;
  for (auto each = outgoing_.begin(); each != outgoing_.end();) {
    const WorldRank to = each->to;
    if (first_to(to) != &*each) {
      ++each;
      continue;
    }
    const std::uint64_t before = each->taken + each->filled;
    const Result<bool> done = advance(*each);
    if (!done.ok()) {
      abandon(to, done.status());
      return true;  // the iterator may be one of those that were dropped
    }
    has_advanced = has_advanced || *done || each->taken + each->filled != before;
    each = *done ? outgoing_.erase(each) : std::next(each);
  }
  return has_advanced;
}

// Whether the message is done.
Result<bool> Outbox::advance(Outgoing& each) {
  if (each.has_begun) {
    return advance_parts(each);
  }
  const bool fits = is_short(each.message.size());
  if (free_slots_.empty() || (!fits && window_user_.has_value())) {
    return false;
  }
  if (fits) {
    TESSERA_RETURN_IF_ERROR(send_short(each.tag, each.message, each.to));
    return true;
  }
  TESSERA_RETURN_IF_ERROR(begin_long(each));
  return false;
}

Status Outbox::begin_long(Outgoing& each) {
  const std::uint32_t slot = take_slot();
  each.before = Announcement::decode(sent(each.to)).number;
  const std::uint32_t units = fill_slot(slot, each.to, each.tag, each.message, 0);
  pending_.push_back({each.to, each.before + 1, slot});
  each.head = {.number = each.before, .units = units, .slot = slot};
  each.has_begun = true;
  window_user_ = each.to;
  return fill_parts(each);
}

// Keeps the window full.
Status Outbox::fill_parts(Outgoing& each) {
  const std::uint64_t end = std::min(parts_of(each.message.size()), each.taken + part_count);
  if (each.filled >= end) {
    return {};
  }
  for (; each.filled < end; ++each.filled) {
    const std::span<const std::byte> part = part_of(each.message, each.filled);
    std::memcpy(region_.part(each.filled), part.data(), part.size());
  }
  each.head.number = each.before + static_cast<std::uint32_t>(each.filled);
  return announce(each.to, each.head);
}

Result<bool> Outbox::advance_parts(Outgoing& each) {
  const auto seen = each.before + static_cast<std::uint32_t>(each.taken);
  const std::int32_t more = distance(region_.taken(each.to), seen);
  if (more <= 0) {
    return false;
  }
  each.taken += static_cast<std::uint64_t>(more);
  if (each.taken < parts_of(each.message.size())) {
    TESSERA_RETURN_IF_ERROR(fill_parts(each));
    return false;
  }
  // All slots of this receiver: after a long message the numbers may be too far from those before
  // it.
  window_user_.reset();
  release_slots_of(each.to);
  return true;
}

void Outbox::abandon(WorldRank to, const Status& error) {
  const auto dropped =
      std::erase_if(outgoing_, [&](const Outgoing& each) { return each.to == to; });
  if (window_user_ == to) {
    window_user_.reset();
  }
  release_slots_of(to);
  if (dropped > 0) {
    failures_.insert_or_assign(to.value, error);
  }
}

Status Outbox::take_failure(std::optional<WorldRank> to) {
  if (failures_.empty()) {
    return {};
  }
  const auto found = to.has_value() ? failures_.find(to->value) : failures_.begin();
  if (found == failures_.end()) {
    return {};
  }
  Status failure = std::move(found->second);
  failures_.erase(found);
  return failure;
}

}  // namespace tessera::rma::armci::detail
