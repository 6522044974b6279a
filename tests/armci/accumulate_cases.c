/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Accumulates of all six types. All processes add to the same elements at once. Values are small
 * whole numbers, so that sums are exact in any order.
 */
#include <complex.h>
#include <stdlib.h>

#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { elements = 500, largest = 16, room = elements * largest };

/* How to write and scale the elements of a type. */
typedef struct {
  int optype;
  size_t bytes;
  void (*set)(void* element, int value); /* value, and its negative as imaginary part */
  void (*add)(void* sum, const void* factor, const void* element); /* sum += factor * element */
} Type;

#define DEFINE_TYPE(name, type, of_value)                                      \
  static void set_##name(void* element, int value) {                           \
    const type number = (type)(of_value);                                      \
    memcpy(element, &number, sizeof number);                                   \
  }                                                                            \
  static void add_##name(void* sum, const void* factor, const void* element) { \
    type total;                                                                \
    type by;                                                                   \
    type number;                                                               \
    memcpy(&total, sum, sizeof total);                                         \
    memcpy(&by, factor, sizeof by);                                            \
    memcpy(&number, element, sizeof number);                                   \
    total += by * number;                                                      \
    memcpy(sum, &total, sizeof total);                                         \
  }
DEFINE_TYPE(int, int, value)
DEFINE_TYPE(long, long, value)
DEFINE_TYPE(float, float, value)
DEFINE_TYPE(double, double, value)
DEFINE_TYPE(complex, float complex, (float)value - (float)value * I)
DEFINE_TYPE(dcomplex, double complex, (double)value - (double)value * I)

static const Type types[] = {
    {ARMCI_ACC_INT, sizeof(int), set_int, add_int},
    {ARMCI_ACC_LNG, sizeof(long), set_long, add_long},
    {ARMCI_ACC_FLT, sizeof(float), set_float, add_float},
    {ARMCI_ACC_DBL, sizeof(double), set_double, add_double},
    {ARMCI_ACC_CPL, sizeof(float complex), set_complex, add_complex},
    {ARMCI_ACC_DCP, sizeof(double complex), set_dcomplex, add_dcomplex},
};
enum { type_count = sizeof types / sizeof types[0] };

static void set_row(const Type* type, char* row, int count, int first) {
  for (int index = 0; index < count; ++index) {
    type->set(row + type->bytes * (size_t)index, first + index % 10);
  }
}

static void add_row(const Type* type, char* sums, const void* factor, const char* row, int count) {
  for (int index = 0; index < count; ++index) {
    const size_t at = type->bytes * (size_t)index;
    type->add(sums + at, factor, row + at);
  }
}

/* One accumulate with the given first element, number of elements and factor. */
typedef int (*AccumulateCall)(const Type* type, void* factor, char* source, char* target, int count,
                              int proc);

static int contiguous(const Type* type, void* factor, char* source, char* target, int count,
                      int proc) {
  return ARMCI_Acc(type->optype, factor, source, target, count * (int)type->bytes, proc);
}

static int nonblocking(const Type* type, void* factor, char* source, char* target, int count,
                       int proc) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  const int code =
      ARMCI_NbAcc(type->optype, factor, source, target, count * (int)type->bytes, proc, &handle);
  return code != 0 ? code : ARMCI_Wait(&handle);
}

static int aggregate(const Type* type, void* factor, char* source, char* target, int count,
                     int proc) {
  const int bytes = (int)type->bytes;
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  for (int index = 0; index < count; ++index) {
    const long at = (long)bytes * index;
    CHECK_OK(ARMCI_NbAcc(type->optype, factor, source + at, target + at, bytes, proc, &handle));
  }
  return ARMCI_Wait(&handle);
}

/* Every second element by one call, the rest by another. */
static int strided(const Type* type, void* factor, char* source, char* target, int count,
                   int proc) {
  const int bytes = (int)type->bytes;
  int strides[] = {2 * bytes};
  int counts[] = {bytes, (count + 1) / 2};
  const int code =
      ARMCI_AccS(type->optype, factor, source, strides, target, strides, counts, 1, proc);
  if (code != 0 || count < 2) {
    return code;
  }
  counts[1] = count / 2;
  return ARMCI_AccS(type->optype, factor, source + bytes, strides, target + bytes, strides, counts,
                    1, proc);
}

