/* SPDX-License-Identifier: BSD-3-Clause
 *
 * armci.h: the ARMCI interface (Nieplocha et al., IJHPCA 20(2), 2006) on Tessera.
 *
 *     mpicc program.c $(pkg-config --cflags --libs tessera_armci)
 *
 * Names, argument lists and constants are those that Global Arrays uses, so that programs written
 * for any ARMCI compile unchanged. docs/armci.md lists every function and the differences from
 * other ARMCIs.
 *
 * A pair (process, pointer) names remote memory; the pointers come from ARMCI_Malloc. Processes are
 * numbered over the whole job, whatever the default group is. `bytes` and strides count bytes.
 *
 * Completion: blocking puts and accumulates return when the source may be reused. Gets return when
 * the data has arrived. Fences and barriers complete operations at the target. Non-blocking calls
 * return at once; ARMCI_Wait does what the blocking call does (ARMCI_WaitProc and ARMCI_WaitAll for
 * operations with a null handle). A call returns an error at once if its arguments are invalid.
 * Calls to one process take effect in the order in which they complete locally.
 *
 * Errors: functions that return int return 0, or a negative code for an error. By default an error
 * prints what is wrong and ends the job. With TESSERA_ARMCI_ERRORS=return the call returns instead,
 * and ARMCIX_Error_message() (armcix.h) has the text, also after functions that return nothing.
 * Functions that return a number or a pointer then return -1, 0 or null. An error of one process in
 * a collective call is an error on all its processes, except if that process called it with another
 * group.
 *
 * Threads: any thread may call transfers and read-modify-write, and use its own handles. Only one
 * thread of a process at a time may call collectives and message functions.
 */
#ifndef TESSERA_ARMCI_H
#define TESSERA_ARMCI_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if !defined(TESSERA_ARMCI_NO_MPI) && defined(__has_include)
#if __has_include(<mpi.h>)
#include <mpi.h>
#define TESSERA_ARMCI_HAS_MPI 1
#endif
#endif

/* A cast in a macro: C++ compilers warn about C's form. */
#ifdef __cplusplus
#define TESSERA_ARMCI_CAST(type, value) static_cast<type>(value)
#else
#define TESSERA_ARMCI_CAST(type, value) ((type)(value))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- types --- */

typedef long armci_size_t;

/* Segments of equal length, each with its own address on both sides. The order of the fields is
 * that of the ARMCI papers and of ARMCI-MPI; programs that name the fields do not depend on it. */
typedef struct {
  void** src_ptr_array;
  void** dst_ptr_array;
  int bytes;         /* of each segment */
  int ptr_array_len; /* segments */
} armci_giov_t;

/* Stands for operations under way. After ARMCI_INIT_HANDLE, or a wait, it stands for none. Any
 * number of operations may be started with the same handle. */
typedef struct {
  int data[4];
} armci_hdl_t;
#define armci_req_t armci_hdl_t
#define ARMCI_INIT_HANDLE(hdl)                                             \
  do {                                                                     \
    (hdl)->data[0] = (hdl)->data[1] = (hdl)->data[2] = (hdl)->data[3] = 0; \
  } while (0)

typedef int ARMCI_Group;

/* Memory that one process allocated and others may use; see ARMCI_Memget. */
typedef struct armci_meminfo_ds {
  char* armci_addr; /* names the memory in transfers to process cpid */
  char* addr;       /* the memory, in the process that allocated it */
  size_t size;      /* bytes */
  int cpid;         /* the process that allocated it */
  long idlist[128]; /* private to Tessera */
} armci_meminfo_t;

/* --- constants --- */

#define FAIL (-1)  /* an argument is invalid */
#define FAIL2 (-2) /* memory, or a mutex, outside of what is allocated */
#define FAIL3 (-3) /* ARMCI is not running */
#define FAIL4 (-4) /* not supported */
#define FAIL5 (-5) /* out of memory */
#define FAIL6 (-6) /* a limit was reached */
#define FAIL7 (-7) /* a process is lost, or can't be reached */
#define FAIL8 (-8) /* a defect of this library */

#define ARMCI_SWAP 10
#define ARMCI_SWAP_LONG 11
#define ARMCI_FETCH_AND_ADD 12
#define ARMCI_FETCH_AND_ADD_LONG 13

#define ARMCI_ACC_OFF 36
#define ARMCI_ACC_INT (ARMCI_ACC_OFF + 1)
#define ARMCI_ACC_DBL (ARMCI_ACC_OFF + 2)
#define ARMCI_ACC_FLT (ARMCI_ACC_OFF + 3)
#define ARMCI_ACC_CPL (ARMCI_ACC_OFF + 4) /* two floats */
#define ARMCI_ACC_DCP (ARMCI_ACC_OFF + 5) /* two doubles */
#define ARMCI_ACC_LNG (ARMCI_ACC_OFF + 6)

