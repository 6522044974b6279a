// SPDX-License-Identifier: BSD-3-Clause
//
// AgentMemory: the memory that a node's agent uses for the processes of a job, for tools that
// measure it. It uses the agent's real objects, but the processes are sockets of this process.
// Their other ends are closed after they have completed the handshake and sent a request.
#pragma once

#include <cstdint>
#include <memory>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/base/status.hpp"

namespace tessera::rma {

class Job;

/// Which buffers an agent has for processes.
enum class AgentBuffers : std::uint8_t {
  shared,      ///< the default
  clustered,   ///< shared, and requests are divided among the agents of a cluster
  per_client,  ///< TESSERA_TUNE=server_buffers=per_client
};

class AgentMemory {
 public:
  /// The agent of node 0 in a job of `processes` processes, `ranks_per_node` on each node. A
  /// cluster has about as many agents as the square root of the number of nodes.
  /// Errors: limit_exceeded, no_memory, unreachable.
  static Result<AgentMemory> create(std::int64_t processes, std::int32_t ranks_per_node,
                                    AgentBuffers buffers);
  ~AgentMemory();
  AgentMemory(AgentMemory&&) noexcept;
  AgentMemory& operator=(AgentMemory&&) = delete;

  /// The number of processes connected to this agent: all of other nodes, or its share. Cost:
  /// O(all).
  [[nodiscard]] std::int64_t clients() const noexcept;
  /// The number of other agents that have a connection with it. Cost: O(nodes).
  [[nodiscard]] std::int64_t agents() const noexcept;

  /// Connects one more process, which sends a fence and gets its reply. Uses one file descriptor.
  /// Errors: limit_exceeded, peer_lost, protocol.
  Status add_client();
  /// Connects one more agent of its cluster, in both directions. Uses three file descriptors.
  /// Errors: as add_client().
  Status add_agent();

 private:
  class AgentHarness;
  explicit AgentMemory(std::unique_ptr<AgentHarness> rig) noexcept;
  std::unique_ptr<AgentHarness> harness_;
};

/// Local. The node whose agent handles requests of rank `origin` to `target`: the target's own node
/// unless agents share requests.
[[nodiscard]] NodeId agent_for(const Job& job, WorldRank origin, WorldRank target) noexcept;

}  // namespace tessera::rma
