/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

/* Small whole numbers, whose sums are exact in any order. */
static double small(int64_t i, int64_t j) {
  return (double)((i * 5 + j * 3) % 11 - 5);
}

static void sums_and_products(void) {
  tessera_array* const a = make_matrix(9, 7, "A");
  tessera_array* const b = make_matrix(9, 7, "B");
  double sum = 0;
  double dot = 0;
  double found = -1;
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = 0; j < 7; ++j) {
      sum += small(i, j);
      dot += small(i, j) * by_index(i, j);
    }
  }
  set_all(a, small);
  set_all(b, by_index);
  for (int reproducible = 0; reproducible < 2; ++reproducible) {
    CHECK_OK(tessera_array_sum(tessera_part_whole(a), reproducible, &found));
    CHECK_REAL(found, sum);
    CHECK_OK(tessera_array_dot(tessera_part_whole(a), tessera_part_whole(b), reproducible, &found));
    CHECK_REAL(found, dot);
  }
  CHECK_ERROR(tessera_array_sum(tessera_part_whole(a), 0, NULL), TESSERA_INVALID_ARGUMENT,
              "number is null");
  release(b);
  release(a);
}

static void add_narrow(int64_t count, const void* const in[], const int64_t strides[], void* value,
                       void* context) {
  (void)context;
  for (int64_t i = 0; i < count; ++i) {
    *(int64_t*)value += ((const int8_t*)in[0])[i * strides[0]];
  }
}

/* Sums have the elements' type; a fold has its own. */
static void narrow_sums_wrap(void) {
  const int64_t extent = 100;
  const int8_t two = 2;
  int8_t sum = 0;
  int64_t wide = 0;
  tessera_array_options options;
  tessera_array* a = NULL;
  tessera_array_options_init(&options);
  options.team = team;
  CHECK_OK(tessera_array_create(job, TESSERA_I8, 1, &extent, &options, &a));
  const tessera_part whole = tessera_part_whole(a);
  CHECK_OK(tessera_array_fill(whole, &two));
  CHECK_OK(tessera_array_sum(whole, 0, &sum));
  CHECK_EQUAL(sum, 200 - 256);
  CHECK_OK(tessera_array_reduce(1, &whole, TESSERA_I64, TESSERA_SUM, add_narrow, NULL, &wide));
  CHECK_EQUAL(wide, 200);
  if (members > 1) {
    const tessera_reduction other = member == 0 ? TESSERA_SUM : TESSERA_MAX;
    CHECK_ERROR(tessera_array_reduce(1, &whole, TESSERA_I64, other, add_narrow, NULL, &wide),
                TESSERA_INVALID_ARGUMENT, "with other arguments than rank");
  }
  release(a);
}

static void conjugated_products(void) {
  const double values[2 * 2] = {1, 2, 3, -1};
  double dot[2] = {0, 0};
  tessera_array* const a = make_vector_of(TESSERA_C128, 2, values);
  const tessera_part whole = tessera_part_whole(a);
  CHECK_OK(tessera_array_dot_conjugated(whole, whole, 0, dot));
  CHECK_REAL(dot[0], 1 + 4 + 9 + 1);
  CHECK_REAL(dot[1], 0);
  CHECK_OK(tessera_array_dot(whole, whole, 0, dot));
  CHECK_REAL(dot[0], 1 - 4 + 9 - 1);
  CHECK_REAL(dot[1], 4 - 6);
  release(a);
}

