/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

static void of_handles(void) {
  tessera_array* array = make_matrix(9, 7, "A");
  tessera_array* const copy = array;
  double values[9 * 7];
  CHECK_ERROR(tessera_array_get(NULL, NULL, NULL, values, NULL), TESSERA_INVALID_ARGUMENT,
              "tessera_array_get: the array is null");
  CHECK_ERROR(tessera_array_get((const tessera_array*)team, NULL, NULL, values, NULL),
              TESSERA_INVALID_ARGUMENT, "the argument for the array is not a handle of that kind");
  CHECK_OK(tessera_array_free(&array));
  CHECK_OK(tessera_array_free(&array));
  CHECK_ERROR(tessera_array_get(copy, NULL, NULL, values, NULL), TESSERA_CLOSED,
              "the array 'A' was freed");
  CHECK_HAS(tessera_last_error(), "keep one copy of a handle");
  array = copy;
  CHECK_ERROR(tessera_array_free(&array), TESSERA_CLOSED, "the array 'A' was freed");
  CHECK_ERROR(tessera_array_fill(tessera_part_whole(copy), values), TESSERA_CLOSED, "'A'");
  CHECK_ERROR(tessera_array_free(NULL), TESSERA_INVALID_ARGUMENT, "null");
  CHECK_ERROR(tessera_job_barrier(NULL), TESSERA_INVALID_ARGUMENT, "the job is null");
  CHECK_ERROR(tessera_team_barrier(NULL), TESSERA_INVALID_ARGUMENT, "the team is null");
  CHECK_ERROR(tessera_halo_update(NULL), TESSERA_INVALID_ARGUMENT, "the halo is null");
  CHECK_ERROR(tessera_locks_lock(NULL, 0, 0), TESSERA_INVALID_ARGUMENT, "set of locks is null");
  CHECK_ERROR(tessera_counter_next(NULL, 1, NULL), TESSERA_INVALID_ARGUMENT, "counter is null");
  CHECK_ERROR(tessera_job_start(NULL), TESSERA_INVALID_ARGUMENT, "null");
  CHECK_ERROR(tessera_job_start_mpi(0, NULL), TESSERA_INVALID_ARGUMENT, "null");
}

/* At the beginning of each text, if the job has several ranks. */
static void name_the_rank(void) {
  tessera_array* array = make_matrix(9, 7, "A");
  double value = 0;
  char front[32] = "";
  const int64_t outside[2] = {9, 9};
  int64_t rank = -1;
  int64_t size = 0;
  CHECK_OK(tessera_job_rank(job, &rank));
  CHECK_OK(tessera_job_size(job, &size));
  if (size > 1) {
    snprintf(front, sizeof front, "[rank %d] ", (int)rank);
  }
  CHECK(tessera_array_get_element(array, outside, &value) == TESSERA_OUT_OF_RANGE);
  CHECK(strncmp(tessera_last_error(), front, strlen(front)) == 0);
  CHECK_HAS(tessera_last_error() + strlen(front), "tessera_array_get_element: ");
  CHECK_OK(tessera_array_free(&array));
}

