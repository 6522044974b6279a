// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/client/shutdown_notices.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "rma/node/directory.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/server/client/transient_connection.hpp"

namespace tessera::rma::server {

using detail::DirectorySlice;
using detail::PeerState;

namespace {

constexpr std::size_t notice_bytes = sizeof(std::uint64_t);
// Limits the descriptors that leaving needs, and how much a slow node delays the notices to others.
constexpr std::size_t max_concurrent_notices = 16;

std::size_t words_of(const detail::NodeMap& nodes) noexcept {
  return static_cast<std::size_t>(nodes.count()) * notice_bytes;
}

std::vector<std::size_t> state_offsets(const detail::NodeMap& nodes) {
  std::vector<std::size_t> offsets{words_of(nodes)};
  for (std::int32_t node = 0; node < nodes.count(); ++node) {
    offsets.push_back(offsets.back() + nodes.ranks_of(NodeId{node}).size());
  }
  return offsets;
}

}  // namespace

Status ShutdownNotices::publish(detail::Node& node, const detail::NodeMap& nodes) {
  const std::uint64_t bytes = state_offsets(nodes).back();
  TESSERA_ASSIGN_OR_RETURN(const std::uint64_t offset, node.arena().allocate(bytes));
  TESSERA_RETURN_IF_ERROR(node.arena().back(offset, bytes));
  const DirectorySlice slice{.owner = node.ranks().front(),
                             .location = offset,
                             .bytes = bytes,
                             .use = DirectorySlice::Use::mailboxes};
  return detail::Directory(node.arena(), node.lock_context())
      .insert(shutdown_notice_memory, std::span(&slice, 1));
}

Result<std::shared_ptr<ShutdownNotices>> ShutdownNotices::find(std::shared_ptr<detail::Node> node,
                                                               const detail::NodeMap& nodes) {
  const auto slice = detail::Directory(node->arena(), node->lock_context())
                         .find(shutdown_notice_memory, node->ranks().front());
  if (!slice) {
    return Status::error(Code::internal, "this node has no memory for shutdown notices");
  }
  std::byte* const memory = node->arena().at(slice->location);
  return std::shared_ptr<ShutdownNotices>(new ShutdownNotices(std::move(node), nodes, memory));
}

ShutdownNotices::ShutdownNotices(std::shared_ptr<detail::Node> node, const detail::NodeMap& nodes,
                                 std::byte* memory)
    : node_(std::move(node)), nodes_(nodes), memory_(memory), first_state_(state_offsets(nodes)) {}

bool ShutdownNotices::has_left(NodeId node) const noexcept {
  const auto* const words = reinterpret_cast<const std::atomic<std::uint64_t>*>(memory_);
  return words[node.value].load(std::memory_order_acquire) != 0;
}

std::optional<PeerState> ShutdownNotices::peer_state_of(WorldRank rank) const {
  const NodeId node = nodes_.node_of(rank);
  if (!has_left(node)) {
    return std::nullopt;
  }
  const std::vector<WorldRank> ranks = nodes_.ranks_of(node);
  const auto order = std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
  const std::size_t at =
      first_state_[static_cast<std::size_t>(node.value)] + static_cast<std::size_t>(order);
  return std::to_integer<int>(memory_[at]) == static_cast<int>(PeerState::left) ? PeerState::left
                                                                                : PeerState::died;
}

// The other ranks rely on the agent, which ends after this.
void ShutdownNotices::wait_for_ranks_of_node() const {
  for (int local_rank = 0; local_rank < node_->size(); ++local_rank) {
    detail::poll_until(detail::rank_waits, [&] { return node_->is_gone(local_rank); });
  }
}

std::vector<std::byte> ShutdownNotices::local_states() const {
  std::vector<std::byte> states;
  for (int local_rank = 0; local_rank < node_->size(); ++local_rank) {
    states.push_back(
        static_cast<std::byte>(node_->has_left(local_rank) ? PeerState::left : PeerState::died));
  }
  return states;
}

// A node that was notified, until it has confirmed that.
struct ShutdownNotices::NotifiedNode {
  std::optional<TransientConnection> transient;  // empty if a link exists already
  ClientConnection* link = nullptr;
  Completion received;

  NotifiedNode(std::optional<TransientConnection> its_transient, ClientConnection* its_link)
      : transient(std::move(its_transient)), link(its_link) {}
};

void ShutdownNotices::send(Client& client, std::chrono::milliseconds timeout) const {
  wait_for_ranks_of_node();
  const std::vector<std::byte> states = local_states();
  std::deque<NotifiedNode> notified;
  // Each node begins with its successor, so that not all nodes notify the same one first.
  for (std::int32_t distance = 1; distance < nodes_.count(); ++distance) {
    const NodeId node{(own_node().value + distance) % nodes_.count()};
    if (has_left(node)) {
      continue;
    }
    if (notified.size() == max_concurrent_notices) {
      finish(notified.front());
      notified.pop_front();
    }
    send_to(client, node, states, timeout, notified);
  }
  for (NotifiedNode& each : notified) {
    finish(each);
  }
}

// A node that cannot be notified is gone itself.
void ShutdownNotices::send_to(Client& client, NodeId node, const std::vector<std::byte>& states,
                              std::chrono::milliseconds timeout,
                              std::deque<NotifiedNode>& notified) const {
  std::optional<TransientConnection> transient;
  ClientConnection* link = client.links().existing(node);
  if (link == nullptr || link->route().is_shared()) {
    auto opened = TransientConnection::open(client, node, timeout);
    if (!opened.ok()) {
      return;
    }
    link = &transient.emplace(std::move(opened).take()).link();
  }
  const auto at = static_cast<std::size_t>(own_node().value);
  const FrameHeader notice{.kind = Kind::deliver,
                           .payload_bytes = states.size(),
                           .origin = client.options().rank,
                           .target = nodes_.ranks_of(node).front(),
                           .region = shutdown_notice_memory,
                           .offset = first_state_[at],
                           .words = {at * notice_bytes, 1}};
  std::vector<std::byte> body = states;
  if (!link->post({.header = notice, .owned = &body}, ClientConnection::When::now).ok()) {
    return;
  }
  const FrameHeader fence{.kind = Kind::fence, .origin = notice.origin, .target = notice.target};
  NotifiedNode& one = notified.emplace_back(std::move(transient), link);
  one.received.begin();
  PendingReply pending;
  pending.done = &one.received;
  if (!link->ask(fence, {}, std::move(pending)).ok()) {
    one.received.end({});
  }
}

void ShutdownNotices::finish(NotifiedNode& notified) {
  if (notified.transient) {
    notified.transient->wait(notified.received);
  } else {
    notified.link->wait(notified.received);
  }
  notified.received.take_error().ignore("a node that cannot confirm is gone");
}

}  // namespace tessera::rma::server
