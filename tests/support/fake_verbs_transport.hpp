// SPDX-License-Identifier: BSD-3-Clause
//
// Transport "fake_verbs": the transport over RDMA devices, on those of
// tests/support/fake_verbs.hpp. Only for ranks that are threads of one process, which contains the
// network.
#pragma once

#include "rma/transport/transport.hpp"

namespace tessera::rma::test {

/// All jobs of the process are on the same network.
TransportFactory fake_verbs_transport();

}  // namespace tessera::rma::test
