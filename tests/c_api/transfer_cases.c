/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

/* Each member puts the rows i with i % members == member. */
static void put_and_get_boxes(void) {
  tessera_array* const array = make_matrix(11, 6, "A");
  for (int64_t i = member; i < 11; i += members) {
    double row[6];
    for (int64_t j = 0; j < 6; ++j) {
      row[j] = by_index(i, j);
    }
    CHECK_OK(tessera_array_put(array, (int64_t[]){i, 0}, (int64_t[]){i + 1, 6}, row, NULL));
  }
  CHECK_ALL(array, by_index);
  double transposed[4 * 3];
  const int64_t strides[2] = {1, 3};
  CHECK_OK(tessera_array_get(array, (int64_t[]){2, 1}, (int64_t[]){5, 5}, transposed, strides));
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      CHECK_REAL(transposed[i + 3 * j], by_index(i + 2, j + 1));
    }
  }
  const int64_t too_short[2] = {3, 1};
  CHECK_ERROR(tessera_array_get(array, (int64_t[]){2, 1}, (int64_t[]){5, 5}, transposed, too_short),
              TESSERA_INVALID_ARGUMENT, "a row of 4 elements along dimension 1");
  release(array);
}

static double accumulated(int64_t i, int64_t j) {
  return (double)members * (1 + 2.5) * by_index(i, j);
}

static void accumulate_boxes(void) {
  tessera_array* const array = make_matrix(11, 6, "A");
  const double alpha = 2.5;
  double values[11 * 6];
  for (int64_t i = 0; i < 11; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      values[6 * i + j] = by_index(i, j);
    }
  }
  CHECK_OK(tessera_array_accumulate(array, NULL, NULL, values, NULL, NULL));
  CHECK_OK(tessera_array_accumulate(array, NULL, NULL, values, NULL, &alpha));
  CHECK_ALL(array, accumulated);
  release(array);
}

static double greatest(int64_t i, int64_t j) {
  return by_index(i, j) < 3 ? 3 : by_index(i, j);
}

