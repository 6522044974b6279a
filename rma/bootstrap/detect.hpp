// SPDX-License-Identifier: BSD-3-Clause
//
// What bootstraps need of the doors to MPI and to tessera-run without knowing more of them.
#pragma once

namespace tessera::rma::detail {

/// True when MPI was initialised and not yet finalised.
bool mpi_is_running();
/// Ends all processes of MPI's, if it is running; returns if it isn't.
void abort_mpi(int code);
/// Has tessera-run end the job's other processes as soon as this one has ended; does nothing where
/// this process was not started by it. `code` is the one that this process ends with.
void ask_launcher_to_end(int code);
/// True when a rank of tessera-run's, which this process is not, started it or a process above it.
bool is_below_rank();

}  // namespace tessera::rma::detail
