/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Allocation: sizes that differ, none, many at once, and memory that one process allocates for
 * others.
 */
#include "tests/armci/memory.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"

/* Whether that many bytes are 0. */
static int is_zero(const char* memory, long bytes) {
  for (long index = 0; index < bytes; ++index) {
    if (memory[index] != 0) {
      return 0;
    }
  }
  return 1;
}

typedef int (*Allocate)(void* pointers[], armci_size_t bytes);
typedef int (*Free)(void* pointer);

static int allocate_on_device(void* pointers[], armci_size_t bytes) {
  return ARMCI_Malloc_memdev(pointers, bytes, "/some/device");
}

/* Process p has bytes[p % 4] bytes; a process without memory has null and frees null. */
static void allocate_unequal(Allocate allocate, Free release) {
  static const armci_size_t sizes[] = {0, 1, 100003, 64};
  void** const at = zeroed((size_t)nproc() * sizeof(void*));
  for (int shift = 0; shift < 4; ++shift) {
    CHECK_OK(allocate(at, sizes[(me() + shift) % 4]));
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_EQUAL(at[proc] == NULL, sizes[(proc + shift) % 4] == 0);
    }
    CHECK(is_zero(at[me()], sizes[(me() + shift) % 4]));
    armci_msg_barrier();
    for (int proc = 0; proc < nproc(); ++proc) {
      const armci_size_t size = sizes[(proc + shift) % 4];
      char last = (char)(proc + 1);
      if (size > 0 && proc == neighbour(1)) {
        CHECK_OK(ARMCI_Put(&last, shared_at(at, proc, size - 1), 1, proc));
      }
    }
    ARMCI_Barrier();
    const armci_size_t own = sizes[(me() + shift) % 4];
    if (own > 0) {
      CHECK_EQUAL(*shared_at(at, me(), own - 1), me() + 1);
      memset(at[me()], 0xff, (size_t)own); /* later memory in this place must be zeroed */
    }
    armci_msg_barrier();
    CHECK_OK(release(at[me()]));
  }
  free(at);
}

static void sizes_differ_and_may_be_zero(void) {
  allocate_unequal(ARMCI_Malloc, ARMCI_Free);
}
static void memory_of_devices_is_ordinary_memory(void) {
  allocate_unequal(allocate_on_device, ARMCI_Free_memdev);
}

static void empty_allocations(void) {
  void** const at = zeroed((size_t)nproc() * sizeof(void*));
  CHECK_OK(ARMCI_Malloc(at, 0));
  for (int proc = 0; proc < nproc(); ++proc) {
    CHECK_POINTER(at[proc], NULL);
  }
  CHECK_OK(ARMCI_Free(at[me()]));
  CHECK_OK(ARMCI_Free(NULL));
  free(at);
}

static int open_descriptors(void) {
  DIR* const folder = opendir("/proc/self/fd");
  int count = 0;
  while (folder != NULL && readdir(folder) != NULL) {
    ++count;
  }
  if (folder != NULL) {
    closedir(folder);
  }
  return count;
}

/* Each holds its number; freed in another order. The number of descriptors does not grow. */
static void thousands_alive_at_once(void) {
  const int is_one_node = armci_domain_count(ARMCI_DOMAIN_SMP) == 1;
  const int count = effort(is_one_node ? 3000 : 600); /* where meeting takes longer */
  void** const all = zeroed((size_t)count * (size_t)nproc() * sizeof(void*));
  const int before = open_descriptors();
  for (int number = 0; number < count; ++number) {
    void** const at = all + (long)number * nproc();
    CHECK_OK(ARMCI_Malloc(at, 64 + number % 7 * 100));
    *(int*)at[me()] = 100000 * me() + number;
  }
  const int after = open_descriptors();
  CHECK(after < before + 100);
  armci_msg_barrier();
  int wrong = 0;
  for (int number = 0; number < count; number += 11) {
    const int proc = neighbour(number);
    wrong += ARMCI_GetValueInt(all[(long)number * nproc() + proc], proc) != 100000 * proc + number;
  }
  CHECK_EQUAL(wrong, 0);
  armci_msg_barrier();
  for (int step = 0; step < count; ++step) { /* 7 has no factor with any of these counts */
    const int number = (int)((long)step * 7 % count);
    wrong += ARMCI_Free(all[(long)number * nproc() + me()]) != 0;
  }
  CHECK_EQUAL(wrong, 0);
  free(all);
}

