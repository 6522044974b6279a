/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random operations compared with a model. TEST_SEED repeats a run with a printed seed.
 */
#include <stdlib.h>

#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

/* --- location consistency ---
 *
 * Each process has a private part of every process's memory, and a model of each. It sees its
 * own operations in their order; after a barrier all processes see them. */

enum { part = 2048, part_bytes = part * (int)sizeof(int), most_rows = 12, max_segments = 20 };

/* What one process knows about its part of another's memory. */
typedef struct {
  int* model;
  int* buffer; /* of the operation under way */
  armci_hdl_t handle;
} Target;

typedef struct {
  void** at;
  Target* target;
  Random random;
} World;

static int* own_part(const World* world, int proc) {
  return (int*)world->at[proc] + (long)part * me();
}

/* A strided patch of whole elements: rows of `width`, `stride` apart. */
typedef struct {
  int start;
  int width;
  int stride;
  int rows;
} Patch;

static Patch random_patch(Random* random) {
  Patch patch;
  patch.width = 1 + random_below(random, random_below(random, 2) ? 8 : part / most_rows / 2);
  patch.rows = 1 + random_below(random, most_rows);
  patch.stride = patch.width + random_below(random, part / most_rows - patch.width + 1);
  patch.start = random_below(random, part - patch.stride * (patch.rows - 1) - patch.width + 1);
  return patch;
}

static int element_of(const Patch* patch, int number) {
  return patch->start + number / patch->width * patch->stride + number % patch->width;
}

static void start_patch(World* world, int proc, int is_accumulate) {
  Target* const target = &world->target[proc];
  const Patch patch = random_patch(&world->random);
  int scale = 1 + random_below(&world->random, 5);
  int local_strides[] = {patch.width * (int)sizeof(int)};
  int remote_strides[] = {patch.stride * (int)sizeof(int)};
  int counts[] = {patch.width * (int)sizeof(int), patch.rows};
  const int levels = patch.rows == 1 ? 0 : 1;
  int* const there = own_part(world, proc) + patch.start;
  for (int number = 0; number < patch.width * patch.rows; ++number) {
    int* const element = &target->model[element_of(&patch, number)];
    target->buffer[number] = random_below(&world->random, 1000);
    *element = is_accumulate ? *element + scale * target->buffer[number] : target->buffer[number];
  }
  if (is_accumulate) {
    CHECK_OK(ARMCI_NbAccS(ARMCI_ACC_INT, &scale, target->buffer, local_strides, there,
                          remote_strides, counts, levels, proc, &target->handle));
  } else {
    CHECK_OK(ARMCI_NbPutS(target->buffer, local_strides, there, remote_strides, counts, levels,
                          proc, &target->handle));
  }
}

/* Bytes that need not be whole elements. */
static void start_bytes(World* world, int proc) {
  Target* const target = &world->target[proc];
  const int start = random_below(&world->random, part_bytes);
  const int bytes = random_below(&world->random, part_bytes - start + 1);
  fill_pattern(target->buffer, (size_t)bytes, (int)(random_next(&world->random) & 0xffff));
  memcpy((char*)target->model + start, target->buffer, (size_t)bytes);
  CHECK_OK(ARMCI_NbPut(target->buffer, (char*)own_part(world, proc) + start, bytes, proc,
                       &target->handle));
}

/* Elements in a random order, none twice. */
static void put_vector(World* world, int proc, int is_accumulate) {
  Target* const target = &world->target[proc];
  void* from[max_segments];
  void* to[max_segments];
  armci_giov_t set;
  int one = 1;
  int element = random_below(&world->random, part / 2);
  set.ptr_array_len = 1 + random_below(&world->random, max_segments);
  for (int number = 0; number < set.ptr_array_len; ++number) {
    const int value = random_below(&world->random, 1000);
    target->buffer[number] = value;
    from[number] = &target->buffer[number];
    to[number] = own_part(world, proc) + element;
    target->model[element] = is_accumulate ? target->model[element] + value : value;
    element += 1 + random_below(&world->random, part / 2 / max_segments);
  }
  set.src_ptr_array = from;
  set.dst_ptr_array = to;
  set.bytes = sizeof(int);
  CHECK_OK(is_accumulate ? ARMCI_AccV(ARMCI_ACC_INT, &one, &set, 1, proc)
                         : ARMCI_PutV(&set, 1, proc));
}

