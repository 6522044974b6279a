// SPDX-License-Identifier: BSD-3-Clause
//
// The part of Link that finds the route of requests if agents share them: the connection that
// carries them, and what happens when that connection is lost.
#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "rma/server/client.hpp"
#include "rma/server/link.hpp"
#include "rma/within_memory.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;
using detail::within_memory;

}  // namespace

// A transient connection, and a link that is still being made, are asked only for themselves.
Link& Link::table_of(const FrameHeader& header) noexcept {
  Link* const other = client_.clustered_link_of(header.target);
  return other != nullptr && client_.made_link(node_) == this ? *other : *this;
}

void Link::put_channel(std::unique_ptr<Channel> channel) noexcept {
  channel_ = std::move(channel);
  descriptor_ = channel_->descriptor();
  shows_room_ = channel_->shows_room();
  writer_.move_to(*channel_);
  reader_.move_to(*channel_);
  last_used_ = Clock::now().time_since_epoch().count();
}

Status Link::join_cluster() {
  is_clustered_ = true;
  return is_connected() ? introduce() : Status();
}

// Registers this connection for replies to requests that other agents pass on.
Status Link::introduce() {
  const FrameHeader introduction{.kind = Kind::introduce,
                                 .origin = client_.options().rank,
                                 .route = route_.load(),
                                 .words = {static_cast<std::uint64_t>(ConnectionUse::replies), 0}};
  return within_memory([&] { return writer_.post(encode(introduction), {}, nullptr); });
}

Status Link::connect() {
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
Status Link::connect_now() {
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

Result<Link*> Link::way_of(const FrameHeader& header) {
  if (!is_clustered_) {
    return this;
  }
  if (!is_forwardable(header.kind)) {
    last_used_ = Clock::now().time_since_epoch().count();
    TESSERA_RETURN_IF_ERROR(connect());
    return this;
  }
  Link* const way = way_.load(std::memory_order_acquire);
  const bool is_good = way != nullptr && !way->is_lost() && way->is_connected() &&
                       !is_way_bad_.load(std::memory_order_relaxed);
  return is_good ? Result<Link*>(way) : find_way();
}

// Records the route of a request, if it is pending.
void Link::note_way(std::uint64_t operation, const Link& way) {
  const std::lock_guard guard(table_);
  const std::size_t at = operation & 0xffff'ffffU;
  if (at < slots_.size() && slots_[at].is_used && slots_[at].generation == operation >> 32U) {
    slots_[at].way = &way;
  }
}

// Tries the remaining intermediaries in turn; the last route is direct to the node.
Result<Link*> Link::find_way() {
  const std::lock_guard guard(opening_);
  if (is_lost()) {
    return loss();
  }
  Link* const before = way_.load();
  const bool is_bad = is_way_bad_.exchange(false);
  if (before != nullptr && (before->is_lost() || is_bad)) {
    ++turn_;
    ++route_;
  }
  for (; turn_ < client_.ways_to(node_); ++turn_) {
    const NodeId by = client_.intermediary(node_, turn_);
    if (by == node_) {
      break;
    }
    auto link = client_.link_to(by);
    if (link.ok() && (*link)->connect().ok()) {
      way_.store(*link, std::memory_order_release);
      return *link;
    }
  }
  TESSERA_RETURN_IF_ERROR(connect_now());
  if (before != nullptr) {
    const std::lock_guard sending(sending_);
    TESSERA_RETURN_IF_ERROR(introduce());  // with the new route number
  }
  way_.store(this, std::memory_order_release);
  return this;
}

// Direct requests must not overtake changes that another agent passes on if they may read those:
// the next holder of a lock, or the device. Also, requests that another agent passes on must not
// overtake data that the device has written.
Status Link::settle_before(Kind kind) {
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
void Link::close_if_idle(Clock::duration longest) {
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
  if (is_awaiting() || has_unsent() || locks_held_.load() > 0 || way_.load() == this ||
      changes_.count() != changes_.fenced() || reader_.is_inside_frame() || idle < longest) {
    return;
  }
  const FrameHeader bye{.kind = Kind::bye, .origin = client_.options().rank};
  Status said = within_memory([&] { return writer_.post(encode(bye), {}, nullptr); });
  if (said.ok() && writer_.is_empty()) {
    is_connected_ = false;
    put_channel(no_channel());
  }
}

void Link::note_lost_way(const Link& way, const Status& reason) {
  if (!is_clustered_ || is_lost() || way_.load() != &way) {
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
      end_slot(at, told);
    }
  }
}

}  // namespace tessera::rma::server
