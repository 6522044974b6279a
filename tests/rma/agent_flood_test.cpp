// SPDX-License-Identifier: BSD-3-Clause
//
// Three foreign processes connect to the agent's port as fast as they can. The job's own processes
// must be served as fast as beside three processes that only compute.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <list>

#include "tests/rma/agent_rig.hpp"

namespace tessera::rma::server {
namespace {

using Clock = std::chrono::steady_clock;

// Opens 100 connections at a time, and resets them.
[[noreturn]] void connect_for_ever(TcpAddress to) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(to.port);
  address.sin_addr.s_addr = htonl(to.host);
  const linger none{.l_onoff = 1, .l_linger = 0};
  std::array<int, 100> sockets{};
  while (true) {
    for (int& each : sockets) {
      each = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      setsockopt(each, SOL_SOCKET, SO_LINGER, &none, sizeof none);
      static_cast<void>(connect(each, reinterpret_cast<sockaddr*>(&address), sizeof address));
    }
    std::for_each(sockets.begin(), sockets.end(), close);
  }
}

[[noreturn]] void compute_for_ever() {
  volatile std::uint64_t count = 0;
  while (true) {
    count = count + 1;
  }
}

class AgentFlood : public testing::Test {
 protected:
  // The time that a request takes while three other processes run `work`.
  std::chrono::nanoseconds time_beside(const std::function<void()>& work) {
    constexpr int rounds = 2000;
    std::list<detail::ForkedRank> others;
    for (int i = 0; i < 3; ++i) {
      others.emplace_back(work);
    }
    ask(rounds / 4);
    const auto begin = Clock::now();
    ask(rounds);
    return (Clock::now() - begin) / rounds;
  }

  ServedNode node_{{.stay_awake = std::chrono::microseconds(50)}};

 private:
  void ask(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      ASSERT_TRUE(peer_.send(frame({.kind = Kind::fence, .origin = foreign_rank, .operation = 1})));
      ASSERT_TRUE(peer_.receive_frame());
    }
  }
  RawPeer peer_ = [this] {
    RawPeer peer(node_.address());
    EXPECT_TRUE(test::ok(peer.authenticate(node_.secret(), foreign_rank)));
    return peer;
  }();
};

TEST_F(AgentFlood, ByUnauthenticatedPeersDelaysOthersNoMoreThanComputation) {
  const TcpAddress address = node_.address();
  const auto is_served = [&] {
    const auto computed = time_beside([] { compute_for_ever(); });
    const auto flooded = time_beside([address] { connect_for_ever(address); });
    RecordProperty("computed_ns", static_cast<int>(computed.count()));
    RecordProperty("flooded_ns", static_cast<int>(flooded.count()));
    return flooded <= 2 * computed;
  };
  // Other load of the machine may differ between the two measurements: retry.
  EXPECT_TRUE(is_served() || is_served() || is_served());
  EXPECT_LE(node_.warnings(0).size(), 100U) << "lines in the log";
}

}  // namespace
}  // namespace tessera::rma::server