static void read_modify_write(World* world, int proc) {
  const int element = random_below(&world->random, part);
  int* const model = &world->target[proc].model[element];
  const int given = random_below(&world->random, 1000);
  int value = given;
  if (random_below(&world->random, 2)) {
    CHECK_OK(ARMCI_Rmw(ARMCI_SWAP, &value, own_part(world, proc) + element, 0, proc));
    CHECK_EQUAL(value, *model);
    *model = given;
  } else {
    CHECK_OK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &value, own_part(world, proc) + element, given, proc));
    CHECK_EQUAL(value, *model);
    *model += given;
  }
}

static void look(World* world, int proc) {
  Target* const target = &world->target[proc];
  const Patch patch = random_patch(&world->random);
  int local_strides[] = {patch.width * (int)sizeof(int)};
  int remote_strides[] = {patch.stride * (int)sizeof(int)};
  int counts[] = {patch.width * (int)sizeof(int), patch.rows};
  CHECK_OK(ARMCI_GetS(own_part(world, proc) + patch.start, remote_strides, target->buffer,
                      local_strides, counts, 1, proc));
  for (int number = 0; number < patch.width * patch.rows; ++number) {
    CHECK_EQUAL(target->buffer[number], target->model[element_of(&patch, number)]);
  }
}

static void one_operation(World* world) {
  const int proc = random_below(&world->random, nproc());
  CHECK_OK(ARMCI_Wait(&world->target[proc].handle));
  switch (random_below(&world->random, 8)) {
    case 0:
    case 1:
      start_patch(world, proc, 0);
      break;
    case 2:
      start_patch(world, proc, 1);
      break;
    case 3:
      put_vector(world, proc, 0);
      break;
    case 4:
      put_vector(world, proc, 1);
      break;
    case 5:
      read_modify_write(world, proc);
      break;
    case 6:
      look(world, proc);
      break;
    default:
      start_bytes(world, proc);
      /* Random bytes might make sums overflow, so they are zeroed first. */
      CHECK_OK(ARMCI_Wait(&world->target[proc].handle));
      memset(world->target[proc].model, 0, part_bytes);
      CHECK_OK(ARMCI_Put(world->target[proc].model, own_part(world, proc), part_bytes, proc));
  }
}

/* Each process sends its models; the others compare their memory with them. */
static void compare_all(World* world) {
  int* const models = zeroed((size_t)part_bytes * (size_t)nproc());
  int* const seen = zeroed(part_bytes);
  for (int owner = 0; owner < nproc(); ++owner) {
    for (int proc = 0; proc < nproc(); ++proc) {
      memcpy(models + (long)part * proc, world->target[proc].model, part_bytes);
    }
    armci_msg_brdcst(models, part_bytes * nproc(), owner);
    CHECK_BYTES((int*)world->at[me()] + (long)part * owner, models + (long)part * me(), part_bytes);
    const int other = neighbour(1);
    CHECK_OK(ARMCI_Get((int*)world->at[other] + (long)part * owner, seen, part_bytes, other));
    CHECK_BYTES(seen, models + (long)part * other, part_bytes);
  }
  free(models);
  free(seen);
}

static void own_operations_in_order_and_all_after_a_barrier(void) {
  World world;
  world.random = random_seed("location consistency") + 0x1000193U * (Random)me();
  world.at = shared_allocate((armci_size_t)part_bytes * nproc());
  world.target = zeroed((size_t)nproc() * sizeof *world.target);
  for (int proc = 0; proc < nproc(); ++proc) {
    world.target[proc].model = zeroed(part_bytes);
    world.target[proc].buffer = zeroed(part_bytes);
    memset(&world.target[proc].handle, 0xff, sizeof world.target[proc].handle);
    if (proc % 2 == 1) {
      ARMCI_SET_AGGREGATE_HANDLE(&world.target[proc].handle);
    }
  }
  for (int round = 0; round < 5; ++round) {
    for (int number = 0; number < effort(300); ++number) {
      one_operation(&world);
    }
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_OK(ARMCI_Wait(&world.target[proc].handle));
    }
    ARMCI_Barrier();
    compare_all(&world);
    armci_msg_barrier();
  }
  for (int proc = 0; proc < nproc(); ++proc) {
    free(world.target[proc].model);
    free(world.target[proc].buffer);
  }
  free(world.target);
  shared_free(world.at);
}