#define ARMCI_MAX_STRIDE_LEVEL 8
/* Non-blocking operations that may be under way. If a program starts more, the call first
 * completes the oldest. TESSERA_TUNE=max_outstanding changes the limit. */
#define ARMCI_MAX_NUM_REQUESTS 1024
#define ARMCI_MAX_IMPLICIT ARMCI_MAX_NUM_REQUESTS

/* --- start and end --- */

/* Collective over all processes. Further calls are only counted, so that libraries may start
 * what their program has started. A program that uses MPI itself calls MPI_Init before and
 * MPI_Finalize after. Under mpirun, ARMCI_Init_args starts MPI if the program has not. The
 * program may then use MPI and end it; otherwise the exit of the process ends it. */
int ARMCI_Init(void);
int ARMCI_Init_args(int* argc, char*** argv);
/* The same. Grants any thread level of MPI, as all are supported. */
int ARMCI_Init_thread(int requested);
#ifdef TESSERA_ARMCI_HAS_MPI
/* The same over the processes of a communicator; their ranks in it number them. */
int ARMCI_Init_mpi_comm(MPI_Comm comm);
int ARMCI_Init_thread_comm(int requested, MPI_Comm comm);
#endif
/* 1 between ARMCI_Init and the last ARMCI_Finalize, else 0. */
int ARMCI_Initialized(void);
/* Collective. The call that matches the first ARMCI_Init completes all operations and frees all
 * memory. Calls before ARMCI_Init, and after that one, do nothing. */
int ARMCI_Finalize(void);
/* For programs that end by themselves. Does nothing here: the memory of a process goes with it. */
void ARMCI_Cleanup(void);
/* Prints `message` and ends the job with `code`, or with 1 if that is 0. */
void ARMCI_Error(const char* message, int code);

/* --- memory --- */

/* Collective over the default group. Allocates `bytes` zeroed bytes on each process; `bytes` may
 * differ and may be 0. Sets ptr_arr[i] to the pointer that names the memory of the i-th process
 * on this process. It is valid for loads and stores if that process is on the same node, and
 * null if that process has no memory. */
int ARMCI_Malloc(void* ptr_arr[], armci_size_t bytes);
/* Collective over the processes that allocated. Each gives its own pointer, or null if it has no
 * bytes. */
int ARMCI_Free(void* ptr);
/* The same over a group. */
int ARMCI_Malloc_group(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group);
int ARMCI_Free_group(void* ptr, ARMCI_Group* group);
/* Local memory that transfers use directly: no copy and no registration at each transfer. */
void* ARMCI_Malloc_local(armci_size_t bytes);
int ARMCI_Free_local(void* ptr);
/* As ARMCI_Malloc. Allocates ordinary memory, whatever the device. */
int ARMCI_Malloc_memdev(void* ptr_arr[], armci_size_t bytes, const char* device);
int ARMCI_Malloc_group_memdev(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group,
                              const char* device);
int ARMCI_Free_memdev(void* ptr);

/* Not collective. Allocates memory that other processes may use once they have a copy of `info`.
 * It comes from the TESSERA_TUNE=armci_memget MiB that each process sets aside. memflg is 0. */
void ARMCI_Memget(size_t bytes, armci_meminfo_t* info, int memflg);
/* Local. Returns the pointer that names byte `offset` of info's memory on this process. It is
 * valid for loads and stores if the process that allocated the memory is on the same node. */
void* ARMCI_Memat(armci_meminfo_t* info, long offset);
/* Local. Ends the use of a pointer from ARMCI_Memat. */
void ARMCI_Memdt(armci_meminfo_t* info, long offset);
/* Local. Frees the memory, in the process that allocated it. */
void ARMCI_Memctl(armci_meminfo_t* info);

/* Enclose loads and stores to this process's own memory that others also access. `ptr` lies in
 * it. */
void ARMCI_Access_begin(void* ptr);
void ARMCI_Access_end(void* ptr);

void ARMCI_Set_shm_limit(unsigned long bytes); /* does nothing: there is no limit */
int ARMCI_Uses_shm(void);                      /* 1 */
int ARMCI_Uses_shm_grp(ARMCI_Group* group);    /* 1 */
/* Local copy; the memory may overlap. */
void ARMCI_Copy(void* src, void* dst, int bytes);

/* --- blocking transfers --- */

