// SPDX-License-Identifier: BSD-3-Clause
//
// The state that a rank reports for a peer after its connection was lost, or was never made. A peer
// counts as dead only if its process has ended.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "rma/engine/connection_loss_word.hpp"
#include "rma/server/client/agent_control_channel.hpp"
#include "tests/rma/one_rank_nodes.hpp"
#include "tests/rma/relay.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {
namespace {

using detail::ConnectionLoss;
using detail::ConnectionLossWord;
using detail::PeerState;
using test::fails;
using test::ok;
using Clock = std::chrono::steady_clock;

constexpr NodeId there{1};
constexpr WorldRank other{1};

// Rank 0 connects to rank 1 through a relay.
class LostConnection : public OneRankNodes {
 protected:
  void SetUp() override {
    start_agents(2);
    relay_.emplace(at(1).address);
    at(1).address = relay_->address();
    connect_timeout_ = std::chrono::milliseconds(2000);
    start_clients();
    OneRankNode& own = at(0);
    channel_.emplace(std::shared_ptr<Client>(own.client.get(), [](Client*) {}), own.node, map(),
                     own.shutdown_notices);
  }
  // Makes the connection, and then loses it.
  void lose_the_connection() {
    ASSERT_TRUE(ok(at(0).client->links().to(there)));
    EXPECT_TRUE(ok(channel_->notify(other)));
    relay_->reset_all();
    EXPECT_TRUE(test::eventually([&] { return !channel_->notify(other).ok(); }));
  }
  // Whatever the answer is, it comes in time. The second answer needs no new connection.
  template <class Ask>
  void expect_in_time(Ask&& ask) {
    const auto time_limit = at(0).client->options().connect_timeout;
    const auto begin = Clock::now();
    ask();
    EXPECT_LT(Clock::now() - begin, time_limit / 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the relay accepts connections
    const int before = relay_->accepted();
    ask();
    EXPECT_EQ(relay_->accepted(), before) << "the peer was queried again at once";
  }

  std::optional<Relay> relay_;
  std::optional<AgentControlChannel> channel_;
};

TEST_F(LostConnection, OfALivingRankIsNotADeath) {
  lose_the_connection();
  EXPECT_TRUE(fails(channel_->notify(other), Code::peer_lost, {"Connection reset by peer"}));
  const auto state = channel_->peer_state_of(other);
  ASSERT_TRUE(ok(state));
  EXPECT_EQ(*state, PeerState::alive);
  EXPECT_FALSE(channel_->is_gone(other));
  const ConnectionLoss contact = channel_->contact(there);
  EXPECT_TRUE(contact.is_lost);
  EXPECT_EQ(contact.error, ECONNRESET);
}

// Resets of the connections that query the peer are not a death either.
TEST_F(LostConnection, RepeatedlyIsNotADeath) {
  lose_the_connection();
  relay_->reset_next(3);
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::alive);
}

TEST_F(LostConnection, WithAPortThatIsClosedNowIsADeath) {
  lose_the_connection();
  relay_->stop_listening();
  const auto state = channel_->peer_state_of(other);
  ASSERT_TRUE(ok(state));
  EXPECT_EQ(*state, PeerState::died);
}

// Another program listens at the port now.
TEST_F(LostConnection, WithAPortOfAnotherProtocolIsADeath) {
  lose_the_connection();
  relay_->set(Relay::Way::other_protocol);
  const auto state = channel_->peer_state_of(other);
  ASSERT_TRUE(ok(state));
  EXPECT_EQ(*state, PeerState::died);
}

TEST_F(LostConnection, WithASilentPortIsALossInTime) {
  lose_the_connection();
  relay_->set(Relay::Way::is_silent);
  expect_in_time([&] { EXPECT_TRUE(fails(channel_->peer_state_of(other), Code::peer_lost)); });
  EXPECT_TRUE(channel_->is_gone(other));
}

TEST_F(LostConnection, WithAPortThatClosesAtOnceIsALossInTime) {
  lose_the_connection();
  relay_->set(Relay::Way::closes);
  expect_in_time([&] { EXPECT_TRUE(fails(channel_->peer_state_of(other), Code::peer_lost)); });
}

TEST_F(LostConnection, ThatWasNeverMadeReportsNothingYetIfNoAgentReplies) {
  relay_->set(Relay::Way::is_silent);
  expect_in_time([&] {
    const auto state = channel_->peer_state_of(other);
    ASSERT_TRUE(ok(state));
    EXPECT_EQ(*state, PeerState::unknown);
  });
  EXPECT_FALSE(channel_->is_gone(other)) << "it may be stopped";
  channel_->record_loss(other, false);
  EXPECT_TRUE(channel_->is_gone(other)) << "other ranks have lost the peer, and it does not reply";
  channel_->record_loss(other, true);
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::died);
}

