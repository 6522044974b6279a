// SPDX-License-Identifier: BSD-3-Clause
#include "rma/armci/mailbox_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "rma/transfer.hpp"

namespace tessera::rma::armci::detail {

MailboxState::MailboxState(MailboxRegion region)
    : region_(std::move(region)),
      outbox_(region_),
      seen_(static_cast<std::size_t>(region_.size())),
      live_peer_(region_.rank()) {}

Status MailboxState::free() {
  return region_.free();
}

Status MailboxState::check_rank(WorldRank rank) const {
  if (!region_.is_open()) {
    return Status::error(Code::closed, "the mailbox was freed");
  }
  if (rank.value < 0 || rank.value >= region_.size()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("there is no rank {}: the job has ranks 0 to {}", rank.value,
                                     region_.size() - 1));
  }
  return {};
}

// ---- Waiting ------------------------------------------------------------------------------------

// Sleeps until `is_done`, or until the rank is gone; what that rank did before it went is still
// used. Meanwhile fetches what arrives, and stores errors of this in fetch_error_.
template <class IsDone>
Status MailboxState::wait(WorldRank peer, IsDone&& is_done) {
  const std::chrono::milliseconds liveness_interval(region_.job().settings().liveness_ms);
  auto last_check = std::chrono::steady_clock::now();
  while (true) {
    // Read before polling: if the bell changes between the poll and the sleep, the sleep ends at
    // once.
    const std::int32_t last_bell = region_.bell();
    fetch_from_all();
    has_fetched_ = outbox_.advance() || has_fetched_;
    if (is_done()) {
      return {};
    }
    if (has_fetched_) {
      continue;  // these ranks may have rung so often that the bell has its old value again
    }
    Status status = region_.listen(last_bell, peer);
    // The bell may keep ringing for other ranks.
    if (const auto now = std::chrono::steady_clock::now(); now - last_check >= liveness_interval) {
      last_check = now;
      if (status.ok() && !region_.job().is_present(peer)) {
        status =
            Status::error_at(peer, Code::peer_lost, fmt::format("rank {} is gone", peer.value));
      }
    }
    if (!status.ok()) {
      fetch_from_all();
      return is_done() ? Status() : std::move(status);
    }
  }
}

// Another rank that is alive, and so may send.
Result<WorldRank> MailboxState::find_live_peer() {
  for (std::int32_t i = 0; i < region_.size(); ++i) {
    const WorldRank rank{(live_peer_.value + i) % region_.size()};
    if (rank != region_.rank() && region_.job().is_present(rank)) {
      live_peer_ = rank;
      return rank;
    }
  }
  Status alone =
      Status::error(Code::peer_lost, "all other ranks are gone, and the message did not arrive");
  if (region_.size() == 1) {
    return alone;
  }
  // If none was ever found, any other rank is one that is gone.
  const WorldRank next{(region_.rank().value + 1) % region_.size()};
  return std::move(alone).at(live_peer_ == region_.rank() ? next : live_peer_);
}

// ---- Sending ------------------------------------------------------------------------------------

Status MailboxState::check_message(std::span<const std::byte> message, WorldRank to) const {
  TESSERA_RETURN_IF_ERROR(check_rank(to));
  if (message.data() == nullptr && !message.empty()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("a message of {} bytes at a null pointer", message.size()));
  }
  return {};
}

Status MailboxState::send(std::int32_t tag, std::span<const std::byte> message, WorldRank to) {
  TESSERA_RETURN_IF_ERROR(check_message(message, to));
  if (to == region_.rank()) {
    return send_to_self(tag, message);
  }
  std::optional<Outbox::Ticket> ticket;
  Status status = start_send(tag, message, to, ticket);
  if (status.ok() && ticket) {
    status = finish_send(*ticket, to);
  }
  return std::move(status).context(
      fmt::format("sending {} bytes with tag {} to rank {}", message.size(), tag, to.value));
}

Status MailboxState::send_async(std::int32_t tag, std::span<const std::byte> message,
                                WorldRank to) {
  TESSERA_RETURN_IF_ERROR(check_message(message, to));
  if (to == region_.rank()) {
    return send_to_self(tag, message);
  }
  std::optional<Outbox::Ticket> ticket;
  return start_send(tag, message, to, ticket);
}

Status MailboxState::wait_sent(std::optional<WorldRank> to) {
  TESSERA_RETURN_IF_ERROR(check_rank(to.value_or(region_.rank())));
  while (const auto ticket = outbox_.oldest(to)) {
    TESSERA_RETURN_IF_ERROR(finish_send(*ticket, to));
  }
  return outbox_.take_failure(to);
}

// Sends what fits into a slot at once. Else there is a ticket.
Status MailboxState::start_send(std::int32_t tag, std::span<const std::byte> message, WorldRank to,
                                std::optional<Outbox::Ticket>& ticket) {
  TESSERA_RETURN_IF_ERROR(outbox_.take_failure(to));
  if (is_short(message.size()) && outbox_.has_slot_for(to)) {
    return outbox_.send_short(tag, message, to);
  }
  ticket = outbox_.add(tag, message, to);
  outbox_.advance();
  return {};
}

