/* SPDX-License-Identifier: BSD-3-Clause */
/* Global Arrays' communicators. They belong to the library; do not free them. */
#ifndef TESSERA_GA_MPI_H
#define TESSERA_GA_MPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As GA_Initialize, on the processes of a communicator. Returns 1. */
extern int GA_Initialize_comm(MPI_Comm communicator);
extern int NGA_Initialize_comm(MPI_Comm communicator);

/* Of all processes, of a group that this process is a member of, and of the default group. */
extern MPI_Comm GA_MPI_Comm(void);
extern MPI_Comm GA_MPI_Comm_pgroup(int group);
extern MPI_Comm GA_MPI_Comm_pgroup_default(void);

#ifdef __cplusplus
}
#endif
#endif