static int vector(const Type* type, void* factor, char* source, char* target, int count, int proc) {
  void* from[elements];
  void* to[elements];
  armci_giov_t set;
  for (int index = 0; index < count; ++index) {
    from[index] = source + type->bytes * (size_t)(count - 1 - index);
    to[index] = target + type->bytes * (size_t)(count - 1 - index);
  }
  set.src_ptr_array = from;
  set.dst_ptr_array = to;
  set.bytes = (int)type->bytes;
  set.ptr_array_len = count;
  return ARMCI_AccV(type->optype, factor, &set, 1, proc);
}

static void add_everywhere(const Type* type, AccumulateCall call, int scale) {
  static const int counts[] = {1, 2, 3, 17, elements};
  void** const at = shared_allocate(room);
  char* const source = zeroed(room);
  char* const model = zeroed(room);
  char factor[largest];
  set_row(type, at[me()], elements, 1000 + me());
  set_row(type, model, elements, 1000 + me());
  type->set(factor, scale);
  ARMCI_Barrier();
  for (int number = 0; number < (int)(sizeof counts / sizeof counts[0]); ++number) {
    set_row(type, source, elements, me() + number);
    for (int step = 0; step < nproc(); ++step) {
      const int proc = neighbour(step);
      CHECK_OK(call(type, factor, source, at[proc], counts[number], proc));
    }
    for (int from = 0; from < nproc(); ++from) {
      set_row(type, source, elements, from + number);
      add_row(type, model, factor, source, counts[number]);
    }
  }
  ARMCI_Barrier();
  CHECK_BYTES(at[me()], model, (size_t)elements * type->bytes);
  free(source);
  free(model);
  shared_free(at);
}

static void add_all_types(AccumulateCall call) {
  static const int scales[] = {1, -3, 0};
  for (int type = 0; type < type_count; ++type) {
    for (int scale = 0; scale < 3; ++scale) {
      add_everywhere(&types[type], call, scales[scale]);
    }
  }
}

static void contiguous_of_all_types(void) {
  add_all_types(contiguous);
}
static void nonblocking_of_all_types(void) {
  add_all_types(nonblocking);
}
static void aggregate_of_all_types(void) {
  add_all_types(aggregate);
}
static void strided_of_all_types(void) {
  add_all_types(strided);
}
static void vector_of_all_types(void) {
  add_all_types(vector);
}

/* Patches that overlap by shifts, from all processes, many times. */
static void nothing_added_at_once_is_lost(void) {
  enum { all = 2000, patch = 1000, rounds = 50 };
  void** const at = shared_allocate(all * sizeof(long));
  long* const source = zeroed(patch * sizeof(long));
  long* const model = zeroed(all * sizeof(long));
  long scale = 2;
  for (int index = 0; index < patch; ++index) {
    source[index] = index;
  }
  for (int round = 0; round < effort(rounds); ++round) {
    for (int proc = 0; proc < nproc(); ++proc) {
      const long start = 17 * round % (all - patch);
      CHECK_OK(ARMCI_Acc(ARMCI_ACC_LNG, &scale, source,
                         shared_at(at, proc, start * (long)sizeof(long)), patch * (int)sizeof(long),
                         proc));
    }
    for (int index = 0; index < patch; ++index) {
      model[17 * round % (all - patch) + index] += scale * index * nproc();
    }
  }
  ARMCI_Barrier();
  CHECK_BYTES(at[me()], model, all * sizeof(long));
  free(source);
  free(model);
  shared_free(at);
}

const Case accumulate_cases[] = {{"contiguous_of_all_types", contiguous_of_all_types},
                                 {"nonblocking_of_all_types", nonblocking_of_all_types},
                                 {"aggregate_of_all_types", aggregate_of_all_types},
                                 {"strided_of_all_types", strided_of_all_types},
                                 {"vector_of_all_types", vector_of_all_types},
                                 {"nothing_added_at_once_is_lost", nothing_added_at_once_is_lost},
                                 {NULL, NULL}};
