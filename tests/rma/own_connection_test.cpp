// SPDX-License-Identifier: BSD-3-Clause
//
// A client's own connection to a node, if other agents pass its requests on: it is opened when it
// is needed, and closed if it is idle.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "rma/server/client/client.hpp"
#include "rma/server/client/client_connection.hpp"
#include "tests/rma/played_agent.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {
namespace {

using test::ok;

// Agents share requests: the client on node 2 sends those for node 0 to the agent of node 1. Only
// the agent of node 0 is played, so nothing but the client's own connection to it is used.
class OwnConnection : public testing::Test {
 protected:
  void connect(std::chrono::milliseconds idle_connection) {
    ClientOptions options;
    options.rank = origin;
    options.job = job_number;
    options.secret = agent_.secret();
    options.agents = {agent_.address(), agent_.address(), agent_.address()};
    options.nodes = &map_;
    options.ranks = job_ranks;
    options.clusters = Clusters(map_.count(), map_.count());
    options.idle_connection = idle_connection;
    client_.emplace(std::move(options));
    connection_ = client_->links().to(NodeId{0}).value();
    ASSERT_FALSE(connection_->channel().is_connected()) << "requests go to another agent";
    connect_again();
  }
  void connect_again() {
    std::thread agent([&] { peer_.emplace(agent_.take_on()); });
    const Status connected = connection_->route().connect();
    agent.join();
    ASSERT_TRUE(ok(connected));
    const auto introduction = peer_->receive_frame();
    ASSERT_TRUE(introduction);
    EXPECT_EQ(introduction->first.kind, Kind::introduce);
  }
  static constexpr std::chrono::milliseconds at_once{0};
  static constexpr std::chrono::hours never{1};

  const detail::NodeMap map_{std::vector<std::uint64_t>{1, 1, 2, 3}, 0};
  PlayedAgent agent_;
  std::optional<RawPeer> peer_;
  std::optional<Client> client_;
  ClientConnection* connection_ = nullptr;
};

TEST_F(OwnConnection, IsClosedIfItIsIdleAndOpenedAgain) {
  connect(at_once);
  connection_->maintain(false);
  EXPECT_FALSE(connection_->channel().is_connected());
  EXPECT_FALSE(connection_->is_lost()) << "only the socket is closed";
  const auto last = peer_->receive_frame();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->first.kind, Kind::bye);
  EXPECT_TRUE(peer_->is_closed_by_the_other());
  connect_again();
  EXPECT_TRUE(connection_->channel().is_connected());
}

TEST_F(OwnConnection, StaysOpenBeforeItIsIdleForLongEnough) {
  connect(never);
  connection_->maintain(false);
  EXPECT_TRUE(connection_->channel().is_connected());
}

// The agent gives a lock to the next process if the connection of its holder ends.
TEST_F(OwnConnection, StaysOpenWhileTheProcessHoldsALock) {
  connect(at_once);
  connection_->route().record_locks(1);
  connection_->maintain(false);
  EXPECT_TRUE(connection_->channel().is_connected());
  connection_->route().record_locks(-1);
  connection_->maintain(false);
  EXPECT_FALSE(connection_->channel().is_connected());
}

}  // namespace
}  // namespace tessera::rma::server
