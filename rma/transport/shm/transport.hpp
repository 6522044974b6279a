// SPDX-License-Identifier: BSD-3-Clause
//
// Transport "shm": ranks of one node, by load and store in the memory that they share.
//
// Regions lie in the node's arena (rma/node/): one mapping and one descriptor for any number of
// regions. The library itself moves bytes wherever Segment::direct gives a pointer
// (rma/protocol/direct.hpp). This transport only allocates, and reaches attached memory, which is
// private memory of another process, by the kernel's process_vm calls.
#pragma once

#include "rma/transport/transport.hpp"

namespace tessera::rma::shm {

/// The entry for the job's list of transports.
TransportFactory factory();

}  // namespace tessera::rma::shm
