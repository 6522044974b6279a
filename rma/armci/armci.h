/* SPDX-License-Identifier: BSD-3-Clause
 *
 * armci.h: the ARMCI interface (Nieplocha et al., IJHPCA 20(2), 2006) on Tessera.
 *
 *     mpicc program.c $(pkg-config --cflags --libs tessera_armci)
 *
 * Names, argument lists and constants are those that Global Arrays has, so that programs written
 * for any ARMCI compile unchanged; docs/armci.md lists every function, and what is different here.
 *
 * Remote memory is named by (process, pointer): pointers come from ARMCI_Malloc. Processes are
 * numbered over the whole job, whatever group is the default one. `bytes` and strides are bytes.
 *
 * Completion: blocking puts and accumulates return when the source may be reused, gets when the
 * data is here; fences and barriers complete at the target. Non-blocking calls return at once, and
 * ARMCI_Wait (or WaitProc, WaitAll for those with a null handle) does what the blocking call does.
 * Arguments that make no sense are errors of the call itself.
 * Calls to one process take effect in the order in which they complete here.
 *
 * Errors: functions that return int return 0, or less than 0 for an error. By default an error
 * prints what is wrong and ends the job; with TESSERA_ARMCI_ERRORS=return it is returned, and
 * ARMCIX_Error_message() (armcix.h) has the text, also of functions that return nothing; those that
 * return a number or a pointer return -1, 0 or null then. What one process does wrong in a
 * collective, but for calling it with another group, is an error of all.
 *
 * Threads: transfers, handles of one's own, and read-modify-write may be used by any thread; what
 * is collective, and messages, by one at a time.
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

/* A cast in a macro, which compilers of C++ would warn of as C writes it. */
#ifdef __cplusplus
#define TESSERA_ARMCI_CAST(type, value) static_cast<type>(value)
#else
#define TESSERA_ARMCI_CAST(type, value) ((type)(value))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- types ----------------------------------------------------------------------------------- */

typedef long armci_size_t;

/* Segments of equal length at addresses of their own on both sides. The fields' order is that of
 * the ARMCI papers and of ARMCI-MPI; those who name them need not care. */
typedef struct {
  void** src_ptr_array;
  void** dst_ptr_array;
  int bytes;         /* of each segment */
  int ptr_array_len; /* segments */
} armci_giov_t;

/* A claim on operations under way. ARMCI_INIT_HANDLE makes it one on nothing; so is one that was
 * waited for. Any number of operations may be started with the same one. */
typedef struct {
  int data[4];
} armci_hdl_t;
#define armci_req_t armci_hdl_t
#define ARMCI_INIT_HANDLE(hdl)                                             \
  do {                                                                     \
    (hdl)->data[0] = (hdl)->data[1] = (hdl)->data[2] = (hdl)->data[3] = 0; \
  } while (0)

typedef int ARMCI_Group;

/* Memory that one process took and another may use; see ARMCI_Memget. */
typedef struct armci_meminfo_ds {
  char* armci_addr; /* names the memory in transfers to process cpid */
  char* addr;       /* the memory, in the process that took it */
  size_t size;      /* bytes */
  int cpid;         /* the process that took it */
  long idlist[128]; /* Tessera's own */
} armci_meminfo_t;

/* --- constants ---------------------------------------------------------------------------------
 */

#define FAIL (-1)  /* an argument that makes no sense */
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
/* Non-blocking operations that may be under way. More may be started: the oldest is completed
 * then. TESSERA_MAX_OUTSTANDING changes it. */
#define ARMCI_MAX_NUM_REQUESTS 1024
#define ARMCI_MAX_IMPLICIT ARMCI_MAX_NUM_REQUESTS

/* --- start and end ------------------------------------------------------------------------------
 */

/* Collective over all processes. May be called again, which is counted and does nothing else: so
 * that libraries can start what their program has started. A program that uses MPI itself calls
 * MPI_Init before and MPI_Finalize after. Under mpirun ARMCI_Init_args starts MPI where that wasn't
 * done: the program may use it, and end it; else its exit does. */
