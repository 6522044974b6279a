// SPDX-License-Identifier: BSD-3-Clause
//
// TCP as a Channel: listening, connecting, and the stream itself. Sockets never block and send
// small frames at once (TCP_NODELAY).
//
// A machine that fails sends nothing. An idle connection detects that by keepalive, and one with
// unacknowledged bytes by check(). TCP_USER_TIMEOUT would cover both, but would also end a
// connection whose peer is alive and has not read for that long, for example in a debugger.
//
// Threads: as Channel; TcpListener by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "rma/base/fd_passing.hpp"
#include "rma/base/result.hpp"
#include "rma/transport/channel.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::server {

using detail::Channel;

/// A machine that sent nothing for this long, although it was probed repeatedly, counts as gone.
inline constexpr std::chrono::milliseconds longest_silence{15'000};

/// An IPv4 address and port in host order; plain data, so that ranks can gather it.
struct TcpAddress {
  std::uint32_t host = 0;
  std::uint16_t port = 0;
};
/// "10.99.0.2:40123".
std::string to_string(TcpAddress address);

/// The address of a network interface. If `name` is empty: the first interface that is up and not
/// the loopback, or the loopback if there is no other. Errors: invalid_argument, with the names of
/// the interfaces.
Result<TcpAddress> interface_address(const std::string& name);

/// The name of the network interface that has this address; empty if none has.
std::string interface_name(TcpAddress address);

class TcpListener {
 public:
  /// Listens at `address` (port 0: any free port). Connections get that congestion control
  /// (choose_congestion()). Errors: limit_exceeded, unreachable, invalid_argument.
  static Result<TcpListener> create(TcpAddress address, const std::string& congestion = "auto");

  [[nodiscard]] TcpAddress address() const noexcept { return address_; }
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  /// The next connection; null if none waits. Errors: limit_exceeded if no descriptor is free; the
  /// connection stays in the queue then.
  Result<std::unique_ptr<Channel>> accept();

 private:
  TcpListener(detail::Descriptor socket, TcpAddress address) noexcept
      : socket_(std::move(socket)), address_(address) {}
  detail::Descriptor socket_;
  TcpAddress address_;
};

/// Creates the listener where other nodes find a node's agent. Its address is that of
/// TESSERA_INTERFACE, or of the first network; or loopback if all ranks are on one machine and no
/// network is named. Errors: invalid_argument, limit_exceeded, unreachable.
Result<TcpListener> listen_for_nodes(const Settings& settings, bool is_one_machine);

/// Errors: peer_lost (nothing listens there), unreachable, timed_out, limit_exceeded; each with the
/// address and the system's reason, whose number is also stored in `reason`. Also invalid_argument
/// of choose_congestion().
Result<std::unique_ptr<Channel>> connect_tcp(TcpAddress address, std::chrono::milliseconds timeout,
                                             const std::string& congestion = "auto",
                                             int* reason = nullptr);

/// The same without waiting. The channel accepts no bytes until the connection is established; then
/// its descriptor becomes writable. send() reports a failure.
Result<std::unique_ptr<Channel>> begin_to_connect(TcpAddress address,
                                                  const std::string& congestion = "auto");

}  // namespace tessera::rma::server
