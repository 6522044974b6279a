/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Contiguous transfers: between all pairs of processes, of all kinds of sizes, and of unusual
 * memory.
 */
#include <stdlib.h>

#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

static const int sizes[] = {0,    1,    2,    3,    4,     7,     8,     9,     15,    16,
                            17,   31,   63,   64,   65,    127,   255,   256,   1000,  1024,
                            4095, 4096, 4097, 8191, 10007, 32768, 65536, 65537, 131073};
enum { size_count = sizeof sizes / sizeof sizes[0], largest = 131073, margin = 16 };
static const long slot = largest + 2 * margin;

static void put_reaches_every_process(void) {
  void** const at = shared_allocate(slot * nproc());
  char* const source = zeroed((size_t)slot);
  char* const model = zeroed((size_t)slot);
  for (int number = 0; number < size_count; ++number) {
    const int bytes = sizes[number];
    const long start = margin - number % 8;
    fill_pattern(source, (size_t)bytes, me() + number);
    for (int step = 0; step < nproc(); ++step) {
      const int proc = neighbour(step);
      CHECK_OK(ARMCI_Put(source, shared_at(at, proc, slot * me() + start), bytes, proc));
    }
    memset(source, 0xee, (size_t)bytes);
    ARMCI_Barrier();
    for (int from = 0; from < nproc(); ++from) {
      memset(model, 0, (size_t)slot);
      fill_pattern(model + start, (size_t)bytes, from + number);
      CHECK_BYTES(shared_at(at, me(), slot * from), model, slot);
    }
    memset(at[me()], 0, (size_t)(slot * nproc()));
    ARMCI_Barrier();
  }
  free(source);
  free(model);
  shared_free(at);
}

static void get_fetches_from_every_process(void) {
  void** const at = shared_allocate(slot);
  char* const target = zeroed((size_t)slot);
  char* const model = zeroed((size_t)slot);
  fill_pattern(at[me()], (size_t)slot, me());
  ARMCI_Barrier();
  for (int number = 0; number < size_count; ++number) {
    const int bytes = sizes[number];
    const long start = number % 8;
    for (int step = 0; step < nproc(); ++step) {
      const int proc = neighbour(step);
      memset(target, 0x11, (size_t)slot);
      memset(model, 0x11, (size_t)slot);
      for (int index = 0; index < bytes; ++index) {
        model[margin + index] = (char)pattern_byte(proc, (size_t)(start + index));
      }
      CHECK_OK(ARMCI_Get(shared_at(at, proc, start), target + margin, bytes, proc));
      CHECK_BYTES(target, model, slot);
    }
  }
  free(target);
  free(model);
  shared_free(at);
}

static void zero_bytes_may_come_from_null(void) {
  void** const at = shared_allocate(8);
  double scale = 1;
  int counts[] = {0, 3};
  int no_rows[] = {8, 0};
  int strides[] = {8};
  for (int proc = 0; proc < nproc(); ++proc) {
    CHECK_OK(ARMCI_Put(NULL, NULL, 0, proc));
    CHECK_OK(ARMCI_Get(NULL, NULL, 0, proc));
    CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &scale, NULL, NULL, 0, proc));
    CHECK_OK(ARMCI_NbPut(NULL, NULL, 0, proc, NULL));
    CHECK_OK(ARMCI_NbGet(NULL, NULL, 0, proc, NULL));
    CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_DBL, &scale, NULL, NULL, 0, proc, NULL));
    CHECK_OK(ARMCI_Put(&scale, at[proc], 0, proc));
    CHECK_OK(ARMCI_PutS(NULL, strides, NULL, strides, counts, 1, proc));
    CHECK_OK(ARMCI_GetS(NULL, strides, NULL, strides, no_rows, 1, proc));
    CHECK_OK(ARMCI_AccS(ARMCI_ACC_DBL, &scale, NULL, strides, NULL, strides, no_rows, 1, proc));
    CHECK_OK(ARMCI_PutV(NULL, 0, proc));
    CHECK_OK(ARMCI_GetV(NULL, 0, proc));
    CHECK_OK(ARMCI_AccV(ARMCI_ACC_DBL, &scale, NULL, 0, proc));
  }
  ARMCI_Barrier();
  CHECK_EQUAL(*(long*)at[me()], 0);
  shared_free(at);
}

