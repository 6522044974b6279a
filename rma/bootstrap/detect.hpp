// SPDX-License-Identifier: BSD-3-Clause
//
// What the choice of a bootstrap needs to know from the MPI door without including mpi.h.
#pragma once

namespace tessera::rma::detail {

/// True when MPI was initialised and not yet finalised.
bool mpi_is_running();

}  // namespace tessera::rma::detail