int ARMCI_Init(void);
int ARMCI_Init_args(int* argc, char*** argv);
/* The same; any level of MPI's is granted, as all of them are served. */
int ARMCI_Init_thread(int requested);
#ifdef TESSERA_ARMCI_HAS_MPI
/* The same over the processes of a communicator, which are numbered by their ranks in it. */
int ARMCI_Init_mpi_comm(MPI_Comm comm);
int ARMCI_Init_thread_comm(int requested, MPI_Comm comm);
#endif
int ARMCI_Initialized(void);
/* Collective. Completes what is under way and gives everything back, when it has been called as
 * often as ARMCI_Init; does nothing before that, and after. */
int ARMCI_Finalize(void);
/* Before a program ends by itself. Nothing is left to clean up here: memory goes with its process.
 */
void ARMCI_Cleanup(void);
/* Prints `message` and ends the job with `code`, or with 1 if that is 0. */
void ARMCI_Error(const char* message, int code);

/* --- memory -------------------------------------------------------------------------------------
 */

/* Collective over the default group. Gives each process `bytes` zeroed bytes, which may differ and
 * may be 0, and sets ptr_arr[i] to what names those of the i-th process here: pointers for loads
 * and stores where it is on the same node, null where it has none. */
int ARMCI_Malloc(void* ptr_arr[], armci_size_t bytes);
/* Collective over the processes that allocated; each gives its own pointer, or null where it has
 * no bytes. */
int ARMCI_Free(void* ptr);
int ARMCI_Malloc_group(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group);
int ARMCI_Free_group(void* ptr, ARMCI_Group* group);
/* Local memory that moves without being copied or registered first. */
void* ARMCI_Malloc_local(armci_size_t bytes);
int ARMCI_Free_local(void* ptr);
/* As ARMCI_Malloc. The memory is ordinary memory, whatever device is named. */
int ARMCI_Malloc_memdev(void* ptr_arr[], armci_size_t bytes, const char* device);
int ARMCI_Malloc_group_memdev(void* ptr_arr[], armci_size_t bytes, ARMCI_Group* group,
                              const char* device);
int ARMCI_Free_memdev(void* ptr);

/* Not collective. Takes memory that other processes may use, once they have a copy of `info`; from
 * the TESSERA_ARMCI_MEMGET MiB that each process has for it. memflg is 0. */
void ARMCI_Memget(size_t bytes, armci_meminfo_t* info, int memflg);
/* Local. What names info's byte `offset` here: a pointer for loads and stores where the process
 * that took it is on the same node. */
void* ARMCI_Memat(armci_meminfo_t* info, long offset);
/* Local. Ends what ARMCI_Memat began. */
void ARMCI_Memdt(armci_meminfo_t* info, long offset);
/* Local. Gives the memory back, in the process that took it. */
void ARMCI_Memctl(armci_meminfo_t* info);

/* Around loads and stores to one's own memory that others access, too. `ptr` lies in it. */
void ARMCI_Access_begin(void* ptr);
void ARMCI_Access_end(void* ptr);

void ARMCI_Set_shm_limit(unsigned long bytes); /* there is no limit to set: does nothing */
int ARMCI_Uses_shm(void);                      /* 1 */
int ARMCI_Uses_shm_grp(ARMCI_Group* group);    /* 1 */
void ARMCI_Copy(void* src, void* dst, int bytes);

/* --- blocking transfers -------------------------------------------------------------------------
 */

/* dst[i] += scale * src[i] is one accumulate: optype is an ARMCI_ACC_…, and scale points to one
 * element of it. Each element is added to atomically.
 *
 * Strided ones (…S) move blocks of count[0] bytes, count[1] of them the first strides apart,
 * count[2] of those the second strides apart, and so on. With 0 levels the strides may be null.
 * Vector ones (…V) move len sets of segments. */
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

/* Packs strided memory into buf, and unpacks it. */
void armci_write_strided(void* ptr, int stride_levels, int strides[], int count[], char* buf);
void armci_read_strided(void* ptr, int stride_levels, int strides[], int count[], char* buf);

