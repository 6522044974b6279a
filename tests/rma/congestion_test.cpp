// SPDX-License-Identifier: BSD-3-Clause
//
// The choice of congestion control for connections between nodes.
#include "rma/transport/tcp/congestion.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "rma/base/fd_passing.hpp"
#include "rma/transport/tcp/tcp.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {
namespace {

constexpr TcpAddress loopback{0x7f00'0001, 0};

detail::Descriptor new_socket() {
  return detail::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

/// Both ends of a connection made with a given choice.
struct Ends {
  std::unique_ptr<Channel> caller;
  std::unique_ptr<Channel> called;
};

Ends connected(const std::string& congestion) {
  auto listener = TcpListener::create(loopback, congestion).value();
  Ends ends;
  ends.caller = connect_tcp(listener.address(), std::chrono::seconds(10), congestion).value();
  while (ends.called == nullptr) {
    ends.called = listener.accept().value();
    std::this_thread::yield();
  }
  return ends;
}

TEST(Congestion, SystemLeavesTheKernelsChoice) {
  const detail::Descriptor socket = new_socket();
  const std::string own = congestion_of(socket.get());
  EXPECT_FALSE(own.empty());
  EXPECT_TRUE(choose_congestion(socket.get(), "system").ok());
  EXPECT_EQ(congestion_of(socket.get()), own);
}

TEST(Congestion, AutoPacesNeverAndKeepsAnyOther) {
  const detail::Descriptor socket = new_socket();
  ASSERT_TRUE(choose_congestion(socket.get(), "reno").ok());
  EXPECT_TRUE(choose_congestion(socket.get(), "auto").ok());
  EXPECT_EQ(congestion_of(socket.get()), "reno");
  if (!choose_congestion(socket.get(), "bbr").ok()) {
    GTEST_SKIP() << "this kernel does not allow bbr";
  }
  EXPECT_TRUE(choose_congestion(socket.get(), "auto").ok());
  const std::string taken = congestion_of(socket.get());
  EXPECT_TRUE(taken == "cubic" || taken == "reno") << taken;
}

TEST(Congestion, BothEndsHaveTheRequestedAlgorithm) {
  const Ends reno = connected("reno");
  EXPECT_EQ(congestion_of(reno.caller->descriptor()), "reno");
  EXPECT_EQ(congestion_of(reno.called->descriptor()), "reno");
  const Ends chosen = connected("auto");
  EXPECT_NE(congestion_of(chosen.caller->descriptor()), "bbr");
  EXPECT_NE(congestion_of(chosen.called->descriptor()), "bbr");
}

TEST(Congestion, ANameThatTheKernelDoesNotHaveIsRefused) {
  const std::string message =
      "TESSERA_TUNE=tcp_congestion=hare is not usable: expected auto, system or one that the "
      "kernel "
      "allows: ";
  EXPECT_TRUE(
      test::fails(TcpListener::create(loopback, "hare"), Code::invalid_argument, {message}));
  auto listener = TcpListener::create(loopback).value();
  EXPECT_TRUE(test::fails(connect_tcp(listener.address(), std::chrono::seconds(10), "hare"),
                          Code::invalid_argument, {message}));
}

}  // namespace
}  // namespace tessera::rma::server
