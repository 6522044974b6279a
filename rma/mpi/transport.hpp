// SPDX-License-Identifier: BSD-3-Clause
//
// Transport `mpi`: windows for data, messages for control (decision 50).
//
//     TESSERA_TRANSPORT=mpi       each rank is a node of its own: all go through windows
//     TESSERA_TRANSPORT=shm,mpi   ranks of a node by load and store, nodes through windows
#pragma once

#include "rma/transport.hpp"

namespace tessera::rma::mpi {

TransportFactory factory();

}  // namespace tessera::rma::mpi