// Waits until the message is done, or its receiver is lost.
Status MailboxState::finish_send(Outbox::Ticket ticket, std::optional<WorldRank> to) {
  while (!outbox_.is_done(ticket)) {
    const WorldRank peer = outbox_.awaited(ticket);
    Status status =
        wait(peer, [&] { return outbox_.is_done(ticket) || outbox_.awaited(ticket) != peer; });
    if (status.ok()) {
      continue;
    }
    if (!is_rank_loss(status)) {
      return status;
    }
    // It will fetch nothing any longer.
    outbox_.abandon(peer, status);
  }
  return outbox_.take_failure(to);
}

Status MailboxState::send_to_self(std::int32_t tag, std::span<const std::byte> message) {
  inbox_.add(
      {.from = region_.rank(), .tag = tag, .bytes = message.size(), .content = copy_of(message)});
  return {};
}

// ---- Fetching -----------------------------------------------------------------------------------

bool MailboxState::has_announced(WorldRank from) const {
  return from != region_.rank() && from != long_message_sender_ &&
         distance(region_.announced(from).number, seen_[static_cast<std::size_t>(from.value)]) > 0;
}

void MailboxState::fetch_from_all() {
  has_fetched_ = false;
  fetch_error_ = Status();
  for (WorldRank from{0}; from.value < region_.size(); ++from.value) {
    if (!has_announced(from)) {
      continue;
    }
    Status status = fetch_from(from);
    if (status.ok()) {
      has_fetched_ = true;
    } else if (is_rank_loss(status)) {
      // Its announcements are lost with it; a call that waits for it returns peer_lost.
      seen(from) = region_.announced(from).number;
    } else {
      fetch_error_ = std::move(status);
    }
  }
}

// Fetches what `from` announced, all or nothing, and acknowledges it. Each slot names the
// announcement before it: the newest message comes first.
Status MailboxState::fetch_from(WorldRank from) {
  const Announcement newest = region_.announced(from);
  std::vector<StoredMessage> messages;
  for (Announcement each = newest; distance(each.number, seen(from)) > 0;) {
    TESSERA_ASSIGN_OR_RETURN(Fetched fetched, fetch(from, each));
    each = fetched.previous;
    messages.push_back(std::move(fetched.message));
  }
  if (messages.empty()) {
    return {};
  }
  // Only the newest can be long: its sender does nothing else until it is received.
  const StoredMessage& last = messages.front();
  const std::uint32_t taken = last.is_complete ? newest.number : last.number_before;
  const bool is_new = distance(taken, seen(from)) > 0;
  std::for_each(messages.rbegin(), messages.rend(),
                [&](StoredMessage& each) { inbox_.add(std::move(each)); });
  seen(from) = newest.number;
  if (is_new) {
    // A sender that is gone no longer needs its slots.
    Status status = region_.acknowledge(from, taken);
    return is_rank_loss(status) ? Status() : std::move(status);
  }
  return {};
}

// One message from its slot; of a long one, only its description.
Result<MailboxState::Fetched> MailboxState::fetch(WorldRank from, Announcement announcement) {
  alignas(slot_unit_bytes) std::array<std::byte, slot_bytes> slot;
  const std::size_t bytes = announcement.units * slot_unit_bytes;
  SlotHeader header;
  if (bytes < sizeof header || bytes > slot.size()) {
    return Status::error(Code::internal,
                         fmt::format("rank {} announced a message in {} bytes", from.value, bytes));
  }
  TESSERA_RETURN_IF_ERROR(
      get(region_.job(), region_.slot_of(from, announcement.slot), slot.data(), bytes));
  std::memcpy(&header, slot.data(), sizeof header);
  Fetched fetched{.message = {.from = from, .tag = header.tag, .bytes = header.bytes},
                  .previous = Announcement::decode(header.previous)};
  if (!is_short(header.bytes)) {
    fetched.message.is_complete = false;
    fetched.message.number_before = fetched.previous.number;
    return fetched;
  }
  if (units_of(header.bytes) != announcement.units) {
    return Status::error(Code::internal,
                         fmt::format("a message of {} bytes from rank {} is in a slot of {} bytes",
                                     header.bytes, from.value, bytes));
  }
  fetched.message.content =
      copy_of(std::span<const std::byte>(slot).subspan(sizeof header, header.bytes));
  return fetched;
}

// ---- Receiving ----------------------------------------------------------------------------------

