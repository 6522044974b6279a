// SPDX-License-Identifier: BSD-3-Clause
//
// An agent in a cluster of nodes, frame by frame: as the agent that forwards requests, and as their
// target. The test plays the processes and the other agent.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rma/server/wire/handshake.hpp"
#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using test::ok;

// Ranks 0 and 1 are on node 0, whose agent is real. Rank 2 is on node 1, rank 3 on node 2.
const std::vector<std::uint64_t> machines{1, 1, 2, 3};
constexpr WorldRank other_host{2};
constexpr NodeId other_node{1};

// The agent of node 1, played by the test.
class OtherAgent {
 public:
  OtherAgent() : listener_(TcpListener::create({loopback_host, 0}).value()) {}
  [[nodiscard]] TcpAddress address() const { return listener_.address(); }

  /// Accepts the connection from the agent of node 0.
  std::unique_ptr<RawPeer> accept(const Secret& secret) {
    std::unique_ptr<Channel> channel;
    EXPECT_TRUE(test::eventually([&] {
      channel = listener_.accept().value();
      return channel != nullptr;
    }));
    auto peer = std::make_unique<RawPeer>(std::move(channel));
    auto side = HandshakeServer::create(secret, job_number, job_ranks, other_node).value();
    EXPECT_TRUE(ok(peer->shake_hands(side)));
    EXPECT_EQ(side.origin(), WorldRank{0});
    const auto introduction = peer->receive_frame();
    EXPECT_TRUE(introduction.has_value());
    EXPECT_EQ(introduction->first.kind, Kind::introduce);
    EXPECT_EQ(introduction->first.forwarder, 0);
    return peer;
  }

 private:
  TcpListener listener_;
};

class Forwarding : public testing::Test {
 protected:
  std::shared_ptr<const ForwardOptions> forwards(std::int64_t cluster, std::size_t window) {
    return std::make_shared<const ForwardOptions>(
        ForwardOptions{.clusters = Clusters(map_.count(), cluster),
                       .nodes = &map_,
                       .ranks = job_ranks,
                       .agents = {{}, other_.address(), other_.address()},
                       .window = window});
  }
  ServedNode& node(std::int64_t cluster = 3, std::size_t window = 32) {
    ServedNodeOptions options;
    options.forwards = forwards(cluster, window);
    node_.emplace(options);
    return *node_;
  }
  std::unique_ptr<RawPeer> process(WorldRank rank) {
    auto peer = std::make_unique<RawPeer>(node_->address());
    EXPECT_TRUE(ok(peer->authenticate(node_->secret(), rank)));
    return peer;
  }
  // The connection by which the other agent forwards requests to node 0.
  std::unique_ptr<RawPeer> trunk() {
    auto peer = process(other_host);
    EXPECT_TRUE(peer->send(frame(introduction(ConnectionUse::agent, other_host))));
    return peer;
  }
  static FrameHeader introduction(ConnectionUse use, WorldRank rank) {
    return {.kind = Kind::introduce,
            .origin = rank,
            .forwarder = use == ConnectionUse::agent ? other_node.value : -1,
            .words = {static_cast<std::uint64_t>(use), 0}};
  }
  static FrameHeader request_to(Kind kind, WorldRank from, WorldRank to) {
    return {.kind = kind, .origin = from, .target = to, .region = region, .words = {0, 8}};
  }
  static FrameHeader passed_on(Kind kind, WorldRank from) {
    FrameHeader header = request_to(kind, from, owner);
    header.forwarder = other_node.value;
    return header;
  }
  static Bytes word(std::int64_t value) {
    Bytes bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }

  const detail::NodeMap map_{machines, 0};
  OtherAgent other_;
  std::optional<ServedNode> node_;
};

// --- the agent that forwards --------------------------------------------------------------------

TEST_F(Forwarding, ForwardsAPutUnchangedAndNamesItsNode) {
  node();
  const auto origin_peer = process(origin);
  FrameHeader put = request_to(Kind::put, origin, other_host);
  put.offset = 64;
  put.route = 0;
  ASSERT_TRUE(origin_peer->send(frame(put, {}, word(7))));
  const auto trunk = other_.accept(node_->secret());
  const auto came = trunk->receive_frame();
  ASSERT_TRUE(came.has_value());
  put.forwarder = 0;
  put.payload_bytes = 8;
  EXPECT_EQ(came->first, put);
  EXPECT_EQ(came->second, word(7));
}

TEST_F(Forwarding, ForwardsAReplyToTheRequester) {
  node();
  const auto first = process(origin);
  const auto second = process(other_host);
  FrameHeader get = request_to(Kind::get, origin, other_host);
  get.operation = 5;
  ASSERT_TRUE(first->send(frame(get)));
  const auto trunk = other_.accept(node_->secret());
  ASSERT_TRUE(trunk->receive_frame().has_value());
  const FrameHeader data{
      .kind = Kind::data, .origin = origin, .target = other_host, .operation = 5};
  ASSERT_TRUE(trunk->send(frame(data, {}, Bytes(1000, std::byte{3}))));
  const auto answer = first->receive_frame();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->first.kind, Kind::data);
  EXPECT_EQ(answer->first.operation, 5U);
  EXPECT_EQ(answer->second, Bytes(1000, std::byte{3}));
}

