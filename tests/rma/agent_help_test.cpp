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

}  // namespace
}  // namespace tessera::rma::server
