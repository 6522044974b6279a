// SPDX-License-Identifier: BSD-3-Clause
//
// Transport "loopback": ranks are threads of one process, and memory is the process's own. The
// reference implementation of the contract in rma/transport/transport.hpp.
//
// It completes operations as late as the contract allows. A non-blocking operation is only
// recorded; it is carried out when its rank waits, tests or fences, or when too many are recorded.
// A program that is correct on loopback relies only on what the contract promises.
#pragma once

#include "rma/transport/transport.hpp"

namespace tessera::rma::loopback {

/// The entry for the job's list of transports.
TransportFactory factory();

}  // namespace tessera::rma::loopback
