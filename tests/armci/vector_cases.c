/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Vectors: sets of segments, in several allocations, of all lengths, and empty ones.
 */
#include <stdlib.h>
#include <string.h>

#include "rma/armci/armcix.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { segments = 40, longest = 100, region_count = 3, set_count = 5, part = 20000 };

/* Sets with different segment lengths; the local side is one piece of memory, the remote side is
 * spread over regions. */
typedef struct {
  armci_giov_t set[set_count];
  void* local[set_count][segments];
  void* remote[set_count][segments];
  long region[set_count][segments];
  long remote_offset[set_count][segments];
  long local_offset[set_count][segments];
} Vectors;

static const int lengths[set_count] = {8, 1, 0, longest, 24};
static const int numbers[set_count] = {segments, 17, 5, 30, 0};

/* Segments without overlap: ascending places with gaps, given in a permuted order. */
static void make_vectors(Vectors* vectors, void*** at, int proc, char* local, int is_put) {
  long next_local = 0;
  long next_remote[region_count] = {0};
  for (int set = 0; set < set_count; ++set) {
    armci_giov_t* const one = &vectors->set[set];
    for (int number = 0; number < numbers[set]; ++number) {
      const int index = number * 7 % numbers[set]; /* 7 has no factor with any of the numbers */
      const int region = (set + number) % region_count;
      vectors->region[set][index] = region;
      vectors->local_offset[set][index] = next_local;
      vectors->remote_offset[set][index] = next_remote[region];
      vectors->local[set][index] = local + next_local;
      vectors->remote[set][index] =
          shared_at(at[region], proc, (long)part * me() + next_remote[region]);
      next_local += lengths[set] + number % 3;
      next_remote[region] += lengths[set] + (number + 1) % 4 * 8;
    }
    one->bytes = lengths[set];
    one->ptr_array_len = numbers[set];
    one->src_ptr_array = is_put ? vectors->local[set] : vectors->remote[set];
    one->dst_ptr_array = is_put ? vectors->remote[set] : vectors->local[set];
  }
}

typedef int (*VectorCall)(armci_giov_t* sets, int len, int proc);

static int nb_put(armci_giov_t* sets, int len, int proc) {
  armci_hdl_t handle;
  memset(&handle, 0xff, sizeof handle);
  const int code = ARMCI_NbPutV(sets, len, proc, &handle);
  memset(sets[0].src_ptr_array, 0, segments * sizeof(void*)); /* pointer arrays may change */
  return code != 0 ? code : ARMCI_Wait(&handle);
}

static int nb_get(armci_giov_t* sets, int len, int proc) {
  const int code = ARMCI_NbGetV(sets, len, proc, NULL);
  memset(sets[0].src_ptr_array, 0, segments * sizeof(void*));
  return code != 0 ? code : ARMCI_WaitAll();
}

static int described_put(armci_giov_t* sets, int len, int proc) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  CHECK_OK(ARMCIX_NbPutV_dscr(sets, 2, proc, &handle));
  CHECK_OK(ARMCI_Wait(&handle));
  return ARMCIX_PutV_dscr(sets + 2, len - 2, proc);
}

static int described_get(armci_giov_t* sets, int len, int proc) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  CHECK_OK(ARMCIX_NbGetV_dscr(sets, 2, proc, &handle));
  CHECK_OK(ARMCI_Wait(&handle));
  return ARMCIX_GetV_dscr(sets + 2, len - 2, proc);
}

static int aggregate_put(armci_giov_t* sets, int len, int proc) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  CHECK_OK(ARMCI_NbPutV(sets, len, proc, &handle));
  return ARMCI_Wait(&handle);
}

