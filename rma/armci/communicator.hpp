// SPDX-License-Identifier: BSD-3-Clause
//
// Communicator: the MPI communicator that a group has where MPI launched the job, for programs that
// ask for it (armci_group_comm). The folder's only door to <mpi.h>; without MPI there is none.
#pragma once

#include <memory>

#include "rma/job.hpp"
#include "rma/result.hpp"
#include "rma/team.hpp"

namespace tessera::rma::armci {

class Communicator;

/// Collective over all processes. Null where the job was not launched by MPI.
Result<std::shared_ptr<Communicator>> world_communicator(const Job& job);
/// Collective over the team, whose members are of `parent`'s processes by their world ranks. Null
/// where `world` is.
Result<std::shared_ptr<Communicator>> team_communicator(const std::shared_ptr<Communicator>& world,
                                                        const Team& team);

/// Starts MPI where mpirun or srun launched the program and it has not done so itself.
Status start_mpi_if_launched(int* argc, char*** argv);
/// Behind ARMCI's end: has the exit of the process end MPI where start_mpi_if_launched() started it
/// and nobody has ended it until then. Programs that begin with ARMCI_Init_args need not know of
/// MPI, and mpirun is not to take them for lost.
void leave_mpi_to_exit();
/// Ends MPI where it runs, and is not the one of the process that made this one by fork().
void end_mpi();

}  // namespace tessera::rma::armci
