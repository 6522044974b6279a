// SPDX-License-Identifier: BSD-3-Clause
//
// Agent: the thread or threads that serve a node's memory to other nodes, whatever the node's ranks
// do meanwhile. It is the data server of [ARMCI06] §5.1 and [CLUSTERS02] §3.
//
// The agent runs in the process of the node's first rank, but touches only the node's memory, not
// that rank's state. Its threads block all signals and call no MPI.
//
// A faulty peer cannot harm it: bad or missing data end that peer's connection and do not affect
// the others. Unauthenticated peers are limited in number and in time. If no descriptor is free,
// the agent accepts no new connection, warns once, and tries again later.
//
// A setting chooses how its threads wait: asleep in the kernel until something comes, always
// polling, or (the default) polling for a while after the last request and then asleep.
//
// If the ranks occupy all cores, a waiting rank of the agent's process does the agent's work, since
// two threads would only compete for the core. The agent's own thread sleeps in timed waits
// meanwhile.
//
// Threads: one thread creates and destroys it. Several threads may advance it at once. Everything
// else belongs to the agent's own threads.
#pragma once

#include <memory>
#include <vector>

#include "rma/server/agent/server_thread.hpp"

namespace tessera::rma::server {

class Agent final : public detail::ProgressDelegate {
 public:
  /// Starts serving `node` to the peers that connect to `listener`. Errors: limit_exceeded,
  /// no_memory. Requires: the node has had no agent before.
  static Result<std::unique_ptr<Agent>> create(std::shared_ptr<detail::Node> node,
                                               TcpListener listener, AgentOptions options);
  /// Stops the threads and closes all connections.
  ~Agent() override;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// A waiting thread of this process does the work of the agent's first thread, which sleeps in
  /// timed waits meanwhile.
  void begin() noexcept override { threads_.front()->begin_delegation(); }
  void advance() noexcept override { threads_.front()->advance(); }
  void end() noexcept override { threads_.front()->end_delegation(); }
  void yield_progress() noexcept override { threads_.front()->take_back(); }

  /// Returns after every rank that had a connection has closed it or is gone. Unauthenticated peers
  /// do not count.
  void wait_for_peers_to_close() const { shared_.wait_for_peers_to_close(); }

 private:
  Agent(std::shared_ptr<detail::Node> node, TcpListener listener, AgentOptions options);

  AgentState shared_;
  std::vector<std::unique_ptr<ServerThread>> threads_;
};

}  // namespace tessera::rma::server
