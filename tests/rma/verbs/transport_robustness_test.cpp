// SPDX-License-Identifier: BSD-3-Clause
//
// Robustness of an agent on a network of RDMA devices: peers that request connections and locations
// unlike any real client, and peers that die. Their resources are returned.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rma/server/reachable_memory.hpp"
#include "rma/transport/verbs/connection_address.hpp"
#include "rma/transport/verbs/device_discovery.hpp"
#include "tests/rma/agent_rig.hpp"
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::server {
namespace {

using test::fails;
using test::FakeVerbs;
using test::ok;

using ProviderFinder =
    std::function<std::shared_ptr<detail::RdmaProvider>(const std::shared_ptr<detail::Node>&)>;

class VerbsAgent : public testing::Test {
 protected:
  void TearDown() override {
    node_.reset();
    EXPECT_EQ(network_->live(), FakeVerbs::Live());
    EXPECT_EQ(network_->misuses(), std::vector<std::string>());
  }
  [[nodiscard]] static ProviderFinder finder(const std::shared_ptr<FakeVerbs>& network,
                                             const std::string& device) {
    return [network, device](const std::shared_ptr<detail::Node>& node) {
      Settings settings;
      settings.verbs_device = device;
      return verbs::find_rdma_provider(
                 network,
                 {.rank = WorldRank{0}, .settings = &settings, .memory = reachable_memory_of(node)})
          .value();
    };
  }
  RawPeer authenticated_peer() {
    RawPeer peer(node_->address());
    EXPECT_TRUE(ok(peer.authenticate(node_->secret(), foreign_rank)));
    return peer;
  }
  static FrameHeader path_request() {
    return {.kind = Kind::path, .origin = foreign_rank, .operation = 7};
  }
  // After the queue pair's part of an address.
  static constexpr std::size_t credits_at = 2;
  static constexpr std::size_t buffer_at = 5;
  // Of a queue pair that does not exist.
  [[nodiscard]] static Bytes unreachable_address() {
    verbs::ConnectionAddress address;
    address.network = verbs::Network::roce_v2;
    address.port = 1;
    address.mtu = IBV_MTU_1024;
    address.reads_as_initiator = 1;
    address.reads_as_target = 1;
    address.queue_pair = 0xabcde;
    address.gid = test::soft_roce(1).gids[1].gid;
    const auto encoded = address.encode();
    Bytes bytes(detail::rdma_address_bytes);
    std::copy(encoded.begin(), encoded.end(), bytes.begin());
    bytes[encoded.size()] = std::byte{16};                // largest number of credits
    bytes[encoded.size() + buffer_at] = std::byte{0x20};  // 256 times this is the size of a buffer
    return bytes;
  }
  static void expect_fence_answered(RawPeer& peer) {
    ASSERT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = foreign_rank, .operation = 99})));
    const auto answer = peer.receive_frame();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->first.kind, Kind::done);
  }
  void expect_no_path_left() {
    EXPECT_TRUE(test::eventually([&] { return network_->live().queue_pairs == 0; }));
  }

  // For a client.
  std::shared_ptr<detail::Node> shared_node_ = detail::rig_node(detail::rig_memory(1), 0, true);
  std::shared_ptr<FakeVerbs> network_ = std::make_shared<FakeVerbs>();
  std::unique_ptr<ServedNode> node_ =
      std::make_unique<ServedNode>(ServedNodeOptions{.find_provider = finder(network_, "fake0")});
};

TEST_F(VerbsAgent, EndsTheConnectionIfAnAddressHasAnotherLength) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{127}, std::size_t{129}}) {
    RawPeer peer = authenticated_peer();
    ASSERT_TRUE(peer.send(frame(path_request(), Bytes(bytes, std::byte{1}))));
    EXPECT_TRUE(fails(peer.receive_failure(), Code::protocol,
                      {"sent an address of " + std::to_string(bytes) + " bytes; expected 128"}));
    EXPECT_TRUE(peer.is_closed_by_the_other());
  }
  expect_no_path_left();
}

TEST_F(VerbsAgent, RefusesAddressesThatMakeNoSenseAndStaysOnTcp) {
  Bytes without_buffers = unreachable_address();
  without_buffers[verbs::ConnectionAddress::encoded_bytes] = std::byte{0};
  Bytes of_small_buffers = unreachable_address();
  of_small_buffers[verbs::ConnectionAddress::encoded_bytes + buffer_at] = std::byte{1};
  Bytes beyond_the_window = unreachable_address();
  beyond_the_window[verbs::ConnectionAddress::encoded_bytes + credits_at] = std::byte{17};
  Bytes of_another_network = unreachable_address();
  of_another_network[1] = std::byte{77};
  const std::vector<std::pair<Bytes, std::string_view>> all = {
      {Bytes(detail::rdma_address_bytes), "the address of a queue pair has version 0"},
      {without_buffers, "the other end has no buffers for messages"},
      {of_small_buffers, "grants 0 of 16 credits for messages of 256 bytes"},
      {beyond_the_window, "grants 17 of 16 credits for messages of 8192 bytes"},
      {of_another_network, "names the unknown network 77"}};
  RawPeer peer = authenticated_peer();
  for (const auto& [address, words] : all) {
    ASSERT_TRUE(peer.send(frame(path_request(), address)));
    EXPECT_TRUE(fails(peer.receive_failure(), Code::protocol, {words}));
    expect_fence_answered(peer);
  }
  expect_no_path_left();
}

