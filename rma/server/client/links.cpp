// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rma/base/catch_bad_alloc.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/server/client/client.hpp"

namespace tessera::rma::server {

Links::Links(Client& client)
    : client_(client),
      options_(client.options()),
      connector_(options_),
      by_node_(options_.agents.size()),
      active_(options_.agents.size()) {
  if (options_.nodes != nullptr) {
    own_node_ = options_.nodes->node_of(options_.rank);
  }
}

Links::~Links() = default;

Result<ClientConnection*> Links::to(NodeId node) {
  return to(node, options_.connect_timeout);
}

Result<ClientConnection*> Links::to(NodeId node, std::chrono::milliseconds timeout) {
  if (ClientConnection* const link = existing(node)) {
    return link;
  }
  return detail::catch_bad_alloc([&] { return make(node, timeout); });
}

Result<ClientConnection*> Links::make(NodeId node, std::chrono::milliseconds timeout) {
  Peer& peer = peer_at(node);
  // Not under mutex_: only threads that need this node should wait for it.
  const std::lock_guard guard(peer.connecting);
  if (peer.link == nullptr) {
    // A device is used without the agent, and so always needs a connection of its own.
    const bool needs_connection = !is_clustered(node) || options_.rdma_provider != nullptr;
    std::unique_ptr<ClientConnection> link;
    Status refusal;
    if (needs_connection) {
      TESSERA_ASSIGN_OR_RETURN(link, open(node, peer, timeout, refusal));
    } else {
      link = std::make_unique<ClientConnection>(client_, node, nullptr);
    }
    if (is_clustered(node)) {
      TESSERA_RETURN_IF_ERROR(link->route().share());
    }
    // A link that was refused is kept, unused, for the same reason.
    keep(peer, std::move(link), refusal.ok());
    if (needs_connection) {
      peer.contact.of_links.failure = std::move(refusal);
    }
  }
  return peer.contact.of_links.failure.ok() ? Result<ClientConnection*>(peer.link.get())
                                            : peer.contact.of_links.failure;
}

Result<std::unique_ptr<ClientConnection>> Links::open(NodeId node, Peer& peer,
                                                      std::chrono::milliseconds timeout,
                                                      Status& refusal) {
  TESSERA_ASSIGN_OR_RETURN(auto channel,
                           connector_.open(node, peer.contact, Connector::Purpose::link, timeout));
  auto link = std::make_unique<ClientConnection>(client_, node, std::move(channel));
  refusal = move_to_rdma(*link, node, timeout);
  if (link->is_lost() && link->loss().code() != Code::protocol) {
    // The new connection begins before the old one ends: the agent treats a rank without a
    // connection as lost.
    TESSERA_ASSIGN_OR_RETURN(
        channel, connector_.open(node, peer.contact, Connector::Purpose::link, timeout));
    link = std::make_unique<ClientConnection>(client_, node, std::move(channel));
  }
  return link;
}

Result<std::unique_ptr<Channel>> Links::open_again(NodeId node) {
  Peer& peer = peer_at(node);
  const std::lock_guard guard(peer.connecting);
  auto opened =
      connector_.open(node, peer.contact, Connector::Purpose::link, options_.connect_timeout);
  const Code code = opened.status().code();
  if (ClientConnection* const link = existing(node);
      link != nullptr && (code == Code::peer_lost || code == Code::closed)) {
    link->give_up(opened.status());  // permanently: nothing listens there any longer
  }
  return opened;
}

ClientConnection* Links::clustered(WorldRank rank) noexcept {
  if (!options_.clusters.are_on() || rank.value < 0 || rank.value >= options_.ranks) {
    return nullptr;
  }
  const NodeId node = options_.nodes->node_of(rank);
  return is_clustered(node) ? existing(node) : nullptr;
}

void Links::end_requests_over(const ClientConnection& connection, const Status& reason) {
  if (options_.clusters.are_on()) {
    for (ClientConnection* const link : all()) {
      if (link != &connection) {
        link->route().end_requests_over(connection, reason);
      }
    }
  }
}

Result<std::unique_ptr<ClientConnection>> Links::open_transient(NodeId node,
                                                                std::chrono::milliseconds timeout) {
  constexpr detail::TimedWaits waits{.first = std::chrono::milliseconds(1),
                                     .longest = std::chrono::milliseconds(1)};
  Peer& peer = peer_at(node);
  std::unique_lock guard(peer.connecting, std::defer_lock);
  if (!detail::poll_until(waits, std::chrono::steady_clock::now() + timeout,
                          [&] { return guard.try_lock(); })) {
    return Status::error(Code::timed_out,
                         fmt::format("another thread is still connecting to node {}", node.value));
  }
  TESSERA_ASSIGN_OR_RETURN(
      auto channel, connector_.open(node, peer.contact, Connector::Purpose::transient, timeout));
  return std::make_unique<ClientConnection>(client_, node, std::move(channel));
}

detail::ConnectionLoss Links::contact(NodeId node) noexcept {
  const ClientConnection* const link = existing(node);
  const bool is_lost = link != nullptr && link->is_lost();
  return {.is_lost = is_lost,
          .error = is_lost ? link->channel()->error() : peer_at(node).contact.error.load()};
}

std::chrono::nanoseconds Links::silence_of(NodeId node) noexcept {
  const std::int64_t since = peer_at(node).contact.silent_since.load();
  return std::chrono::nanoseconds(
      since == 0 ? 0 : std::chrono::steady_clock::now().time_since_epoch().count() - since);
}

// Moves the link to RDMA if both ends can use it. Errors: only if RDMA is required.
Status Links::move_to_rdma(ClientConnection& link, NodeId node, std::chrono::milliseconds timeout) {
  if (options_.rdma_provider == nullptr) {
    return {};
  }
  Status moved = make_rdma();
  if (moved.ok()) {
    auto path = rdma_.load()->open_connection();
    moved = path.ok()
                ? link.move_to(std::move(path).take(), std::chrono::steady_clock::now() + timeout)
                : path.status();
  }
  return moved.ok() ? moved : check_tcp_allowed(node, moved);
}

// The same reason may concern thousands of nodes; it is logged once.
Status Links::check_tcp_allowed(NodeId node, const Status& reason) {
  if (!options_.required.empty()) {
    return Status::error(reason.code(),
                         fmt::format("node {} cannot be reached by TESSERA_TRANSPORT={}: {}",
                                     node.value, options_.required, reason.message()))
        .hint("add tcp to TESSERA_TRANSPORT: nodes that RDMA cannot reach then use TCP");
  }
  const std::lock_guard guard(mutex_);
  if (std::exchange(last_reason_, reason.message()) != reason.message()) {
    options_.warn(fmt::format("node {} is reached over TCP: {}", node.value, reason.message()));
  }
  return {};
}

Status Links::make_rdma() {
  Status made;
  std::call_once(rdma_once_, [&] {
    auto rdma = options_.rdma_provider->create();
    made = rdma.status();
    if (rdma.ok()) {
      own_rdma_ = std::move(rdma).take();
      made = client_.progress().watch(own_rdma_->descriptor());
    }
    if (made.ok()) {
      rdma_ = own_rdma_.get();
    }
  });
  return made.ok() && rdma_.load() == nullptr
             ? Status::error(Code::unsupported, "the network could not be used earlier")
             : made;
}

void Links::keep(Peer& peer, std::unique_ptr<ClientConnection> link, bool is_usable) {
  peer.link = std::move(link);
  {
    const std::lock_guard guard(mutex_);
    const std::size_t count = active_count_.load(std::memory_order_relaxed);
    active_[count] = peer.link.get();
    active_count_.store(count + 1, std::memory_order_release);
  }
  if (is_usable) {
    peer.ready.store(peer.link.get(), std::memory_order_release);
  }
}

void Links::flush() {
  for (ClientConnection* const link : all()) {
    link->queue().flush();
  }
}

bool Links::is_busy() const {
  const auto links = all();
  const detail::RdmaContext* const rdma = rdma_.load(std::memory_order_acquire);
  return (rdma != nullptr && rdma->is_busy()) ||
         std::any_of(links.begin(), links.end(), [](const ClientConnection* link) {
           return !link->is_lost() && link->is_polled();
         });
}

bool Links::is_streaming() const {
  const auto links = all();
  return std::any_of(links.begin(), links.end(), [](ClientConnection* link) {
    return link->replies().is_streaming() || link->queue().is_held_up();
  });
}

}  // namespace tessera::rma::server