/* Puts, or gets, within one piece of memory, and compares with memmove. */
static void move_within(char* memory, int proc, int from, int to, int bytes, int is_get) {
  enum { all = 4096 };
  char model[all];
  fill_pattern(memory, all, 3);
  memcpy(model, memory, all);
  memmove(model + to, model + from, (size_t)bytes);
  CHECK_OK(is_get ? ARMCI_Get(memory + from, memory + to, bytes, proc)
                  : ARMCI_Put(memory + from, memory + to, bytes, proc));
  ARMCI_Fence(proc);
  CHECK_BYTES(memory, model, all);
}

static void move_both_ways(char* memory, int proc) {
  for (int is_get = 0; is_get < 2; ++is_get) {
    move_within(memory, proc, 0, 100, 3000, is_get);
    move_within(memory, proc, 100, 0, 3000, is_get);
    move_within(memory, proc, 8, 12, 8, is_get);
    move_within(memory, proc, 12, 8, 8, is_get);
    move_within(memory, proc, 64, 64, 1000, is_get);
  }
}

static void overlapping_moves_are_memmoves(void) {
  void** const at = shared_allocate(4096);
  char* const own = zeroed(4096);
  move_both_ways(at[me()], me());
  move_both_ways(own, me());
  for (int turn = 0; turn < nproc(); ++turn) {
    ARMCI_Barrier();
    const int proc = neighbour(turn);
    if (ARMCI_Same_node(proc)) {
      move_both_ways(at[proc], proc);
    }
  }
  free(own);
  shared_free(at);
}

static void own_ordinary_memory_is_a_target(void) {
  double target[16] = {0};
  double source[16];
  double scale = 2;
  int strides[] = {2 * sizeof(double)};
  int counts[] = {sizeof(double), 8};
  void* sources[] = {&source[1], &source[3]};
  void* targets[] = {&target[3], &target[1]};
  armci_giov_t set;
  for (int index = 0; index < 16; ++index) {
    source[index] = index + 1;
  }
  CHECK_OK(ARMCI_PutS(source, strides, target, strides, counts, 1, me()));
  set.src_ptr_array = sources;
  set.dst_ptr_array = targets;
  set.bytes = sizeof(double);
  set.ptr_array_len = 2;
  CHECK_OK(ARMCI_PutV(&set, 1, me()));
  CHECK_REAL(target[3], 2);
  CHECK_REAL(target[1], 4);
  CHECK_OK(ARMCI_Put(&source[15], &target[15], sizeof(double), me()));
  CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &scale, source, target, 2 * (int)sizeof(double), me()));
  CHECK_REAL(target[0], 1 + 2 * 1);
  CHECK_REAL(target[1], 4 + 2 * 2);
  CHECK_REAL(target[14], 15);
  CHECK_REAL(target[15], 16);
  CHECK_OK(ARMCI_Get(target, source, sizeof target, me()));
  CHECK_BYTES(source, target, sizeof target);
  CHECK_REAL(ARMCI_GetValueDouble(&target[14], me()), 15);
}

/* Both ends of a transfer in ARMCI memory, on this process and on others. */
static void local_buffers_are_global_memory(void) {
  enum { bytes = 5000 };
  void** const at = shared_allocate(3 * bytes);
  char model[bytes];
  fill_pattern(at[me()], bytes, me());
  ARMCI_Barrier();
  const int to = neighbour(1);
  CHECK_OK(ARMCI_Put(at[me()], shared_at(at, to, bytes), bytes, to));
  CHECK_OK(ARMCI_Get(at[to], shared_at(at, me(), 2 * bytes), bytes, to));
  ARMCI_Barrier();
  fill_pattern(model, bytes, neighbour(nproc() - 1));
  CHECK_BYTES(shared_at(at, me(), bytes), model, bytes);
  fill_pattern(model, bytes, to);
  CHECK_BYTES(shared_at(at, me(), 2 * bytes), model, bytes);
  shared_free(at);
}

