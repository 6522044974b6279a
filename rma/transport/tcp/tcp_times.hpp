// SPDX-License-Identifier: BSD-3-Clause
//
// TcpTimes: the time that moving bytes over TCP takes on this machine. packing_model.hpp uses it to
// choose direct rows, part sizes and pipelines.
//
// The cost of the kernel and of copies is measured on a connection of this process with itself,
// which no network slows. The network's own rate is read from the interface; peers are not
// consulted.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "rma/base/result.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma::server {

/// In nanoseconds. The defaults were measured on an idle test machine.
struct TcpTimes {
  double send = 3300;        ///< of sending a frame of a few bytes.
  double receive = 2000;     ///< of receiving it
  double piece = 11;         ///< of each further piece of memory in a frame, at either end
  double sent_kib = 25;      ///< of sending each further KiB of a long frame
  double received_kib = 15;  ///< of receiving it
  double copied_kib = 45;    ///< of copying a KiB in memory.
  double wire_kib = 0;       ///< of a KiB on the network; 0: unknown, or no network between
  friend bool operator==(const TcpTimes&, const TcpTimes&) = default;
};

/// Local. Measures for a few milliseconds without sleeping, and ends soon after `longest`. wire_kib
/// stays 0. Errors: timed_out if other threads kept the processor too long to measure; unreachable;
/// and those of a connection on the loopback device.
Result<TcpTimes> measure_tcp_times(
    std::chrono::nanoseconds longest = std::chrono::milliseconds(10));

/// Local. The time of a KiB, in nanoseconds, on the interface that has this address. It is computed
/// from `speed`, in Mbit/s, in the interface's folder below `folder`. 0 for the loopback device and
/// if the speed is not known.
double wire_kib_of(TcpAddress address, const std::string& folder = "/sys/class/net");

/// Formats times as tcp_times accepts them:
/// "send=3300,receive=2000,piece=11,sent=25,received=15,copied=45,wire=0".
std::string to_text(const TcpTimes& times);

/// Parses such a text; a time that it does not name keeps its value in TcpTimes{}. Errors:
/// invalid_argument.
Result<TcpTimes> parse_tcp_times(std::string_view text);

}  // namespace tessera::rma::server
