// SPDX-License-Identifier: BSD-3-Clause
//
// Links: a client's connections to the agents of other nodes, one link a node, made when it is
// first needed, over RDMA if both ends can use it.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/server/client/client_connection.hpp"
#include "rma/server/client/client_options.hpp"
#include "rma/server/client/connector.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/control_channel.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

class Links {
 public:
  /// `client` owns it.
  explicit Links(Client& client);
  ~Links();
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  /// Returns the link to `node`, and connects if necessary; other nodes can be used meanwhile.
  /// Errors: unreachable, timed_out, protocol, limit_exceeded. Two errors are permanent: peer_lost
  /// if the node's agent is gone, closed if the node has left. After a failed attempt, calls fail
  /// at once with the same error until a pause has passed.
  Result<ClientConnection*> to(NodeId node);
  /// The same with another timeout than connect_timeout.
  Result<ClientConnection*> to(NodeId node, std::chrono::milliseconds timeout);
  /// The link that to() made; null if it has made none.
  [[nodiscard]] ClientConnection* existing(NodeId node) noexcept {
    return peer_at(node).ready.load(std::memory_order_acquire);
  }
  /// Returns a separate link that is not kept: for one exchange with a node to which this process
  /// has no link. Only the caller drives it, and destroying it ends the connection. A failed
  /// attempt does not keep to() from trying, unless the node is gone. Errors: as to(); also
  /// timed_out while another thread connects.
  Result<std::unique_ptr<ClientConnection>> open_transient(NodeId node,
                                                           std::chrono::milliseconds timeout);
  /// All links that were made, in the order of connecting.
  [[nodiscard]] std::span<ClientConnection* const> all() const noexcept {
    return std::span(active_).first(active_count_.load(std::memory_order_acquire));
  }

  /// What is known of the connection to a node.
  [[nodiscard]] detail::ConnectionLoss contact(NodeId node) noexcept;
  /// How long attempts to connect to a node have failed; 0 if the last one succeeded.
  [[nodiscard]] std::chrono::nanoseconds silence_of(NodeId node) noexcept;
  /// The error to report when `reason` happened to a node; it names the node and the rank that
  /// hosts its agent.
  [[nodiscard]] Status loss_of(NodeId node, const Status& reason) const noexcept {
    return connector_.loss_of(node, reason);
  }

  // For links whose requests are passed on by other agents:
  /// Opens a connection for a link that has none. Errors: as to().
  Result<std::unique_ptr<Channel>> open_again(NodeId node);
  [[nodiscard]] NodeId own_node() const noexcept { return own_node_; }
  [[nodiscard]] WorldRank first_rank_of(NodeId node) const noexcept {
    return options_.nodes->first_rank_of(node);
  }
  [[nodiscard]] std::int32_t route_count(NodeId node) const noexcept {
    return options_.clusters.choices(own_node_, node);
  }
  [[nodiscard]] NodeId intermediary(NodeId node, std::int32_t choice) const noexcept {
    return options_.clusters.intermediary(options_.rank, own_node_, node, choice);
  }
  /// The link to the node of that rank if other agents pass on its requests; else null.
  [[nodiscard]] ClientConnection* clustered(WorldRank rank) noexcept;
  /// Ends the requests for other nodes that `connection`, which is lost, carried.
  void end_requests_over(const ClientConnection& connection, const Status& reason);

  /// The network other than TCP; null if there is none, or it was not needed yet.
  [[nodiscard]] detail::RdmaContext* rdma() const noexcept {
    return rdma_.load(std::memory_order_acquire);
  }
  /// Whether a request is outstanding or unsent.
  [[nodiscard]] bool is_busy() const;
  /// Whether a long transfer is under way.
  [[nodiscard]] bool is_streaming() const;
  /// Sends what the links keep.
  void flush();

 private:
  // One for each node.
  struct Peer {
    std::atomic<ClientConnection*> ready{nullptr};
    std::mutex connecting;
    std::unique_ptr<ClientConnection> link;
    Connector::Contact contact;  // changes only with `connecting` locked
  };
  Peer& peer_at(NodeId node) noexcept { return by_node_[static_cast<std::size_t>(node.value)]; }
  [[nodiscard]] bool is_clustered(NodeId node) const noexcept {
    return options_.clusters.are_on() && node != own_node_ && intermediary(node, 0) != node;
  }
  Result<ClientConnection*> make(NodeId node, std::chrono::milliseconds timeout);
  Result<std::unique_ptr<ClientConnection>> open(NodeId node, Peer& peer,
                                                 std::chrono::milliseconds timeout,
                                                 Status& refusal);
  void keep(Peer& peer, std::unique_ptr<ClientConnection> link, bool is_usable);
  Status move_to_rdma(ClientConnection& link, NodeId node, std::chrono::milliseconds timeout);
  Status check_tcp_allowed(NodeId node, const Status& reason);
  Status make_rdma();

  Client& client_;
  const ClientOptions& options_;
  Connector connector_;
  NodeId own_node_{-1};
  std::once_flag rdma_once_;
  std::unique_ptr<detail::RdmaContext> own_rdma_;    // outlives the links
  std::atomic<detail::RdmaContext*> rdma_{nullptr};  // the same, once it is made
  std::vector<Peer> by_node_;
  std::mutex mutex_;
  std::string last_reason_;                // why a node is reached over TCP, as last logged
  std::vector<ClientConnection*> active_;  // active_count_ entries are valid
  std::atomic<std::size_t> active_count_{0};
};

}  // namespace tessera::rma::server
