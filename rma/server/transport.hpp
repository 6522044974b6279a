// SPDX-License-Identifier: BSD-3-Clause
//
// Transports between nodes, through the agents of the nodes (decision 9): "tcp", and those whose
// conversations go on over a network of their own (decision 13).
//
// They are paths, not allocators: memory comes from the transport named before, which puts it into
// node memory, where the node's agent finds it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rma/engine/fabric.hpp"
#include "rma/transport.hpp"

namespace tessera::rma::server {

/// Transport "tcp".
TransportFactory factory();

/// Finds a network. Errors: unsupported where there is none, with the reason.
using FindFabric =
    std::function<Result<std::shared_ptr<detail::FabricSource>>(const TransportContext&)>;

/// A transport over the network that `find` finds on all nodes. Where one has none, all pass over
/// it, with that node's reason.
TransportFactory factory(const std::string& name, FindFabric find);

}  // namespace tessera::rma::server
