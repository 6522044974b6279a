// SPDX-License-Identifier: BSD-3-Clause
//
// An agent whose work is done by a rank that waits: what happens when that rank falls asleep.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>

#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// So long that nobody takes the end of one for an answer.
constexpr std::chrono::seconds nap{20};

void ask(RawPeer& peer) {
  ASSERT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = stranger, .operation = 1})));
}

bool has_come(const RawPeer& peer) {
  pollfd answer{.fd = peer.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&answer, 1, 0) == 1;
}

// A request that comes while everybody sleeps must not lie for the rest of a nap.
TEST(AgentHelp, ThatIsHandedBackEndsANap) {
  ServedNode node({.naps = {.waited_for = nap, .by_itself = nap, .longest = nap}});
  RawPeer peer(node.address());
  ASSERT_TRUE(test::ok(peer.introduce(node.secret(), stranger)));
  node.agent().begin();
  // This wakes the thread, which naps then, since it is helped. So the answer is the helper's.
  ask(peer);
  const auto& sleepers = node.memory()->header().agent_bell.sleepers;
  ASSERT_TRUE(test::eventually([&] { return sleepers.load() == 0; }));
  ASSERT_TRUE(test::eventually([&] {
    node.agent().help();
    return has_come(peer);
  }));
  ASSERT_TRUE(peer.receive_frame());
  node.agent().end();
  const auto start = Clock::now();
  node.agent().hand_back();
  ask(peer);
  EXPECT_TRUE(peer.receive_frame());
  EXPECT_LT(Clock::now() - start, nap / 2);
}

// An answer waits for room, so the next request waits in the agent; then there is room for all, and
// another peer is heard. Nothing comes any more that would remind of the first one.
TEST(AgentHelp, TakesUpRequestsThatWaitedBehindAnswers) {
  constexpr std::uint64_t requests = 5;
  ServedNode node(
      {.naps = {.waited_for = nap, .by_itself = nap, .longest = nap}, .answer_bytes = 1});
  RawPeer first(node.address());
  RawPeer one(node.address());
  RawPeer other(node.address());
  for (RawPeer* const peer : {&first, &one, &other}) {
    ASSERT_TRUE(test::ok(peer->introduce(node.secret(), stranger)));
  }
  Bytes many;
  for (std::uint64_t i = 1; i <= requests; ++i) {
    const Bytes each = frame({.kind = Kind::fence, .origin = stranger, .operation = i});
    many.insert(many.end(), each.begin(), each.end());
  }
  // The thread naps from now on. The first peer was heard last, so that one look finds both others.
  node.agent().begin();
  ask(first);
  ASSERT_TRUE(test::eventually([&] {
    node.agent().help();
    return has_come(first);
  }));
  ASSERT_TRUE(one.send(many));
  ASSERT_TRUE(other.send(many));
  for (RawPeer* const peer : {&one, &other}) {
    for (std::uint64_t i = 1; i <= requests; ++i) {
      ASSERT_TRUE(test::eventually([&] {
        node.agent().help();
        return has_come(*peer);
      })) << i;
      const auto answer = peer->receive_frame();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->first.operation, i);
    }
  }
  node.agent().end();
  node.agent().hand_back();  // or the node ends after the nap
}

}  // namespace
}  // namespace tessera::rma::server
