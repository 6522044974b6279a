/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strided transfers of all shapes, by every function that takes strides, compared with a serial
 * copy.
 */
#include <stdlib.h>

#include "rma/armci/armcix.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { room = 24000 };

/* Levels, counts, strides of the source and of the target, and the offset of the first block. */
static const Strided shapes[] = {
    {0, {1}, {0}, {0}, 0, 0},
    {0, {777}, {0}, {0}, 3, 5},
    {0, {0}, {0}, {0}, 0, 0},
    {1, {1, 100}, {2}, {3}, 0, 0},
    {1, {1, 1}, {1}, {1}, 9, 7},
    {1, {8, 1}, {0}, {0}, 0, 0},
    {1, {13, 57}, {17}, {29}, 1, 2},
    {1, {16, 64}, {16}, {16}, 0, 0},
    {1, {16, 64}, {16}, {32}, 0, 0},
    {1, {1000, 20}, {1100}, {1024}, 0, 0},
    {1, {0, 20}, {8}, {8}, 0, 0},
    {1, {8, 0}, {8}, {8}, 0, 0},
    {1, {24, 40}, {-100}, {50}, 4000, 0},
    {1, {24, 40}, {50}, {-100}, 0, 4000},
    {1, {8, 30}, {-8}, {-8}, 240, 240},
    {1, {8, 30}, {0}, {8}, 0, 0},
    {2, {3, 5, 7}, {4, 50}, {11, 200}, 0, 0},
    {2, {8, 4, 6}, {64, 8}, {8, 32}, 0, 0},
    {2, {8, 1, 6}, {0, 80}, {0, 8}, 0, 0},
    {2, {8, 6, 0}, {80, 8}, {8, 80}, 0, 0},
    {2, {4, 10, 10}, {400, 20}, {4, -40}, 0, 400},
    {3, {8, 3, 4, 5}, {16, 100, 1000}, {8, 24, 96}, 0, 0},
    {3, {2, 3, 4, 5}, {7, 70, 700}, {-7, 70, -700}, 0, 3000},
    {4, {4, 2, 3, 2, 3}, {8, 20, 100, 300}, {4, 8, 24, 48}, 0, 0},
    {5, {1, 2, 2, 3, 2, 2}, {2, 5, 13, 50, 200}, {1, 2, 4, 12, 24}, 0, 0},
    {6, {8, 2, 2, 2, 2, 2, 2}, {8, 16, 32, 64, 128, 256}, {16, 32, 64, 128, 256, 512}, 0, 0},
    {7, {2, 2, 1, 2, 1, 2, 3, 2}, {3, 9, 9, 30, 40, 100, 400}, {2, 4, 4, 8, 8, 16, 48}, 0, 0},
    {8,
     {4, 2, 2, 2, 2, 2, 2, 2, 2},
     {8, 16, 32, 64, 128, 256, 512, 1024},
     {8, 20, 48, 100, 210, 440, 900, 1900},
     0,
     0},
    {8, {1, 1, 1, 3, 1, 1, 1, 2, 1}, {1, 1, 2, 1, 1, 1, 10, 1}, {1, 1, 3, 1, 1, 1, 20, 1}, 0, 0},
};
enum { shape_count = sizeof shapes / sizeof shapes[0] };

/* With no levels, the strides may be null. */
static int* strides_of(const Strided* shape, const int* strides) {
  return shape->levels == 0 ? NULL : (int*)strides;
}

typedef int (*StridedCall)(void* source, const Strided* shape, void* target, int proc);

static int put(void* source, const Strided* shape, void* target, int proc) {
  return ARMCI_PutS(source, strides_of(shape, shape->source), target,
                    strides_of(shape, shape->target), (int*)shape->count, shape->levels, proc);
}

static int nb_put(void* source, const Strided* shape, void* target, int proc) {
  armci_hdl_t handle;
  int source_strides[ARMCI_MAX_STRIDE_LEVEL];
  int target_strides[ARMCI_MAX_STRIDE_LEVEL];
  int count[ARMCI_MAX_STRIDE_LEVEL + 1];
  memcpy(source_strides, shape->source, sizeof source_strides);
  memcpy(target_strides, shape->target, sizeof target_strides);
  memcpy(count, shape->count, sizeof count);
  ARMCI_INIT_HANDLE(&handle);
  const int code = ARMCI_NbPutS(source, source_strides, target, target_strides, count,
                                shape->levels, proc, &handle);
  memset(source_strides, 0x7f, sizeof source_strides); /* they may change at once */
  memset(target_strides, 0x7f, sizeof target_strides);
  memset(count, 0x7f, sizeof count);
  return code != 0 ? code : ARMCI_Wait(&handle);
}

