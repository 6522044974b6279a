// SPDX-License-Identifier: BSD-3-Clause
//
// An agent with a processor of its own polls for a time after a request, then sleeps, and polls
// again after the next request. The tests observe this in the processor time of its thread.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The processor time that the threads of that name have used so far.
nanoseconds processor_time(const std::string& thread) {
  std::int64_t all = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream comm(each.path() / "comm");
    std::string name;
    std::int64_t time = 0;
    if (std::getline(comm, name) && name == thread &&
        std::ifstream(each.path() / "schedstat") >> time) {
      all += time;
    }
  }
  return nanoseconds(all);
}

/// The processor time that the agent's thread uses within 100 ms.
nanoseconds taken() {
  const nanoseconds before = processor_time("tessera-agent");
  std::this_thread::sleep_for(milliseconds(100));
  return processor_time("tessera-agent") - before;
}

/// Whether other programs run on all processors, so that an agent has none of its own.
bool is_machine_busy() {
  std::ifstream load("/proc/loadavg");
  double average = 0.0;
  unsigned runnable = 0;
  load >> average >> average >> average >> runnable;
  return runnable > std::thread::hardware_concurrency();
}

void ask(RawPeer& peer) {
  ASSERT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = foreign_rank, .operation = 1})));
  ASSERT_TRUE(peer.receive_frame());
}

TEST(AgentAwake, SleepsAgainAfterItsTimeAndIsAwakeWithTheNextRequest) {
  const ServedNode node({.stay_awake = std::chrono::seconds(1)});
  RawPeer peer(node.address());
  ASSERT_TRUE(test::ok(peer.authenticate(node.secret(), foreign_rank)));
  for (int round = 0; round < 2; ++round) {
    int tries = 0;
    int busy = 0;
    const bool is_awake = test::eventually([&] {
      ask(peer);
      ++tries;
      busy += is_machine_busy() ? 1 : 0;
      return taken() > milliseconds(20);
    });
    if (!is_awake && busy > tries / 4) {
      GTEST_SKIP() << "other programs used all processors in " << busy << " of " << tries
                   << " tries";
    }
    EXPECT_TRUE(is_awake) << "it sleeps although a processor is spare, in round " << round;
    EXPECT_TRUE(test::eventually([] { return taken() < milliseconds(1); }))
        << "it never sleeps, in round " << round;
  }
}

TEST(AgentAwake, SleepsSoonIfNoProcessorIsFree) {
  const ServedNode node({.stay_awake = std::chrono::microseconds(50)});
  RawPeer peer(node.address());
  ASSERT_TRUE(test::ok(peer.authenticate(node.secret(), foreign_rank)));
  EXPECT_TRUE(test::eventually([&] {
    ask(peer);
    return taken() < milliseconds(1);
  }));
}

}  // namespace
}  // namespace tessera::rma::server
