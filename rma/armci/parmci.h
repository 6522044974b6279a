/* SPDX-License-Identifier: BSD-3-Clause
 *
 * parmci.h: the profiling interface. Each function of armci.h that starts, moves, allocates, waits
 * or synchronises has a second name here. A tool replaces only the first: it defines, for example,
 * ARMCI_Put, which records the call and calls PARMCI_Put. docs/examples/armci has such a tool.
 */
#ifndef TESSERA_PARMCI_H
#define TESSERA_PARMCI_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

int PARMCI_Init(void);
int PARMCI_Init_args(int* argc, char*** argv);
int PARMCI_Init_thread(int requested);
int PARMCI_Initialized(void);
int PARMCI_Finalize(void);
int PARMCI_Malloc(void* ptr_arr[], armci_size_t bytes);
int PARMCI_Free(void* ptr);
int PARMCI_Malloc_group(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group);
int PARMCI_Free_group(void* ptr, ARMCI_Group* group);
void* PARMCI_Malloc_local(armci_size_t bytes);
int PARMCI_Free_local(void* ptr);
int PARMCI_Malloc_memdev(void* ptr_arr[], armci_size_t bytes, const char* device);
int PARMCI_Malloc_group_memdev(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group,
                               const char* device);
int PARMCI_Free_memdev(void* ptr);
void PARMCI_Memget(size_t bytes, armci_meminfo_t* info, int memflg);
void* PARMCI_Memat(armci_meminfo_t* info, long offset);
void PARMCI_Memdt(armci_meminfo_t* info, long offset);
void PARMCI_Memctl(armci_meminfo_t* info);
void PARMCI_Access_begin(void* ptr);
void PARMCI_Access_end(void* ptr);
int PARMCI_Put(void* src, void* dst, int bytes, int proc);
int PARMCI_Get(void* src, void* dst, int bytes, int proc);
int PARMCI_Acc(int optype, void* scale, void* src, void* dst, int bytes, int proc);
int PARMCI_PutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                int stride_levels, int proc);
int PARMCI_GetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                int stride_levels, int proc);
int PARMCI_AccS(int optype, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
                int count[], int stride_levels, int proc);
int PARMCI_PutV(armci_giov_t sets[], int len, int proc);
int PARMCI_GetV(armci_giov_t sets[], int len, int proc);
int PARMCI_AccV(int optype, void* scale, armci_giov_t sets[], int len, int proc);
int PARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc);
int PARMCI_PutS_flag(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                     int stride_levels, int* flag, int value, int proc);
int PARMCI_PutS_flag_dir(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                         int stride_levels, int* flag, int value, int proc);
int parmci_notify(int proc);
int parmci_notify_wait(int proc, int* waited);
int PARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int PARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int PARMCI_NbAcc(int optype, void* scale, void* src, void* dst, int bytes, int proc,
                 armci_hdl_t* handle);
int PARMCI_NbPutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                  int stride_levels, int proc, armci_hdl_t* handle);
int PARMCI_NbGetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                  int stride_levels, int proc, armci_hdl_t* handle);
int PARMCI_NbAccS(int optype, void* scale, void* src, int src_strides[], void* dst,
                  int dst_strides[], int count[], int stride_levels, int proc, armci_hdl_t* handle);
int PARMCI_NbPutV(armci_giov_t sets[], int len, int proc, armci_hdl_t* handle);
int PARMCI_NbGetV(armci_giov_t sets[], int len, int proc, armci_hdl_t* handle);
int PARMCI_NbAccV(int optype, void* scale, armci_giov_t sets[], int len, int proc,
                  armci_hdl_t* handle);
int PARMCI_Wait(armci_hdl_t* handle);
int PARMCI_WaitAll(void);
int PARMCI_WaitProc(int proc);
int PARMCI_Test(armci_hdl_t* handle);
int PARMCI_PutValueInt(int src, void* dst, int proc);
int PARMCI_PutValueLong(long src, void* dst, int proc);
int PARMCI_PutValueFloat(float src, void* dst, int proc);
int PARMCI_PutValueDouble(double src, void* dst, int proc);
int PARMCI_NbPutValueInt(int src, void* dst, int proc, armci_hdl_t* handle);
int PARMCI_NbPutValueLong(long src, void* dst, int proc, armci_hdl_t* handle);
int PARMCI_NbPutValueFloat(float src, void* dst, int proc, armci_hdl_t* handle);
int PARMCI_NbPutValueDouble(double src, void* dst, int proc, armci_hdl_t* handle);
int PARMCI_GetValueInt(void* src, int proc);
long PARMCI_GetValueLong(void* src, int proc);
float PARMCI_GetValueFloat(void* src, int proc);
double PARMCI_GetValueDouble(void* src, int proc);
int PARMCI_Rmw(int op, void* local, void* remote, int extra, int proc);
int PARMCI_Create_mutexes(int num);
int PARMCI_Destroy_mutexes(void);
void PARMCI_Lock(int mutex, int proc);
void PARMCI_Unlock(int mutex, int proc);
void PARMCI_Fence(int proc);
void PARMCI_AllFence(void);
void PARMCI_GroupFence(ARMCI_Group* group);
void PARMCI_Barrier(void);
#ifdef TESSERA_ARMCI_HAS_MPI
int PARMCI_Init_mpi_comm(MPI_Comm comm);
int PARMCI_Init_thread_comm(int requested, MPI_Comm comm);
#endif
void parmci_msg_barrier(void);
void parmci_msg_group_barrier(ARMCI_Group* group);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_PARMCI_H */
