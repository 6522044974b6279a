/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/model.h"

#include <stdio.h>

double by_index(int64_t i, int64_t j) {
  return (double)(100 * i + j + 1);
}

double zero(int64_t i, int64_t j) {
  (void)i;
  (void)j;
  return 0;
}

tessera_array* make_array(tessera_type type, int64_t ndims, const int64_t extents[],
                          const char* name) {
  tessera_array* array = NULL;
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.name = name;
  options.team = team;
  CHECK_OK(tessera_array_create(job, type, ndims, extents, &options, &array));
  return array;
}

tessera_array* make_matrix(int64_t rows, int64_t columns, const char* name) {
  const int64_t extents[2] = {rows, columns};
  return make_array(TESSERA_F64, 2, extents, name);
}

tessera_array* make_vector(int64_t length, const char* name) {
  return make_array(TESSERA_F64, 1, &length, name);
}

tessera_array* make_vector_of(tessera_type type, int64_t length, const void* values) {
  tessera_array* const array = make_array(type, 1, &length, "vector");
  if (member == 0) {
    CHECK_OK(tessera_array_put(array, NULL, NULL, values, NULL));
  }
  CHECK_OK(tessera_array_sync(array));
  return array;
}

void release(tessera_array* array) {
  CHECK_OK(tessera_array_free(&array));
  CHECK(array == NULL);
}

/* The rows and columns of an array of one or two dimensions. */
static void shape_of(const tessera_array* array, int64_t shape[2]) {
  int64_t ndims = 0;
  int64_t extents[TESSERA_MAX_DIMS] = {0};
  CHECK_OK(tessera_array_ndims(array, &ndims));
  CHECK_OK(tessera_array_extents(array, extents));
  shape[0] = ndims == 1 ? 1 : extents[0];
  shape[1] = ndims == 1 ? extents[0] : extents[1];
}

void set_all(const tessera_array* array, Rule rule) {
  double values[most_elements];
  int64_t shape[2];
  shape_of(array, shape);
  for (int64_t i = 0; i < shape[0]; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      values[i * shape[1] + j] = rule(i, j);
    }
  }
  if (member == 0) {
    CHECK_OK(tessera_array_put(array, NULL, NULL, values, NULL));
  }
  CHECK_OK(tessera_array_sync(array));
}

void check_all(const tessera_array* array, Rule rule, const char* what, const char* file,
               int line) {
  double values[most_elements];
  int64_t shape[2];
  CHECK_OK(tessera_array_sync(array));
  shape_of(array, shape);
  check_ok(tessera_array_get(array, NULL, NULL, values, NULL), what, file, line);
  for (int64_t i = 0; i < shape[0]; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      char place[100];
      snprintf(place, sizeof place, "%s(%lld, %lld)", what, (long long)i, (long long)j);
      check_real(values[i * shape[1] + j], rule(i, j), place, file, line);
    }
  }
  CHECK_OK(tessera_array_sync(array));
}