static void local_memory_of_all_sizes(void) {
  static const armci_size_t sizes[] = {1, 63, 4096, 1000001};
  char* memory[4];
  for (int number = 0; number < 4; ++number) {
    memory[number] = ARMCI_Malloc_local(sizes[number]);
    if (CHECK(memory[number] != NULL)) {
      memset(memory[number], number, (size_t)sizes[number]);
    }
  }
  for (int number = 3; number >= 0; --number) {
    CHECK_EQUAL(memory[number][sizes[number] - 1], number);
    CHECK_OK(ARMCI_Free_local(memory[number]));
  }
  CHECK_POINTER(ARMCI_Malloc_local(0), NULL);
  CHECK_OK(ARMCI_Free_local(NULL));
}

/* One process allocates memory and sends its description to the others, which use it; no
 * collective call. */
static void memory_of_one_process_is_used_by_others(void) {
  enum { bytes = 10000 };
  armci_meminfo_t* const infos = zeroed((size_t)nproc() * sizeof *infos);
  armci_meminfo_t* const own = &infos[me()];
  ARMCI_Memget((size_t)bytes * (size_t)nproc(), own, 0);
  CHECK_EQUAL(own->cpid, me());
  CHECK(own->size >= (size_t)bytes * (size_t)nproc());
  CHECK(own->addr != NULL && own->armci_addr != NULL);
  for (int proc = 0; proc < nproc(); ++proc) {
    armci_msg_brdcst(&infos[proc], (int)sizeof infos[proc], proc);
  }
  char source[bytes];
  char seen[bytes];
  fill_pattern(source, bytes, me());
  for (int proc = 0; proc < nproc(); ++proc) {
    char* const target = ARMCI_Memat(&infos[proc], (long)bytes * me());
    CHECK_OK(ARMCI_Put(source, target, bytes, proc));
    CHECK_OK(ARMCI_Get(target, seen, bytes, proc));
    CHECK_BYTES(seen, source, bytes);
    if (ARMCI_Same_node(proc)) {
      CHECK_BYTES(target, source, bytes);
    }
    ARMCI_Memdt(&infos[proc], (long)bytes * me());
  }
  ARMCI_Barrier();
  for (int from = 0; from < nproc(); ++from) {
    fill_pattern(source, bytes, from);
    CHECK_BYTES(own->addr + (long)bytes * from, source, bytes);
  }
  armci_msg_barrier();
  ARMCI_Memctl(own);
  free(infos);
}

static void taken_memory_is_given_back(void) {
  for (int round = 0; round < 200; ++round) {
    armci_meminfo_t infos[4];
    for (int one = 0; one < 4; ++one) {
      ARMCI_Memget((size_t)(1 + one) << 18U, &infos[one], 0);
      infos[one].addr[0] = (char)one;
    }
    CHECK(infos[0].addr != infos[1].addr);
    for (int one = 0; one < 4; ++one) {
      CHECK_EQUAL(infos[(one + round) % 4].addr[0], (one + round) % 4);
      ARMCI_Memctl(&infos[(one + round) % 4]);
    }
  }
}

static void access_is_between_begin_and_end(void) {
  void** const at = shared_allocate(100 * (armci_size_t)sizeof(int));
  int* const own = at[me()];
  for (int round = 0; round < 20; ++round) {
    ARMCI_Access_begin(own);
    for (int index = 0; index < 100; ++index) {
      own[index] = 1000 * round + index + me();
    }
    ARMCI_Access_end(own);
    ARMCI_Barrier();
    const int proc = neighbour(1);
    CHECK_EQUAL(ARMCI_GetValueInt((int*)at[proc] + 50, proc), 1000 * round + 50 + proc);
    ARMCI_Barrier();
  }
  ARMCI_Access_begin(own + 7); /* anywhere in it, and nested */
  ARMCI_Access_begin(own);
  ARMCI_Access_end(own);
  ARMCI_Access_end(own + 7);
  shared_free(at);
}

static void modes_are_kept(void) {
  void** const at = shared_allocate(64);
  static const int modes[] = {ARMCIX_MODE_CONFLICT_FREE, ARMCIX_MODE_NO_LOAD_STORE,
                              ARMCIX_MODE_CONFLICT_FREE | ARMCIX_MODE_NO_LOAD_STORE,
                              ARMCIX_MODE_ALL};
  ARMCI_Group world;
  long value = 5 + me();
  ARMCI_Group_get_world(&world);
  CHECK_EQUAL(ARMCIX_Mode_get(at[me()]), ARMCIX_MODE_ALL);
  for (int number = 0; number < 4; ++number) {
    const int proc = neighbour(number);
    CHECK_OK(ARMCIX_Mode_set(modes[number], at[me()], &world));
    CHECK_EQUAL(ARMCIX_Mode_get(at[me()]), modes[number]);
    CHECK_OK(ARMCI_Put(&value, at[proc], sizeof value, proc));
    CHECK_EQUAL(ARMCI_GetValueLong(at[proc], proc), value);
    ARMCI_Barrier();
  }
  shared_free(at);
}