/* --- put with flag, notify and wait
 * --------------------------------------------------------------- */

/* As the puts, and then stores `value` in *flag, which is of the same process: who sees it sees the
 * data. */
int ARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc);
int ARMCI_PutS_flag(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                    int stride_levels, int* flag, int value, int proc);
int ARMCI_PutS_flag_dir(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                        int stride_levels, int* flag, int value, int proc);
/* Tells proc that what was put there before has come; returns how often it was told so far. */
int armci_notify(int proc);
/* Waits for the next notification of proc. Returns how many came; *waited, which may be null, is
 * how many were waited for. */
int armci_notify_wait(int proc, int* waited);

/* --- non-blocking transfers
 * ------------------------------------------------------------------------ */

/* A null handle is an implicit one. Buffers stay as they are until the wait; stride, count and
 * pointer arrays may go at once. */
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

/* Complete the operations of a handle; all implicit ones; those to one process. */
int ARMCI_Wait(armci_hdl_t* handle);
int ARMCI_WaitAll(void);
int ARMCI_WaitProc(int proc);
/* 0 when ARMCI_Wait would not block, 1 while it would. */
int ARMCI_Test(armci_hdl_t* handle);
/* Operations of such a handle to another node are kept, and go together as a list when it is waited
 * for, or when the kind or the process changes; whether they are inside of the memory is seen then.
 */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* handle);
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* handle);
/* Never needed: operations proceed by themselves. */
void ARMCI_Poll(void);

/* --- values
 * ------------------------------------------------------------------------------------------ */

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

/* --- atomic operations, mutexes, completion
 * ----------------------------------------------------------- */

/* Fetch-and-add adds `extra` to *remote and sets *local to what was there before; swap exchanges
 * *local and *remote. int, or long for the …_LONG operations. */
int ARMCI_Rmw(int op, void* local, void* remote, int extra, int proc);

/* Collective over the default group: `num` mutexes at this process. One set at a time. */
int ARMCI_Create_mutexes(int num);
int ARMCI_Destroy_mutexes(void);
/* Waiters are served in the order in which they come. */
void ARMCI_Lock(int mutex, int proc);
void ARMCI_Unlock(int mutex, int proc);

/* Return when what this process did there is complete at the target. */
void ARMCI_Fence(int proc);
void ARMCI_AllFence(void);
void ARMCI_GroupFence(ARMCI_Group* group);
/* Collective over the default group: ARMCI_AllFence and a barrier. */
void ARMCI_Barrier(void);

/* --- groups and locality
 * --------------------------------------------------------------------------------- */

/* Collective over the processes listed, by their ranks in the parent (the default group). Others
 * need not call it; their group is -1 if they do. Any processes, in any order. */
void ARMCI_Group_create(int n, int* pid_list, ARMCI_Group* group);
void ARMCI_Group_create_child(int n, int* pid_list, ARMCI_Group* group, ARMCI_Group* parent);
/* Collective over the group. Does nothing for who is not in it. */
void ARMCI_Group_free(ARMCI_Group* group);
/* For who is not in it: -1 and the code FAIL, which is no error here; and 0. */
int ARMCI_Group_rank(ARMCI_Group* group, int* rank);
void ARMCI_Group_size(ARMCI_Group* group, int* size);
void ARMCI_Group_set_default(ARMCI_Group* group);
void ARMCI_Group_get_default(ARMCI_Group* group);
void ARMCI_Group_get_world(ARMCI_Group* group);
/* The number in the job of a group's member. */
int ARMCI_Absolute_id(ARMCI_Group* group, int group_rank);
#ifdef TESSERA_ARMCI_HAS_MPI
/* The group's processes, in its order; null when the job was not started by MPI. */
MPI_Comm armci_group_comm(ARMCI_Group* group);
#endif

/* There is one kind of domain: the processes of a node. They are numbered from 0. */
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

/* --- assertions, as Global Arrays' sources use them
 * ------------------------------------------------------- */

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

/* Programs written for ARMCI-MPI find all of it here. */
#include "message.h"
#include "parmci.h"

#endif /* TESSERA_ARMCI_H */