TEST_F(Forwarding, DelaysAProcessWhoseTrunkIsFullAndServesTheOthers) {
  node(3, 2);
  const auto held = process(origin);
  for (std::int64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(held->send(frame(request_to(Kind::put, origin, other_host), {}, word(i))));
  }
  const auto trunk = other_.accept(node_->secret());
  ASSERT_TRUE(trunk->receive_frame().has_value());
  ASSERT_TRUE(trunk->receive_frame().has_value());
  // The third request waits. Another process is served, although its requests for node 1 would
  // wait.
  const auto other_process = process(other_host);
  FrameHeader fence = request_to(Kind::fence, other_host, owner);
  fence.operation = 9;
  ASSERT_TRUE(other_process->send(frame(fence)));
  const auto served = other_process->receive_frame();
  ASSERT_TRUE(served.has_value());
  EXPECT_EQ(served->first.kind, Kind::done);
  const FrameHeader acknowledgement{
      .kind = Kind::acknowledge, .origin = WorldRank{0}, .words = {1, 0}};
  ASSERT_TRUE(trunk->send(frame(acknowledgement)));
  const auto third = trunk->receive_frame();
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->second, word(2));
}

TEST_F(Forwarding, ReportsTheLossOfTheOtherAgentToTheRequester) {
  node();
  const auto peer = process(origin);
  FrameHeader get = request_to(Kind::get, origin, other_host);
  get.operation = 5;
  ASSERT_TRUE(peer->send(frame(get)));
  auto trunk = other_.accept(node_->secret());
  ASSERT_TRUE(trunk->receive_frame().has_value());
  trunk.reset();
  const auto answer = peer->receive_frame();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->first.kind, Kind::failed);
  EXPECT_EQ(answer->first.operation, 5U);
  EXPECT_EQ(answer->first.forwarder, 0);
  const Status error = decode_failure(answer->second);
  EXPECT_EQ(error.code(), Code::peer_lost);
  EXPECT_NE(error.message().find("node 0 could not pass a request on to node 1: "),
            std::string::npos)
      << error.message();
}

TEST_F(Forwarding, RefusesRequestsForOtherClusters) {
  node(2);  // the clusters are node 0, and nodes 1 and 2
  const auto peer = process(origin);
  FrameHeader get = request_to(Kind::get, origin, other_host);
  get.operation = 5;
  ASSERT_TRUE(peer->send(frame(get)));
  const Status error = peer->receive_failure();
  EXPECT_EQ(error.code(), Code::invalid_argument);
  EXPECT_NE(
      error.message().find("node 0 passes no requests on to node 1, which is in another cluster"),
      std::string::npos)
      << error.message();
}

TEST_F(Forwarding, EndsATrunkThatAcknowledgesTooMuch) {
  node();
  const auto peer = process(origin);
  FrameHeader get = request_to(Kind::get, origin, other_host);
  get.operation = 5;
  ASSERT_TRUE(peer->send(frame(get)));
  const auto trunk = other_.accept(node_->secret());
  ASSERT_TRUE(trunk->receive_frame().has_value());
  const FrameHeader acknowledgement{
      .kind = Kind::acknowledge, .origin = WorldRank{0}, .words = {2, 0}};
  ASSERT_TRUE(trunk->send(frame(acknowledgement)));
  const Status error = peer->receive_failure();
  EXPECT_NE(error.message().find("the agent of node 1 acknowledged 2 requests of 1"),
            std::string::npos)
      << error.message();
}

// --- the agent that is the target --------------------------------------------------------------

TEST_F(Forwarding, ExecutesAndAcknowledgesForwardedRequests) {
  node();
  const auto other_agent = trunk();
  FrameHeader put = passed_on(Kind::put, origin);
  put.offset = 128;
  FrameHeader get = put;
  get.kind = Kind::get;
  get.operation = 6;
  Bytes both = frame(put, {}, word(11));
  const Bytes second = frame(get);
  both.insert(both.end(), second.begin(), second.end());
  ASSERT_TRUE(other_agent->send(both));
  std::uint64_t acknowledged = 0;
  bool is_answered = false;
  while (acknowledged < 2 || !is_answered) {
    const auto came = other_agent->receive_frame();
    ASSERT_TRUE(came.has_value());
    if (came->first.kind == Kind::acknowledge) {
      acknowledged += came->first.words[0];
      continue;
    }
    EXPECT_EQ(came->first.kind, Kind::value);
    EXPECT_EQ(came->first.words[0], 11U) << "a get sees the put before it";
    EXPECT_EQ(came->first.operation, 6U);
    EXPECT_EQ(came->first.origin, origin);
    EXPECT_EQ(acknowledged, came->first.words[0] == 11U ? acknowledged : 0);
    is_answered = true;
  }
  EXPECT_EQ(acknowledged, 2U);
}

