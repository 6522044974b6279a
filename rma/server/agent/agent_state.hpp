// SPDX-License-Identifier: BSD-3-Clause
//
// AgentState: the state that the threads of an agent share: its options, the listener, and which
// ranks of other nodes are connected to any of the threads.
//
// Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "rma/node/node.hpp"
#include "rma/progress/progress_handoff.hpp"
#include "rma/server/agent/forwarder.hpp"
#include "rma/server/agent/route_table.hpp"
#include "rma/server/agent/unauthenticated_peer_log.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma::server {

/// How long the agent polls after a request; max(): always.
using PollDuration = std::chrono::nanoseconds;

struct AgentOptions {
  Secret secret;
  std::uint64_t job = 0;
  std::int32_t ranks = 1;  ///< of the job
  NodeId node;
  PollDuration stay_awake{0};
  detail::TimedWaitLimits timed_waits{};
  int threads = 1;
  PackingLimits limits{};
  /// Unsent to a peer before its requests are no longer read.
  std::size_t answer_bytes = 1U << 20U;
  bool buffers_per_client = false;  ///< each connection keeps its own buffer, for comparison only
  std::chrono::milliseconds authentication_timeout{10'000};     ///< of a new peer
  UnauthenticatedPeerLog::Limits unauthenticated_log_limits{};  ///< in the log
  /// Receives warnings; called by the agent's threads.
  std::function<void(const std::string&)> warn;
  std::shared_ptr<detail::RdmaProvider> rdma_provider = nullptr;  ///< null: TCP only
  std::shared_ptr<const ForwardOptions> forwards = nullptr;  ///< null: the agent is in no cluster
};

class ServerThread;

/// State shared by the threads of an agent.
struct AgentState {
  AgentState(std::shared_ptr<detail::Node> its_node, TcpListener its_listener,
             AgentOptions its_options)
      : node(std::move(its_node)),
        listener(std::move(its_listener)),
        options(std::move(its_options)),
        unauthenticated_log(options.unauthenticated_log_limits, options.warn) {}

  /// "node 1 (rank 4): its agent ", where rank 4's process runs it; the beginning of a message.
  [[nodiscard]] std::string name() const;
  /// Records that a connection of `origin` has authenticated itself.
  void enter(WorldRank origin);
  /// Records that a connection of `origin` has ended. Returns true if it was the rank's last one.
  /// The rank then counts as gone until it reconnects (transient_connection.hpp), and its locks
  /// pass to others.
  bool leave(WorldRank origin, detail::RemoteRankState state);
  /// The connection of `agent_host` that was entered belongs to another agent, not to a rank.
  void exclude(WorldRank agent_host);
  /// The clean-up after a leave() is complete.
  void record_left();
  /// Returns after record_left() was called for every connection that entered.
  void wait_for_peers_to_close() const;

  std::shared_ptr<detail::Node> node;
  TcpListener listener;
  AgentOptions options;
  UnauthenticatedPeerLog unauthenticated_log;
  RouteTable routes;
  std::atomic<bool> is_ending{false};
  /// All threads of the agent; fixed once the first one starts.
  std::vector<ServerThread*> threads;

 private:
  std::mutex mutex_;
  std::unordered_map<std::int32_t, int> connections_of_;
  std::atomic<int> connections_{0};
};

}  // namespace tessera::rma::server
