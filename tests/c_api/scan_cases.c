/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

enum { length = 7 };
static const int8_t small_mask[length] = {1, 0, 0, 1, 0, 1, 0};
static const uint64_t large_mask[length] = {1, 0, 0, 1, 0, 1, 0};
static const double elements[length] = {5, 8, 7, 3, 2, 6, 9};

static void check_vector(const tessera_array* array, const double expected[length]) {
  double found[length];
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get(array, NULL, NULL, found, NULL));
  for (int i = 0; i < length; ++i) {
    CHECK_REAL(found[i], expected[i]);
  }
  CHECK_OK(tessera_array_sync(array));
}

/* The example of arrays/scan.hpp, with masks of two types. */
static void follow_segments(void) {
  static const double copied[length] = {5, 5, 5, 3, 3, 6, 6};
  static const double inclusive[length] = {5, 13, 20, 3, 5, 6, 15};
  static const double exclusive[length] = {0, 5, 13, 0, 3, 0, 6};
  tessera_array* const from = make_vector_of(TESSERA_F64, length, elements);
  tessera_array* const masks[2] = {make_vector_of(TESSERA_I8, length, small_mask),
                                   make_vector_of(TESSERA_U64, length, large_mask)};
  tessera_array* const to = make_vector(length, "to");
  const tessera_part of_from = tessera_part_whole(from);
  const tessera_part of_to = tessera_part_whole(to);
  for (int i = 0; i < 2; ++i) {
    const tessera_part mask = tessera_part_whole(masks[i]);
    CHECK_OK(tessera_array_scan_copy(of_from, mask, of_to));
    check_vector(to, copied);
    CHECK_OK(tessera_array_scan_add(of_from, mask, of_to, TESSERA_INCLUSIVE));
    check_vector(to, inclusive);
    CHECK_OK(tessera_array_scan_add(of_from, mask, of_to, TESSERA_EXCLUSIVE));
    check_vector(to, exclusive);
  }
  CHECK_ERROR(tessera_array_scan_add(of_from, tessera_part_whole(masks[0]), of_to, 2),
              TESSERA_INVALID_ARGUMENT, "no kind of scan 2");
  CHECK_ERROR(tessera_array_scan_copy(of_from, of_from, of_to), TESSERA_INVALID_ARGUMENT,
              "tessera_array_scan_copy");
  release(to);
  release(masks[1]);
  release(masks[0]);
  release(from);
}

static void pack_and_unpack(void) {
  static const double packed[length] = {5, 3, 6, 0, 0, 0, 0};
  static const double unpacked[length] = {5, 0, 0, 3, 0, 6, 0};
  tessera_array* const from = make_vector_of(TESSERA_F64, length, elements);
  tessera_array* const mask = make_vector_of(TESSERA_I8, length, small_mask);
  tessera_array* const to = make_vector(length, "to");
  tessera_array* const back = make_vector(length, "back");
  const tessera_part of_mask = tessera_part_whole(mask);
  int64_t count = -1;
  CHECK_OK(tessera_array_pack(tessera_part_whole(from), of_mask, tessera_part_whole(to), &count));
  CHECK_EQUAL(count, 3);
  check_vector(to, packed);
  CHECK_OK(tessera_array_unpack(tessera_part_whole(to), of_mask, tessera_part_whole(back), NULL));
  check_vector(back, unpacked);
  release(back);
  release(to);
  release(mask);
  release(from);
}

static void enumerate(void) {
  static const double expected[length] = {10, 12, 14, 16, 18, 20, 22};
  const double numbers[2] = {10, 2};
  tessera_array* const to = make_vector(length, "to");
  CHECK_OK(tessera_array_enumerate(tessera_part_whole(to), &numbers[0], &numbers[1]));
  check_vector(to, expected);
  CHECK_ERROR(tessera_array_enumerate(tessera_part_whole(to), &numbers[0], NULL),
              TESSERA_INVALID_ARGUMENT, "number is null");
  release(to);
}

/* Every member adds its number to the bin of its parity, and 10 + its number to bin 2. */
static void fill_bins(void) {
  const int64_t bins[2] = {member % 2, 2};
  const int64_t values[2] = {member, 10 + members - 1 - member};
  const int64_t sizes[3] = {(members + 1) / 2, members / 2, members};
  const int64_t begins[3] = {0, sizes[0], members};
  const int64_t three = 3;
  const int64_t all = 2 * members;
  int64_t found[64];
  tessera_array* const counts = make_array(TESSERA_I64, 1, &three, "counts");
  tessera_array* const offsets = make_array(TESSERA_I64, 1, &three, "offsets");
  tessera_array* const filled = make_array(TESSERA_I64, 1, &three, "filled");
  tessera_array* const contents = make_array(TESSERA_I64, 1, &all, "contents");
  tessera_array* const reals = make_vector(3, "reals");
  CHECK_OK(tessera_array_count_bins(counts, 2, bins));
  CHECK_OK(tessera_array_sync(counts));
  CHECK_OK(tessera_array_bin_offsets(counts, offsets));
  CHECK_OK(tessera_array_get(counts, NULL, NULL, found, NULL));
  CHECK(memcmp(found, sizes, sizeof sizes) == 0);
  CHECK_OK(tessera_array_get(offsets, NULL, NULL, found, NULL));
  CHECK(memcmp(found, begins, sizeof begins) == 0);
  CHECK_OK(tessera_array_add_to_bins(contents, offsets, filled, 2, bins, values));
  CHECK_OK(tessera_array_sync(contents));
  CHECK_OK(tessera_array_sort_bins(contents, offsets, counts));
  CHECK_OK(tessera_array_get(contents, NULL, NULL, found, NULL));
  for (int64_t i = 0; i < sizes[0]; ++i) {
    CHECK_EQUAL(found[i], 2 * i);
  }
  for (int64_t i = 0; i < sizes[1]; ++i) {
    CHECK_EQUAL(found[sizes[0] + i], 2 * i + 1);
  }
  for (int64_t i = 0; i < members; ++i) {
    CHECK_EQUAL(found[members + i], 10 + i);
  }
  CHECK_ERROR(tessera_array_count_bins(reals, 2, bins), TESSERA_INVALID_ARGUMENT,
              "create it with TESSERA_I64");
  CHECK_ERROR(tessera_array_count_bins(counts, 1, (int64_t[]){3}), TESSERA_OUT_OF_RANGE, "bin 3");
  CHECK_ERROR(tessera_array_count_bins(counts, 1, NULL), TESSERA_INVALID_ARGUMENT, "bins is null");
  CHECK_ERROR(tessera_array_add_to_bins(contents, offsets, filled, 1, bins, NULL),
              TESSERA_INVALID_ARGUMENT, "values is null");
  CHECK_ERROR(tessera_array_bin_offsets(reals, offsets), TESSERA_INVALID_ARGUMENT, "array 'reals'");
  CHECK_ERROR(tessera_array_sort_bins(contents, offsets, reals), TESSERA_INVALID_ARGUMENT,
              "array 'reals'");
  release(reals);
  release(contents);
  release(filled);
  release(offsets);
  release(counts);
}

const Case scan_cases[] = {{"follow_segments", follow_segments},
                           {"pack_and_unpack", pack_and_unpack},
                           {"enumerate", enumerate},
                           {"fill_bins", fill_bins},
                           {NULL, NULL}};
