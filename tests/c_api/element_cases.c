/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

static double five(int64_t i, int64_t j) {
  (void)i;
  (void)j;
  return 5;
}
static double other(int64_t i, int64_t j) {
  return (double)(j - 3 * i);
}
static double scaled(int64_t i, int64_t j) {
  return 2 * by_index(i, j) + 3;
}
static double absolute(int64_t i, int64_t j) {
  return fabs(other(i, j));
}
static double reciprocal(int64_t i, int64_t j) {
  return 1 / by_index(i, j);
}
static double combined(int64_t i, int64_t j) {
  return 2 * by_index(i, j) - other(i, j);
}
static double product(int64_t i, int64_t j) {
  return by_index(i, j) * other(i, j);
}
static double quotient(int64_t i, int64_t j) {
  return other(i, j) / by_index(i, j);
}
static double larger(int64_t i, int64_t j) {
  return fmax(other(i, j), 5);
}
static double smaller(int64_t i, int64_t j) {
  return fmin(other(i, j), 5);
}
static double middle(int64_t i, int64_t j) {
  return fmax(fmin(other(i, j), by_index(i, j)), fmin(5, fmax(other(i, j), by_index(i, j))));
}
static double corner(int64_t i, int64_t j) {
  return i >= 2 && i < 5 && j >= 1 && j < 4 ? by_index(i - 2, j - 1) : 0;
}

static void operands_of_one(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  const tessera_part whole = tessera_part_whole(array);
  const double constants[3] = {5, 2, 3};
  CHECK_OK(tessera_array_fill(whole, &constants[0]));
  CHECK_ALL(array, five);
  CHECK_OK(tessera_array_zero(whole));
  CHECK_ALL(array, zero);
  set_all(array, by_index);
  CHECK_OK(tessera_array_scale(whole, &constants[1]));
  CHECK_OK(tessera_array_add_constant(whole, &constants[2]));
  CHECK_ALL(array, scaled);
  set_all(array, other);
  CHECK_OK(tessera_array_absolute(whole));
  CHECK_ALL(array, absolute);
  set_all(array, by_index);
  CHECK_OK(tessera_array_reciprocal(whole));
  CHECK_ALL(array, reciprocal);
  release(array);
}

static void operands_of_two(void) {
  tessera_array* const a = make_matrix(9, 7, "A");
  tessera_array* const b = make_matrix(9, 7, "B");
  tessera_array* const c = make_matrix(9, 7, "C");
  const tessera_part of_a = tessera_part_whole(a);
  const tessera_part of_b = tessera_part_whole(b);
  const tessera_part of_c = tessera_part_whole(c);
  const double numbers[3] = {2, -1, 5};
  set_all(a, by_index);
  set_all(b, other);
  CHECK_OK(tessera_array_add(&numbers[0], of_a, &numbers[1], of_b, of_c));
  CHECK_ALL(c, combined);
  CHECK_OK(tessera_array_multiply(of_a, of_b, of_c));
  CHECK_ALL(c, product);
  CHECK_OK(tessera_array_divide(of_b, of_a, of_c));
  CHECK_ALL(c, quotient);
  CHECK_OK(tessera_array_fill(of_c, &numbers[2]));
  CHECK_OK(tessera_array_median(of_a, of_b, of_c, of_c));
  CHECK_ALL(c, middle);
  CHECK_OK(tessera_array_fill(of_c, &numbers[2]));
  CHECK_OK(tessera_array_maximum(of_b, of_c, of_c));
  CHECK_ALL(c, larger);
  CHECK_OK(tessera_array_fill(of_c, &numbers[2]));
  CHECK_OK(tessera_array_minimum(of_b, of_c, of_c));
  CHECK_ALL(c, smaller);
  release(c);
  release(b);
  release(a);
}

/* A part of one array to a part of another that is distributed differently. */
static void copy_parts(void) {
  tessera_array* const a = make_matrix(9, 7, "A");
  const int64_t extents[2] = {6, 5};
  const int64_t tile[2] = {2, 2};
  const int64_t zeros[2] = {0, 0};
  const int64_t corner_hi[2] = {3, 3};
  const int64_t lo[2] = {2, 1};
  const int64_t hi[2] = {5, 4};
  tessera_distribution* parts = NULL;
  tessera_array* b = NULL;
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.team = team;
  CHECK_OK(tessera_distribution_block_cyclic(job, members, 2, extents, tile, NULL, &parts));
  CHECK_OK(tessera_array_create_distributed(job, TESSERA_F64, parts, &options, &b));
  set_all(a, by_index);
  CHECK_OK(tessera_array_copy(tessera_part_box(a, zeros, corner_hi), tessera_part_box(b, lo, hi)));
  CHECK_ALL(b, corner);
  release(b);
  release(a);
  CHECK_OK(tessera_distribution_free(&parts));
}

