/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A profiling library: counts calls, bytes and time of ARMCI's functions in all processes, and
 * prints a table at ARMCI_Finalize. The program need not be changed or recompiled:
 *
 *     LD_PRELOAD=libtessera_armci_trace.so tessera-run -n 4 ./program
 *
 * Or link the program with this library first: -ltessera_armci_trace -ltessera_armci.
 *
 * Each ARMCI_x here replaces the library's, which is also called PARMCI_x. To trace another
 * function, add its name and a function of a few lines.
 */
#include <armci.h>
#include <message.h>
#include <parmci.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum call {
  acc,
  acc_s,
  acc_v,
  all_fence,
  barrier,
  fence,
  free_,
  get,
  get_s,
  get_v,
  malloc_,
  nb_acc,
  nb_acc_s,
  nb_get,
  nb_get_s,
  nb_put,
  nb_put_s,
  put,
  put_s,
  put_v,
  rmw,
  wait_,
  wait_all,
  calls
};

static const char* const names[calls] = {
    "ARMCI_Acc",    "ARMCI_AccS",  "ARMCI_AccV",   "ARMCI_AllFence", "ARMCI_Barrier", "ARMCI_Fence",
    "ARMCI_Free",   "ARMCI_Get",   "ARMCI_GetS",   "ARMCI_GetV",     "ARMCI_Malloc",  "ARMCI_NbAcc",
    "ARMCI_NbAccS", "ARMCI_NbGet", "ARMCI_NbGetS", "ARMCI_NbPut",    "ARMCI_NbPutS",  "ARMCI_Put",
    "ARMCI_PutS",   "ARMCI_PutV",  "ARMCI_Rmw",    "ARMCI_Wait",     "ARMCI_WaitAll"};

/* Counts for one function; several threads may call it. */
static struct { atomic_llong calls, bytes, nanoseconds; } counts[calls];

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Counts a call that has ended, and returns its value. */
static int note(enum call which, long long bytes, long long begun, int code) {
  atomic_fetch_add(&counts[which].calls, 1);
  atomic_fetch_add(&counts[which].bytes, bytes);
  atomic_fetch_add(&counts[which].nanoseconds, now() - begun);
  return code;
}

static long long bytes_of_shape(const int count[], int levels) {
  long long bytes = count == NULL ? 0 : count[0];
  for (int level = 1; count != NULL && level <= levels; ++level) {
    bytes *= count[level];
  }
  return bytes;
}

static long long bytes_of_sets(const armci_giov_t sets[], int len) {
  long long bytes = 0;
  for (int i = 0; sets != NULL && i < len; ++i) {
    bytes += (long long)sets[i].bytes * sets[i].ptr_array_len;
  }
  return bytes;
}

int ARMCI_Malloc(void* ptr_arr[], armci_size_t bytes) {
  const long long begun = now();
  return note(malloc_, bytes, begun, PARMCI_Malloc(ptr_arr, bytes));
}
int ARMCI_Free(void* ptr) {
  const long long begun = now();
  return note(free_, 0, begun, PARMCI_Free(ptr));
}

int ARMCI_Put(void* src, void* dst, int bytes, int proc) {
  const long long begun = now();
  return note(put, bytes, begun, PARMCI_Put(src, dst, bytes, proc));
}
int ARMCI_Get(void* src, void* dst, int bytes, int proc) {
  const long long begun = now();
  return note(get, bytes, begun, PARMCI_Get(src, dst, bytes, proc));
}
int ARMCI_Acc(int optype, void* scale, void* src, void* dst, int bytes, int proc) {
  const long long begun = now();
  return note(acc, bytes, begun, PARMCI_Acc(optype, scale, src, dst, bytes, proc));
}

int ARMCI_PutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
               int stride_levels, int proc) {
  const long long begun = now();
  const int code = PARMCI_PutS(src, src_strides, dst, dst_strides, count, stride_levels, proc);
  return note(put_s, bytes_of_shape(count, stride_levels), begun, code);
}
int ARMCI_GetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
               int stride_levels, int proc) {
  const long long begun = now();
  const int code = PARMCI_GetS(src, src_strides, dst, dst_strides, count, stride_levels, proc);
  return note(get_s, bytes_of_shape(count, stride_levels), begun, code);
}
int ARMCI_AccS(int optype, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
               int count[], int stride_levels, int proc) {
  const long long begun = now();
  const int code =
      PARMCI_AccS(optype, scale, src, src_strides, dst, dst_strides, count, stride_levels, proc);
  return note(acc_s, bytes_of_shape(count, stride_levels), begun, code);
}