Result<Received> MailboxState::receive(std::int32_t tag, std::span<std::byte> buffer,
                                       std::optional<WorldRank> from) {
  TESSERA_RETURN_IF_ERROR(check_rank(from.value_or(region_.rank())));
  outbox_.advance();
  std::optional<StoredMessage> message = inbox_.take(tag, from);
  if (!message && from.has_value() && has_announced(*from)) {
    TESSERA_RETURN_IF_ERROR(fetch_from(*from));
    message = inbox_.take(tag, from);
  }
  if (!message) {
    auto waited = wait_for_message(tag, from);
    if (!waited.ok()) {
      const std::string sender =
          from.has_value() ? fmt::format("rank {}", from->value) : std::string("any rank");
      return std::move(waited).status().context(
          fmt::format("receiving a message with tag {} from {}", tag, sender));
    }
    message = std::move(waited).take();
  }
  return deliver(*message, buffer);
}

Result<std::optional<Received>> MailboxState::probe(std::int32_t tag,
                                                    std::optional<WorldRank> from) {
  TESSERA_RETURN_IF_ERROR(check_rank(from.value_or(region_.rank())));
  outbox_.advance();
  const StoredMessage* message = inbox_.find(tag, from);
  if (message == nullptr) {
    fetch_from_all();
    message = inbox_.find(tag, from);
  }
  if (message == nullptr) {
    TESSERA_RETURN_IF_ERROR(std::exchange(fetch_error_, Status()));
    return std::optional<Received>();
  }
  return std::optional(Received{static_cast<std::size_t>(message->bytes), message->from});
}

Result<StoredMessage> MailboxState::wait_for_message(std::int32_t tag,
                                                     std::optional<WorldRank> from) {
  if (from.value_or(region_.rank()) == region_.rank() &&
      (from.has_value() || region_.size() == 1)) {
    return Status::error(Code::invalid_argument,
                         "this rank has not sent itself this message, and would wait forever")
        .hint("send a message to this rank before receiving it");
  }
  std::optional<StoredMessage> message;
  const auto has_arrived = [&] {
    message = inbox_.take(tag, from);
    return message.has_value() || !fetch_error_.ok();
  };
  while (true) {
    WorldRank peer = from.value_or(live_peer_);
    if (!from.has_value()) {
      TESSERA_ASSIGN_OR_RETURN(peer, find_live_peer());
    }
    Status status = wait(peer, has_arrived);
    if (message) {
      return std::move(*message);
    }
    if (!fetch_error_.ok()) {
      return std::exchange(fetch_error_, Status());
    }
    if (from.has_value() || !is_rank_loss(status)) {
      return status;
    }
  }
}

Result<Received> MailboxState::deliver(const StoredMessage& message, std::span<std::byte> buffer) {
  const std::span<std::byte> room =
      buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(message.bytes, buffer.size())));
  if (!message.is_complete) {
    TESSERA_RETURN_IF_ERROR(take_parts(message, room));
  } else if (!room.empty()) {
    std::memcpy(room.data(), message.content.data(), room.size());
  }
  if (message.bytes > buffer.size()) {
    return Status::error(Code::invalid_argument,
                         fmt::format("the message with tag {} from rank {} has {} bytes, and the "
                                     "buffer for it {}",
                                     message.tag, message.from.value, message.bytes, buffer.size()))
        .hint("give a buffer that holds the longest message with that tag");
  }
  return Received{static_cast<std::size_t>(message.bytes), message.from};
}

// Fetches all parts, also those beyond the buffer: the sender waits until they are taken.
Status MailboxState::take_parts(const StoredMessage& message, std::span<std::byte> buffer) {
  const WorldRank from = message.from;
  const std::uint64_t parts = parts_of(message.bytes);
  long_message_sender_ = from;
  Status first_error;
  for (std::uint64_t part = 0; part < parts; ++part) {
    Status status = take_part(message, part, buffer);
    if (is_rank_loss(status)) {
      long_message_sender_.reset();
      seen(from) = region_.announced(from).number;
      return std::move(status).context(
          fmt::format("receiving {} bytes with tag {} from rank {}, of which {} arrived",
                      message.bytes, message.tag, from.value, part * part_bytes));
    }
    if (first_error.ok()) {
      first_error = std::move(status);
    }
  }
  long_message_sender_.reset();
  seen(from) = message.number_before + static_cast<std::uint32_t>(parts);
  return first_error;
}

Status MailboxState::take_part(const StoredMessage& message, std::uint64_t part,
                               std::span<std::byte> buffer) {
  const std::uint32_t number = message.number_before + static_cast<std::uint32_t>(part) + 1;
  const auto is_filled = [&] {
    return distance(region_.announced(message.from).number, number) >= 0;
  };
  if (!is_filled()) {
    TESSERA_RETURN_IF_ERROR(wait(message.from, is_filled));
  }
  const std::span<std::byte> room = part_of(buffer, part);
  Status got;
  if (!room.empty()) {
    got = get(region_.job(), region_.part_of(message.from, part), room.data(), room.size());
    if (is_rank_loss(got)) {
      return got;
    }
  }
  Status acknowledged = region_.acknowledge(message.from, number);
  if (is_rank_loss(acknowledged) && number == message.number_before + parts_of(message.bytes)) {
    return got;  // all of it is here
  }
  return got.ok() ? std::move(acknowledged) : std::move(got);
}

}  // namespace tessera::rma::armci::detail