/* dst[i] += scale * src[i] is one accumulate: optype is an ARMCI_ACC_…, and scale points to one
 * element of that type. The addition to each element is atomic.
 *
 * Strided transfers (…S) move blocks of count[0] bytes. The first stride separates count[1] of
 * these blocks, the second stride separates count[2] groups of them, and so on. With 0 levels
 * the strides may be null. Vector transfers (…V) move len sets of segments. */
int ARMCI_Put(void* src, void* dst, int bytes, int proc);
int ARMCI_Get(void* src, void* dst, int bytes, int proc);
int ARMCI_Acc(int optype, void* scale, void* src, void* dst, int bytes, int proc);
int ARMCI_PutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
               int stride_levels, int proc);
int ARMCI_GetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
               int stride_levels, int proc);
int ARMCI_AccS(int optype, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
               int count[], int stride_levels, int proc);
int ARMCI_PutV(armci_giov_t sets[], int len, int proc);
int ARMCI_GetV(armci_giov_t sets[], int len, int proc);
int ARMCI_AccV(int optype, void* scale, armci_giov_t sets[], int len, int proc);

/* Within a process; kept for old programs. */
#define ARMCI_Put1(src, dst, bytes, proc) \
  (memcpy((dst), (src), TESSERA_ARMCI_CAST(size_t, bytes)), 0)

/* Copy strided memory to the contiguous buf, and back. */
void armci_write_strided(void* ptr, int stride_levels, int strides[], int count[], char* buf);
void armci_read_strided(void* ptr, int stride_levels, int strides[], int count[], char* buf);

/* --- put with flag, notify and wait --- */

/* The puts above, followed by a store of `value` to *flag on the same process. A process that
 * sees the value sees the data. */
int ARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc);
int ARMCI_PutS_flag(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                    int stride_levels, int* flag, int value, int proc);
int ARMCI_PutS_flag_dir(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                        int stride_levels, int* flag, int value, int proc);
/* Notifies proc that everything put there before has arrived. Returns how many notifications it
 * has sent to proc so far. */
int armci_notify(int proc);
/* Waits for the next notification from proc. Returns how many have arrived. Sets *waited, if not
 * null, to the number of those that were waited for. */
int armci_notify_wait(int proc, int* waited);

/* --- non-blocking transfers --- */

/* With a null handle the operation is implicit. The data buffers must stay unchanged until the
 * wait. The arrays of strides, counts and pointers may be reused at once. */
int ARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int ARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int ARMCI_NbAcc(int optype, void* scale, void* src, void* dst, int bytes, int proc,
                armci_hdl_t* handle);
int ARMCI_NbPutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                 int stride_levels, int proc, armci_hdl_t* handle);
int ARMCI_NbGetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                 int stride_levels, int proc, armci_hdl_t* handle);
int ARMCI_NbAccS(int optype, void* scale, void* src, int src_strides[], void* dst,
                 int dst_strides[], int count[], int stride_levels, int proc, armci_hdl_t* handle);
int ARMCI_NbPutV(armci_giov_t sets[], int len, int proc, armci_hdl_t* handle);
int ARMCI_NbGetV(armci_giov_t sets[], int len, int proc, armci_hdl_t* handle);
int ARMCI_NbAccV(int optype, void* scale, armci_giov_t sets[], int len, int proc,
                 armci_hdl_t* handle);

/* Complete the operations of a handle; all implicit operations; the implicit operations to one
 * process. */
int ARMCI_Wait(armci_hdl_t* handle);
int ARMCI_WaitAll(void);
int ARMCI_WaitProc(int proc);
/* 0 if ARMCI_Wait would not block, else 1. */
int ARMCI_Test(armci_hdl_t* handle);
/* Operations with such a handle to another node are kept, and sent together as one list when the
 * handle is waited for or when the kind of operation or the process changes. Only then are their
 * addresses checked against the memory. */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* handle);
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* handle);
/* Never needed: operations proceed without calls. */
void ARMCI_Poll(void);

/* --- values --- */

/* Put and get one value. The source of a put may be reused at once. */
int ARMCI_PutValueInt(int src, void* dst, int proc);
int ARMCI_PutValueLong(long src, void* dst, int proc);
int ARMCI_PutValueFloat(float src, void* dst, int proc);
int ARMCI_PutValueDouble(double src, void* dst, int proc);
int ARMCI_NbPutValueInt(int src, void* dst, int proc, armci_hdl_t* handle);
int ARMCI_NbPutValueLong(long src, void* dst, int proc, armci_hdl_t* handle);
int ARMCI_NbPutValueFloat(float src, void* dst, int proc, armci_hdl_t* handle);
int ARMCI_NbPutValueDouble(double src, void* dst, int proc, armci_hdl_t* handle);
int ARMCI_GetValueInt(void* src, int proc);
long ARMCI_GetValueLong(void* src, int proc);
float ARMCI_GetValueFloat(void* src, int proc);
double ARMCI_GetValueDouble(void* src, int proc);

