// SPDX-License-Identifier: BSD-3-Clause
//
// Transports between nodes through the nodes' agents (decision 9): "tcp", and transports whose
// connections continue over a network of their own (decision 13).
//
// They move data but do not allocate: memory comes from the transport that is named before them in
// the list. That transport puts it into node memory, where the node's agent finds it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rma/transport/rdma.hpp"
#include "rma/transport/transport.hpp"

namespace tessera::rma::server {

/// Transport "tcp".
TransportFactory factory();

/// Finds a network. Errors: unsupported if there is none, with the reason.
using FindRdmaProvider = std::function<Result<std::shared_ptr<detail::RdmaProvider>>(
    const detail::RdmaProviderContext&)>;

/// A transport over the network that `find` finds on all nodes. If one node has none, all ranks
/// skip this transport, with that node's reason.
TransportFactory factory(const std::string& name, FindRdmaProvider find);

}  // namespace tessera::rma::server
