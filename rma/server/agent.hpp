// SPDX-License-Identifier: BSD-3-Clause
//
// Agent: the thread, or threads, that serve a node's memory to other nodes, whatever the node's
// ranks do meanwhile (the data server of [ARMCI06] §5.1 and [CLUSTERS02] §3).
//
// It lives in the process of the node's first rank, but knows nothing of that rank: all that it
// touches is the node's memory. It blocks all signals and calls no MPI.
//
// It lives whatever its peers do: what one of them sends, or doesn't, ends that conversation at
// most and costs the others nothing. Strangers, which have proven nothing yet, are bounded in
// number and time. Without a free descriptor it takes nobody on, says so once, and tries again.
//
// How it waits is a setting: asleep in the kernel until something comes, awake all the time, or
// (the default) awake for a while after the last request and asleep then.
//
// Where ranks have all cores, a rank of the agent's process that waits does its work meanwhile, as
// the two would only take the core from each other; the agent naps then.
//
// Threads: create and destroy by one thread; helpers may be several; the rest is the agent's own.
#pragma once

#include <memory>
#include <vector>

#include "rma/server/agent_thread.hpp"

namespace tessera::rma::server {

class Agent final : public detail::Helper {
 public:
  /// Starts serving `node` to those who connect to `listener`. Errors: limit_exceeded,
  /// no_memory. Requires: the node had no agent yet.
  static Result<std::unique_ptr<Agent>> create(std::shared_ptr<detail::Node> node,
                                               TcpListener listener, AgentOptions options);
  /// Ends the threads and all conversations.
  ~Agent() override;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// What a waiting thread of this process does for the agent's first thread, which naps meanwhile.
  void begin() noexcept override { threads_.front()->begin_help(); }
  void help() noexcept override { threads_.front()->help(); }
  void end() noexcept override { threads_.front()->end_help(); }
  void hand_back() noexcept override { threads_.front()->take_back(); }

  /// Returns when all who had a conversation with it have ended theirs, or are gone. Strangers
  /// don't count.
  void wait_until_alone() const { shared_.wait_until_alone(); }

 private:
  Agent(std::shared_ptr<detail::Node> node, TcpListener listener, AgentOptions options);

  AgentShared shared_;
  std::vector<std::unique_ptr<AgentThread>> threads_;
};

}  // namespace tessera::rma::server
