// SPDX-License-Identifier: BSD-3-Clause
//
// An agent of node 0 that a test of clients plays with its own listener.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "tests/rma/server_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {

/// An agent that the test plays: it sends what the test gives it.
class PlayedAgent {
 public:
  [[nodiscard]] TcpAddress address() const { return listener_->address(); }
  [[nodiscard]] const Secret& secret() const { return secret_; }

  /// Accepts the next connection and does the handshake, as an agent does.
  RawPeer take_on() {
    std::unique_ptr<Channel> channel;
    EXPECT_TRUE(test::eventually([&] {
      channel = listener_->accept().value();
      return channel != nullptr;
    }));
    RawPeer peer(std::move(channel));
    auto side = HandshakeServer::create(secret_, job_number, job_ranks, NodeId{0}).value();
    EXPECT_TRUE(test::ok(peer.shake_hands(side)));
    return peer;
  }
  void stop_listening() { listener_.reset(); }

 private:
  std::optional<TcpListener> listener_ = TcpListener::create({loopback_host, 0}).value();
  Secret secret_ = new_secret().value();
};

}  // namespace tessera::rma::server