/* The greater of two, also in a list; and dimensions that grow. */
static void combine_and_grow(void) {
  tessera_array* const array = make_matrix(11, 6, "A");
  tessera_handle* handle = NULL;
  double values[11 * 6];
  double threes[11 * 6];
  int64_t places[2 * 11 * 6];
  for (int64_t i = 0; i < 11; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      values[6 * i + j] = by_index(i, j);
      threes[6 * i + j] = 3;
      places[2 * (6 * i + j)] = i;
      places[2 * (6 * i + j) + 1] = j;
    }
  }
  CHECK_OK(
      tessera_array_accumulate_by(array, NULL, NULL, TESSERA_ACCUMULATE_MAX, values, NULL, NULL));
  CHECK_OK(tessera_array_scatter_accumulate_by(array, 66, places, TESSERA_ACCUMULATE_MAX, threes));
  CHECK_ALL(array, greatest);
  CHECK_OK(tessera_array_accumulate_by(array, NULL, NULL, TESSERA_ACCUMULATE_MIN, values, NULL,
                                       &handle));
  CHECK_OK(tessera_handle_wait(&handle));
  CHECK_ALL(array, by_index);
  CHECK_ERROR(
      tessera_array_accumulate_by(array, NULL, NULL, TESSERA_ACCUMULATE_BIT_OR, values, NULL, NULL),
      TESSERA_UNSUPPORTED, "accumulate by bit_or of float64 elements");
  CHECK_ERROR(tessera_array_accumulate_by(array, NULL, NULL, 6, values, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "accumulate by operation 6, which does not exist");
  CHECK_OK(tessera_array_grow(array, 0, 14));
  CHECK_OK(tessera_array_get(array, (int64_t[]){0, 0}, (int64_t[]){11, 6}, threes, NULL));
  for (int64_t i = 0; i < 11 * 6; ++i) {
    CHECK_REAL(threes[i], values[i]);
  }
  CHECK_OK(tessera_array_get(array, (int64_t[]){11, 0}, (int64_t[]){14, 6}, threes, NULL));
  for (int64_t i = 0; i < 3 * 6; ++i) {
    CHECK_REAL(threes[i], 0.0);
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_ERROR(tessera_array_grow(array, 2, 20), TESSERA_INVALID_ARGUMENT,
              "there is no dimension 2");
  CHECK_ERROR(tessera_array_grow(array, 0, 3), TESSERA_INVALID_ARGUMENT, "arrays do not shrink");
  release(array);
}

/* Many at once through one handle, and through several. */
static void start_and_wait(void) {
  tessera_array* const array = make_matrix(11, 6, "A");
  double rows[11][6];
  double seen[11][6];
  tessera_handle* together = NULL;
  tessera_handle* each[11] = {NULL};
  int done = 0;
  const double one = 1;
  CHECK_OK(tessera_handle_wait(&together));
  for (int64_t i = member; i < 11; i += members) {
    for (int64_t j = 0; j < 6; ++j) {
      rows[i][j] = by_index(i, j) / 2;
    }
    const int64_t lo[2] = {i, 0};
    const int64_t hi[2] = {i + 1, 6};
    CHECK_OK(tessera_array_put_async(array, lo, hi, rows[i], NULL, &together));
  }
  CHECK_OK(tessera_handle_wait(&together));
  CHECK(together == NULL);
  CHECK_OK(tessera_array_sync(array));
  for (int64_t i = member; i < 11; i += members) {
    const int64_t lo[2] = {i, 0};
    const int64_t hi[2] = {i + 1, 6};
    CHECK_OK(tessera_array_accumulate_async(array, lo, hi, rows[i], NULL, &one, &each[i]));
  }
  CHECK_OK(tessera_handle_wait_all(11, each));
  CHECK_ALL(array, by_index);
  CHECK_OK(tessera_array_get_async(array, NULL, NULL, seen, NULL, &together));
  while (!done) {
    CHECK_OK(tessera_handle_test(together, &done));
  }
  CHECK_OK(tessera_handle_wait(&together));
  CHECK_REAL(seen[10][5], by_index(10, 5));
  CHECK_OK(tessera_handle_test(NULL, &done));
  CHECK_EQUAL(done, 1);
  CHECK_OK(tessera_handle_detach(&together));
  release(array);
}

static double even_rows(int64_t i, int64_t j) {
  return i % 2 == 0 && j % 3 == 1 ? by_index(i, j) + 10 : by_index(i, j);
}

static void take_sections(void) {
  tessera_array* const array = make_matrix(10, 8, "A");
  const int64_t lo[2] = {0, 1};
  const int64_t hi[2] = {10, 8};
  const int64_t steps[2] = {2, 3};
  double values[5 * 3];
  double tens[5 * 3];
  tessera_handle* handle = NULL;
  set_all(array, by_index);
  CHECK_OK(tessera_array_get_section(array, lo, hi, steps, values, NULL, NULL));
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      CHECK_REAL(values[3 * i + j], by_index(2 * i, 3 * j + 1));
      tens[3 * i + j] = 5;
    }
  }
  CHECK_OK(tessera_array_sync(array));
  if (member == 0) {
    CHECK_OK(tessera_array_accumulate_section(array, lo, hi, steps, tens, NULL, NULL, &handle));
    CHECK(handle != NULL);
    CHECK_OK(tessera_handle_wait(&handle));
    const double one = 1;
    CHECK_OK(tessera_array_accumulate_section(array, lo, hi, steps, tens, NULL, &one, NULL));
  }
  CHECK_ALL(array, even_rows);
  if (member == members - 1) {
    CHECK_OK(tessera_array_put_section(array, lo, hi, steps, values, NULL, NULL));
  }
  CHECK_ALL(array, by_index);
  CHECK_ERROR(tessera_array_get_section(array, lo, hi, (int64_t[]){0, 1}, values, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "array 'A'");
  CHECK_ERROR(tessera_array_get_section(array, lo, hi, NULL, values, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "steps is null");
  release(array);
}

static double wrapped(int64_t i, int64_t j) {
  (void)i;
  return j >= 6 ? (double)(100 + j - 6) : j < 2 ? (double)(102 + j) : 0;
}

static double wrapped_twice(int64_t i, int64_t j) {
  return 3 * wrapped(i, j);
}
static double wrapped_again(int64_t i, int64_t j) {
  return 4 * wrapped(i, j);
}

static void reach_over_the_ends(void) {
  tessera_array* const array = make_vector(8, "ring");
  const int64_t lo = 6;
  const int64_t hi = 10;
  const double two = 2;
  double values[4] = {100, 101, 102, 103};
  double seen[4];
  if (member == 0) {
    CHECK_OK(tessera_array_put_periodic(array, &lo, &hi, 1, values, NULL, NULL));
  }
  CHECK_ALL(array, wrapped);
  CHECK_OK(tessera_array_get_periodic(array, &lo, &hi, 1, seen, NULL, NULL));
  CHECK(memcmp(seen, values, sizeof seen) == 0);
  CHECK_OK(tessera_array_sync(array));
  if (member == 0) {
    CHECK_OK(tessera_array_accumulate_periodic(array, &lo, &hi, 1, values, NULL, &two, NULL));
  }
  CHECK_ALL(array, wrapped_twice);
  /* Only started. */
  tessera_handle* handle = NULL;
  if (member == members - 1) {
    CHECK_OK(tessera_array_put_periodic(array, &lo, &hi, 1, values, NULL, &handle));
    CHECK(handle != NULL);
    CHECK_OK(tessera_handle_wait(&handle));
    CHECK_OK(tessera_array_accumulate_periodic(array, &lo, &hi, 1, values, NULL, NULL, &handle));
    CHECK_OK(tessera_array_accumulate_periodic(array, &lo, &hi, 1, values, NULL, &two, &handle));
    CHECK_OK(tessera_handle_wait(&handle));
  }
  CHECK_ALL(array, wrapped_again);
  CHECK_OK(tessera_array_get_periodic(array, &lo, &hi, 1, seen, NULL, &handle));
  CHECK_OK(tessera_handle_wait(&handle));
  CHECK_REAL(seen[3], 4 * values[3]);
  CHECK_OK(tessera_array_get_periodic(array, &lo, &hi, 0, seen, NULL, &handle));
  CHECK_ERROR(tessera_handle_wait(&handle), TESSERA_OUT_OF_RANGE, "array 'ring'");
  CHECK_ERROR(tessera_array_get_periodic(array, &lo, &hi, 0, seen, NULL, NULL),
              TESSERA_OUT_OF_RANGE, "array 'ring'");
  CHECK_ERROR(tessera_array_get_periodic(array, &lo, &hi, 1 << 8, seen, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "periodic dimensions 0x100");
  release(array);
}

typedef struct {
  double mass;
  int32_t charge;
  int32_t number;
} Particle;

static void move_fields(void) {
  const int64_t extent = 12;
  tessera_array* const array =
      make_array(tessera_type_opaque(sizeof(Particle)), 1, &extent, "particles");
  const int64_t at = (int64_t)offsetof(Particle, charge);
  int32_t charges[12];
  int32_t seen[12];
  const int32_t minus = -1;
  Particle particle = {0, 0, 0};
  for (int32_t i = 0; i < 12; ++i) {
    charges[i] = i;
  }
  if (member == 0) {
    CHECK_OK(tessera_array_put_field(array, NULL, NULL, at, 4, charges, NULL, NULL));
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_accumulate_field(array, NULL, NULL, at, TESSERA_I32, charges, NULL, &minus,
                                          NULL));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get_field(array, NULL, NULL, at, 4, seen, NULL, NULL));
  for (int32_t i = 0; i < 12; ++i) {
    CHECK_EQUAL(seen[i], i - i * (int32_t)members);
  }
  CHECK_OK(tessera_array_get_element(array, (int64_t[]){11}, &particle));
  CHECK_EQUAL(particle.charge, seen[11]);
  /* Only started. */
  tessera_handle* handle = NULL;
  CHECK_OK(tessera_array_sync(array));
  if (member == members - 1) {
    CHECK_OK(tessera_array_put_field(array, NULL, NULL, at, 4, charges, NULL, &handle));
    CHECK(handle != NULL);
    CHECK_OK(tessera_handle_wait(&handle));
    CHECK_OK(tessera_array_accumulate_field(array, NULL, NULL, at, TESSERA_I32, charges, NULL, NULL,
                                            &handle));
    CHECK_OK(tessera_handle_wait(&handle));
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get_field(array, NULL, NULL, at, 4, seen, NULL, &handle));
  CHECK_OK(tessera_handle_wait(&handle));
  CHECK_EQUAL(seen[11], 22);
  CHECK_OK(tessera_array_get_field(array, NULL, NULL, 14, 4, seen, NULL, &handle));
  CHECK_ERROR(tessera_handle_wait(&handle), TESSERA_OUT_OF_RANGE, "does not lie in an element");
  CHECK_REAL(particle.mass, 0);
  CHECK_ERROR(tessera_array_get_field(array, NULL, NULL, 14, 4, seen, NULL, NULL),
              TESSERA_OUT_OF_RANGE, "does not lie in an element");
  CHECK_ERROR(tessera_array_get_field(array, NULL, NULL, -4, 4, seen, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "-4");
  CHECK_ERROR(tessera_array_accumulate(array, NULL, NULL, seen, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "its elements are opaque");
  CHECK_ERROR(tessera_array_accumulate_field(array, NULL, NULL, 0, -8, seen, NULL, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "no element type");
  release(array);
}

static double listed(int64_t i, int64_t j) {
  const int is_listed = (i == 3 && j == 4) || (i == 0 && j == 0) || (i == 8 && j == 5);
  return is_listed ? (double)(i + j) * (1 + 2 * (double)members) : 0;
}

static void take_lists(void) {
  tessera_array* const array = make_matrix(9, 6, "A");
  const int64_t places[6] = {3, 4, 0, 0, 8, 5};
  const double values[3] = {7, 0, 13};
  const double two = 2;
  double seen[3] = {-1, -1, -1};
  if (member == 0) {
    CHECK_OK(tessera_array_scatter(array, 3, places, values));
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_scatter_accumulate(array, 3, places, values, &two));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_gather(array, 3, places, seen));
  for (int i = 0; i < 3; ++i) {
    CHECK_REAL(seen[i], values[i] * (1 + 2 * (double)members));
  }
  CHECK_ALL(array, listed);
  CHECK_ERROR(tessera_array_gather(array, 1, (int64_t[]){9, 0}, seen), TESSERA_OUT_OF_RANGE,
              "array 'A'");
  CHECK_ERROR(tessera_array_gather(array, 1, NULL, seen), TESSERA_INVALID_ARGUMENT,
              "places is null");
  CHECK_ERROR(tessera_array_gather(array, -1, places, seen), TESSERA_INVALID_ARGUMENT, "-1");
  CHECK_ERROR(tessera_array_scatter(array, INT64_MAX, places, seen), TESSERA_INVALID_ARGUMENT,
              "too many: with 2 indices each, at most 4611686018427387903 are possible");
  CHECK_OK(tessera_array_gather(array, 0, NULL, NULL));
  release(array);
}

static void take_elements(void) {
  tessera_array* const array = make_matrix(9, 6, "A");
  const int64_t at[2] = {8, 2};
  const double value = 42;
  double seen = -1;
  if (member == members - 1) {
    CHECK_OK(tessera_array_put_element(array, at, &value));
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get_element(array, at, &seen));
  CHECK_REAL(seen, value);
  CHECK_ERROR(tessera_array_get_element(array, (int64_t[]){8, INT64_MAX}, &seen),
              TESSERA_OUT_OF_RANGE, "array 'A'");
  CHECK_ERROR(tessera_array_get_element(array, at, NULL), TESSERA_INVALID_ARGUMENT, "null");
  release(array);
}

/* Draws by all members from each element of an array are all different. */
static void change_elements_in_one_step(void) {
  const int64_t extent = 5;
  const int32_t one = 1;
  const int32_t hundred = 100;
  int32_t before = -1;
  int32_t sum = 0;
  tessera_array* const array = make_array(TESSERA_I32, 1, &extent, "counters");
  tessera_array* const reals = make_vector(5, "reals");
  for (int64_t i = 0; i < extent; ++i) {
    CHECK_OK(tessera_array_fetch_add(array, &i, &one, &before));
    sum = before;
    CHECK_OK(tessera_team_allreduce(team, &sum, 1, TESSERA_I32, TESSERA_SUM));
    CHECK_EQUAL(sum, members * (members - 1) / 2);
  }
  CHECK_OK(tessera_array_sync(array));
  const int64_t own = member % extent;
  const int32_t start = (int32_t)members;
  if (member < extent) {
    CHECK_OK(tessera_array_compare_swap(array, &own, &hundred, &one, &before));
    CHECK_EQUAL(before, start);
    CHECK_OK(tessera_array_compare_swap(array, &own, &start, &hundred, &before));
    CHECK_EQUAL(before, start);
    CHECK_OK(tessera_array_swap(array, &own, &one, &before));
    CHECK_EQUAL(before, 100);
    CHECK_OK(tessera_array_get_element(array, &own, &before));
    CHECK_EQUAL(before, 1);
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_ERROR(tessera_array_fetch_add(reals, &own, &one, &before), TESSERA_INVALID_ARGUMENT,
              "do not support atomic operations");
  CHECK_ERROR(tessera_array_swap(array, &extent, &one, &before), TESSERA_OUT_OF_RANGE,
              "array 'counters'");
  CHECK_ERROR(tessera_array_swap(array, &own, &one, NULL), TESSERA_INVALID_ARGUMENT, "null");
  release(reals);
  release(array);
}

/* Section, box over the ends and field by other operations; each member has its own operands. */
static void combine_parts(void) {
  const int64_t extents[2] = {10, 8};
  const int64_t lo[2] = {0, 1};
  const int64_t hi[2] = {10, 8};
  const int64_t steps[2] = {2, 3};
  const int64_t corner_lo[2] = {9, -1};
  const int64_t corner_hi[2] = {11, 1};
  tessera_array* const array = make_array(TESSERA_I64, 2, extents, "A");
  tessera_handle* handle = NULL;
  int64_t greatest_of[5 * 3];
  int64_t bits[4];
  int64_t all[10 * 8];
  for (int64_t i = 0; i < 5 * 3; ++i) {
    greatest_of[i] = 10 * i + member;
  }
  for (int64_t i = 0; i < 4; ++i) {
    bits[i] = (int64_t)1 << (16 + 8 * i + member);
  }
  CHECK_OK(tessera_array_accumulate_section_by(array, lo, hi, steps, TESSERA_ACCUMULATE_MAX,
                                               greatest_of, NULL, NULL));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_accumulate_periodic_by(array, corner_lo, corner_hi, 3,
                                                TESSERA_ACCUMULATE_BIT_OR, bits, NULL, &handle));
  CHECK(handle != NULL);
  CHECK_OK(tessera_handle_wait(&handle));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get(array, NULL, NULL, all, NULL));
  const int64_t of_each = ((int64_t)1 << members) - 1;
  const int64_t corners[4] = {9 * 8 + 7, 9 * 8, 7, 0};
  for (int64_t i = 0; i < 4; ++i) {
    CHECK_EQUAL(all[corners[i]] >> 16, of_each << (8 * i));
    all[corners[i]] &= 0xffff;
  }
  for (int64_t i = 0; i < 10 * 8; ++i) {
    const int is_in_section = i / 8 % 2 == 0 && i % 8 % 3 == 1;
    CHECK_EQUAL(all[i], is_in_section ? 10 * (3 * (i / 16) + i % 8 / 3) + members - 1 : 0);
  }
  CHECK_ERROR(tessera_array_accumulate_section_by(array, lo, hi, steps, 7, all, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "accumulate by operation 7, which does not exist");
  CHECK_ERROR(tessera_array_accumulate_periodic_by(array, lo, hi, 3, -1, all, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "accumulate by operation -1, which does not exist");
  release(array);
}

static void combine_fields(void) {
  const int64_t extent = 12;
  tessera_array* const array =
      make_array(tessera_type_opaque(sizeof(Particle)), 1, &extent, "particles");
  const int64_t at = (int64_t)offsetof(Particle, charge);
  int32_t charges[12];
  Particle all[12];
  for (int32_t i = 0; i < 12; ++i) {
    charges[i] = -i - (int32_t)member;
  }
  CHECK_OK(tessera_array_accumulate_field_by(array, NULL, NULL, at, TESSERA_I32,
                                             TESSERA_ACCUMULATE_MIN, charges, NULL, NULL));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get(array, NULL, NULL, all, NULL));
  for (int32_t i = 0; i < 12; ++i) {
    CHECK_EQUAL(all[i].charge, -i - (int32_t)members + 1);
    CHECK_EQUAL(all[i].number, 0);
  }
  CHECK_ERROR(tessera_array_accumulate_field_by(array, NULL, NULL, 0, TESSERA_F64,
                                                TESSERA_ACCUMULATE_BIT_XOR, all, NULL, NULL),
              TESSERA_UNSUPPORTED, "accumulate by bit_xor of float64 elements");
  CHECK_ERROR(
      tessera_array_accumulate_field_by(array, NULL, NULL, at, TESSERA_I32, 6, charges, NULL, NULL),
      TESSERA_INVALID_ARGUMENT, "accumulate by operation 6, which does not exist");
  CHECK_ERROR(tessera_array_accumulate_field_by(array, NULL, NULL, 0, -8, TESSERA_ACCUMULATE_MIN,
                                                charges, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "no element type");
  release(array);
}

/* All elements of a matrix, the last first, and one a second time. */
enum { listed_rows = 7, listed_columns = 3, listed_count = listed_rows * listed_columns + 1 };

static void list_all(int64_t places[2 * listed_count]) {
  for (int64_t i = 0; i < listed_count; ++i) {
    const int64_t place = i == 0 ? 4 : listed_count - 1 - i;
    places[2 * i] = place / listed_columns;
    places[2 * i + 1] = place % listed_columns;
  }
}

/* Each sum of all members is different; one compare-and-swap of each element succeeds. */
static void change_listed_elements(void) {
  const int64_t extents[2] = {listed_rows, listed_columns};
  tessera_array* const array = make_array(TESSERA_I64, 2, extents, "claims");
  tessera_handle* handle = NULL;
  int64_t places[2 * listed_count];
  int64_t operands[listed_count];
  int64_t expected[listed_count];
  int64_t before[listed_count];
  int64_t all[listed_rows * listed_columns];
  list_all(places);
  for (int64_t i = 0; i < listed_count; ++i) {
    operands[i] = 1;
  }
  CHECK_OK(tessera_array_change_elements(array, listed_count, places, TESSERA_ATOMIC_ADD, operands,
                                         NULL, before, NULL));
  before[listed_count - 5] += before[0]; /* element 4 */
  CHECK_OK(tessera_team_allreduce(team, before + 1, listed_count - 1, TESSERA_I64, TESSERA_SUM));
  for (int64_t i = 1; i < listed_count; ++i) {
    const int64_t sums = i == listed_count - 5 ? 2 * members : members;
    CHECK_EQUAL(before[i], sums * (sums - 1) / 2);
    expected[i] = sums;
    operands[i] = 100 + member;
  }
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_change_elements(array, listed_count - 1, places + 2,
                                         TESSERA_ATOMIC_COMPARE_SWAP, operands + 1, expected + 1,
                                         before + 1, &handle));
  CHECK(handle != NULL);
  CHECK_OK(tessera_handle_wait(&handle));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get(array, NULL, NULL, all, NULL));
  for (int64_t i = 1; i < listed_count; ++i) {
    const int64_t winner = all[listed_count - 1 - i] - 100;
    CHECK(winner >= 0 && winner < members);
    CHECK_EQUAL(before[i], winner == member ? expected[i] : winner + 100);
  }
  release(array);
}

/* The other operations, on words of 4 bytes, of each member. */
static void change_listed_bits(void) {
  const int64_t extents[2] = {listed_rows, listed_columns};
  tessera_array* const array = make_array(TESSERA_I32, 2, extents, "bits");
  int64_t places[2 * listed_count];
  int32_t operands[listed_count];
  int32_t before[listed_count];
  int32_t all[listed_rows * listed_columns];
  const int32_t of_all = (int32_t)((1 << members) - 1);
  const struct {
    tessera_atomic_op op;
    int32_t operand;
    int32_t result;
  } steps[] = {
      {TESSERA_ATOMIC_MAX, (int32_t)member, (int32_t)members - 1},
      {TESSERA_ATOMIC_MIN, -(int32_t)member - 1, -(int32_t)members},
      {TESSERA_ATOMIC_BIT_AND, 0, 0},
      {TESSERA_ATOMIC_BIT_OR, (int32_t)(1 << member), of_all},
      {TESSERA_ATOMIC_BIT_XOR, (int32_t)(3 << (2 * member)),
       of_all ^ (int32_t)((1 << 2 * members) - 1)},
      {TESSERA_ATOMIC_SWAP, 77, 77},
  };
  list_all(places);
  for (size_t step = 0; step < sizeof steps / sizeof steps[0]; ++step) {
    for (int64_t i = 0; i < listed_count; ++i) {
      operands[i] = steps[step].operand;
    }
    CHECK_OK(tessera_array_change_elements(array, listed_count - 1, places + 2, steps[step].op,
                                           operands, NULL, before, NULL));
    CHECK_OK(tessera_array_sync(array));
    CHECK_OK(tessera_array_get(array, NULL, NULL, all, NULL));
    for (int64_t i = 0; i < listed_rows * listed_columns; ++i) {
      CHECK_EQUAL(all[i], steps[step].result);
    }
    CHECK_OK(tessera_array_sync(array));
  }
  release(array);
}

static void refuse_listed_changes(void) {
  const int64_t extents[2] = {listed_rows, listed_columns};
  tessera_array* const array = make_array(TESSERA_U32, 2, extents, "words");
  tessera_array* const reals = make_matrix(listed_rows, listed_columns, "reals");
  const int64_t places[4] = {0, 0, 6, 3};
  const uint32_t ones[2] = {1, 1};
  uint32_t before[2] = {9, 9};
  tessera_handle* handle = NULL;
  CHECK_ERROR(
      tessera_array_change_elements(array, 2, places, TESSERA_ATOMIC_ADD, ones, NULL, before, NULL),
      TESSERA_OUT_OF_RANGE, "entry 1 of the list");
  CHECK_OK(tessera_array_change_elements(array, 2, places, TESSERA_ATOMIC_ADD, ones, NULL, before,
                                         &handle));
  CHECK_ERROR(tessera_handle_wait(&handle), TESSERA_OUT_OF_RANGE, "array 'words'");
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get_element(array, places, before));
  CHECK_EQUAL(before[0], 0);
  CHECK_ERROR(
      tessera_array_change_elements(array, 1, places, TESSERA_ATOMIC_MIN, ones, NULL, before, NULL),
      TESSERA_UNSUPPORTED, "atomic minimum and maximum are not for the unsigned elements");
  CHECK_ERROR(tessera_array_change_elements(array, 1, places, 8, ones, NULL, before, NULL),
              TESSERA_INVALID_ARGUMENT, "atomic operation 8, which does not exist");
  CHECK_ERROR(tessera_array_change_elements(array, 1, places, -1, ones, NULL, before, NULL),
              TESSERA_INVALID_ARGUMENT, "atomic operation -1, which does not exist");
  CHECK_ERROR(tessera_array_change_elements(array, 1, places, TESSERA_ATOMIC_COMPARE_SWAP, ones,
                                            NULL, before, NULL),
              TESSERA_INVALID_ARGUMENT, "expected values is null");
  CHECK_ERROR(
      tessera_array_change_elements(array, 1, places, TESSERA_ATOMIC_ADD, NULL, NULL, before, NULL),
      TESSERA_INVALID_ARGUMENT, "operands is null");
  CHECK_ERROR(
      tessera_array_change_elements(array, 1, places, TESSERA_ATOMIC_ADD, ones, NULL, NULL, NULL),
      TESSERA_INVALID_ARGUMENT, "before is null");
  CHECK_ERROR(
      tessera_array_change_elements(array, 1, NULL, TESSERA_ATOMIC_ADD, ones, NULL, before, NULL),
      TESSERA_INVALID_ARGUMENT, "places is null");
  CHECK_ERROR(tessera_array_change_elements(array, -1, places, TESSERA_ATOMIC_ADD, ones, NULL,
                                            before, NULL),
              TESSERA_INVALID_ARGUMENT, "-1");
  CHECK_ERROR(
      tessera_array_change_elements(reals, 1, places, TESSERA_ATOMIC_ADD, ones, NULL, before, NULL),
      TESSERA_INVALID_ARGUMENT, "do not support atomic operations");
  CHECK_OK(
      tessera_array_change_elements(array, 0, NULL, TESSERA_ATOMIC_ADD, NULL, NULL, NULL, NULL));
  release(reals);
  release(array);
}

const Case transfer_cases[] = {{"put_and_get_boxes", put_and_get_boxes},
                               {"accumulate_boxes", accumulate_boxes},
                               {"combine_and_grow", combine_and_grow},
                               {"start_and_wait", start_and_wait},
                               {"take_sections", take_sections},
                               {"reach_over_the_ends", reach_over_the_ends},
                               {"move_fields", move_fields},
                               {"take_lists", take_lists},
                               {"take_elements", take_elements},
                               {"change_elements_in_one_step", change_elements_in_one_step},
                               {"combine_parts", combine_parts},
                               {"combine_fields", combine_fields},
                               {"change_listed_elements", change_listed_elements},
                               {"change_listed_bits", change_listed_bits},
                               {"refuse_listed_changes", refuse_listed_changes},
                               {NULL, NULL}};
