/* SPDX-License-Identifier: BSD-3-Clause
 *
 * profiled.h: included before the cases, so that they call each function by its second name
 * (parmci.h).
 */
#ifndef TESSERA_TESTS_ARMCI_PROFILED_H
#define TESSERA_TESTS_ARMCI_PROFILED_H

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "rma/armci/parmci.h"

#define ARMCI_Init PARMCI_Init
#define ARMCI_Init_args PARMCI_Init_args
#define ARMCI_Init_thread PARMCI_Init_thread
#define ARMCI_Initialized PARMCI_Initialized
#define ARMCI_Finalize PARMCI_Finalize
#define ARMCI_Malloc PARMCI_Malloc
#define ARMCI_Free PARMCI_Free
#define ARMCI_Malloc_group PARMCI_Malloc_group
#define ARMCI_Free_group PARMCI_Free_group
#define ARMCI_Malloc_local PARMCI_Malloc_local
#define ARMCI_Free_local PARMCI_Free_local
#define ARMCI_Malloc_memdev PARMCI_Malloc_memdev
#define ARMCI_Malloc_group_memdev PARMCI_Malloc_group_memdev
#define ARMCI_Free_memdev PARMCI_Free_memdev
#define ARMCI_Memget PARMCI_Memget
#define ARMCI_Memat PARMCI_Memat
#define ARMCI_Memdt PARMCI_Memdt
#define ARMCI_Memctl PARMCI_Memctl
#define ARMCI_Access_begin PARMCI_Access_begin
#define ARMCI_Access_end PARMCI_Access_end
#define ARMCI_Put PARMCI_Put
#define ARMCI_Get PARMCI_Get
#define ARMCI_Acc PARMCI_Acc
#define ARMCI_PutS PARMCI_PutS
#define ARMCI_GetS PARMCI_GetS
#define ARMCI_AccS PARMCI_AccS
#define ARMCI_PutV PARMCI_PutV
#define ARMCI_GetV PARMCI_GetV
#define ARMCI_AccV PARMCI_AccV
#define ARMCI_Put_flag PARMCI_Put_flag
#define ARMCI_PutS_flag PARMCI_PutS_flag
#define ARMCI_PutS_flag_dir PARMCI_PutS_flag_dir
#define armci_notify parmci_notify
#define armci_notify_wait parmci_notify_wait
#define ARMCI_NbPut PARMCI_NbPut
#define ARMCI_NbGet PARMCI_NbGet
#define ARMCI_NbAcc PARMCI_NbAcc
#define ARMCI_NbPutS PARMCI_NbPutS
#define ARMCI_NbGetS PARMCI_NbGetS
#define ARMCI_NbAccS PARMCI_NbAccS
#define ARMCI_NbPutV PARMCI_NbPutV
#define ARMCI_NbGetV PARMCI_NbGetV
#define ARMCI_NbAccV PARMCI_NbAccV
#define ARMCI_Wait PARMCI_Wait
#define ARMCI_WaitAll PARMCI_WaitAll
#define ARMCI_WaitProc PARMCI_WaitProc
#define ARMCI_Test PARMCI_Test
#define ARMCI_PutValueInt PARMCI_PutValueInt
#define ARMCI_PutValueLong PARMCI_PutValueLong
#define ARMCI_PutValueFloat PARMCI_PutValueFloat
#define ARMCI_PutValueDouble PARMCI_PutValueDouble
#define ARMCI_NbPutValueInt PARMCI_NbPutValueInt
#define ARMCI_NbPutValueLong PARMCI_NbPutValueLong
#define ARMCI_NbPutValueFloat PARMCI_NbPutValueFloat
#define ARMCI_NbPutValueDouble PARMCI_NbPutValueDouble
#define ARMCI_GetValueInt PARMCI_GetValueInt
#define ARMCI_GetValueLong PARMCI_GetValueLong
#define ARMCI_GetValueFloat PARMCI_GetValueFloat
#define ARMCI_GetValueDouble PARMCI_GetValueDouble
#define ARMCI_Rmw PARMCI_Rmw
#define ARMCI_Create_mutexes PARMCI_Create_mutexes
#define ARMCI_Destroy_mutexes PARMCI_Destroy_mutexes
#define ARMCI_Lock PARMCI_Lock
#define ARMCI_Unlock PARMCI_Unlock
#define ARMCI_Fence PARMCI_Fence
#define ARMCI_AllFence PARMCI_AllFence
#define ARMCI_GroupFence PARMCI_GroupFence
#define ARMCI_Barrier PARMCI_Barrier
#define ARMCI_Init_mpi_comm PARMCI_Init_mpi_comm
#define ARMCI_Init_thread_comm PARMCI_Init_thread_comm
#define armci_msg_barrier parmci_msg_barrier
#define armci_msg_group_barrier parmci_msg_group_barrier

#endif /* TESSERA_TESTS_ARMCI_PROFILED_H */
