// SPDX-License-Identifier: BSD-3-Clause
//
// Transport "tcp": ranks of other nodes, through the agents of their nodes (decision 9).
//
// It is a path, not an allocator: memory comes from the transport named before it, which puts it
// into node memory, where the node's agent finds it.
#pragma once

#include "rma/transport.hpp"

namespace tessera::rma::server {

TransportFactory factory();

}  // namespace tessera::rma::server