/* --- atomic operations, mutexes, completion --- */

/* Fetch-and-add adds `extra` to *remote and sets *local to the previous value. Swap exchanges
 * *local and *remote. The values are int, or long for the …_LONG operations. */
int ARMCI_Rmw(int op, void* local, void* remote, int extra, int proc);

/* Collective over the default group: creates `num` mutexes on this process. Only one set exists
 * at a time. */
int ARMCI_Create_mutexes(int num);
int ARMCI_Destroy_mutexes(void);
/* Waiting processes get the mutex in the order of their requests. */
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);

/* Return when all operations of this process to proc, to all processes, to the group are
 * complete at the target. */
void ARMCI_Fence(int proc);
void ARMCI_AllFence(void);
void ARMCI_GroupFence(ARMCI_Group* group);
/* Collective over the default group: ARMCI_AllFence and a barrier. */
void ARMCI_Barrier(void);

/* --- groups and locality --- */

/* Collective over the listed processes, named by their ranks in the parent (by default the
 * default group). Other processes need not call it; they get group -1 if they do. Any processes
 * may be listed, in any order. */
void ARMCI_Group_create(int n, int* pid_list, ARMCI_Group* group);
void ARMCI_Group_create_child(int n, int* pid_list, ARMCI_Group* group, ARMCI_Group* parent);
/* Collective over the group. Does nothing on a process that is not a member. */
void ARMCI_Group_free(ARMCI_Group* group);
/* On a process that is not a member: rank -1 and the code FAIL, which is not reported as an
 * error; and size 0. */
int ARMCI_Group_rank(ARMCI_Group* group, int* rank);
void ARMCI_Group_size(ARMCI_Group* group, int* size);
/* Local: sets, or returns, the default group; returns the group of all processes. */
void ARMCI_Group_set_default(ARMCI_Group* group);
void ARMCI_Group_get_default(ARMCI_Group* group);
void ARMCI_Group_get_world(ARMCI_Group* group);
/* The number in the job of a member of the group. */
int ARMCI_Absolute_id(ARMCI_Group* group, int group_rank);
#ifdef TESSERA_ARMCI_HAS_MPI
/* A communicator of the group's processes, in the group's order; null if MPI did not start the
 * job. */
MPI_Comm armci_group_comm(ARMCI_Group* group);
#endif

/* There is one kind of domain: the processes of a node. Domains are numbered from 0. */
typedef int armci_domain_t;
#define ARMCI_DOMAIN_SMP 0
int armci_domain_nprocs(armci_domain_t domain, int id);
int armci_domain_id(armci_domain_t domain, int proc);
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int local_proc);
int armci_domain_my_id(armci_domain_t domain);
int armci_domain_count(armci_domain_t domain);
int armci_domain_same_id(armci_domain_t domain, int proc);
int ARMCI_Same_node(int proc);
int armci_sameclusnode(int proc);

/* --- assertions, as Global Arrays' sources use them --- */

int dassertp_fail(const char* condition, const char* file, const char* function, unsigned line,
                  int code);
void derr_printf(const char* format, ...);
#define dassertc(enable, condition, list, code)                        \
  do {                                                                 \
    if ((enable) && !(condition)) {                                    \
      derr_printf list;                                                \
      dassertp_fail(#condition, __FILE__, __func__, __LINE__, (code)); \
    }                                                                  \
  } while (0)
#define dassertp(enable, condition, list) dassertc(enable, condition, list, 1)
#define dassert(enable, condition) dassertp(enable, condition, (""))
#define dassert1(enable, condition, value) \
  dassertp(enable, condition,              \
           ("%d: error ival=%d\n", armci_msg_me(), TESSERA_ARMCI_CAST(int, value)))
#define armci_die(message, code) \
  dassertc(1, 0, ("%d:%s: %d\n", armci_msg_me(), (message), (code)), code)
#define armci_die2(message, code1, code2) \
  dassertc(1, 0, ("%d:%s: (%d,%d)\n", armci_msg_me(), (message), (code1), (code2)), code1)

#ifdef __cplusplus
}
#endif

/* Programs written for ARMCI-MPI expect all of it in this header. */
#include "message.h"
#include "parmci.h"

#endif /* TESSERA_ARMCI_H */