TEST_F(VerbsAgent, EndsTheConnectionIfAPeerStillUsesItAfterTheMove) {
  RawPeer peer = authenticated_peer();
  ASSERT_TRUE(peer.send(frame(path_request(), unreachable_address())));
  const auto answer = peer.receive_frame();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first.kind, Kind::data);
  EXPECT_EQ(answer->second.size(), detail::rdma_address_bytes);
  EXPECT_TRUE(test::eventually([&] { return network_->live().queue_pairs == 1; }));
  ASSERT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = foreign_rank, .operation = 99})));
  EXPECT_TRUE(peer.is_closed_by_the_other());
  expect_no_path_left();
  const auto warnings = node_->warnings(1);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings.front().find("over the TCP connection"), std::string::npos)
      << warnings.front();
}

TEST_F(VerbsAgent, ReleasesTheRdmaConnectionOfADeadPeer) {
  for (int round = 0; round < 20; ++round) {
    RawPeer peer = authenticated_peer();
    ASSERT_TRUE(peer.send(frame(path_request(), unreachable_address())));
    if (round % 2 == 0) {
      ASSERT_TRUE(peer.receive_frame());
    }
  }
  expect_no_path_left();
}

TEST_F(VerbsAgent, ReportsTheAddressesOfSlicesAndNothingElse) {
  RawPeer peer = authenticated_peer();
  const auto ask = [&](std::uint64_t offset, RegionId id) {
    EXPECT_TRUE(peer.send(frame(request(Kind::locate, offset, id))));
    return peer.receive_frame();
  };
  const auto found = ask(slice_bytes - 8, region);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first.kind, Kind::data);
  EXPECT_EQ(found->second.size(), remote_span_bytes);
  const auto failure = [&](std::uint64_t offset, RegionId id) {
    const auto answer = ask(offset, id);
    return answer && answer->first.kind == Kind::failed ? decode_failure(answer->second) : Status();
  };
  EXPECT_TRUE(fails(failure(slice_bytes, region), Code::out_of_range));
  EXPECT_TRUE(fails(failure(slice_bytes + 1, region), Code::out_of_range));
  EXPECT_TRUE(fails(failure(~std::uint64_t{0}, region), Code::out_of_range));
  EXPECT_TRUE(fails(failure(0, RegionId{999}), Code::closed));
  EXPECT_FALSE(failure(0, mailbox_region).ok()) << "memory of the library";
  EXPECT_FALSE(failure(0, lock_memory).ok()) << "memory of the library";
  expect_fence_answered(peer);
}

TEST_F(VerbsAgent, EndsTheConnectionIfAddressesAreRequestedInAnotherForm) {
  const std::vector<Bytes> all = {
      frame(request(Kind::locate), shape_descriptor(CopyShape::contiguous(8))),
      frame(request(Kind::locate), {}, Bytes(8))};
  for (const Bytes& each : all) {
    RawPeer peer = authenticated_peer();
    ASSERT_TRUE(peer.send(each));
    EXPECT_TRUE(fails(peer.receive_failure(), Code::protocol, {"locate"}));
    EXPECT_TRUE(peer.is_closed_by_the_other());
  }
}

// A client that ends like a killed process: without a shutdown notice.
TEST_F(VerbsAgent, ReleasesTheRdmaConnectionsOfDeadClients) {
  for (int round = 0; round < 3; ++round) {
    Client client([&] {
      ClientOptions options = options_for(*node_, foreign_rank);
      options.rdma_provider = finder(network_, "fake1")(shared_node_);
      return options;
    }());
    ClientConnection* const connection = client.links().to(NodeId{0}).value();
    ASSERT_NE(connection->channel().path(), nullptr);
    const auto span = connection->requests().locate(owner, region, 0, [] {});
    EXPECT_TRUE(ok(span));
    EXPECT_EQ(network_->live().queue_pairs, 2U);
  }
  expect_no_path_left();
}

// Operations of the client fail when the agent is gone, also if the network is down.
TEST_F(VerbsAgent, ThatEndsIsReportedToWaiters) {
  ClientOptions options = options_for(*node_, foreign_rank);
  options.agent_hosts = {WorldRank{0}};
  options.rdma_provider = finder(network_, "fake1")(shared_node_);
  Client client(std::move(options));
  ClientConnection* const connection = client.links().to(NodeId{0}).value();
  ASSERT_NE(connection->channel().path(), nullptr);
  network_->hold(true);
  Completion done;
  done.begin();
  PendingReply pending;
  pending.done = &done;
  ASSERT_TRUE(
      ok(connection->ask({.kind = Kind::fence, .origin = foreign_rank}, {}, std::move(pending))));
  node_->stop_agent();
  EXPECT_TRUE(
      test::eventually([&] { return client.progress().wait(done, std::chrono::milliseconds(1)); }));
  EXPECT_TRUE(fails(done.take_error(), Code::peer_lost, {"node 0 is lost with rank 0"}));
  network_->hold(false);
}

}  // namespace
}  // namespace tessera::rma::server