static int aggregate_put(void* source, const Strided* shape, void* target, int proc) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  const int code = ARMCI_NbPutS(source, strides_of(shape, shape->source), target,
                                strides_of(shape, shape->target), (int*)shape->count, shape->levels,
                                proc, &handle);
  return code != 0 ? code : ARMCI_Wait(&handle);
}

static int get(void* source, const Strided* shape, void* target, int proc) {
  return ARMCI_GetS(source, strides_of(shape, shape->source), target,
                    strides_of(shape, shape->target), (int*)shape->count, shape->levels, proc);
}

static int nb_get(void* source, const Strided* shape, void* target, int proc) {
  const int code =
      ARMCI_NbGetS(source, strides_of(shape, shape->source), target,
                   strides_of(shape, shape->target), (int*)shape->count, shape->levels, proc, NULL);
  return code != 0 ? code : ARMCI_WaitProc(proc);
}

static int aggregate_get(void* source, const Strided* shape, void* target, int proc) {
  armci_hdl_t handle;
  memset(&handle, 0x5a, sizeof handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  const int code = ARMCI_NbGetS(source, strides_of(shape, shape->source), target,
                                strides_of(shape, shape->target), (int*)shape->count, shape->levels,
                                proc, &handle);
  return code != 0 ? code : ARMCI_Wait(&handle);
}

/* Every process to its own part of every process's memory. */
static void put_all_shapes(StridedCall call) {
  void** const at = shared_allocate((armci_size_t)room * nproc());
  char* const source = zeroed(room);
  char* const model = zeroed(room);
  for (int number = 0; number < shape_count; ++number) {
    const Strided* const shape = &shapes[number];
    fill_pattern(source, room, me() + number);
    for (int step = 0; step < nproc(); ++step) {
      const int proc = neighbour(step);
      char* const target = shared_at(at, proc, (long)room * me() + shape->target_start);
      CHECK_OK(call(source + shape->source_start, shape, target, proc));
    }
    ARMCI_Barrier();
    for (int from = 0; from < nproc(); ++from) {
      fill_pattern(source, room, from + number);
      memset(model, 0, room);
      strided_copy(shape, source, model);
      if (!CHECK_BYTES(shared_at(at, me(), (long)room * from), model, room)) {
        CHECK_EQUAL(-1, number); /* prints the shape's number */
      }
    }
    memset(at[me()], 0, (size_t)room * (size_t)nproc());
    ARMCI_Barrier();
  }
  free(source);
  free(model);
  shared_free(at);
}

static void get_all_shapes(StridedCall call) {
  void** const at = shared_allocate(room);
  char* const source = zeroed(room);
  char* const target = zeroed(room);
  char* const model = zeroed(room);
  fill_pattern(at[me()], room, me());
  ARMCI_Barrier();
  for (int number = 0; number < shape_count; ++number) {
    const Strided* const shape = &shapes[number];
    for (int proc = 0; proc < nproc(); ++proc) {
      memset(target, 0, room);
      memset(model, 0, room);
      fill_pattern(source, room, proc);
      strided_copy(shape, source, model);
      CHECK_OK(call(shared_at(at, proc, shape->source_start), shape, target + shape->target_start,
                    proc));
      if (!CHECK_BYTES(target, model, room)) {
        CHECK_EQUAL(-1, number);
      }
    }
  }
  free(source);
  free(target);
  free(model);
  shared_free(at);
}

static void put_of_all_shapes(void) {
  put_all_shapes(put);
}
static void nonblocking_put_of_all_shapes(void) {
  put_all_shapes(nb_put);
}
static void aggregate_put_of_all_shapes(void) {
  put_all_shapes(aggregate_put);
}
static void get_of_all_shapes(void) {
  get_all_shapes(get);
}
static void nonblocking_get_of_all_shapes(void) {
  get_all_shapes(nb_get);
}
static void aggregate_get_of_all_shapes(void) {
  get_all_shapes(aggregate_get);
}

/* A block's bytes are as many elements of the type as fit. */
static void add_serially(const Strided* shape, const int* source, char* target, int scale) {
  const long blocks = strided_blocks(shape);
  for (long number = 0; number < blocks; ++number) {
    const int* const from = (const int*)(const void*)((const char*)source + shape->source_start +
                                                      strided_offset(shape, shape->source, number));
    int* const to =
        (int*)(void*)(target + shape->target_start + strided_offset(shape, shape->target, number));
    for (int index = 0; index < shape->count[0] / (int)sizeof(int); ++index) {
      to[index] += scale * from[index];
    }
  }
}

static int is_of_whole_ints(const Strided* shape) {
  long bits = shape->count[0] | shape->source_start | shape->target_start;
  for (int level = 0; level < shape->levels; ++level) {
    bits |= shape->source[level] | shape->target[level];
  }
  return bits % (long)sizeof(int) == 0;
}

/* All processes add to the same elements at once. */
static void accumulate_of_all_shapes(void) {
  void** const at = shared_allocate(room);
  int* const source = zeroed(room);
  char* const model = zeroed(room);
  int scale = 3;
  for (int index = 0; index < room / (int)sizeof(int); ++index) {
    source[index] = index + 1;
  }
  for (int number = 0; number < shape_count; ++number) {
    const Strided* const shape = &shapes[number];
    if (!is_of_whole_ints(shape)) {
      continue;
    }
    memset(model, 0, room);
    for (int proc = 0; proc < nproc(); ++proc) {
      char* const from = (char*)source + shape->source_start;
      char* const to = shared_at(at, proc, shape->target_start);
      CHECK_OK(ARMCI_AccS(ARMCI_ACC_INT, &scale, from, strides_of(shape, shape->source), to,
                          strides_of(shape, shape->target), (int*)shape->count, shape->levels,
                          proc));
      CHECK_OK(ARMCI_NbAccS(ARMCI_ACC_INT, &scale, from, strides_of(shape, shape->source), to,
                            strides_of(shape, shape->target), (int*)shape->count, shape->levels,
                            proc, NULL));
      add_serially(shape, source, model, 2 * scale);
    }
    CHECK_OK(ARMCI_WaitAll());
    ARMCI_Barrier();
    if (!CHECK_BYTES(at[me()], model, room)) {
      CHECK_EQUAL(-1, number);
    }
    memset(at[me()], 0, room);
    ARMCI_Barrier();
  }
  free(source);
  free(model);
  shared_free(at);
}

static void packing_is_a_strided_copy(void) {
  char* const source = zeroed(room);
  char* const packed = zeroed(room);
  char* const model = zeroed(room);
  char* const target = zeroed(room);
  for (int number = 0; number < shape_count; ++number) {
    const Strided* const shape = &shapes[number];
    const long blocks = strided_blocks(shape);
    const size_t run = (size_t)shape->count[0];
    fill_pattern(source, room, number);
    memset(packed, 0, room);
    memset(model, 0, room);
    memset(target, 0, room);
    armci_write_strided(source + shape->source_start, shape->levels, (int*)shape->source,
                        (int*)shape->count, packed);
    for (long block = 0; block < blocks; ++block) {
      const long offset = shape->source_start + strided_offset(shape, shape->source, block);
      CHECK_BYTES(packed + block * (long)run, source + offset, run);
    }
    CHECK_EQUAL(packed[blocks * (long)run], 0);
    armci_read_strided(target + shape->target_start, shape->levels, (int*)shape->target,
                       (int*)shape->count, packed);
    strided_copy(shape, source, model);
    CHECK_BYTES(target, model, room);
  }
  free(source);
  free(packed);
  free(model);
  free(target);
}

static void descriptors_are_rows(void) {
  enum { rows = 50, bytes = 12, far = 40 };
  void** const at = shared_allocate((armci_size_t)rows * far * nproc());
  char source[rows * bytes];
  char back[2 * rows * bytes] = {0};
  const int to = neighbour(1);
  char* const mine = shared_at(at, to, (long)rows * far * me());
  fill_pattern(source, sizeof source, me());
  armci_strided_t sets[2] = {{source, mine, bytes, far, bytes, 20},
                             {source + 20 * bytes, mine + 20 * far, bytes, far, bytes, 30}};
  CHECK_OK(ARMCIX_PutS_dscr(sets, 2, to));
  armci_strided_t all = {mine, back, far, bytes, bytes, rows};
  CHECK_OK(ARMCIX_GetS_dscr(&all, 1, to));
  CHECK_BYTES(back, source, sizeof source);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  fill_pattern(source, sizeof source, me() + 1);
  CHECK_OK(ARMCIX_NbPutS_dscr(sets, 2, to, &handle));
  CHECK_OK(ARMCI_Wait(&handle));
  CHECK_OK(ARMCIX_NbGetS_dscr(&all, 1, to, &handle));
  CHECK_OK(ARMCI_Wait(&handle));
  CHECK_BYTES(back, source, sizeof source);
  CHECK_OK(ARMCIX_PutS_dscr(NULL, 0, to));
  shared_free(at);
}

const Case strided_cases[] = {{"put_of_all_shapes", put_of_all_shapes},
                              {"nonblocking_put_of_all_shapes", nonblocking_put_of_all_shapes},
                              {"aggregate_put_of_all_shapes", aggregate_put_of_all_shapes},
                              {"get_of_all_shapes", get_of_all_shapes},
                              {"nonblocking_get_of_all_shapes", nonblocking_get_of_all_shapes},
                              {"aggregate_get_of_all_shapes", aggregate_get_of_all_shapes},
                              {"accumulate_of_all_shapes", accumulate_of_all_shapes},
                              {"packing_is_a_strided_copy", packing_is_a_strided_copy},
                              {"descriptors_are_rows", descriptors_are_rows},
                              {NULL, NULL}};
