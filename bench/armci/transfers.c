// SPDX-License-Identifier: BSD-3-Clause
#include "bench/armci/transfers.h"

#include <armci.h>
#include <stdlib.h>
#include <string.h>

enum { local_salt = 1, remote_salt = 2, nothing_salt = 3 };

/// A transfer with its descriptors, made as a user would make them.
struct transfer {
  const struct shape* shape;
  char* local;
  char* remote;
  int bytes;
  int count[2];
  int local_stride[1];
  int remote_stride[1];
  void** locals;
  void** remotes;
  armci_giov_t vector;
  double scale;
};

static void put_contiguous(void* context, long repetitions) {
  const struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Put(t->local, t->remote, t->bytes, target_rank);
  }
  ARMCI_Fence(target_rank);
}

static void get_contiguous(void* context, long repetitions) {
  const struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Get(t->remote, t->local, t->bytes, target_rank);
  }
}

static void accumulate_contiguous(void* context, long repetitions) {
  struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_Acc(ARMCI_ACC_DBL, &t->scale, t->local, t->remote, t->bytes, target_rank);
  }
  ARMCI_Fence(target_rank);
}

static void put_strided(void* context, long repetitions) {
  struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_PutS(t->local, t->local_stride, t->remote, t->remote_stride, t->count, 1, target_rank);
  }
  ARMCI_Fence(target_rank);
}

static void get_strided(void* context, long repetitions) {
  struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_GetS(t->remote, t->remote_stride, t->local, t->local_stride, t->count, 1, target_rank);
  }
}

static void accumulate_strided(void* context, long repetitions) {
  struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_AccS(ARMCI_ACC_DBL, &t->scale, t->local, t->local_stride, t->remote, t->remote_stride,
               t->count, 1, target_rank);
  }
  ARMCI_Fence(target_rank);
}

static void put_vector(void* context, long repetitions) {
  struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_PutV(&t->vector, 1, target_rank);
  }
  ARMCI_Fence(target_rank);
}

static void get_vector(void* context, long repetitions) {
  struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_GetV(&t->vector, 1, target_rank);
  }
}

static void accumulate_vector(void* context, long repetitions) {
  struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    ARMCI_AccV(ARMCI_ACC_DBL, &t->scale, &t->vector, 1, target_rank);
  }
  ARMCI_Fence(target_rank);
}

static void get_implicit(void* context, long repetitions) {
  const struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    for (long row = 0; row < t->shape->rows; ++row) {
      ARMCI_NbGet(t->remotes[row], t->locals[row], t->bytes, target_rank, NULL);
    }
    ARMCI_WaitProc(target_rank);
  }
}

static void get_aggregate(void* context, long repetitions) {
  const struct transfer* t = context;
  for (long i = 0; i < repetitions; ++i) {
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    for (long row = 0; row < t->shape->rows; ++row) {
      ARMCI_NbGet(t->remotes[row], t->locals[row], t->bytes, target_rank, &handle);
    }
    ARMCI_Wait(&handle);
    ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
  }
}

static void (*const runs[layouts][operations])(void*, long) = {
    [layout_contiguous] = {put_contiguous, get_contiguous, accumulate_contiguous},
    [layout_strided] = {put_strided, get_strided, accumulate_strided},
    [layout_vector] = {put_vector, get_vector, accumulate_vector},
    [layout_implicit] = {NULL, get_implicit, NULL},
    [layout_aggregate] = {NULL, get_aggregate, NULL},
};

static void make_lists(struct transfer* t) {
  const size_t rows = (size_t)t->shape->rows;
  t->locals = malloc(rows * sizeof *t->locals);
  t->remotes = malloc(rows * sizeof *t->remotes);
  if (t->locals == NULL || t->remotes == NULL) {
    fail("out of memory");
  }
  for (long row = 0; row < t->shape->rows; ++row) {
    t->locals[row] = t->local + local_offset(t->shape, row);
    t->remotes[row] = t->remote + remote_offset(t->shape, row);
  }
  const bool gets = t->shape->operation == operation_get;
  t->vector.src_ptr_array = gets ? t->remotes : t->locals;
  t->vector.dst_ptr_array = gets ? t->locals : t->remotes;
  t->vector.bytes = t->bytes;
  t->vector.ptr_array_len = (int)t->shape->rows;
}

static void make_transfer(struct bench* bench, const struct shape* shape, struct transfer* t) {
  t->shape = shape;
  t->local = bench->memory.local;
  t->remote = bench->memory.remote;
  t->bytes = (int)shape->row_bytes;
  t->count[0] = t->bytes;
  t->count[1] = (int)shape->rows;
  t->local_stride[0] = (int)shape->stride;
  t->remote_stride[0] = (int)shape->stride;
  t->scale = 1;
  make_lists(t);
}

void set_remote(struct bench* bench, long count, int salt) {
  fill(bench->memory.scratch, count, salt);
  ARMCI_Put(bench->memory.scratch, bench->memory.remote, (int)count, target_rank);
  ARMCI_Fence(target_rank);
}

void read_remote(struct bench* bench, long count) {
  fill(bench->memory.scratch, count, nothing_salt);
  ARMCI_Get(bench->memory.remote, bench->memory.scratch, (int)count, target_rank);
}

// Whether one transfer of known data gives the plain loop's result at both ends.
static bool brings_right_data(struct bench* bench, const struct shape* shape,
                              const struct subject* subject) {
  struct memory* memory = &bench->memory;
  const long extent = extent_of(shape);
  set_remote(bench, extent, remote_salt);
  fill(memory->local, extent, local_salt);
  fill(memory->model_local, extent, local_salt);
  fill(memory->model_remote, extent, remote_salt);
  apply_shape(shape, memory->model_local, memory->model_remote);
  subject->run(subject->context, 1);
  read_remote(bench, extent);
  return memcmp(memory->local, memory->model_local, (size_t)extent) == 0 &&
         memcmp(memory->scratch, memory->model_remote, (size_t)extent) == 0;
}

void measure_transfer(struct bench* bench, const char* name, enum layout layout,
                      const struct shape* shape) {
  struct transfer transfer;
  make_transfer(bench, shape, &transfer);
  const struct subject subject = {NULL, runs[layout][shape->operation], &transfer};
  struct result result = {name, shape->rows * shape->row_bytes, "ns", "ok", "", {0, {0}}};
  if (brings_right_data(bench, shape, &subject)) {
    take_samples(&bench->options.method, &subject, &result.samples);
  } else {
    result.state = "wrong";
    result.note = "the data differ from those of a plain loop";
  }
  report(bench, &result);
  free(transfer.locals);
  free(transfer.remotes);
}
