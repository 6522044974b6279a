// SPDX-License-Identifier: BSD-3-Clause
//
// A network for rma/transport/rdma.hpp as libfabric's providers are: reliable datagrams without any
// order, manual progress at both ends, and no descriptor that wakes. It proves that the interface
// of networks is enough for these. Ranks may be threads or processes of one machine.
//
// A connection restores the order of its messages by their numbers. Writes and reads have no order:
// each is complete when its answer has come. So a put ends when it is in effect, never earlier.
#pragma once

#include <cstdint>
#include <memory>

#include "rma/transport/rdma.hpp"

namespace tessera::rma::test {

struct DatagramOptions {
  std::uint64_t seed = 1;
  /// Claims an order that the network does not have: for tests of what relies on it.
  bool claims_order = false;
};

Result<std::shared_ptr<detail::RdmaProvider>> find_datagram_provider(
    const detail::RdmaProviderContext& context, const DatagramOptions& options = {});

/// Transport "datagrams". The seed is TESSERA_TEST_SEED, or 1.
TransportFactory datagram_transport();

}  // namespace tessera::rma::test
