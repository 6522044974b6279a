// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the nodes of a job reach each other, tried before there is a job.
//
// Nodes connect when they first need each other, by TCP, to where the other's agent listens (also
// for RDMA devices: their conversations begin so). What stands between them, a firewall, a network
// that only one machine is on, an address that several machines have, shows only then, as the
// error of whatever needed the connection first. Here all pairs are tried, and those that fail are
// named with the address that was used.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/bootstrap.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

/// A connection that could not be made. With `from` and `to` the same: that node can't listen.
struct FailedConnection {
  NodeId from;
  NodeId to;
  std::string reason;  ///< one sentence, with the address that was tried
};

struct NodeConnections {
  std::int32_t machines = 1;             ///< fewer than nodes where those are emulated
  std::vector<NodeId> node_of;           ///< by rank
  std::vector<std::string> addresses;    ///< by node: where it listened; none: there is one node
  std::vector<FailedConnection> failed;  ///< by from, then by to
  std::chrono::microseconds slowest{0};  ///< of those that were made
  NodeId slowest_from;
  NodeId slowest_to;

  [[nodiscard]] std::int32_t nodes() const noexcept;
};

/// Collective over all ranks of `bootstrap`, before Job::start or beside it. The first rank of each
/// node listens at a port and address as its agent would, and connects to all other nodes; who
/// answers there has to know a number that only that node drew. The result is the same on all
/// ranks. A single node has nothing to try.
/// Errors: those of the bootstrap, and of finding out which ranks share a machine. What fails
/// between nodes is no error but part of the result.
/// Cost: a connection for each ordered pair of nodes, eight at a time from each; one that is not
/// answered takes `patience`.
Result<NodeConnections> try_connections(Bootstrap& bootstrap, const Settings& settings,
                                        std::chrono::milliseconds patience);

/// Local. The address at which this machine's nodes listen for other machines, "10.99.0.2".
/// Errors: invalid_argument (TESSERA_INTERFACE names no network that is up).
Result<std::string> address_for_other_machines(const Settings& settings);

/// How transfers by tcp would be packed in a job that this process is rank 0 of.
struct TcpPacking {
  std::string source;          ///< of the times: "measured", "fixed", "given" or "not needed"
  std::string times;           ///< as TESSERA_TCP_TIMES takes them
  std::size_t direct_row = 0;  ///< bytes; rows of this length and more are not packed
  std::size_t pipeline = 0;    ///< bytes; shorter transfers are packed in one part
  struct PartsOf {
    std::size_t bytes = 0;  ///< of a transfer
    std::size_t first = 0;  ///< of its first part
    std::size_t each = 0;   ///< of the others
  };
  std::vector<PartsOf> parts;
};

/// Local. Measures as a job does, which takes some milliseconds. Errors: invalid_argument
/// (TESSERA_TCP_TIMES).
Result<TcpPacking> describe_tcp_packing(const Settings& settings);

}  // namespace tessera::rma