static void put_vectors(VectorCall call) {
  void** at[region_count];
  char* const source = zeroed(part);
  char* const model = zeroed(part);
  Vectors* const vectors = zeroed(sizeof *vectors);
  for (int region = 0; region < region_count; ++region) {
    at[region] = shared_allocate((armci_size_t)part * nproc());
  }
  fill_pattern(source, part, me());
  for (int step = 0; step < nproc(); ++step) {
    make_vectors(vectors, at, neighbour(step), source, 1);
    CHECK_OK(call(vectors->set, set_count, neighbour(step)));
  }
  ARMCI_Barrier();
  make_vectors(vectors, at, me(), source, 1);
  for (int from = 0; from < nproc(); ++from) {
    fill_pattern(source, part, from);
    for (int region = 0; region < region_count; ++region) {
      memset(model, 0, part);
      for (int set = 0; set < set_count; ++set) {
        for (int number = 0; number < numbers[set]; ++number) {
          if (vectors->region[set][number] == region) {
            memcpy(model + vectors->remote_offset[set][number],
                   source + vectors->local_offset[set][number], (size_t)lengths[set]);
          }
        }
      }
      CHECK_BYTES(shared_at(at[region], me(), (long)part * from), model, part);
    }
  }
  for (int region = 0; region < region_count; ++region) {
    shared_free(at[region]);
  }
  free(source);
  free(model);
  free(vectors);
}

static void get_vectors(VectorCall call) {
  void** at[region_count];
  char* const target = zeroed(part);
  char* const model = zeroed(part);
  Vectors* const vectors = zeroed(sizeof *vectors);
  for (int region = 0; region < region_count; ++region) {
    at[region] = shared_allocate((armci_size_t)part * nproc());
    fill_pattern(at[region][me()], (size_t)part * (size_t)nproc(), region_count * me() + region);
  }
  ARMCI_Barrier();
  for (int step = 0; step < nproc(); ++step) {
    const int proc = neighbour(step);
    memset(target, 0, part);
    memset(model, 0, part);
    make_vectors(vectors, at, proc, target, 0);
    CHECK_OK(call(vectors->set, set_count, proc));
    for (int set = 0; set < set_count; ++set) {
      for (int number = 0; number < numbers[set]; ++number) {
        const size_t start = (size_t)(part * me() + vectors->remote_offset[set][number]);
        const int owner = region_count * proc + (int)vectors->region[set][number];
        for (int index = 0; index < lengths[set]; ++index) {
          model[vectors->local_offset[set][number] + index] =
              (char)pattern_byte(owner, start + (size_t)index);
        }
      }
    }
    CHECK_BYTES(target, model, part);
  }
  for (int region = 0; region < region_count; ++region) {
    shared_free(at[region]);
  }
  free(target);
  free(model);
  free(vectors);
}

static void put_of_several_sets(void) {
  put_vectors(ARMCI_PutV);
}
static void nonblocking_put_of_several_sets(void) {
  put_vectors(nb_put);
}
static void put_of_descriptors(void) {
  put_vectors(described_put);
}
static void aggregate_put_of_several_sets(void) {
  put_vectors(aggregate_put);
}
static void get_of_several_sets(void) {
  get_vectors(ARMCI_GetV);
}
static void nonblocking_get_of_several_sets(void) {
  get_vectors(nb_get);
}
static void get_of_descriptors(void) {
  get_vectors(described_get);
}

/* Segments of an accumulate may overlap: each is added, from all processes at once. */
static void accumulate_of_overlapping_segments(void) {
  enum { all = 12, elements = 3, rounds = 10 };
  void** const at = shared_allocate(all * sizeof(double));
  double source[elements] = {1, 2, 3};
  double scale = 0.5;
  double model[all] = {0};
  void* from[all];
  void* to[all];
  armci_giov_t sets[2];
  for (int proc = 0; proc < nproc(); ++proc) {
    for (int number = 0; number < all; ++number) {
      from[number] = source;
      to[number] = shared_at(at, proc, number % (all - elements + 1) * (long)sizeof(double));
    }
    for (int set = 0; set < 2; ++set) {
      sets[set].src_ptr_array = from;
      sets[set].dst_ptr_array = to;
      sets[set].bytes = sizeof source;
      sets[set].ptr_array_len = all;
    }
    for (int round = 0; round < rounds; ++round) {
      CHECK_OK(ARMCI_AccV(ARMCI_ACC_DBL, &scale, sets, 2, proc));
      CHECK_OK(ARMCI_NbAccV(ARMCI_ACC_DBL, &scale, sets, 1, proc, NULL));
    }
  }
  CHECK_OK(ARMCI_WaitAll());
  ARMCI_Barrier();
  for (int number = 0; number < all; ++number) {
    for (int index = 0; index < elements; ++index) {
      model[number % (all - elements + 1) + index] +=
          3.0 * rounds * nproc() * scale * source[index];
    }
  }
  CHECK_BYTES(at[me()], model, sizeof model);
  shared_free(at);
}