/* Whether each kind of operation is allowed in a mode, to every process. */
static void check_what_is_allowed(void* const* at, int puts, int gets, int accumulates) {
  long one = 1;
  long value = 0;
  int strides[] = {16};
  int counts[] = {8, 4};
  for (int step = 0; step < nproc(); ++step) {
    const int proc = neighbour(step);
    long zeros[8] = {0};
    CHECK_EQUAL(ARMCI_Put(zeros, at[proc], sizeof zeros[0], proc), puts ? 0 : FAIL);
    CHECK_EQUAL(ARMCI_PutS(zeros, strides, at[proc], strides, counts, 1, proc), puts ? 0 : FAIL);
    CHECK_EQUAL(ARMCI_NbPut(zeros, at[proc], sizeof zeros, proc, NULL), puts ? 0 : FAIL);
    CHECK_EQUAL(ARMCI_Get(at[proc], &value, sizeof value, proc), gets ? 0 : FAIL);
    CHECK_EQUAL(ARMCI_Acc(ARMCI_ACC_LNG, &one, zeros, at[proc], sizeof zeros, proc),
                accumulates ? 0 : FAIL);
    CHECK_EQUAL(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &value, at[proc], 0, proc),
                puts && gets ? 0 : FAIL);
  }
  ARMCI_WaitAll();
  ARMCIX_Error_clear();
}

static void modes_allow_what_they_name(void) {
  void** const at = shared_allocate(512);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (int round = 0; round < 3; ++round) {
    check_what_is_allowed(at, 1, 1, 1);
    CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_READ_ONLY, at[me()], &world));
    check_what_is_allowed(at, 0, 1, 0);
    CHECK_OK(
        ARMCIX_Mode_set(ARMCIX_MODE_ACCUMULATE_ONLY | ARMCIX_MODE_NO_LOAD_STORE, at[me()], &world));
    check_what_is_allowed(at, 0, 0, 1);
    CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_CONFLICT_FREE, at[me()], &world));
    check_what_is_allowed(at, 1, 1, 1);
    CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_ALL, at[me()], &world));
  }
  long value = 3;
  CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_READ_ONLY, at[me()], &world));
  CHECK_EQUAL(ARMCI_Put(&value, at[neighbour(1)], sizeof value, neighbour(1)), FAIL);
  CHECK_ERROR(FAIL, "put on region 'ARMCI_Malloc' (region");
  CHECK_EQUAL(ARMCI_Put(&value, at[neighbour(1)], sizeof value, neighbour(1)), FAIL);
  CHECK_ERROR(FAIL, "whose access mode is read_only");
  shared_free(at);
}

/* Each process adds to its own elements of every process without locks; then all add to the same
 * elements, with locks. */
static void accumulates_are_exact_in_each_mode(void) {
  enum { each = 600 };
  void** const at = shared_allocate((armci_size_t)sizeof(double) * each * nproc());
  double* const terms = zeroed(sizeof(double) * each * (size_t)nproc());
  double two = 2;
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_CONFLICT_FREE, at[me()], &world));
  for (int index = 0; index < each; ++index) {
    terms[index] = index + 1000 * me();
  }
  for (int step = 0; step < nproc(); ++step) {
    const int proc = neighbour(step);
    double* const own = (double*)at[proc] + (long)each * me();
    CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &two, terms, own, sizeof(double) * each, proc));
    for (int index = 0; index < each; index += 7) {
      CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &two, &terms[index], own + index, sizeof(double), proc));
    }
  }
  CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_ACCUMULATE_ONLY, at[me()], &world));
  const int all = each * nproc();
  for (int index = 0; index < all; ++index) {
    terms[index] = 1;
  }
  for (int proc = 0; proc < nproc(); ++proc) {
    CHECK_OK(ARMCI_Acc(ARMCI_ACC_DBL, &two, terms, at[proc], (int)sizeof(double) * all, proc));
  }
  CHECK_OK(ARMCIX_Mode_set(ARMCIX_MODE_ALL, at[me()], &world));
  CHECK_OK(ARMCI_Get(at[neighbour(1)], terms, (int)sizeof(double) * all, neighbour(1)));
  for (int index = 0; index < all; ++index) {
    const int position = index % each;
    const double own = 2.0 * (position + 1000 * (index / each)) * (position % 7 == 0 ? 2 : 1);
    CHECK_REAL(terms[index], own + 2.0 * nproc());
  }
  ARMCI_Barrier();
  free(terms);
  shared_free(at);
}