static void norms(void) {
  tessera_array* const a = make_matrix(9, 7, "A");
  const tessera_part whole = tessera_part_whole(a);
  double rows[9] = {0};
  double columns[7] = {0};
  double squares = 0;
  double most = 0;
  double found = -1;
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = 0; j < 7; ++j) {
      const double size = fabs(small(i, j));
      rows[i] += size;
      columns[j] += size;
      squares += size * size;
      most = fmax(most, size);
    }
  }
  double by_rows = 0;
  double by_columns = 0;
  for (int i = 0; i < 9; ++i) {
    by_rows = fmax(by_rows, rows[i]);
    by_columns = fmax(by_columns, i < 7 ? columns[i] : 0);
  }
  set_all(a, small);
  CHECK_OK(tessera_array_norm2(whole, 1, &found));
  CHECK(fabs(found - sqrt(squares)) <= 1e-14 * sqrt(squares));
  CHECK_OK(tessera_array_norm_max(whole, &found));
  CHECK_REAL(found, most);
  CHECK_OK(tessera_array_norm1(whole, 0, &found));
  CHECK_REAL(found, by_columns);
  CHECK_OK(tessera_array_norm_infinity(whole, 1, &found));
  CHECK_REAL(found, by_rows);
  release(a);
}

static void selections(void) {
  tessera_array* const a = make_matrix(9, 7, "A");
  const int64_t lo[2] = {1, 2};
  const int64_t hi[2] = {8, 5};
  double value = 0;
  int64_t at[2] = {-1, -1};
  set_all(a, by_index);
  CHECK_OK(tessera_array_select_max(tessera_part_box(a, lo, hi), &value, at));
  CHECK_REAL(value, by_index(7, 4));
  CHECK_EQUAL(at[0], 7);
  CHECK_EQUAL(at[1], 4);
  CHECK_OK(tessera_array_select_min(tessera_part_box(a, lo, hi), &value, at));
  CHECK_REAL(value, by_index(1, 2));
  CHECK_EQUAL(at[0], 1);
  CHECK_EQUAL(at[1], 2);
  at[0] = 77;
  CHECK_ERROR(tessera_array_select_min(tessera_part_box(a, lo, lo), &value, at),
              TESSERA_INVALID_ARGUMENT, "tessera_array_select_min");
  CHECK_EQUAL(at[0], 77);
  CHECK_ERROR(tessera_array_select_max(tessera_part_whole(a), &value, NULL),
              TESSERA_INVALID_ARGUMENT, "null");
  release(a);
}

static void steps(void) {
  const double at[4] = {1, 2, 3, 4};
  const double direction[4] = {1, -4, 0, -1};
  const double low[4] = {0, 1, 0, 4};
  const double high[4] = {9, 9, 9, 9};
  const float complex_element[2] = {1, 0};
  double found[3] = {-1, -1, -1};
  tessera_array* const x = make_vector_of(TESSERA_F64, 4, at);
  tessera_array* const dx = make_vector_of(TESSERA_F64, 4, direction);
  tessera_array* const lower = make_vector_of(TESSERA_F64, 4, low);
  tessera_array* const upper = make_vector_of(TESSERA_F64, 4, high);
  tessera_array* const complex = make_vector_of(TESSERA_C64, 1, complex_element);
  const tessera_part of_x = tessera_part_whole(x);
  const tessera_part of_complex = tessera_part_whole(complex);
  CHECK_OK(tessera_array_step_max(of_x, tessera_part_whole(dx), found));
  CHECK_REAL(found[0], 0.5);
  CHECK_OK(tessera_array_step_bounds(of_x, tessera_part_whole(dx), tessera_part_whole(lower),
                                     tessera_part_whole(upper), &found[0], &found[1], &found[2]));
  CHECK_REAL(found[0], 0);
  CHECK_REAL(found[1], 0.25);
  CHECK_REAL(found[2], 8);
  CHECK_ERROR(tessera_array_step_max(of_complex, of_complex, found), TESSERA_INVALID_ARGUMENT,
              "complex elements");
  CHECK_ERROR(tessera_array_step_bounds(of_complex, of_complex, of_complex, of_complex, &found[0],
                                        &found[1], &found[2]),
              TESSERA_INVALID_ARGUMENT, "complex elements");
  release(complex);
  release(upper);
  release(lower);
  release(dx);
  release(x);
}

const Case reduction_cases[] = {{"sums_and_products", sums_and_products},
                                {"narrow_sums_wrap", narrow_sums_wrap},
                                {"conjugated_products", conjugated_products},
                                {"norms", norms},
                                {"selections", selections},
                                {"steps", steps},
                                {NULL, NULL}};
