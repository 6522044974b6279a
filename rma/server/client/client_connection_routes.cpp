// SPDX-License-Identifier: BSD-3-Clause
//
// The part of ClientConnection that finds the route of requests if agents share them: the
// connection that carries them, and what happens when that connection is lost.
#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "rma/catch_bad_alloc.hpp"
#include "rma/server/client/client.hpp"
#include "rma/server/client/client_connection.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;
using detail::catch_bad_alloc;

}  // namespace

// A transient connection, and a link that is still being made, are asked only for themselves.
ClientConnection& ClientConnection::table_of(const FrameHeader& header) noexcept {
  ClientConnection* const other = client_.clustered_link_of(header.target);
  return other != nullptr && client_.existing_link(node_) == this ? *other : *this;
}

void ClientConnection::put_channel(std::unique_ptr<Channel> channel) noexcept {
  channel_ = std::move(channel);
  descriptor_ = channel_->descriptor();
  shows_room_ = channel_->shows_room();
  writer_.move_to(*channel_);
  reader_.move_to(*channel_);
  last_used_ = Clock::now().time_since_epoch().count();
}

Status ClientConnection::join_cluster() {
  is_clustered_ = true;
  return is_connected() ? introduce() : Status();
}

// Registers this connection for replies to requests that other agents pass on.
Status ClientConnection::introduce() {
  const FrameHeader introduction{.kind = Kind::introduce,
                                 .origin = client_.options().rank,
                                 .route = route_.load(),
                                 .words = {static_cast<std::uint64_t>(ConnectionUse::replies), 0}};
  return catch_bad_alloc([&] { return writer_.post(encode(introduction), {}, nullptr); });
}

Status ClientConnection::connect() {
  if (is_lost()) {
    return loss();
  }
  if (is_connected()) {
    return {};
  }
  const std::lock_guard guard(opening_);
  return connect_now();
}

// Requires: opening_ is locked.
Status ClientConnection::connect_now() {
  if (is_lost()) {
    return loss();
  }
  if (is_connected()) {
    return {};
  }
  auto channel = client_.open_again(node_);
  if (!channel.ok()) {
    return std::move(channel).status();
  }
  const std::scoped_lock both(receiving_, sending_);
  put_channel(std::move(channel).take());
  is_connected_ = true;
  return introduce();
}

Result<ClientConnection*> ClientConnection::route_for(const FrameHeader& header) {
  if (!is_clustered_) {
    return this;
  }
  if (!is_forwardable(header.kind)) {
    last_used_ = Clock::now().time_since_epoch().count();
    TESSERA_RETURN_IF_ERROR(connect());
    return this;
  }
  ClientConnection* const way = route_link_.load(std::memory_order_acquire);
  const bool is_good = way != nullptr && !way->is_lost() && way->is_connected() &&
                       !is_route_bad_.load(std::memory_order_relaxed);
  return is_good ? Result<ClientConnection*>(way) : find_route();
}

// Records the route of a request, if it is pending.
void ClientConnection::note_route(std::uint64_t operation, const ClientConnection& way) {
  const std::lock_guard guard(table_);
  const std::size_t at = operation & 0xffff'ffffU;
  if (at < slots_.size() && slots_[at].is_used && slots_[at].generation == operation >> 32U) {
    slots_[at].way = &way;
  }
}

// Tries the remaining intermediaries in turn; the last route is direct to the node.
Result<ClientConnection*> ClientConnection::find_route() {
  const std::lock_guard guard(opening_);
  if (is_lost()) {
    return loss();
  }
  ClientConnection* const before = route_link_.load();
  const bool is_bad = is_route_bad_.exchange(false);
  if (before != nullptr && (before->is_lost() || is_bad)) {
    ++iteration_mutex_;
    ++route_;
  }
  for (; iteration_mutex_ < client_.route_count(node_); ++iteration_mutex_) {
    const NodeId by = client_.intermediary(node_, iteration_mutex_);
    if (by == node_) {
      break;
    }
    auto link = client_.link_to(by);
    if (link.ok() && (*link)->connect().ok()) {
      route_link_.store(*link, std::memory_order_release);
      return *link;
    }
  }
  TESSERA_RETURN_IF_ERROR(connect_now());
  if (before != nullptr) {
    const std::lock_guard sending(sending_);
    TESSERA_RETURN_IF_ERROR(introduce());  // with the new route number
  }
  route_link_.store(this, std::memory_order_release);
  return this;
}

// Direct requests must not overtake changes that another agent passes on if they may read those:
// the next holder of a lock, or the device. Also, requests that another agent passes on must not
// overtake data that the device has written.
Status ClientConnection::order_before(Kind kind) {
  if (path_ != nullptr && is_forwardable(kind) && kind != Kind::fence) {
    TESSERA_RETURN_IF_ERROR(path_->settle(*this));
  }
  const bool looks = kind == Kind::unlock || kind == Kind::push || kind == Kind::locate;
  if (!looks || changes_.count() == changes_.fenced()) {
    return {};
  }
  Completion done;
  done.begin();
  Awaited awaited;
  awaited.done = &done;
  awaited.fenced = changes_.count();
  const FrameHeader fence{.kind = Kind::fence,
                          .origin = client_.options().rank,
                          .target = client_.first_rank_of(node_)};
  TESSERA_RETURN_IF_ERROR(ask(fence, {}, std::move(awaited)));
  wait(done);
  return done.take_error();
}

// A lock whose holder's connection ends is given to others, so a connection with held locks stays
// open.
void ClientConnection::close_if_idle(Clock::duration longest) {
  if (!is_clustered_ || !is_connected() || path_ != nullptr || is_lost()) {
    return;
  }
  const std::unique_lock opening(opening_, std::try_to_lock);
  const std::unique_lock receiving(receiving_, std::try_to_lock);
  const std::unique_lock sending(sending_, std::try_to_lock);
  if (!opening.owns_lock() || !receiving.owns_lock() || !sending.owns_lock()) {
    return;
  }
  const Clock::duration idle =
      Clock::now().time_since_epoch() - std::chrono::nanoseconds(last_used_.load());
  if (has_pending_replies() || has_unsent() || locks_held_.load() > 0 ||
      route_link_.load() == this || changes_.count() != changes_.fenced() ||
      reader_.is_inside_frame() || idle < longest) {
    return;
  }
  const FrameHeader bye{.kind = Kind::bye, .origin = client_.options().rank};
  Status said = catch_bad_alloc([&] { return writer_.post(encode(bye), {}, nullptr); });
  if (said.ok() && writer_.is_empty()) {
    is_connected_ = false;
    put_channel(no_channel());
  }
}

void ClientConnection::note_lost_way(const ClientConnection& way, const Status& reason) {
  if (!is_clustered_ || is_lost() || route_link_.load() != &way) {
    return;
  }
  const Status told = way.loss_of(reason);
  // Before any thread can find that the route is lost and then look for such an error.
  if (changes_.count() != changes_.fenced()) {
    client_.options().stray_error(told);  // their changes may not be in effect
  }
  const std::lock_guard guard(table_);
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    const Slot& slot = slots_[at];
    if (slot.way == &way && (slot.receiver == nullptr || slot.receiver == &way)) {
      end_pending(at, told);
    }
  }
}

}  // namespace tessera::rma::server
