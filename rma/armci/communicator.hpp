// SPDX-License-Identifier: BSD-3-Clause
//
// Communicator: the MPI communicator of a group if MPI launched the job, for programs that ask for
// it (armci_group_comm). In this folder only its source includes <mpi.h>; without MPI there is no
// communicator.
#pragma once

#include <memory>

#include "rma/base/result.hpp"
#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::rma::armci {

class Communicator;

/// Collective over all processes. Null if MPI did not launch the job.
Result<std::shared_ptr<Communicator>> world_communicator(const Job& job);
/// Collective over the team, a subset of `parent`'s processes by their world ranks. Null if `world`
/// is.
Result<std::shared_ptr<Communicator>> team_communicator(const std::shared_ptr<Communicator>& world,
                                                        const Team& team);

/// Starts MPI if mpirun or srun launched the program and the program has not started MPI.
Status start_mpi_if_launched(int* argc, char*** argv);
/// Called at ARMCI's end. If start_mpi_if_launched() started MPI, the exit of the process ends it,
/// unless the program ended it before. So programs that call ARMCI_Init_args need not call MPI, and
/// mpirun does not report them as lost.
void end_mpi_with_process();
/// Ends MPI if it runs, and if this process is not a fork() child of the process that started it.
void end_mpi();

}  // namespace tessera::rma::armci
