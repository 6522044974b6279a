/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Put, get, accumulate and their kin, against the model.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/ga/cases.h"

typedef enum { blocking, wide, pending, profiled } Form;

typedef struct {
  int lo[GA_MAX_DIM];
  int hi[GA_MAX_DIM];
  int ld[GA_MAX_DIM];
  int size;
  double* values;
} Piece;

/* A patch whose elements all have different values. */
static Piece new_piece(const Model* model, int first) {
  Piece piece;
  random_patch(model, piece.lo, piece.hi);
  piece.size = local_shape(model->ndim, piece.lo, piece.hi, random_below(3), piece.ld);
  piece.values = malloc((size_t)piece.size * sizeof(double));
  for (int i = 0; i < piece.size; ++i) {
    piece.values[i] = first + i;
  }
  return piece;
}

/* The same bounds and leading dimensions for 64-bit names. */
typedef struct {
  int64_t lo[GA_MAX_DIM];
  int64_t hi[GA_MAX_DIM];
  int64_t ld[GA_MAX_DIM];
} Wide;

static Wide wide_of(const Piece* piece, int ndim) {
  Wide all;
  for (int dim = 0; dim < ndim; ++dim) {
    all.lo[dim] = piece->lo[dim];
    all.hi[dim] = piece->hi[dim];
    all.ld[dim] = dim < ndim - 1 ? piece->ld[dim] : 0;
  }
  return all;
}

static void put(Form form, int array, int ndim, Piece* piece) {
  Wide all = wide_of(piece, ndim);
  ga_nbhdl_t request = 0;
  if (form == blocking) {
    NGA_Put(array, piece->lo, piece->hi, piece->values, piece->ld);
  } else if (form == wide) {
    NGA_Put64(array, all.lo, all.hi, piece->values, all.ld);
  } else {
    NGA_NbPut(array, piece->lo, piece->hi, piece->values, piece->ld, &request);
    NGA_NbWait(&request);
    CHECK_EQUAL(NGA_NbTest(&request), 1);
  }
}

static void accumulate(Form form, int array, int ndim, Piece* piece, double alpha) {
  Wide all = wide_of(piece, ndim);
  ga_nbhdl_t request = 0;
  if (form == blocking) {
    NGA_Acc(array, piece->lo, piece->hi, piece->values, piece->ld, &alpha);
  } else if (form == wide) {
    NGA_Acc64(array, all.lo, all.hi, piece->values, all.ld, &alpha);
  } else {
    NGA_NbAcc(array, piece->lo, piece->hi, piece->values, piece->ld, &alpha, &request);
    NGA_NbWait(&request);
  }
}

static void get(Form form, int array, int ndim, Piece* piece) {
  Wide all = wide_of(piece, ndim);
  ga_nbhdl_t request = 0;
  if (form == blocking) {
    NGA_Get(array, piece->lo, piece->hi, piece->values, piece->ld);
  } else if (form == wide) {
    NGA_Get64(array, all.lo, all.hi, piece->values, all.ld);
  } else {
    NGA_NbGet(array, piece->lo, piece->hi, piece->values, piece->ld, &request);
    NGA_NbWait(&request);
  }
}

/* A get changes the elements of the patch in its local array, and nothing between them. */
static void check_get(Form form, const Model* model, int array) {
  Piece piece = new_piece(model, -1000);
  double* const expected = malloc((size_t)piece.size * sizeof(double));
  int index[GA_MAX_DIM];
  memcpy(expected, piece.values, (size_t)piece.size * sizeof(double));
  memcpy(index, piece.lo, sizeof index);
  do {
    expected[local_at(model->ndim, piece.lo, piece.ld, index)] =
        model->values[model_at(model, index)];
  } while (next_index(model->ndim, piece.lo, piece.hi, index));
  get(form, array, model->ndim, &piece);
  CHECK_BYTES(piece.values, expected, piece.size * (int)sizeof(double));
  free(expected);
  free(piece.values);
}

static void change_model(Model* model, const Piece* piece, double factor, double alpha) {
  int index[GA_MAX_DIM];
  memcpy(index, piece->lo, sizeof index);
  do {
    double* const value = &model->values[model_at(model, index)];
    *value =
        factor * *value + alpha * piece->values[local_at(model->ndim, piece->lo, piece->ld, index)];
  } while (next_index(model->ndim, piece->lo, piece->hi, index));
}