static double in_order(int64_t i, int64_t j) {
  const int64_t place = 8 * i + j;
  return by_index(place / 4, place % 4);
}

static void copy_between_shapes(void) {
  tessera_array* const a = make_matrix(6, 4, "A");
  tessera_array* const b = make_matrix(3, 8, "B");
  set_all(a, by_index);
  CHECK_OK(tessera_array_copy_in_order(tessera_part_whole(a), tessera_part_whole(b)));
  CHECK_ALL(b, in_order);
  CHECK_ERROR(tessera_array_copy_in_order(
                  tessera_part_whole(a), tessera_part_box(b, (int64_t[]){0, 0}, (int64_t[]){3, 7})),
              TESSERA_INVALID_ARGUMENT, "tessera_array_copy_in_order");
  release(b);
  release(a);
}

/* Random elements are those of the index, so that a part gets what the whole would. */
static void random_elements(void) {
  tessera_array* const a = make_matrix(9, 7, "A");
  tessera_array* const b = make_matrix(9, 7, "B");
  const int64_t lo[2] = {0, 0};
  const int64_t hi[2] = {9, 3};
  double of_a[9 * 7];
  double of_b[9 * 7];
  CHECK_OK(tessera_array_fill_random(tessera_part_whole(a), 42, -1, 1));
  CHECK_OK(tessera_array_fill_random(tessera_part_box(b, lo, hi), 42, -1, 1));
  CHECK_OK(tessera_array_get(a, NULL, NULL, of_a, NULL));
  CHECK_OK(tessera_array_get(b, NULL, NULL, of_b, NULL));
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 7; ++j) {
      CHECK(of_a[7 * i + j] >= -1 && of_a[7 * i + j] < 1);
      CHECK_REAL(of_b[7 * i + j], j < 3 ? of_a[7 * i + j] : 0);
    }
  }
  CHECK(of_a[0] != of_a[1]);
  CHECK_ERROR(tessera_array_fill_random(tessera_part_whole(a), 1, 2, 1), TESSERA_INVALID_ARGUMENT,
              "tessera_array_fill_random");
  release(b);
  release(a);
}

/* Twice the element that `one` holds, of any type, comes from one filled with it. */
static void any_type_of(tessera_type type, const void* one, const void* two) {
  const int64_t extent = 10;
  unsigned char elements[16 * 10];
  unsigned char sum[16];
  int64_t bytes = 0;
  tessera_array* const array = make_array(type, 1, &extent, "typed");
  const tessera_part whole = tessera_part_whole(array);
  CHECK_OK(tessera_type_bytes(type, &bytes));
  CHECK_OK(tessera_array_fill(whole, one));
  CHECK_OK(tessera_array_add(one, whole, one, whole, whole));
  CHECK_OK(tessera_array_get(array, NULL, NULL, elements, NULL));
  for (int64_t i = 0; i < extent; ++i) {
    CHECK(memcmp(elements + i * bytes, two, (size_t)bytes) == 0);
  }
  CHECK_OK(tessera_array_sum(tessera_part_box(array, (int64_t[]){4}, (int64_t[]){5}), 0, sum));
  CHECK(memcmp(sum, two, (size_t)bytes) == 0);
  release(array);
}

static void of_all_types(void) {
  any_type_of(TESSERA_I8, (int8_t[]){1}, (int8_t[]){2});
  any_type_of(TESSERA_I16, (int16_t[]){1}, (int16_t[]){2});
  any_type_of(TESSERA_I32, (int32_t[]){1}, (int32_t[]){2});
  any_type_of(TESSERA_I64, (int64_t[]){1}, (int64_t[]){2});
  any_type_of(TESSERA_U8, (uint8_t[]){1}, (uint8_t[]){2});
  any_type_of(TESSERA_U16, (uint16_t[]){1}, (uint16_t[]){2});
  any_type_of(TESSERA_U32, (uint32_t[]){1}, (uint32_t[]){2});
  any_type_of(TESSERA_U64, (uint64_t[]){1}, (uint64_t[]){2});
  any_type_of(TESSERA_F32, (float[]){1}, (float[]){2});
  any_type_of(TESSERA_F64, (double[]){1}, (double[]){2});
  any_type_of(TESSERA_C64, (float[]){1, 0}, (float[]){2, 0});
  any_type_of(TESSERA_C128, (double[]){1, 0}, (double[]){2, 0});
}

const Case element_cases[] = {{"operands_of_one", operands_of_one},
                              {"operands_of_two", operands_of_two},
                              {"copy_parts", copy_parts},
                              {"copy_between_shapes", copy_between_shapes},
                              {"random_elements", random_elements},
                              {"of_all_types", of_all_types},
                              {NULL, NULL}};