static void many_segments_of_one_byte(void) {
  enum { count = 5000 };
  void** const at = shared_allocate(2 * count);
  void** const from = zeroed(count * sizeof(void*));
  void** const to = zeroed(count * sizeof(void*));
  char* const source = zeroed(count);
  const int proc = neighbour(1);
  armci_giov_t set;
  fill_pattern(source, count, me());
  for (int number = 0; number < count; ++number) {
    from[number] = source + number;
    to[number] = shared_at(at, proc, 2 * (count - 1 - number));
  }
  set.src_ptr_array = from;
  set.dst_ptr_array = to;
  set.bytes = 1;
  set.ptr_array_len = count;
  CHECK_OK(ARMCI_PutV(&set, 1, proc));
  ARMCI_Barrier();
  const int owner = neighbour(nproc() - 1);
  int wrong = 0;
  for (int number = 0; number < count; ++number) {
    const unsigned char* const here = at[me()];
    wrong += here[2 * (count - 1 - number)] != pattern_byte(owner, (size_t)number);
    wrong += here[2 * number + 1] != 0;
  }
  CHECK_EQUAL(wrong, 0);
  free(from);
  free(to);
  free(source);
  shared_free(at);
}

/* A byte that is written twice has the value of the last segment. */
static void put_of_segments_that_overlap(void) {
  enum { count = 40, length = 12 };
  const int proc = neighbour(1);
  void** const at = shared_allocate(count + length);
  unsigned char source[count][length];
  unsigned char model[count + length] = {0};
  unsigned char seen[count + length];
  void* from[count];
  void* to[count];
  armci_giov_t set;
  for (int number = 0; number < count; ++number) {
    const int offset = 7 * number % count;
    memset(source[number], 1 + number + me(), length);
    memcpy(model + offset, source[number], length);
    from[number] = source[number];
    to[number] = shared_at(at, proc, offset);
  }
  set.src_ptr_array = from;
  set.dst_ptr_array = to;
  set.bytes = length;
  set.ptr_array_len = count;
  CHECK_OK(ARMCI_PutV(&set, 1, proc));
  CHECK_OK(ARMCI_Get(at[proc], seen, sizeof seen, proc));
  CHECK_BYTES(seen, model, sizeof seen);

  /* Gets into one place: the last one's bytes remain. */
  for (int number = 0; number < count; ++number) {
    from[number] = to[number];
    to[number] = source[0];
  }
  CHECK_OK(ARMCI_GetV(&set, 1, proc));
  CHECK_BYTES(source[0], model + ((char*)from[count - 1] - (char*)at[proc]), length);
  ARMCI_Barrier();
  shared_free(at);
}

const Case vector_cases[] = {
    {"put_of_several_sets", put_of_several_sets},
    {"nonblocking_put_of_several_sets", nonblocking_put_of_several_sets},
    {"put_of_descriptors", put_of_descriptors},
    {"aggregate_put_of_several_sets", aggregate_put_of_several_sets},
    {"get_of_several_sets", get_of_several_sets},
    {"nonblocking_get_of_several_sets", nonblocking_get_of_several_sets},
    {"get_of_descriptors", get_of_descriptors},
    {"accumulate_of_overlapping_segments", accumulate_of_overlapping_segments},
    {"put_of_segments_that_overlap", put_of_segments_that_overlap},
    {"many_segments_of_one_byte", many_segments_of_one_byte},
    {NULL, NULL}};
