// SPDX-License-Identifier: BSD-3-Clause
//
// Forwarder: forwards requests of processes to the other agents of this agent's cluster
// (cooperative server clustering, [CLUSTERED10] §3.3), over one trunk to each.
//
// Forwarding cannot starve other work. A forwarded request that is not yet executed counts against
// its trunk's window. While the window is full, the agent reads no connection that has a further
// request for that trunk, but all others. Requests from other agents have receive buffers of their
// own and are executed at once, so they never wait.
//
// If an agent is lost, the requests in flight to it end with an error, which is sent to their
// origins. After a pause the next request tries to reconnect.
//
// Threads: the agent's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/progress/poller.hpp"
#include "rma/server/agent/trunk.hpp"
#include "rma/server/connection/buffer_pool.hpp"
#include "rma/server/connection/clusters.hpp"

namespace tessera::rma::server {

/// An agent's cluster, and the limits of its trunks.
struct ForwardOptions {
  Clusters clusters;
  const detail::NodeMap* nodes = nullptr;  ///< outlives the agent
  std::int32_t ranks = 0;                  ///< of the job
  std::vector<TcpAddress> agents;          ///< by node
  std::size_t window = 32;                 ///< requests in flight to each other agent
  std::size_t bytes = 1U << 20U;           ///< bytes of those requests
  std::string congestion = "auto";
};

/// The callbacks that the forwarder needs from the connections.
class ForwardRequesters {
 public:
  virtual ~ForwardRequesters() = default;
  /// Sends `answer` to rank answer.origin over the connection with that descriptor, if that is
  /// still the rank's.
  virtual void send_reply(int requester_fd, const FrameHeader& answer,
                          std::vector<std::byte> payload) = 0;
  /// That connection may continue: its request can be forwarded now.
  virtual void resume(int requester_fd) = 0;
};

class Forwarder final : private TrunkListener {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Identity {
    NodeId node;           ///< of this agent
    WorldRank agent_host;  ///< the rank whose process hosts it
    std::uint64_t job = 0;
    Secret secret;
    std::chrono::milliseconds authentication_timeout{10'000};
  };

  /// `events` watches the trunks' descriptors. All references outlive the forwarder.
  Forwarder(std::shared_ptr<const ForwardOptions> options, Identity identity,
            const detail::Poller& events, ForwardRequesters& requesters);
  ~Forwarder() override;

  /// Trunks that are opened from now on continue over `rdma`, which outlives them.
  void offer(detail::RdmaContext& rdma) noexcept { rdma_ = &rdma; }

  /// Whether the target of that request is on another node.
  [[nodiscard]] bool is_elsewhere(const FrameHeader& request) const noexcept {
    return request.target.value < options_->ranks && node_of(request) != identity_.node;
  }
  /// Whether this agent forwards the request. Errors: invalid_argument, unsupported.
  [[nodiscard]] Status check(const FrameHeader& request) const;
  /// Whether `peer`, authenticated as rank `agent_host`, is another agent of this cluster.
  [[nodiscard]] bool is_member(NodeId peer, WorldRank agent_host) const noexcept;
  /// Whether the request may be forwarded now. If not, resume(requester_fd) follows. Requires:
  /// check() is ok.
  [[nodiscard]] bool may_forward(const FrameHeader& request, int requester_fd);
  /// Forwards a request that may_forward() allowed. It is sent by flush() at the latest.
  void forward(const FrameHeader& request, std::span<const std::byte> descriptor,
               std::vector<std::byte> payload, int requester_fd);
  void flush();

  /// Whether the descriptor belongs to a trunk.
  [[nodiscard]] bool has(int fd) const noexcept { return by_descriptor_.contains(fd); }
  void handle_event(int fd);
  /// To be called about once a second.
  void maintain(TimePoint now);
  void send_bye();

 private:
  struct Other {
    std::unique_ptr<Trunk> trunk;
    std::vector<int> waiting_fds;  // connections that wait for room
    Status failure;                // of the previous trunk
    TimePoint again;               // no new trunk before this time
    std::uint32_t events = 0;      // that are watched
    bool is_posted_to = false;     // since flush()
  };

  void send_reply(const ForwardedRequest& forwarded, FrameHeader answer,
                  std::vector<std::byte> payload) override;
  void notify_room() override { has_room_ = true; }

  Other& other_at(NodeId node) { return others_[node.value]; }
  [[nodiscard]] Status make_trunk(NodeId node, Other& other);
  void refuse(const ForwardedRequest& forwarded, const Status& why);
  void lose(NodeId node, const Status& why);
  void update_events(Other& other);
  void resume_all(Other& other);
  [[nodiscard]] NodeId node_of(const FrameHeader& request) const noexcept {
    return options_->nodes->node_of(request.target);
  }

  const std::shared_ptr<const ForwardOptions> options_;
  const Identity identity_;
  const detail::Poller& events_;
  detail::RdmaContext* rdma_ = nullptr;  // null: TCP only
  ForwardRequesters& requesters_;
  BufferPool buffers_{FrameReader::buffer_bytes, 4};  // for replies and acknowledgements
  std::unordered_map<std::int32_t, Other> others_;    // by node
  std::unordered_map<int, NodeId> by_descriptor_;
  std::vector<NodeId> posted_;  // nodes whose trunks were used since flush()
  bool has_room_ = false;
};

}  // namespace tessera::rma::server
