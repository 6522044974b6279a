// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/request_route.hpp"

#include <utility>

#include "rma/server/client/client.hpp"
#include "rma/server/client/client_connection.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Status RequestRoute::share() {
  is_shared_ = true;
  return link_.channel().is_connected() ? link_.queue().post_own(introduction()) : Status();
}

// Registers the link's connection for replies to requests that other agents pass on.
FrameHeader RequestRoute::introduction() const {
  return {.kind = Kind::introduce,
          .origin = link_.client().options().rank,
          .route = number_.load(),
          .words = {static_cast<std::uint64_t>(ConnectionUse::replies), 0}};
}

// The connection on the route may be closed at any time because it was unused; it is then opened
// again.
Status RequestRoute::post(PostedRequest request, RequestQueue::When when) {
  FrameHeader& header = request.header;
  TESSERA_RETURN_IF_ERROR(order_before(header.kind));
  while (true) {
    TESSERA_ASSIGN_OR_RETURN(ClientConnection* const next_hop, find(header));
    header.route = number_.load(std::memory_order_relaxed);
    header.reply_to = link_.client().options().direct_replies && link_.channel().is_connected()
                          ? link_.client().links().own_node().value
                          : -1;
    link_.replies().record_requester(header.operation, *next_hop);
    if (auto posted = next_hop->queue().post(link_, request, when)) {
      return std::move(*posted);
    }
  }
}

// Direct requests must not overtake changes that another agent passes on if they may read those:
// the next holder of a lock, or the device. Also, requests that another agent passes on must not
// overtake data that the device has written.
Status RequestRoute::order_before(Kind kind) {
  if (link_.channel().path() != nullptr && is_forwardable(kind) && kind != Kind::fence) {
    TESSERA_RETURN_IF_ERROR(link_.channel().path()->wait_for_writes(link_.requests()));
  }
  const ChangeTracker& changes = link_.changes();
  const bool may_read = kind == Kind::unlock || kind == Kind::push || kind == Kind::locate;
  if (!may_read || changes.count() == changes.fenced()) {
    return {};
  }
  Completion done;
  done.begin();
  PendingReply pending;
  pending.done = &done;
  pending.fenced = changes.count();
  TESSERA_RETURN_IF_ERROR(link_.ask({.kind = Kind::fence,
                                     .origin = link_.client().options().rank,
                                     .target = link_.client().links().first_rank_of(link_.node())},
                                    {}, std::move(pending)));
  link_.wait(done);
  return done.take_error();
}

Result<ClientConnection*> RequestRoute::find(const FrameHeader& header) {
  if (!is_forwardable(header.kind)) {
    record_use();
    TESSERA_RETURN_IF_ERROR(connect());
    return &link_;
  }
  ClientConnection* const next_hop = next_hop_.load(std::memory_order_acquire);
  const bool is_good = next_hop != nullptr && !next_hop->is_lost() &&
                       next_hop->channel().is_connected() &&
                       !is_bad_.load(std::memory_order_relaxed);
  return is_good ? Result<ClientConnection*>(next_hop) : choose();
}

// Tries the remaining intermediaries in turn; the last route is direct to the node.
Result<ClientConnection*> RequestRoute::choose() {
  const std::lock_guard guard(mutex_);
  if (link_.is_lost()) {
    return link_.loss();
  }
  Client& client = link_.client();
  const NodeId node = link_.node();
  ClientConnection* const before = next_hop_.load();
  const bool is_bad = is_bad_.exchange(false);
  if (before != nullptr && (before->is_lost() || is_bad)) {
    ++choice_;
    ++number_;
  }
  for (; choice_ < client.links().route_count(node); ++choice_) {
    const NodeId by = client.links().intermediary(node, choice_);
    if (by == node) {
      break;
    }
    auto other = client.links().to(by);
    if (other.ok() && (*other)->route().connect().ok()) {
      next_hop_.store(*other, std::memory_order_release);
      return *other;
    }
  }
  TESSERA_RETURN_IF_ERROR(connect_now());
  if (before != nullptr) {
    const std::lock_guard sending(link_.queue().mutex());
    // With the new route number.
    TESSERA_RETURN_IF_ERROR(link_.queue().post_own(introduction()));
  }
  next_hop_.store(&link_, std::memory_order_release);
  return &link_;
}

Status RequestRoute::connect() {
  if (!link_.is_lost() && link_.channel().is_connected()) {
    return {};
  }
  const std::lock_guard guard(mutex_);
  return connect_now();
}

// Requires: mutex_ is locked.
Status RequestRoute::connect_now() {
  if (link_.is_lost()) {
    return link_.loss();
  }
  if (link_.channel().is_connected()) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(auto channel, link_.client().links().open_again(link_.node()));
  return link_.connect_by(std::move(channel), introduction());
}

void RequestRoute::record_use() noexcept {
  last_used_ = Clock::now().time_since_epoch().count();
}

bool RequestRoute::is_unused(Clock::duration longest) const noexcept {
  const Clock::duration idle =
      Clock::now().time_since_epoch() - std::chrono::nanoseconds(last_used_.load());
  return idle >= longest && locks_held_.load() == 0 && next_hop_.load() != &link_;
}

// An agent that could not pass a request on is not used again.
void RequestRoute::record_reply(const FrameHeader& header) noexcept {
  if (is_shared_) {
    record_use();
    if (header.kind == Kind::failed && header.forwarder >= 0) {
      is_bad_ = true;
    }
  }
}

void RequestRoute::end_requests_over(const ClientConnection& next_hop, const Status& reason) {
  if (!is_shared_ || link_.is_lost() || next_hop_.load() != &next_hop) {
    return;
  }
  const Status described = link_.client().links().loss_of(next_hop.node(), reason);
  // Before any thread can find that the route is lost and then look for such an error.
  if (link_.changes().count() != link_.changes().fenced()) {
    link_.client().options().stray_error(described);  // their changes may not be in effect
  }
  link_.replies().end_requested_by(next_hop, described);
}

}  // namespace tessera::rma::server