/* Each round one process puts, and then all accumulate the same patch. */
static void play(Form form, int ndim, int* dims, int rounds) {
  static Model model;
  int array = NGA_Create(C_DBL, ndim, dims, "played", NULL);
  const double alpha = 0.5;
  CHECK(array != 0);
  random_start((unsigned)(ndim * 10 + (int)form));
  model_init(&model, ndim, dims);
  GA_Zero(array);
  for (int round = 0; round < rounds; ++round) {
    Piece piece = new_piece(&model, 100 * round);
    if (round % GA_Nnodes() == GA_Nodeid()) {
      put(form, array, ndim, &piece);
    }
    change_model(&model, &piece, 0, 1);
    free(piece.values);
    GA_Sync();
    piece = new_piece(&model, round);
    accumulate(form, array, ndim, &piece, alpha);
    change_model(&model, &piece, 1, alpha * GA_Nnodes());
    free(piece.values);
    GA_Sync();
    check_get(form, &model, array);
    check_model(&model, array);
    GA_Sync();
  }
  GA_Destroy(array);
}

static void play_all(Form form) {
  int one[] = {37};
  int two[] = {13, 21};
  int three[] = {5, 1, 9};
  int four[] = {3, 4, 5, 2};
  play(form, 1, one, 12);
  play(form, 2, two, 12);
  play(form, 3, three, 12);
  play(form, 4, four, 12);
}

static void blocking_ones(void) {
  play_all(blocking);
}
static void wide_ones(void) {
  play_all(wide);
}
static void pending_ones(void) {
  play_all(pending);
}

static void strided(void) {
  int dims[] = {10, 14};
  int lo[] = {1, 2};
  int hi[] = {8, 12};
  int skip[] = {3, 2};
  int ld[] = {6};
  double values[3 * 6];
  double back[3 * 6] = {0};
  static Model model;
  int array = NGA_Create(C_DBL, 2, dims, "strided", NULL);
  model_init(&model, 2, dims);
  GA_Zero(array);
  for (int i = 0; i < 18; ++i) {
    values[i] = 1 + i;
  }
  if (GA_Nodeid() == 0) {
    NGA_Strided_put(array, lo, hi, skip, values, ld);
  }
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 6; ++column) {
      model.values[(1 + 3 * row) * 14 + 2 + 2 * column] = values[6 * row + column];
    }
  }
  GA_Sync();
  check_model(&model, array);
  NGA_Strided_get(array, lo, hi, skip, back, ld);
  CHECK_BYTES(back, values, sizeof back);
  GA_Sync();
  const double two = 2;
  NGA_Strided_acc(array, lo, hi, skip, values, ld, (void*)&two);
  GA_Sync();
  for (int i = 0; i < model.size; ++i) {
    model.values[i] *= 1 + 2 * GA_Nnodes();
  }
  check_model(&model, array);
  GA_Destroy(array);
}

static void periodic(void) {
  int dims[] = {6, 5};
  int lo[] = {-2, 3};
  int hi[] = {1, 6};
  int ld[] = {4};
  double values[16];
  double back[16] = {0};
  static Model model;
  int array = NGA_Create(C_DBL, 2, dims, "periodic", NULL);
  model_init(&model, 2, dims);
  GA_Zero(array);
  for (int i = 0; i < 16; ++i) {
    values[i] = i;
    model.values[(6 + lo[0] + i / 4) % 6 * 5 + (lo[1] + i % 4) % 5] = i;
  }
  if (GA_Nodeid() == GA_Nnodes() - 1) {
    NGA_Periodic_put(array, lo, hi, values, ld);
  }
  GA_Sync();
  check_model(&model, array);
  NGA_Periodic_get(array, lo, hi, back, ld);
  CHECK_BYTES(back, values, sizeof back);
  GA_Destroy(array);
}

static void counter(void) {
  int one[] = {1};
  int at[] = {0};
  int codes[] = {C_INT, C_LONG, C_LONGLONG};
  for (int i = 0; i < 3; ++i) {
    int array = NGA_Create(codes[i], 1, one, "counter", NULL);
    long sum = 0;
    GA_Zero(array);
    for (int turn = 0; turn < 20; ++turn) {
      sum += NGA_Read_inc(array, at, 3);
    }
    GA_Lgop(&sum, 1, "+");
    const long turns = 20L * GA_Nnodes();
    CHECK_EQUAL(sum, 3 * turns * (turns - 1) / 2);
    CHECK_EQUAL(NGA_Read_inc(array, at, 0), 3 * turns);
    GA_Sync();
    GA_Destroy(array);
  }
}