// A stopped process is alive, and no call waits until it replies.
TEST_F(LostConnection, IsNotReportedForAStoppedAgent) {
  ASSERT_TRUE(ok(at(0).client->links().to(there)));
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::alive);
  relay_->stop();
  const auto begin = Clock::now();
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::unknown);
  EXPECT_LT(Clock::now() - begin, at(0).client->options().connect_timeout / 2);
  EXPECT_FALSE(channel_->is_gone(other));
  relay_->go_on();
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::alive);
  EXPECT_TRUE(ok(channel_->notify(other)));
}

TEST_F(LostConnection, ThatOthersReportedIsNoLossIfTheNodeReplies) {
  channel_->record_loss(other, true);
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::alive);
}

TEST_F(LostConnection, InAQueryDoesNotPreventLaterConnections) {
  relay_->set(Relay::Way::is_silent);
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::unknown);
  relay_->set(Relay::Way::passes_on);
  EXPECT_TRUE(ok(channel_->notify(other)));
  EXPECT_EQ(channel_->peer_state_of(other).value(), PeerState::alive);
}

TEST(ConnectionLossWordOf, ALostConnectionNamesItAndItsReason) {
  const std::uint32_t word =
      ConnectionLossWord::of(WorldRank{2}, {.is_lost = true, .error = ECONNRESET});
  ASSERT_TRUE(ConnectionLossWord::is(word));
  const Status status = ConnectionLossWord(word).status(WorldRank{0});
  EXPECT_TRUE(fails(status, Code::peer_lost,
                    {"the connection to the node of rank 2 was lost; its process may still run: "
                     "Connection reset by peer"}));
  EXPECT_EQ(status.rank(), WorldRank{2});
}

TEST(ConnectionLossWordOf, ANodeThatCannotBeReachedNamesItAndTheReason) {
  const std::uint32_t word = ConnectionLossWord::of(WorldRank{0}, {.error = ENETUNREACH});
  ASSERT_TRUE(ConnectionLossWord::is(word));
  EXPECT_TRUE(fails(ConnectionLossWord(word).status(WorldRank{1}), Code::unreachable,
                    {"the node of rank 0 cannot be reached: Network is unreachable"}));
}

TEST(ConnectionLossWordOf, ThisRankIsNotNamedToItself) {
  for (const bool is_lost : {false, true}) {
    const std::uint32_t word =
        ConnectionLossWord::of(WorldRank{3}, {.is_lost = is_lost, .error = ETIMEDOUT});
    const Status status = ConnectionLossWord(word).status(WorldRank{3});
    EXPECT_TRUE(fails(status, is_lost ? Code::peer_lost : Code::unreachable,
                      {"another node", "this rank's node: Connection timed out"}));
    EXPECT_EQ(status.rank(), std::nullopt);
  }
}

TEST(ConnectionLossWordOf, ARankWithoutRoomForItsNumberNamesNone) {
  const std::uint32_t word = ConnectionLossWord::of(WorldRank{3'000'000}, {.error = EHOSTUNREACH});
  ASSERT_TRUE(ConnectionLossWord::is(word));
  EXPECT_TRUE(fails(ConnectionLossWord(word).status(WorldRank{1}), Code::unreachable,
                    {"the node of a rank cannot be reached: No route to host"}));
}

}  // namespace
}  // namespace tessera::rma::server
