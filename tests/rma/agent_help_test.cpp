// SPDX-License-Identifier: BSD-3-Clause
//
// An agent whose work is done by a rank that waits: what happens when that rank falls asleep.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// As a rank that waits, and for so long that the thread's naps are the longest. It ends anywhere in
// one of them.
void help_for_long(Agent& agent, int round) {
  const std::chrono::microseconds time(2000 + 97 * round % 1000);
  const auto start = Clock::now();
  agent.begin();
  while (Clock::now() - start < time) {
    agent.help();
  }
  agent.end();
}

Clock::duration time_of_answer(RawPeer& peer) {
  const auto start = Clock::now();
  EXPECT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = stranger, .operation = 1})));
  EXPECT_TRUE(peer.receive_frame());
  return Clock::now() - start;
}

// A nap is up to 500 us then. A request that comes while everybody sleeps must not lie for its
// rest: in pairs, as the machine isn't ours alone. Were both alike, each would be the faster one in
// half.
TEST(AgentHelp, ThatIsHandedBackIsNotWaitedFor) {
  constexpr int rounds = 101;
  const ServedNode node;
  RawPeer peer(node.address());
  ASSERT_TRUE(test::ok(peer.introduce(node.secret(), stranger)));
  int faster = 0;
  for (int round = 0; round < rounds; ++round) {
    help_for_long(node.agent(), round);
    const auto hoping = time_of_answer(peer);
    help_for_long(node.agent(), round);
    node.agent().hand_back();
    faster += time_of_answer(peer) < hoping ? 1 : 0;
  }
  EXPECT_GE(faster, rounds * 6 / 10);
}

}  // namespace
}  // namespace tessera::rma::server
