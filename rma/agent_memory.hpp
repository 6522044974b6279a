// SPDX-License-Identifier: BSD-3-Clause
//
// AgentMemory: what a node's agent keeps for the processes of a job, for tools that measure it: the
// agent's real objects, but the processes are sockets of this one, whose other ends are closed once
// they have introduced themselves and asked for something.
#pragma once

#include <cstdint>
#include <memory>

#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/status.hpp"

namespace tessera::rma {

class Job;

/// What an agent keeps for processes.
enum class AgentBuffers : std::uint8_t {
  shared,      ///< as by default
  clustered,   ///< shared, and requests are divided among the agents of a cluster
  per_client,  ///< TESSERA_SERVER_BUFFERS=per_client
};

class AgentMemory {
 public:
  /// The agent of node 0 in a job of `processes`, `ranks_per_node` on each node. Clusters are near
  /// the square root of the number of nodes. Errors: limit_exceeded, no_memory, unreachable.
  static Result<AgentMemory> create(std::int64_t processes, std::int32_t ranks_per_node,
                                    AgentBuffers buffers);
  ~AgentMemory();
  AgentMemory(AgentMemory&&) noexcept;
  AgentMemory& operator=(AgentMemory&&) = delete;

  /// How many processes talk to this agent: all of other nodes, or its part of them. Cost: O(all).
  [[nodiscard]] std::int64_t clients() const noexcept;
  /// How many other agents have a connection with it. Cost: O(nodes).
  [[nodiscard]] std::int64_t agents() const noexcept;

  /// One more process talks to it, with a fence that is answered. Takes a descriptor.
  /// Errors: limit_exceeded, peer_lost, protocol.
  Status add_client();
  /// One more agent of its cluster, in both directions. Takes three descriptors. Errors: likewise.
  Status add_agent();

 private:
  class Rig;
  explicit AgentMemory(std::unique_ptr<Rig> rig) noexcept;
  std::unique_ptr<Rig> rig_;
};

/// Local. The node whose agent takes what rank `origin` asks of `target`: the target's own unless
/// agents share requests.
[[nodiscard]] NodeId agent_for(const Job& job, WorldRank origin, WorldRank target) noexcept;

}  // namespace tessera::rma
