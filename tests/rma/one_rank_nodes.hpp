// SPDX-License-Identifier: BSD-3-Clause
//
// Many nodes of one rank each in one process. Each has a real agent and a real client.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "rma/server/agent/agent.hpp"
#include "rma/server/client/shutdown_notices.hpp"
#include "tests/rma/node_rig.hpp"
#include "tests/rma/server_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {

inline constexpr std::chrono::seconds shutdown_time_limit{10};

inline std::vector<std::uint64_t> one_rank_a_node(std::int32_t nodes) {
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(nodes));
  std::iota(keys.begin(), keys.end(), 1);
  return keys;
}

// The objects of a node with one rank between start and stop.
struct OneRankNode {
  std::shared_ptr<detail::NodeMemory> memory = detail::rig_memory(1, 64ULL << 20);
  std::shared_ptr<detail::Node> node;
  std::shared_ptr<ShutdownNotices> shutdown_notices;
  std::unique_ptr<Client> client;
  std::unique_ptr<Agent> agent;
  TcpAddress address;

  void leave() {
    node->leave();
    shutdown_notices->send(*client, shutdown_time_limit);
    client->close();
    agent->wait_for_peers_to_close();
  }
};

class OneRankNodes : public testing::Test {
 protected:
  void start(std::int32_t nodes) {
    start_agents(nodes);
    start_clients();
  }
  void start_agents(std::int32_t nodes) {
    map_ = std::make_unique<detail::NodeMap>(one_rank_a_node(nodes), 0);
    ranks_.resize(static_cast<std::size_t>(nodes));
    for (std::int32_t number = 0; number < nodes; ++number) {
      start_agent(number);
    }
  }
  /// The clients connect to the agents at OneRankNode::address.
  void start_clients() {
    for (std::int32_t number = 0; number < count(); ++number) {
      start_client(number);
    }
  }
  [[nodiscard]] const detail::NodeMap& map() const { return *map_; }
  OneRankNode& at(std::int32_t number) { return ranks_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] std::int32_t count() const { return map_->count(); }

  std::chrono::milliseconds connect_timeout_ = ClientOptions().connect_timeout;

 private:
  void start_agent(std::int32_t number) {
    OneRankNode& one = at(number);
    one.node = std::make_shared<detail::Node>(
        one.memory, std::vector<WorldRank>{WorldRank{number}}, 0, true,
        detail::WaitPolicy{.spin = std::chrono::nanoseconds(200),
                           .liveness_interval = detail::rig_liveness_interval});
    ASSERT_TRUE(test::ok(one.node->enter()));
    ASSERT_TRUE(test::ok(ShutdownNotices::publish(*one.node, *map_)));
    one.shutdown_notices = ShutdownNotices::find(one.node, *map_).value();
    auto listener = TcpListener::create({loopback_host, 0}).value();
    one.address = listener.address();
    one.agent = Agent::create(one.node, std::move(listener),
                              {.secret = secret_,
                               .job = job_number,
                               .ranks = count(),
                               .node = NodeId{number},
                               .warn = [](const std::string& line) { ADD_FAILURE() << line; }})
                    .value();
  }
  void start_client(std::int32_t number) {
    OneRankNode& one = at(number);
    ClientOptions options;
    options.rank = WorldRank{number};
    options.job = job_number;
    options.secret = secret_;
    for (const OneRankNode& other : ranks_) {
      options.agents.push_back(other.address);
    }
    for (std::int32_t node = 0; node < count(); ++node) {
      options.agent_hosts.push_back(WorldRank{node});
    }
    options.has_left = [shutdown_notices = one.shutdown_notices](NodeId node) {
      return shutdown_notices->has_left(node);
    };
    options.connect_timeout = connect_timeout_;
    options.stray_error = [](const Status& error) { ADD_FAILURE() << error.describe(); };
    one.client = std::make_unique<Client>(std::move(options));
  }

  Secret secret_ = new_secret().value();
  std::unique_ptr<detail::NodeMap> map_;
  std::vector<OneRankNode> ranks_;
};

}  // namespace tessera::rma::server
