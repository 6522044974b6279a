// SPDX-License-Identifier: BSD-3-Clause
//
// A node's record of shutdown notices: which other nodes have left properly, and the state of their
// ranks at that time.
//
// An agent ends when the ranks of its node are gone, and cannot be queried afterwards. Before that
// the node's first rank delivers a shutdown notice to every other node and waits until all have
// received it. So at any time either the agent replies or every node knows. If no agent listens and
// no notice exists, the node died.
//
//     one 64-bit word a node: 1 if it has left     one byte a rank, by node: its state
//
// Both are in node memory that every node publishes under the same number,
// `shutdown_notice_memory`. A notice is one delivery into it.
//
// A leaving node notifies all others itself, a few at a time. It closes the connections that it
// opened only for this. So notices are not relayed, and no node needs descriptors for nodes that it
// never communicated with (decision 12).
//
// Threads: all functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/node/node.hpp"
#include "rma/region_id.hpp"
#include "rma/server/client/client.hpp"
#include "rma/transport/control_channel.hpp"

namespace tessera::rma::server {

/// No region or team has this number.
inline constexpr RegionId shutdown_notice_memory{0xffff'ffff};

class ShutdownNotices {
 public:
  /// Called by the node's first rank before any other node can send its notice. Errors: no_memory,
  /// limit_exceeded.
  static Status publish(detail::Node& node, const detail::NodeMap& nodes);
  /// Requires: the node's first rank has called publish(). `nodes` outlives the object.
  static Result<std::shared_ptr<ShutdownNotices>> find(std::shared_ptr<detail::Node> node,
                                                       const detail::NodeMap& nodes);

  [[nodiscard]] bool has_left(NodeId node) const noexcept;
  /// The state of a rank when its node left; empty while its node has not left.
  [[nodiscard]] std::optional<detail::PeerState> peer_state_of(WorldRank rank) const;

  /// Waits until the other ranks of this node are gone, then notifies every node that is still
  /// present on behalf of all of them. A node that does not respond within `timeout` will assume
  /// that this one died.
  void send(Client& client, std::chrono::milliseconds timeout) const;

 private:
  ShutdownNotices(std::shared_ptr<detail::Node> node, const detail::NodeMap& nodes,
                  std::byte* memory);
  struct NotifiedNode;
  void send_to(Client& client, NodeId node, const std::vector<std::byte>& states,
               std::chrono::milliseconds timeout, std::deque<NotifiedNode>& notified) const;
  static void finish(NotifiedNode& notified);
  void wait_for_ranks_of_node() const;
  [[nodiscard]] NodeId own_node() const { return nodes_.node_of(node_->ranks().front()); }
  [[nodiscard]] std::vector<std::byte> local_states() const;

  std::shared_ptr<detail::Node> node_;
  const detail::NodeMap& nodes_;
  std::byte* memory_;
  std::vector<std::size_t> first_state_;  // by node: index of the first byte of its ranks
};

}  // namespace tessera::rma::server