/* Elements of the program's own, and their fields. */
static void fields(void) {
  struct Own {
    int number;
    double weight;
  };
  int dims[] = {4, 6};
  int lo[] = {1, 1};
  int hi[] = {2, 4};
  int ld[] = {4};
  double weights[8];
  double back[8] = {0};
  struct Own all[8];
  const int code = NGA_Register_type(sizeof(struct Own));
  CHECK(code >= 1017);
  int array = NGA_Create(code, 2, dims, "own", NULL);
  for (int i = 0; i < 8; ++i) {
    all[i].number = i;
    all[i].weight = -i;
    weights[i] = 0.5 * i;
  }
  if (GA_Nodeid() == 0) {
    NGA_Put(array, lo, hi, all, ld);
    NGA_Put_field(array, lo, hi, (int)offsetof(struct Own, weight), sizeof(double), weights, ld);
  }
  GA_Sync();
  NGA_Get_field(array, lo, hi, (int)offsetof(struct Own, weight), sizeof(double), back, ld);
  CHECK_BYTES(back, weights, sizeof back);
  memset(all, 0, sizeof all);
  NGA_Get(array, lo, hi, all, ld);
  for (int i = 0; i < 8; ++i) {
    CHECK_EQUAL(all[i].number, i);
    CHECK_REAL(all[i].weight, 0.5 * i);
  }
  GA_Sync();
  const int copied = GA_Duplicate(array, "copied");
  GA_Copy(array, copied);
  int zero_lo[] = {1, 2};
  NGA_Zero_patch(copied, zero_lo, hi);
  NGA_Get(copied, lo, hi, all, ld);
  for (int i = 0; i < 8; ++i) {
    CHECK_EQUAL(all[i].number, i % 4 == 0 ? i : 0);
    CHECK_REAL(all[i].weight, i % 4 == 0 ? 0.5 * i : 0);
  }
  GA_Sync();
  GA_Destroy(copied);
  GA_Destroy(array);
  CHECK_EQUAL(NGA_Deregister_type(code), 0);
  CHECK_EQUAL(NGA_Deregister_type(code), -2);
  CHECK_EQUAL(NGA_Deregister_type(C_DBL), -1);
}

/* A handle that stands for nothing is complete. */
static void stale_handles(void) {
  ga_nbhdl_t request = 0;
  CHECK_EQUAL(NGA_NbTest(&request), 1);
  NGA_NbWait(&request);
  request = 123456789;
  CHECK_EQUAL(NGA_NbTest(&request), 1);
  NGA_NbWait(&request);
}

/* More transfers at a time than the table of requests begins with. */
static void many_pending(void) {
  enum { many = 700 };
  static ga_nbhdl_t requests[many];
  static int back[many];
  int dims[] = {many};
  const int array = NGA_Create(C_INT, 1, dims, "many", NULL);
  GA_Zero(array);
  const int value = 3;
  for (int i = GA_Nodeid(); i < many; i += GA_Nnodes()) {
    NGA_NbPut(array, &i, &i, (void*)&value, NULL, &requests[i]);
  }
  for (int i = GA_Nodeid(); i < many; i += GA_Nnodes()) {
    NGA_NbWait(&requests[i]);
  }
  GA_Sync();
  int lo[] = {0};
  int hi[] = {many - 1};
  NGA_Get(array, lo, hi, back, NULL);
  for (int i = 0; i < many; ++i) {
    CHECK_EQUAL(back[i], 3);
  }
  GA_Destroy(array);
}

/* The leading dimension of a patch with one row is not read. */
static void leads_without_effect(void) {
  int dims[] = {3, 2, 2, 2, 4};
  int lo[] = {1, 1, 1, 1, 0};
  int hi[] = {1, 1, 1, 1, 3};
  int64_t wide_lo[] = {1, 1, 1, 1, 0};
  int64_t wide_hi[] = {1, 1, 1, 1, 3};
  int ld[] = {-2147483647, 2147483647, 2147483647, 0};
  int64_t wide_ld[] = {INT64_MAX, INT64_MIN, 7, INT64_MAX};
  const double values[] = {1, 2, 3, 4};
  double back[4] = {0};
  const int array = NGA_Create(C_DBL, 5, dims, "one row", NULL);
  GA_Zero(array);
  if (GA_Nodeid() == 0) {
    NGA_Put(array, lo, hi, (void*)values, ld);
  }
  GA_Sync();
  NGA_Get64(array, wide_lo, wide_hi, back, wide_ld);
  CHECK_BYTES(back, values, sizeof back);
  GA_Destroy(array);
}

const Case transfer_cases[] = {{"blocking", blocking_ones},
                               {"wide", wide_ones},
                               {"pending", pending_ones},
                               {"strided", strided},
                               {"periodic", periodic},
                               {"counter", counter},
                               {"fields", fields},
                               {"stale_handles", stale_handles},
                               {"many_pending", many_pending},
                               {"leads_without_effect", leads_without_effect},
                               {NULL, NULL}};
