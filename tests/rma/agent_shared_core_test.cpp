// SPDX-License-Identifier: BSD-3-Clause
//
// An agent that shares its core with a computation, as ranks do that are bound to a core:
// occasional requests must not find it waiting for the core. A thread that yields there gets the
// core back after a time slice of some milliseconds. A thread that sleeps gets it at once.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "tests/rma/agent_rig.hpp"
#include "tests/support/one_processor.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

/// Uses all the processor time that it gets.
class Computation {
 public:
  ~Computation() {
    is_over_ = true;
    thread_.join();
  }
  Computation() = default;
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_{[this] {
    while (!is_over_) {
    }
  }};
};

/// Sends `requests` with a pause before each, and returns how many were answered late.
int late_of(int requests, RawPeer& peer) {
  constexpr std::chrono::microseconds late{1000};
  std::minstd_rand random;
  std::uniform_int_distribution<int> pause_us(200, 3000);
  int count = 0;
  for (int i = 0; i < requests; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us(random)));
    const auto asked = Clock::now();
    EXPECT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = foreign_rank, .operation = 1})));
    EXPECT_TRUE(peer.receive_frame());
    count += Clock::now() - asked > late ? 1 : 0;
  }
  return count;
}

// A third or more of the requests are late if the agent forgets within two time slices that it lost
// the core. The client runs on another processor if there is one: on this processor the client's
// own sleep would let the agent continue.
TEST(AgentOnASharedCore, OccasionalRequestsAreAnsweredSoon) {
  constexpr int requests = 200;
  std::optional<tessera::test::OnOneProcessor> one(std::in_place);
  const ServedNode node({.stay_awake = std::chrono::microseconds(50)});
  const Computation computation;
  one.reset();
  RawPeer peer(node.address());
  ASSERT_TRUE(test::ok(peer.authenticate(node.secret(), foreign_rank)));
  EXPECT_TRUE(test::eventually([&] { return late_of(requests, peer) < requests / 8; }));
}

}  // namespace
}  // namespace tessera::rma::server