TEST_F(Forwarding, AnswersOverTheConnectionThatTheProcessHasForIt) {
  node();
  const auto replies = process(origin);
  ASSERT_TRUE(replies->send(frame(introduction(ConnectionUse::replies, origin))));
  // A reply on this connection shows that the agent has read the introduction.
  FrameHeader fence = request_to(Kind::fence, origin, owner);
  fence.operation = 1;
  ASSERT_TRUE(replies->send(frame(fence)));
  ASSERT_TRUE(replies->receive_frame().has_value());
  const auto other_agent = trunk();
  FrameHeader get = passed_on(Kind::get, origin);
  get.operation = 6;
  get.reply_to = map_.node_of(origin).value;
  ASSERT_TRUE(other_agent->send(frame(get)));
  const auto answer = replies->receive_frame();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->first.kind, Kind::value);
  EXPECT_EQ(answer->first.operation, 6U);
  const auto acknowledgement = other_agent->receive_frame();
  ASSERT_TRUE(acknowledgement.has_value());
  EXPECT_EQ(acknowledgement->first.kind, Kind::acknowledge);
}

TEST_F(Forwarding, DropsAndAcknowledgesRequestsFromAnOlderRoute) {
  node();
  const auto other_agent = trunk();
  FrameHeader by_new = passed_on(Kind::put, origin);
  by_new.route = 1;
  ASSERT_TRUE(other_agent->send(frame(by_new, {}, word(2))));
  FrameHeader by_old = passed_on(Kind::put, origin);
  ASSERT_TRUE(other_agent->send(frame(by_old, {}, word(1))));
  std::uint64_t acknowledged = 0;
  while (acknowledged < 2) {
    const auto came = other_agent->receive_frame();
    ASSERT_TRUE(came.has_value());
    ASSERT_EQ(came->first.kind, Kind::acknowledge);
    acknowledged += came->first.words[0];
  }
  std::int64_t there = 0;
  std::memcpy(&there, node_->slice(), sizeof there);
  EXPECT_EQ(there, 2);
}

// Frames that end the connection, and the words of the error.
struct Forged {
  const char* name;
  std::function<FrameHeader(FrameHeader)> change;
  const char* words;
};

class ForgedForwarding : public Forwarding, public testing::WithParamInterface<Forged> {};

TEST_P(ForgedForwarding, EndsTheTrunk) {
  node();
  const auto other_agent = trunk();
  FrameHeader get = passed_on(Kind::get, origin);
  get.operation = 6;
  ASSERT_TRUE(other_agent->send(frame(GetParam().change(get))));
  Status error;
  while (true) {
    const auto came = other_agent->receive_frame();
    ASSERT_TRUE(came.has_value());
    if (came->first.kind == Kind::failed) {
      error = decode_failure(came->second);
      break;
    }
  }
  EXPECT_EQ(error.code(), Code::protocol);
  EXPECT_NE(error.message().find(GetParam().words), std::string::npos) << error.message();
  EXPECT_TRUE(other_agent->is_closed_by_the_other());
}

INSTANTIATE_TEST_SUITE_P(
    Forged, ForgedForwarding,
    testing::Values(Forged{"AnotherForwarder",
                           [](FrameHeader each) {
                             each.forwarder = 2;
                             return each;
                           },
                           "passed on get from rank 3 to rank 1 in the name of node 2"},
                    Forged{"NoForwarder",
                           [](FrameHeader each) {
                             each.forwarder = -1;
                             return each;
                           },
                           "in the name of node -1"},
                    Forged{"AKindThatIsNotPassedOn",
                           [](FrameHeader each) {
                             each.kind = Kind::lock;
                             return each;
                           },
                           "the agent of node 1 passed on lock from rank 3"},
                    Forged{"AnotherNodesRank",
                           [](FrameHeader each) {
                             each.target = other_host;
                             return each;
                           },
                           "passed on get from rank 3 to rank 2"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(Forwarding, RefusesAgentConnectionsOfOtherRanks) {
  node();
  const auto peer = process(origin);  // node 2's agent process, which claims to be node 1's agent
  FrameHeader forged = introduction(ConnectionUse::agent, origin);
  forged.operation = 4;
  ASSERT_TRUE(peer->send(frame(forged)));
  const Status error = peer->receive_failure();
  EXPECT_EQ(error.code(), Code::unsupported);
  EXPECT_NE(error.message().find("do all ranks have the same TESSERA_TUNE=server_cluster?"),
            std::string::npos)
      << error.message();
}

TEST_F(Forwarding, IsOverWhenOnlyAgentsAreLeft) {
  node();
  const auto other_agent = trunk();
  FrameHeader fence = passed_on(Kind::fence, origin);
  fence.operation = 2;
  ASSERT_TRUE(other_agent->send(frame(fence)));
  ASSERT_TRUE(other_agent->receive_frame().has_value());
  node_->agent().wait_for_peers_to_close();  // does not wait for other agents
}

}  // namespace
}  // namespace tessera::rma::server
