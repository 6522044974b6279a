// SPDX-License-Identifier: BSD-3-Clause
//
// Whether the nodes of a job can connect to each other, tested before a job exists.
//
// Nodes connect when they first need each other, by TCP, to the address where the other's agent
// listens (also for RDMA devices, whose connections start in this way). An obstacle between them,
// such as a firewall, a network that only one machine is on, or an address that several machines
// have, shows only then, as the error of the operation that first needed the connection. This test
// tries all pairs and names those that fail, with the address that was used.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/bootstrap.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma {

/// A connection that could not be made. If `from` equals `to`, that node can't listen.
struct FailedConnection {
  NodeId from;
  NodeId to;
  std::string reason;  ///< one sentence, with the address that was tried
};

struct NodeConnections {
  std::int32_t machines = 1;             ///< fewer than nodes if nodes are emulated
  std::vector<NodeId> node_of;           ///< by rank
  std::vector<std::string> addresses;    ///< by node: where it listened; empty if there is one node
  std::vector<FailedConnection> failed;  ///< sorted by from, then by to
  std::chrono::microseconds slowest{0};  ///< of the successful ones
  NodeId slowest_from;
  NodeId slowest_to;

  [[nodiscard]] std::int32_t nodes() const noexcept;
};

/// Collective over all ranks of `bootstrap`, before Job::start or independent of it. The first rank
/// of each node listens at a port and address as its agent would, and connects to all other nodes.
/// The node that answers proves its identity with a number that only that node drew. The result is
/// the same on all ranks. A single node has nothing to test.
/// Errors: those of the bootstrap, and of finding out which ranks share a machine. A failure
/// between nodes is part of the result, not an error.
/// Cost: one connection for each ordered pair of nodes, eight at a time from each node. One that
/// gets no answer takes `timeout`.
Result<NodeConnections> try_connections(Bootstrap& bootstrap, const Settings& settings,
                                        std::chrono::milliseconds timeout);

/// Local. The address at which this machine's nodes listen for other machines, "10.99.0.2".
/// Errors: invalid_argument (TESSERA_INTERFACE names no network that is up).
Result<std::string> address_for_other_machines(const Settings& settings);

/// How transfers by tcp would be packed in a job with this process as rank 0.
struct TcpPacking {
  std::string source;          ///< of the times: "measured", "fixed", "given" or "not needed"
  std::string times;           ///< in the form of TESSERA_TUNE=tcp_times
  std::size_t direct_row = 0;  ///< bytes; rows of at least this length are not packed
  std::size_t pipeline = 0;    ///< bytes; shorter transfers are packed in one part
  struct PartsOf {
    std::size_t bytes = 0;  ///< of the transfer
    std::size_t first = 0;  ///< of its first part
    std::size_t each = 0;   ///< of the other parts
  };
  std::vector<PartsOf> parts;
};

/// Local. Measures as a job does, which takes some milliseconds.
/// Errors: invalid_argument (TESSERA_TUNE=tcp_times).
Result<TcpPacking> describe_tcp_packing(const Settings& settings);

}  // namespace tessera::rma