int ARMCI_PutV(armci_giov_t sets[], int len, int proc) {
  const long long begun = now();
  return note(put_v, bytes_of_sets(sets, len), begun, PARMCI_PutV(sets, len, proc));
}
int ARMCI_GetV(armci_giov_t sets[], int len, int proc) {
  const long long begun = now();
  return note(get_v, bytes_of_sets(sets, len), begun, PARMCI_GetV(sets, len, proc));
}
int ARMCI_AccV(int optype, void* scale, armci_giov_t sets[], int len, int proc) {
  const long long begun = now();
  return note(acc_v, bytes_of_sets(sets, len), begun, PARMCI_AccV(optype, scale, sets, len, proc));
}

int ARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle) {
  const long long begun = now();
  return note(nb_put, bytes, begun, PARMCI_NbPut(src, dst, bytes, proc, handle));
}
int ARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle) {
  const long long begun = now();
  return note(nb_get, bytes, begun, PARMCI_NbGet(src, dst, bytes, proc, handle));
}
int ARMCI_NbAcc(int optype, void* scale, void* src, void* dst, int bytes, int proc,
                armci_hdl_t* handle) {
  const long long begun = now();
  return note(nb_acc, bytes, begun, PARMCI_NbAcc(optype, scale, src, dst, bytes, proc, handle));
}

int ARMCI_NbPutS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                 int stride_levels, int proc, armci_hdl_t* handle) {
  const long long begun = now();
  const int code =
      PARMCI_NbPutS(src, src_strides, dst, dst_strides, count, stride_levels, proc, handle);
  return note(nb_put_s, bytes_of_shape(count, stride_levels), begun, code);
}
int ARMCI_NbGetS(void* src, int src_strides[], void* dst, int dst_strides[], int count[],
                 int stride_levels, int proc, armci_hdl_t* handle) {
  const long long begun = now();
  const int code =
      PARMCI_NbGetS(src, src_strides, dst, dst_strides, count, stride_levels, proc, handle);
  return note(nb_get_s, bytes_of_shape(count, stride_levels), begun, code);
}
int ARMCI_NbAccS(int optype, void* scale, void* src, int src_strides[], void* dst,
                 int dst_strides[], int count[], int stride_levels, int proc, armci_hdl_t* handle) {
  const long long begun = now();
  const int code = PARMCI_NbAccS(optype, scale, src, src_strides, dst, dst_strides, count,
                                 stride_levels, proc, handle);
  return note(nb_acc_s, bytes_of_shape(count, stride_levels), begun, code);
}

int ARMCI_Wait(armci_hdl_t* handle) {
  const long long begun = now();
  return note(wait_, 0, begun, PARMCI_Wait(handle));
}
int ARMCI_WaitAll(void) {
  const long long begun = now();
  return note(wait_all, 0, begun, PARMCI_WaitAll());
}

int ARMCI_Rmw(int op, void* local, void* remote, int extra, int proc) {
  const int is_long = op == ARMCI_FETCH_AND_ADD_LONG || op == ARMCI_SWAP_LONG;
  const long long begun = now();
  return note(rmw, is_long ? sizeof(long) : sizeof(int), begun,
              PARMCI_Rmw(op, local, remote, extra, proc));
}

void ARMCI_Fence(int proc) {
  const long long begun = now();
  PARMCI_Fence(proc);
  note(fence, 0, begun, 0);
}
void ARMCI_AllFence(void) {
  const long long begun = now();
  PARMCI_AllFence();
  note(all_fence, 0, begun, 0);
}
void ARMCI_Barrier(void) {
  const long long begun = now();
  PARMCI_Barrier();
  note(barrier, 0, begun, 0);
}

/* Prints a line for each function that was called, summed over all processes. */
static void print_table(void) {
  long long sums[calls][3];
  for (int i = 0; i < calls; ++i) {
    sums[i][0] = counts[i].calls;
    sums[i][1] = counts[i].bytes;
    sums[i][2] = counts[i].nanoseconds;
  }
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  armci_msg_group_llgop(&sums[0][0], 3 * calls, "+", &world);
  if (armci_msg_me() != 0) {
    return;
  }
  fprintf(stderr, "%-16s %12s %16s %12s   of %d processes\n", "function", "calls", "bytes",
          "seconds", armci_msg_nproc());
  for (int i = 0; i < calls; ++i) {
    if (sums[i][0] > 0) {
      fprintf(stderr, "%-16s %12lld %16lld %12.6f\n", names[i], sums[i][0], sums[i][1],
              (double)sums[i][2] * 1e-9);
    }
  }
}

/* All processes are here, and messages still work. */
int ARMCI_Finalize(void) {
  if (PARMCI_Initialized()) {
    print_table();
  }
  return PARMCI_Finalize();
}