/* Existing memory of the program, of unequal sizes, and none at one process. */
static void memory_of_the_program_is_offered(void) {
  enum { least = 3000 };
  const size_t mine = me() == 1 ? 0 : least + 100 * (size_t)me();
  char* const own = mine == 0 ? NULL : zeroed(mine);
  void** const at = zeroed(sizeof(void*) * (size_t)nproc());
  char* const seen = zeroed(least);
  char* const sent = zeroed(least);
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  for (int round = 0; round < 3; ++round) {
    CHECK_OK(ARMCIX_Attach(at, own, (armci_size_t)mine, &world));
    CHECK_POINTER(at[me()], own);
    for (int step = 0; step < nproc(); ++step) {
      const int proc = neighbour(step);
      const int part = least / nproc();
      if (proc == 1) {
        CHECK_POINTER(at[proc], NULL);
        continue;
      }
      fill_pattern(sent, (size_t)part, me() + round);
      CHECK_OK(ARMCI_Put(sent, shared_at(at, proc, (long)part * me()), part, proc));
      CHECK_OK(ARMCI_Get(shared_at(at, proc, (long)part * me()), seen, part, proc));
      CHECK_BYTES(seen, sent, part);
    }
    ARMCI_Barrier();
    for (int proc = 0; mine > 0 && proc < nproc(); ++proc) {
      const int part = least / nproc();
      fill_pattern(sent, (size_t)part, proc + round);
      CHECK_BYTES(own + (long)part * proc, sent, part);
    }
    ARMCI_Barrier();
    long one = 1;
    memset(own == NULL ? seen : own, 0, 64);
    ARMCI_Barrier();
    for (int proc = 0; proc < nproc(); ++proc) {
      if (proc != 1) {
        CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, at[proc], sizeof one, proc));
      }
    }
    ARMCI_Barrier();
    CHECK(own == NULL || *(long*)(void*)own == nproc());
    CHECK_EQUAL(ARMCI_Free(own), FAIL);
    CHECK_ERROR(FAIL, "detach it with ARMCIX_Detach");
    CHECK_OK(ARMCIX_Detach(own, &world));
  }
  free(own);
  free(at);
  free(seen);
  free(sent);
}

/* Programs need not configure shared memory, and there is no limit to set. */
static void shared_memory_is_used(void) {
  ARMCI_Group world;
  ARMCI_Group_get_world(&world);
  ARMCI_Set_shm_limit(1);
  CHECK_EQUAL(ARMCI_Uses_shm(), 1);
  CHECK_EQUAL(ARMCI_Uses_shm_grp(&world), 1);
  void** const at = shared_allocate(1 << 20);
  ((char*)at[me()])[(1 << 20) - 1] = 1;
  shared_free(at);
}

/* Free completes operations of other processes on the memory. */
static void free_waits_for_what_is_under_way(void) {
  enum { bytes = 200000 };
  char* const source = zeroed(bytes);
  void** const at = zeroed((size_t)nproc() * sizeof(void*));
  for (int round = 0; round < 10; ++round) {
    CHECK_OK(ARMCI_Malloc(at, (armci_size_t)bytes * nproc()));
    for (int proc = 0; proc < nproc(); ++proc) {
      CHECK_OK(ARMCI_Put(source, shared_at(at, proc, (long)bytes * me()), bytes, proc));
    }
    CHECK_OK(ARMCI_Free(at[me()]));
  }
  free(source);
  free(at);
}

const Case memory_cases[] = {
    {"sizes_differ_and_may_be_zero", sizes_differ_and_may_be_zero},
    {"memory_of_devices_is_ordinary_memory", memory_of_devices_is_ordinary_memory},
    {"empty_allocations", empty_allocations},
    {"thousands_alive_at_once", thousands_alive_at_once},
    {"local_memory_of_all_sizes", local_memory_of_all_sizes},
    {"memory_of_one_process_is_used_by_others", memory_of_one_process_is_used_by_others},
    {"taken_memory_is_given_back", taken_memory_is_given_back},
    {"access_is_between_begin_and_end", access_is_between_begin_and_end},
    {"modes_are_kept", modes_are_kept},
    {"modes_allow_what_they_name", modes_allow_what_they_name},
    {"accumulates_are_exact_in_each_mode", accumulates_are_exact_in_each_mode},
    {"memory_of_the_program_is_offered", memory_of_the_program_is_offered},
    {"shared_memory_is_used", shared_memory_is_used},
    {"free_waits_for_what_is_under_way", free_waits_for_what_is_under_way},
    {NULL, NULL}};
