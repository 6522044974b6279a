/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

enum { rows = 9, columns = 7 };

static double twice_and_more(int64_t i, int64_t j) {
  return 2 * by_index(i, j) + (double)(i - j) + 5;
}
static double replaced(int64_t i, int64_t j) {
  return i >= 2 && i < 8 && j >= 1 && j < 6 ? -by_index(i, j) : by_index(i, j);
}
static double whole_numbers(int64_t i, int64_t j) {
  return (double)(i - j);
}

/* result = 2 a + b + *context, where b has whole numbers. */
static void combine(int64_t count, const void* const in[], const int64_t strides[], void* result,
                    int64_t result_stride, void* context) {
  for (int64_t i = 0; i < count; ++i) {
    const double a = ((const double*)in[0])[i * strides[0]];
    const int32_t b = ((const int32_t*)in[1])[i * strides[1]];
    ((double*)result)[i * result_stride] = 2 * a + b + *(const double*)context;
  }
}
static void negate(const int64_t index[], void* element, void* context) {
  double* const value = element;
  if (*value != by_index(index[0], index[1])) {
    ++*(int*)context;
  }
  *value = -*value;
}
static void fold_products(int64_t count, const void* const in[], const int64_t strides[],
                          void* value, void* context) {
  (void)context;
  for (int64_t i = 0; i < count; ++i) {
    *(double*)value +=
        ((const double*)in[0])[i * strides[0]] * ((const double*)in[1])[i * strides[1]];
  }
}

static tessera_array* whole_matrix(void) {
  const int64_t extents[2] = {rows, columns};
  int32_t values[rows * columns];
  tessera_array* const array = make_array(TESSERA_I32, 2, extents, "W");
  for (int64_t place = 0; place < rows * columns; ++place) {
    values[place] = (int32_t)whole_numbers(place / columns, place % columns);
  }
  if (member == 0) {
    CHECK_OK(tessera_array_put(array, NULL, NULL, values, NULL));
  }
  CHECK_OK(tessera_array_sync(array));
  return array;
}

static void by_lines(void) {
  double more = 5;
  tessera_array* const a = make_matrix(rows, columns, "A");
  tessera_array* const b = whole_matrix();
  tessera_array* const c = make_matrix(rows, columns, "C");
  tessera_part operands[6] = {tessera_part_whole(a), tessera_part_whole(b)};
  set_all(a, by_index);
  CHECK_OK(tessera_array_transform(2, operands, combine, &more, tessera_part_whole(c)));
  CHECK_ALL(c, twice_and_more);
  CHECK_ERROR(tessera_array_transform(2, operands, NULL, &more, tessera_part_whole(c)),
              TESSERA_INVALID_ARGUMENT, "function is null");
  CHECK_ERROR(tessera_array_transform(6, operands, combine, &more, tessera_part_whole(c)),
              TESSERA_INVALID_ARGUMENT, "at most 5");
  CHECK_ERROR(tessera_array_transform(2, NULL, combine, &more, tessera_part_whole(c)),
              TESSERA_INVALID_ARGUMENT, "operands is null");
  operands[1] = tessera_part_box(b, (int64_t[]){0, 0}, (int64_t[]){1, 1});
  CHECK_ERROR(tessera_array_transform(2, operands, combine, &more, tessera_part_whole(c)),
              TESSERA_INVALID_ARGUMENT, "transform");
  release(c);
  release(b);
  release(a);
}

static void by_elements(void) {
  const int64_t lo[2] = {2, 1};
  const int64_t hi[2] = {8, 6};
  int wrong = 0;
  tessera_array* const a = make_matrix(rows, columns, "A");
  set_all(a, by_index);
  CHECK_OK(tessera_array_for_each(tessera_part_box(a, lo, hi), negate, &wrong));
  CHECK_EQUAL(wrong, 0);
  CHECK_ALL(a, replaced);
  CHECK_ERROR(tessera_array_for_each(tessera_part_whole(a), NULL, NULL), TESSERA_INVALID_ARGUMENT,
              "function is null");
  release(a);
}

static void by_folding(void) {
  double value = 0;
  double expected = 0;
  tessera_array* const a = make_matrix(rows, columns, "A");
  tessera_array* const b = make_matrix(rows, columns, "B");
  const tessera_part operands[2] = {tessera_part_whole(a), tessera_part_whole(b)};
  set_all(a, by_index);
  set_all(b, whole_numbers);
  for (int64_t place = 0; place < rows * columns; ++place) {
    expected += by_index(place / columns, place % columns) *
                whole_numbers(place / columns, place % columns);
  }
  CHECK_OK(
      tessera_array_reduce(2, operands, TESSERA_F64, TESSERA_SUM, fold_products, NULL, &value));
  CHECK_REAL(value, expected);
  CHECK_ERROR(tessera_array_reduce(2, operands, TESSERA_F64, 77, fold_products, NULL, &value),
              TESSERA_INVALID_ARGUMENT, "no reduction 77");
  CHECK_ERROR(tessera_array_reduce(0, operands, TESSERA_F64, 0, fold_products, NULL, &value),
              TESSERA_INVALID_ARGUMENT, "no operand");
  CHECK_ERROR(tessera_array_reduce(2, operands, TESSERA_F64, 0, fold_products, NULL, NULL),
              TESSERA_INVALID_ARGUMENT, "value is null");
  {
    /* A wrong count of one member is reported to the others. */
    const int64_t count = member == 0 ? 7 : 2;
    CHECK_ERROR(tessera_array_reduce(count, operands, TESSERA_F64, TESSERA_SUM, fold_products, NULL,
                                     &value),
                TESSERA_INVALID_ARGUMENT, "7 operands; at most 6");
  }
  CHECK_REAL(value, expected);
  release(b);
  release(a);
}

/* The words that the authors of Philox publish for a counter and a key of zeros. */
static void random_words(void) {
  const uint32_t zeros[4] = {0, 0, 0, 0};
  uint32_t words[4] = {0, 0, 0, 0};
  CHECK_OK(tessera_random_words(zeros, zeros, words));
  CHECK_EQUAL(words[0], 0x6627e8d5);
  CHECK_EQUAL(words[1], 0xe169c58d);
  CHECK_EQUAL(words[2], 0xbc57ac4c);
  CHECK_EQUAL(words[3], 0x9b00dbd8);
  CHECK_ERROR(tessera_random_words(zeros, NULL, words), TESSERA_INVALID_ARGUMENT, "null");
}

const Case transform_cases[] = {{"by_lines", by_lines},
                                {"by_elements", by_elements},
                                {"by_folding", by_folding},
                                {"random_words", random_words},
                                {NULL, NULL}};
