/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

static double vector(int64_t i, int64_t j) {
  (void)i;
  return (double)(j + 2);
}
static double added(int64_t i, int64_t j) {
  return by_index(i, j) + (i == j ? vector(0, i) : 0);
}
static double replaced(int64_t i, int64_t j) {
  return i == j ? vector(0, i) : by_index(i, j);
}
static double shifted(int64_t i, int64_t j) {
  return by_index(i, j) - (i == j ? 3 : 0);
}
static double filled(int64_t i, int64_t j) {
  return i == j ? -3 : by_index(i, j);
}
static double without(int64_t i, int64_t j) {
  return i == j ? 0 : by_index(i, j);
}
static double by_rows(int64_t i, int64_t j) {
  return by_index(i, j) * vector(0, i);
}
static double by_columns(int64_t i, int64_t j) {
  return by_index(i, j) * vector(0, j);
}
static double symmetric(int64_t i, int64_t j) {
  return (by_index(i, j) + by_index(j, i)) / 2;
}
static double diagonal(int64_t i, int64_t j) {
  (void)i;
  return by_index(j, j);
}

static void work_on_diagonals(void) {
  tessera_array* const a = make_matrix(8, 8, "A");
  tessera_array* const v = make_vector(8, "v");
  const tessera_part of_a = tessera_part_whole(a);
  const tessera_part of_v = tessera_part_whole(v);
  const double minus = -3;
  set_all(v, vector);
  set_all(a, by_index);
  CHECK_OK(tessera_array_add_diagonal(of_a, of_v));
  CHECK_ALL(a, added);
  CHECK_OK(tessera_array_set_diagonal(of_a, of_v));
  CHECK_ALL(a, replaced);
  set_all(a, by_index);
  CHECK_OK(tessera_array_shift_diagonal(of_a, &minus));
  CHECK_ALL(a, shifted);
  CHECK_OK(tessera_array_fill_diagonal(of_a, &minus));
  CHECK_ALL(a, filled);
  CHECK_OK(tessera_array_zero_diagonal(of_a));
  CHECK_ALL(a, without);
  set_all(a, by_index);
  CHECK_OK(tessera_array_get_diagonal(of_a, of_v));
  CHECK_ALL(v, diagonal);
  release(v);
  release(a);
}

static void scale_and_symmetrize(void) {
  tessera_array* const a = make_matrix(8, 8, "A");
  tessera_array* const v = make_vector(8, "v");
  const tessera_part of_a = tessera_part_whole(a);
  const tessera_part of_v = tessera_part_whole(v);
  set_all(v, vector);
  set_all(a, by_index);
  CHECK_OK(tessera_array_scale_rows(of_a, of_v));
  CHECK_ALL(a, by_rows);
  set_all(a, by_index);
  CHECK_OK(tessera_array_scale_columns(of_a, of_v));
  CHECK_ALL(a, by_columns);
  set_all(a, by_index);
  CHECK_OK(tessera_array_symmetrize(of_a));
  CHECK_ALL(a, symmetric);
  CHECK_ERROR(tessera_array_symmetrize(of_v), TESSERA_INVALID_ARGUMENT, "symmetrize");
  release(v);
  release(a);
}

const Case matrix_cases[] = {{"work_on_diagonals", work_on_diagonals},
                             {"scale_and_symmetrize", scale_and_symmetrize},
                             {NULL, NULL}};
