// SPDX-License-Identifier: BSD-3-Clause
//
// Transport "loopback": ranks are threads of one process, memory is the process's own. The
// reference implementation of the contract in rma/transport.hpp.
//
// It does as little as the contract allows and as late as it allows: a non-blocking operation is
// only noted down, and carried out when its rank waits, tests, fences or has too many of them. A
// program that is right on loopback relies on nothing that the contract doesn't promise.
#pragma once

#include "rma/transport.hpp"

namespace tessera::rma::loopback {

/// The entry for the job's list of transports.
TransportFactory factory();

}  // namespace tessera::rma::loopback