static void of_boxes(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  const int64_t lo[2] = {2, 3};
  const int64_t beyond[2] = {10, 5};
  const int64_t before[2] = {1, 5};
  const int64_t least[2] = {INT64_MIN, 0};
  const int64_t most[2] = {INT64_MAX, 1};
  double values[9 * 7] = {0};
  tessera_handle* handle = NULL;
  CHECK_ERROR(tessera_array_get(array, lo, beyond, values, NULL), TESSERA_OUT_OF_RANGE,
              "array 'A' (float64, 9 x 7)");
  CHECK_HAS(tessera_last_error(), "[2,10) x [3,5)");
  CHECK_ERROR(tessera_array_put(array, lo, before, values, NULL), TESSERA_INVALID_ARGUMENT,
              "[2,1) x [3,5)");
  CHECK_ERROR(tessera_array_put(array, least, most, values, NULL), TESSERA_OUT_OF_RANGE,
              "longer than any array");
  CHECK_ERROR(tessera_array_put(array, lo, NULL, values, NULL), TESSERA_INVALID_ARGUMENT,
              "upper bounds");
  CHECK_ERROR(tessera_array_put(array, NULL, lo, values, NULL), TESSERA_INVALID_ARGUMENT,
              "lower bounds");
  CHECK_ERROR(tessera_array_put(array, NULL, NULL, NULL, NULL), TESSERA_INVALID_ARGUMENT,
              "the local buffer is null");
  CHECK_ERROR(tessera_array_fill(tessera_part_box(array, lo, beyond), values), TESSERA_OUT_OF_RANGE,
              "array 'A'");
  CHECK_ERROR(tessera_array_put_async(array, lo, beyond, values, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "handle is null");
  CHECK_OK(tessera_array_get_async(array, lo, beyond, values, NULL, &handle));
  CHECK_ERROR(tessera_handle_wait(&handle), TESSERA_OUT_OF_RANGE, "[2,10) x [3,5)");
  CHECK(handle == NULL);
  CHECK_ALL(array, zero);
  release(array);
}

static void of_types_and_options(void) {
  const int64_t extents[2] = {9, 7};
  const double one = 1;
  tessera_array* const a = make_matrix(9, 7, "A");
  tessera_array* const b = make_array(TESSERA_I32, 2, extents, "B");
  tessera_array* const c = make_array(tessera_type_opaque(12), 2, extents, "C");
  tessera_array* none = NULL;
  tessera_array_options options;
  CHECK_ERROR(tessera_array_copy(tessera_part_whole(a), tessera_part_whole(b)),
              TESSERA_INVALID_ARGUMENT, "elements of different types");
  CHECK_HAS(tessera_last_error(), "array 'B' (int32, 9 x 7) and array 'A' (float64, 9 x 7)");
  CHECK_ERROR(tessera_array_fill(tessera_part_whole(c), &one), TESSERA_INVALID_ARGUMENT,
              "opaque elements");
  CHECK_ERROR(tessera_array_fill(tessera_part_whole(a), NULL), TESSERA_INVALID_ARGUMENT,
              "number is null");
  memset(&options, 0, sizeof options);
  CHECK_ERROR(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &none),
              TESSERA_INVALID_ARGUMENT, "call tessera_array_options_init");
  tessera_array_options_init(&options);
  options.team = team;
  options.order = 7;
  CHECK_ERROR(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &none),
              TESSERA_INVALID_ARGUMENT, "no memory order 7");
  options.order = 0;
  CHECK_ERROR(tessera_array_create(job, 77, 2, extents, &options, &none), TESSERA_INVALID_ARGUMENT,
              "no element type 77");
  CHECK_ERROR(tessera_array_create(job, TESSERA_F64, 0, extents, &options, &none),
              TESSERA_INVALID_ARGUMENT, "0 dimensions");
  CHECK_ERROR(tessera_array_create(job, TESSERA_F64, 2, NULL, &options, &none),
              TESSERA_INVALID_ARGUMENT, "extents is null");
  CHECK_ERROR(tessera_array_create(job, TESSERA_F64, 2, (int64_t[]){-1, 5}, &options, &none),
              TESSERA_INVALID_ARGUMENT, "creating array");
  CHECK_ERROR(tessera_array_create(job, TESSERA_F64, 2, extents, &options, NULL),
              TESSERA_INVALID_ARGUMENT, "array is null");
  CHECK(none == NULL);
  release(c);
  release(b);
  release(a);
}

/* An error of one member in a collective is an error of all, and no member waits. */
static void of_one_member(void) {
  const int64_t extents[2] = {9, 7};
  const int64_t bad[2] = {-1, 7};
  const double one = 1;
  tessera_array* const array = make_matrix(9, 7, "A");
  tessera_array* none = NULL;
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.team = team;
  const int last = member == members - 1;
  CHECK_EQUAL(tessera_array_fill(tessera_part_whole(array), last ? NULL : &one),
              TESSERA_INVALID_ARGUMENT);
  CHECK_HAS(tessera_last_error(), "number is null");
  CHECK_EQUAL(tessera_array_create(job, last ? 99 : TESSERA_F64, 2, extents, &options, &none),
              TESSERA_INVALID_ARGUMENT);
  CHECK_HAS(tessera_last_error(), "no element type 99");
  CHECK_EQUAL(tessera_array_create(job, TESSERA_F64, 2, last ? bad : extents, &options, &none),
              TESSERA_INVALID_ARGUMENT);
  CHECK_ALL(array, zero);
  release(array);
}

const Case error_cases[] = {
    {"of_handles", of_handles},       {"name_the_rank", name_the_rank},
    {"of_boxes", of_boxes},           {"of_types_and_options", of_types_and_options},
    {"of_one_member", of_one_member}, {NULL, NULL}};
