// SPDX-License-Identifier: BSD-3-Clause
#include "rma/server/agent/agent.hpp"

#include <utility>

namespace tessera::rma::server {

Agent::Agent(std::shared_ptr<detail::Node> node, TcpListener listener, AgentOptions options)
    : shared_(std::move(node), std::move(listener), std::move(options)) {}

Result<std::unique_ptr<Agent>> Agent::create(std::shared_ptr<detail::Node> node,
                                             TcpListener listener, AgentOptions options) {
  std::unique_ptr<Agent> agent(new Agent(std::move(node), std::move(listener), std::move(options)));
  AgentState& shared = agent->shared_;
  TESSERA_RETURN_IF_ERROR(shared.node->make_remote_rank_tables(shared.options.ranks));
  for (int number = 0; number < shared.options.threads; ++number) {
    TESSERA_ASSIGN_OR_RETURN(auto thread, ServerThread::create(shared, number));
    shared.threads.push_back(thread.get());
    agent->threads_.push_back(std::move(thread));
  }
  for (const auto& thread : agent->threads_) {
    TESSERA_RETURN_IF_ERROR(thread->start());
  }
  return agent;
}

Agent::~Agent() {
  shared_.is_ending = true;
  for (const auto& thread : threads_) {
    thread->wake();
  }
  threads_.clear();  // each waits for its thread
}

}  // namespace tessera::rma::server
