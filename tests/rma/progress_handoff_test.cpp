// SPDX-License-Identifier: BSD-3-Clause
//
// A waiting rank does the agent's work. These tests check what happens when that rank sleeps.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>

#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// Long enough that the end of a timed wait is never taken for a reply.
constexpr std::chrono::seconds timed_wait{20};

void send_fence(RawPeer& peer) {
  ASSERT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = foreign_rank, .operation = 1})));
}

bool has_arrived(const RawPeer& peer) {
  pollfd answer{.fd = peer.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&answer, 1, 0) == 1;
}

// A request that arrives while all threads sleep must not wait for the end of a timed wait.
TEST(AgentHelp, ThatIsYieldedEndsATimedWait) {
  ServedNode node(
      {.timed_waits = {.waited_for = timed_wait, .when_idle = timed_wait, .longest = timed_wait}});
  RawPeer peer(node.address());
  ASSERT_TRUE(test::ok(peer.authenticate(node.secret(), foreign_rank)));
  node.agent().begin();
  // This wakes the thread. It then enters a timed wait, since its work is delegated; so this
  // thread sends the reply.
  send_fence(peer);
  const auto& sleepers = node.memory()->header().agent_bell.sleepers;
  ASSERT_TRUE(test::eventually([&] { return sleepers.load() == 0; }));
  ASSERT_TRUE(test::eventually([&] {
    node.agent().advance();
    return has_arrived(peer);
  }));
  ASSERT_TRUE(peer.receive_frame());
  node.agent().end();
  const auto start = Clock::now();
  node.agent().yield_progress();
  send_fence(peer);
  EXPECT_TRUE(peer.receive_frame());
  EXPECT_LT(Clock::now() - start, timed_wait / 2);
}

// A reply waits for room, so the next request waits in the agent. Then there is room for all, and
// the agent reads from another peer. No further event reminds it of the first peer's requests.
TEST(ProgressHandoff, ContinuesRequestsThatWaitedForEarlierReplies) {
  constexpr std::uint64_t requests = 5;
  ServedNode node(
      {.timed_waits = {.waited_for = timed_wait, .when_idle = timed_wait, .longest = timed_wait},
       .answer_bytes = 1});
  RawPeer first(node.address());
  RawPeer one(node.address());
  RawPeer other(node.address());
  for (RawPeer* const peer : {&first, &one, &other}) {
    ASSERT_TRUE(test::ok(peer->authenticate(node.secret(), foreign_rank)));
  }
  Bytes many;
  for (std::uint64_t i = 1; i <= requests; ++i) {
    const Bytes each = frame({.kind = Kind::fence, .origin = foreign_rank, .operation = i});
    many.insert(many.end(), each.begin(), each.end());
  }
  // The thread is in a timed wait from now on. The agent read from the first peer last, so one poll
  // finds both others.
  node.agent().begin();
  send_fence(first);
  ASSERT_TRUE(test::eventually([&] {
    node.agent().advance();
    return has_arrived(first);
  }));
  ASSERT_TRUE(one.send(many));
  ASSERT_TRUE(other.send(many));
  for (RawPeer* const peer : {&one, &other}) {
    for (std::uint64_t i = 1; i <= requests; ++i) {
      ASSERT_TRUE(test::eventually([&] {
        node.agent().advance();
        return has_arrived(*peer);
      })) << i;
      const auto answer = peer->receive_frame();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->first.operation, i);
    }
  }
  node.agent().end();
  node.agent().yield_progress();  // otherwise the node ends only after the timed wait
}

}  // namespace
}  // namespace tessera::rma::server
