// SPDX-License-Identifier: BSD-3-Clause
//
// Transport `mpi`: windows for data, messages for control (decision 50).
//
//     TESSERA_TRANSPORT=mpi       each rank is a node of its own: all data goes through windows
//     TESSERA_TRANSPORT=shm,mpi   load and store within a node, windows between nodes
#pragma once

#include "rma/transport/transport.hpp"

namespace tessera::rma::mpi {

TransportFactory factory();

}  // namespace tessera::rma::mpi