/* --- overlapping accumulates ---
 *
 * All processes add patches to the same elements of all; the sums are exact. */

enum { rows = 64, columns = 64, cells = rows * columns };

typedef struct {
  void** at;
  long* added; /* to each process's array, by this process */
  long* source;
  Random random;
} Adder;

static void add_patch(Adder* adder, int proc) {
  const int height = 1 + random_below(&adder->random, rows);
  const int width = 1 + random_below(&adder->random, columns);
  const int top = random_below(&adder->random, rows - height + 1);
  const int left = random_below(&adder->random, columns - width + 1);
  long scale = random_below(&adder->random, 7) - 3;
  int strides[] = {columns * (int)sizeof(long)};
  int counts[] = {width * (int)sizeof(long), height};
  const long first = (long)top * columns + left;
  CHECK_OK(ARMCI_AccS(ARMCI_ACC_LNG, &scale, adder->source, strides, (long*)adder->at[proc] + first,
                      strides, counts, 1, proc));
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      const long cell = (long)row * columns + column;
      adder->added[(long)cells * proc + first + cell] += scale * adder->source[cell];
    }
  }
}

static void add_scattered(Adder* adder, int proc) {
  enum { most = 200 };
  void* from[most];
  void* to[most];
  armci_giov_t set;
  long scale = 1 + random_below(&adder->random, 3);
  const int elements = 1 + random_below(&adder->random, 4);
  set.ptr_array_len = 1 + random_below(&adder->random, most);
  set.bytes = elements * (int)sizeof(long);
  for (int number = 0; number < set.ptr_array_len; ++number) {
    const int here = random_below(&adder->random, cells - elements);
    const int there = random_below(&adder->random, cells - elements);
    from[number] = adder->source + here;
    to[number] = (long*)adder->at[proc] + there;
    for (int index = 0; index < elements; ++index) {
      adder->added[(long)cells * proc + there + index] += scale * adder->source[here + index];
    }
  }
  set.src_ptr_array = from;
  set.dst_ptr_array = to;
  CHECK_OK(ARMCI_AccV(ARMCI_ACC_LNG, &scale, &set, 1, proc));
}

static void add_row(Adder* adder, int proc, armci_hdl_t* handle) {
  static long one = 1;
  const int start = random_below(&adder->random, cells);
  const int count = 1 + random_below(&adder->random, cells - start);
  CHECK_OK(ARMCI_NbAcc(ARMCI_ACC_LNG, &one, adder->source, (long*)adder->at[proc] + start,
                       count * (int)sizeof(long), proc, handle));
  for (int index = 0; index < count; ++index) {
    adder->added[(long)cells * proc + start + index] += adder->source[index];
  }
}

static void overlapping_accumulates(void) {
  Adder adder;
  armci_hdl_t handle;
  adder.random = random_seed("overlapping accumulates") + 0x1000193U * (Random)me();
  adder.at = shared_allocate(cells * (armci_size_t)sizeof(long));
  adder.added = zeroed((size_t)cells * (size_t)nproc() * sizeof(long));
  adder.source = zeroed(cells * sizeof(long));
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  for (long cell = 0; cell < cells; ++cell) {
    adder.source[cell] = 1000 * me() + cell;
  }
  for (int number = 0; number < effort(200); ++number) {
    const int proc = random_below(&adder.random, nproc());
    const int kind = random_below(&adder.random, 3);
    if (kind == 0) {
      add_patch(&adder, proc);
    } else if (kind == 1) {
      add_scattered(&adder, proc);
    } else {
      add_row(&adder, proc, number % 2 == 0 ? NULL : &handle);
    }
  }
  CHECK_OK(ARMCI_Wait(&handle));
  CHECK_OK(ARMCI_WaitAll());
  ARMCI_Barrier();
  armci_msg_lgop(adder.added, cells * nproc(), "+");
  CHECK_BYTES(adder.at[me()], adder.added + (long)cells * me(), cells * sizeof(long));
  free(adder.added);
  free(adder.source);
  shared_free(adder.at);
}

const Case random_cases[] = {{"own_operations_in_order_and_all_after_a_barrier",
                              own_operations_in_order_and_all_after_a_barrier},
                             {"overlapping_accumulates", overlapping_accumulates},
                             {NULL, NULL}};