static void registered_local_memory_moves(void) {
  enum { bytes = 100000 };
  void** const at = shared_allocate(bytes);
  char* const source = ARMCI_Malloc_local(bytes);
  char* const back = ARMCI_Malloc_local(bytes);
  const int to = neighbour(1);
  if (CHECK(source != NULL && back != NULL)) {
    fill_pattern(source, bytes, me());
    CHECK_OK(ARMCI_Put(source, at[to], bytes, to));
    CHECK_OK(ARMCI_Get(at[to], back, bytes, to));
    CHECK_BYTES(back, source, bytes);
  }
  CHECK_OK(ARMCI_Free_local(source));
  CHECK_OK(ARMCI_Free_local(back));
  shared_free(at);
}

/* Longer than any buffer on the way; strided, with rows of all lengths. */
static void megabytes_arrive(void) {
  enum { bytes = 5000003, rows = 700, row = 3001, far = 4099 };
  void** const at = shared_allocate(bytes);
  char* const source = zeroed(bytes);
  char* const back = zeroed(bytes);
  const int to = neighbour(1);
  int near_stride[] = {row};
  int far_stride[] = {far};
  int counts[] = {row, rows};
  fill_pattern(source, bytes, me());
  CHECK_OK(ARMCI_Put(source, at[to], bytes, to));
  CHECK_OK(ARMCI_Get(at[to], back, bytes, to));
  CHECK_BYTES(back, source, bytes);
  ARMCI_Barrier();
  memset(at[me()], 0, bytes);
  memset(back, 0, bytes);
  ARMCI_Barrier();
  CHECK_OK(ARMCI_PutS(source, near_stride, at[to], far_stride, counts, 1, to));
  CHECK_OK(ARMCI_GetS(at[to], far_stride, back, near_stride, counts, 1, to));
  CHECK_BYTES(back, source, (long)row * rows);
  CHECK_EQUAL(ARMCI_GetValueInt(shared_at(at, to, row + 1), to), 0); /* between the rows */
  free(source);
  free(back);
  shared_free(at);
}

/* A process sees its own operations on another in the order in which it did them. */
static void own_operations_are_seen_in_order(void) {
  void** const at = shared_allocate((armci_size_t)sizeof(long) * nproc());
  const int to = neighbour(1);
  void* const word = shared_at(at, to, me() * (long)sizeof(long));
  long one = 1;
  for (long round = 1; round <= 200; ++round) {
    long value = 10 * round;
    long seen = -1;
    CHECK_OK(ARMCI_Put(&value, word, sizeof value, to));
    CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, word, sizeof value, to));
    CHECK_OK(ARMCI_Get(word, &seen, sizeof seen, to));
    CHECK_EQUAL(seen, 10 * round + 1);
  }
  shared_free(at);
}

static void copies_within_a_process(void) {
  char from[100];
  char to[100] = {0};
  fill_pattern(from, sizeof from, 1);
  ARMCI_Copy(from, to, sizeof from);
  CHECK_BYTES(to, from, sizeof from);
  ARMCI_Copy(from, to + 1, 0);
  CHECK_BYTES(to, from, sizeof from);
  fill_pattern(from, sizeof from, 2);
  const int code = ARMCI_Put1(from, to, sizeof from, me());
  CHECK_OK(code);
  CHECK_BYTES(to, from, sizeof from);
}

const Case transfer_cases[] = {
    {"put_reaches_every_process", put_reaches_every_process},
    {"get_fetches_from_every_process", get_fetches_from_every_process},
    {"zero_bytes_may_come_from_null", zero_bytes_may_come_from_null},
    {"overlapping_moves_are_memmoves", overlapping_moves_are_memmoves},
    {"own_ordinary_memory_is_a_target", own_ordinary_memory_is_a_target},
    {"local_buffers_are_global_memory", local_buffers_are_global_memory},
    {"registered_local_memory_moves", registered_local_memory_moves},
    {"megabytes_arrive", megabytes_arrive},
    {"own_operations_are_seen_in_order", own_operations_are_seen_in_order},
    {"copies_within_a_process", copies_within_a_process},
    {NULL, NULL}};
