// SPDX-License-Identifier: BSD-3-Clause
//
// TCP as a Channel: listening, connecting, and the stream itself. Sockets never block and send
// small frames at once (TCP_NODELAY).
//
// A machine that is gone says nothing. An idle connection finds that by keepalive, one with bytes
// under way by check(). TCP_USER_TIMEOUT would do for both, but also ends a connection whose peer
// is alive and has not read for that long: one that is stopped, say, or in a debugger.
//
// Threads: as Channel; TcpListener by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "rma/engine/channel.hpp"
#include "rma/node/fd_passing.hpp"
#include "rma/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::server {

using detail::Channel;

/// A machine that sent nothing for so long, though it was asked again and again, is gone.
inline constexpr std::chrono::milliseconds longest_silence{15'000};

/// An IPv4 address and port in host order; plain data, so that ranks can gather it.
struct TcpAddress {
  std::uint32_t host = 0;
  std::uint16_t port = 0;
};
/// "10.99.0.2:40123".
std::string to_string(TcpAddress address);

/// The address of a network interface. `name` empty: the first that is up and no loopback, or the
/// loopback where there is no other. Errors: invalid_argument, naming the interfaces there are.
Result<TcpAddress> interface_address(const std::string& name);

/// The name of the network interface that has this address; empty where none has.
std::string interface_name(TcpAddress address);

class TcpListener {
 public:
  /// Listens at `address`, port 0 meaning any, for connections with that congestion control
  /// (choose_congestion()). Errors: limit_exceeded, unreachable, invalid_argument.
  static Result<TcpListener> create(TcpAddress address, const std::string& congestion = "auto");

  [[nodiscard]] TcpAddress address() const noexcept { return address_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  /// The next connection; null when none waits. Errors: limit_exceeded (no descriptor is free; the
  /// connection goes on waiting).
  Result<std::unique_ptr<Channel>> accept();

 private:
  TcpListener(detail::Descriptor socket, TcpAddress address) noexcept
      : socket_(std::move(socket)), address_(address) {}
  detail::Descriptor socket_;
  TcpAddress address_;
};

/// A listener where other nodes find a node's agent: at the address of TESSERA_INTERFACE, or of the
/// first network, or on loopback where all ranks are on one machine and no network is named.
/// Errors: invalid_argument, limit_exceeded, unreachable.
Result<TcpListener> listen_for_nodes(const Settings& settings, bool is_one_machine);

/// Errors: peer_lost (nobody listens there), unreachable, timed_out, limit_exceeded; with the
/// address and the system's reason, which goes to `reason` as a number, too; invalid_argument of
/// choose_congestion().
Result<std::unique_ptr<Channel>> connect_tcp(TcpAddress address, std::chrono::milliseconds timeout,
                                             const std::string& congestion = "auto",
                                             int* reason = nullptr);

/// The same without waiting: the channel takes nothing before the connection is made, its
/// descriptor is writable then, and a failure is what send() reports.
Result<std::unique_ptr<Channel>> begin_to_connect(TcpAddress address,
                                                  const std::string& congestion = "auto");

}  // namespace tessera::rma::server
