/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names by which test programs of Global Arrays and ARMCI-MPI start, query and end the message
 * layer. For those programs only: new ones call MPI or message.h.
 */
#ifndef TESSERA_ARMCI_MP3_H
#define TESSERA_ARMCI_MP3_H

#include "armci.h"

#ifdef TESSERA_ARMCI_HAS_MPI
#define MP_INIT(argc, argv) MPI_Init(&(argc), &(argv))
#define MP_FINALIZE() MPI_Finalize()
#define MP_BARRIER() MPI_Barrier(MPI_COMM_WORLD)
#define MP_PROCS(number) MPI_Comm_size(MPI_COMM_WORLD, (number))
#define MP_MYID(number) MPI_Comm_rank(MPI_COMM_WORLD, (number))
#else
#define MP_INIT(argc, argv) armci_msg_init(&(argc), &(argv))
#define MP_FINALIZE() armci_msg_finalize()
#define MP_BARRIER() armci_msg_barrier()
#define MP_PROCS(number) (*(number) = armci_msg_nproc())
#define MP_MYID(number) (*(number) = armci_msg_me())
#endif
#define MP_TIMER() armci_timer()
#define ARMCI_INIT(argc, argv) ARMCI_Init_args(&(argc), &(argv))

#endif /* TESSERA_ARMCI_MP3_H */
