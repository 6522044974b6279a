// SPDX-License-Identifier: BSD-3-Clause
//
// AgentRig: the conversations of one agent thread with any number of processes, as they are in a
// job of so many, but in one process: the processes are sockets whose other end is closed once they
// have introduced themselves and asked for something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rma/engine/node_map.hpp"
#include "rma/node/node.hpp"
#include "rma/server/agent_shared.hpp"
#include "rma/server/conversations.hpp"
#include "rma/server/event_queue.hpp"
#include "rma/server/forwarder.hpp"
#include "rma/server/tcp.hpp"

namespace tessera::bench {

/// What an agent may keep for processes.
enum class AgentBuffers {
  shared,      ///< as by default
  clustered,   ///< shared, and requests divided among the agents of a cluster
  per_client,  ///< TESSERA_SERVER_BUFFERS=per_client
};

class AgentRig {
 public:
  /// The agent of node 0 of a job of `processes`, `ranks_per_node` on each node. Throws rma::Error.
  AgentRig(std::int64_t processes, std::int32_t ranks_per_node, AgentBuffers buffers);
  ~AgentRig();
  AgentRig(const AgentRig&) = delete;
  AgentRig& operator=(const AgentRig&) = delete;

  /// How many processes talk to this agent: all of other nodes, or its part of them.
  [[nodiscard]] std::int64_t clients() const noexcept;
  /// How many other agents have a connection with it.
  [[nodiscard]] std::int64_t agents() const noexcept;

  /// One more process talks to it, with a fence that is answered. Throws rma::Error.
  void add_client();
  /// One more agent of its cluster, in both directions.
  void add_agent();

 private:
  void introduce(rma::WorldRank origin, std::span<const std::byte> frames);
  void ask_for(rma::NodeId node);

  std::int32_t ranks_per_node_;
  rma::detail::NodeMap nodes_;
  std::shared_ptr<rma::detail::Node> node_;
  rma::server::Secret secret_;
  rma::server::TcpListener deaf_;  // in the place of other agents: nobody answers there
  std::unique_ptr<rma::server::AgentShared> shared_;
  rma::server::EventQueue events_;
  std::unique_ptr<rma::server::Conversations> conversations_;
  rma::server::Clusters clusters_;
  std::int32_t next_client_;
  std::int32_t next_agent_ = 1;
};

}  // namespace tessera::bench
