// SPDX-License-Identifier: BSD-3-Clause
//
// TcpTimes: what moving bytes over TCP takes on this machine. packing_model.hpp chooses rows, parts
// and pipelines by them.
//
// What the kernel and copies take is measured on a connection of this process with itself, which
// no network slows. The network's own rate is what its interface says: peers are not asked.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "rma/result.hpp"
#include "rma/server/tcp.hpp"

namespace tessera::rma::server {

/// In nanoseconds. The values here are those that the test machine measured when it was idle.
struct TcpTimes {
  double send = 3300;        ///< sending a frame of a few bytes
  double receive = 2000;     ///< receiving it
  double piece = 11;         ///< one more piece of memory in a frame, at either end
  double sent_kib = 25;      ///< each KiB more of a long frame, where it is sent
  double received_kib = 15;  ///< where it is received
  double copied_kib = 45;    ///< of a copy in memory
  double wire_kib = 0;       ///< of the network; 0: unknown, or there is none between
  friend bool operator==(const TcpTimes&, const TcpTimes&) = default;
};

/// Local. Takes some milliseconds, awake, and ends soon after `longest`. wire_kib stays 0. Errors:
/// timed_out where others kept the processor too long to measure anything; unreachable, and those
/// of a connection on the loopback device.
Result<TcpTimes> measure_tcp_times(
    std::chrono::nanoseconds longest = std::chrono::milliseconds(10));

/// Local. What a KiB takes on the interface that has this address, in nanoseconds: by `speed`, in
/// Mbit/s, of its folder below `folder`. 0 for the loopback device and where nobody says.
double wire_kib_of(TcpAddress address, const std::string& folder = "/sys/class/net");

/// "send=3300,receive=2000,piece=11,sent=25,received=15,copied=45,wire=0", as TESSERA_TCP_TIMES
/// takes it.
std::string to_text(const TcpTimes& times);

/// Those of such a text; what it doesn't name is as in TcpTimes{}. Errors: invalid_argument.
Result<TcpTimes> parse_tcp_times(std::string_view text);

}  // namespace tessera::rma::server
