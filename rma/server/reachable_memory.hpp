// SPDX-License-Identifier: BSD-3-Clause
//
// The arena of a node, as a network sees it.
#pragma once

#include <memory>

#include "rma/node/node.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

/// The arena of `node`, which it keeps alive.
std::shared_ptr<detail::ReachableMemory> reachable_memory_of(std::shared_ptr<detail::Node> node);

}  // namespace tessera::rma::server
