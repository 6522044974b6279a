// SPDX-License-Identifier: BSD-3-Clause
//
// The few functions that bootstraps need of the MPI and tessera-run bootstraps.
#pragma once

namespace tessera::rma::detail {

/// True if MPI was initialised and not yet finalised.
bool mpi_is_running();
/// Ends all MPI processes if MPI is running; returns if it is not.
void abort_mpi(int code);
/// Makes tessera-run end the job's other processes as soon as this one has ended. `code` is the
/// exit code of this process. Does nothing if tessera-run did not start this process.
void ask_launcher_to_end(int code);
/// True if a rank of tessera-run started this process or a process above it, and this is not the
/// rank.
bool is_descendant_of_rank();

}  // namespace tessera::rma::detail
