// SPDX-License-Identifier: BSD-3-Clause
//
// An agent whose core somebody computes on, as ranks do that are bound to one: who asks now and
// then must not find it waiting for the core. A thread that yields there gets it back behind a
// slice of some milliseconds, one that sleeps gets it at once.
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

/// Takes all the time that it gets.
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

/// Of `requests`, each some time behind the answer to the one before, how many were answered late.
int late_of(int requests, RawPeer& peer) {
  constexpr std::chrono::microseconds late{1000};
  std::minstd_rand random;
  std::uniform_int_distribution<int> pause_us(200, 3000);
  int count = 0;
  for (int i = 0; i < requests; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us(random)));
    const auto asked = Clock::now();
    EXPECT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = stranger, .operation = 1})));
    EXPECT_TRUE(peer.receive_frame());
    count += Clock::now() - asked > late ? 1 : 0;
  }
  return count;
}

// A third or more were late where losses were forgotten within two slices. Who asks runs elsewhere,
// if there is another processor: on this one its falling asleep would let the agent go on.
TEST(AgentCrowd, RequestsNowAndThenAreAnsweredSoon) {
  constexpr int requests = 200;
  std::optional<tessera::test::OnOneProcessor> one(std::in_place);
  const ServedNode node({.stay_awake = std::chrono::microseconds(50)});
  const Computation computation;
  one.reset();
  RawPeer peer(node.address());
  ASSERT_TRUE(test::ok(peer.introduce(node.secret(), stranger)));
  EXPECT_TRUE(test::eventually([&] { return late_of(requests, peer) < requests / 8; }));
}

}  // namespace
}  // namespace tessera::rma::server
