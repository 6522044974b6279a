/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

static void know_what_they_are(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  tessera_team* same = NULL;
  tessera_type type = -1;
  int64_t ndims = -1;
  int64_t extents[2] = {-1, -1};
  int64_t length = -1;
  int64_t size = -1;
  char text[60];
  CHECK_OK(tessera_array_ndims(array, &ndims));
  CHECK_EQUAL(ndims, 2);
  CHECK_OK(tessera_array_extents(array, extents));
  CHECK_EQUAL(extents[0], 9);
  CHECK_EQUAL(extents[1], 7);
  CHECK_OK(tessera_array_type(array, &type));
  CHECK_EQUAL(type, TESSERA_F64);
  CHECK_OK(tessera_array_name(array, text, sizeof text, &length));
  CHECK_TEXT(text, "A");
  CHECK_EQUAL(length, 1);
  CHECK_OK(tessera_array_describe(array, text, sizeof text, NULL));
  CHECK_TEXT(text, "array 'A' (float64, 9 x 7)");
  CHECK_OK(tessera_array_team(array, &same));
  CHECK_OK(tessera_team_size(same, &size));
  CHECK_EQUAL(size, members);
  CHECK_OK(tessera_team_free(&same));
  CHECK_ALL(array, zero);
  release(array);
}

/* The boxes of all members are the array, and owners and patches agree with them. */
static void know_who_owns_what(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  int owned[9][7] = {{0}};
  int64_t lo[2];
  int64_t hi[2];
  for (int64_t of = 0; of < members; ++of) {
    CHECK_OK(tessera_array_box_of(array, of, lo, hi));
    for (int64_t i = lo[0]; i < hi[0]; ++i) {
      for (int64_t j = lo[1]; j < hi[1]; ++j) {
        int64_t owner = -1;
        CHECK_OK(tessera_array_owner(array, (int64_t[]){i, j}, &owner));
        CHECK_EQUAL(owner, of);
        owned[i][j] += 1;
      }
    }
  }
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 7; ++j) {
      CHECK_EQUAL(owned[i][j], 1);
    }
  }
  int64_t own_lo[2];
  int64_t own_hi[2];
  CHECK_OK(tessera_array_own_box(array, own_lo, own_hi));
  CHECK_OK(tessera_array_box_of(array, member, lo, hi));
  CHECK(memcmp(lo, own_lo, sizeof lo) == 0 && memcmp(hi, own_hi, sizeof hi) == 0);
  CHECK_ERROR(tessera_array_owner(array, (int64_t[]){9, 0}, lo), TESSERA_OUT_OF_RANGE,
              "tessera_array_owner");
  CHECK_ERROR(tessera_array_box_of(array, members, lo, hi), TESSERA_OUT_OF_RANGE,
              "there is no member");
  release(array);
}

static void cut_boxes_into_patches(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  const int64_t lo[2] = {2, 1};
  const int64_t hi[2] = {8, 7};
  tessera_patch patches[16];
  int64_t count = -1;
  int64_t elements = 0;
  CHECK_OK(tessera_array_patches(array, lo, hi, 16, patches, &count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t owner = -1;
    CHECK_EQUAL(patches[i].ndims, 2);
    CHECK_OK(tessera_array_owner(array, patches[i].lo, &owner));
    CHECK_EQUAL(owner, patches[i].owner);
    elements += (patches[i].hi[0] - patches[i].lo[0]) * (patches[i].hi[1] - patches[i].lo[1]);
  }
  CHECK_EQUAL(elements, 6 * 6);
  int64_t again = -1;
  CHECK_OK(tessera_array_patches(array, lo, hi, 0, NULL, &again));
  CHECK_EQUAL(again, count);
  CHECK_ERROR(tessera_array_patches(array, hi, lo, 0, NULL, &again), TESSERA_INVALID_ARGUMENT,
              "array 'A'");
  CHECK_ERROR(tessera_array_patches(array, lo, (int64_t[]){8, 8}, 0, NULL, &again),
              TESSERA_OUT_OF_RANGE, "array 'A'");
  release(array);
}

static void are_made_with_options(void) {
  const int64_t extents[2] = {12, 12};
  const int64_t holder = members - 1;
  tessera_array_options options;
  tessera_array* array = NULL;
  tessera_access_mode mode = -1;
  int64_t lo[2];
  int64_t hi[2];
  tessera_array_options_init(&options);
  options.team = team;
  options.name = "strips";
  options.process_grid = (int64_t[]){1, members};
  options.min_block = (int64_t[]){0, 1};
  options.order = TESSERA_COLUMN_MAJOR;
  options.sparse = 1;
  options.huge_pages = 1;
  options.atomics = TESSERA_ATOMICS_STRICT;
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array));
  CHECK_OK(tessera_array_own_box(array, lo, hi));
  CHECK_EQUAL(hi[0] - lo[0], 12);
  set_all(array, by_index);
  CHECK_ALL(array, by_index);
  release(array);
  tessera_array_options_init(&options);
  options.team = team;
  options.holders = &holder;
  options.holder_count = 1;
  options.access_mode = TESSERA_ACCESS_NO_LOCAL;
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array));
  CHECK_OK(tessera_array_box_of(array, holder, lo, hi));
  CHECK_EQUAL(hi[0] * hi[1], 144);
  CHECK_OK(tessera_array_access_mode(array, &mode));
  CHECK_EQUAL(mode, TESSERA_ACCESS_NO_LOCAL);
  release(array);
  options.holders = NULL;
  CHECK_ERROR(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array),
              TESSERA_INVALID_ARGUMENT, "the pointer to the holders is null");
}

static void use_memory_of_others(void) {
  const int64_t extent = 20 * members;
  double memory[20];
  double values[16 * 20];
  tessera_distribution* parts = NULL;
  tessera_distribution* bytes = NULL;
  tessera_array* array = NULL;
  tessera_array* raw = NULL;
  tessera_array* copy = NULL;
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.team = team;
  options.name = "attached";
  for (int i = 0; i < 20; ++i) {
    memory[i] = (double)(20 * member + i);
  }
  CHECK_OK(tessera_distribution_regular(job, members, 1, &extent, NULL, &parts));
  CHECK_OK(tessera_array_attach(job, TESSERA_F64, parts, memory, sizeof memory, &options, &array));
  CHECK_OK(tessera_array_sync(array));
  CHECK_OK(tessera_array_get(array, NULL, NULL, values, NULL));
  for (int64_t i = 0; i < extent; ++i) {
    CHECK_REAL(values[i], (double)i);
  }
  const int64_t raw_extent = 8 * extent;
  CHECK_OK(tessera_distribution_regular(job, members, 1, &raw_extent, NULL, &bytes));
  CHECK_OK(tessera_array_overlay(array, TESSERA_U8, bytes, "bytes", &raw));
  double third = -1;
  CHECK_OK(tessera_array_get(raw, (int64_t[]){24}, (int64_t[]){32}, &third, NULL));
  CHECK_REAL(third, 3);
  CHECK_OK(tessera_array_duplicate(array, "copy", &copy));
  CHECK_OK(tessera_array_get(copy, NULL, NULL, values, NULL));
  CHECK_REAL(values[extent - 1], 0);
  CHECK_ERROR(tessera_array_attach(job, TESSERA_F64, parts, memory, 8, &options, &raw),
              TESSERA_INVALID_ARGUMENT, "creating array 'attached'");
  CHECK_ERROR(tessera_array_attach(job, TESSERA_F64, parts, memory, -8, &options, &raw),
              TESSERA_INVALID_ARGUMENT, "-8");
  CHECK_ERROR(tessera_array_overlay(array, 99, bytes, NULL, &raw), TESSERA_INVALID_ARGUMENT,
              "no element type 99");
  release(copy);
  release(raw);
  release(array);
  CHECK_OK(tessera_distribution_free(&parts));
  CHECK_OK(tessera_distribution_free(&bytes));
}

static void tell_their_distribution(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  tessera_array* second = NULL;
  tessera_distribution* parts = NULL;
  tessera_distribution* others = NULL;
  tessera_array_options options;
  int same = -1;
  tessera_array_options_init(&options);
  options.team = team;
  CHECK_OK(tessera_array_distribution(array, &parts));
  CHECK_OK(tessera_array_create_distributed(job, tessera_type_opaque(3), parts, &options, &second));
  CHECK_OK(tessera_array_distribution(second, &others));
  CHECK_OK(tessera_distribution_compare(parts, others, &same));
  CHECK_EQUAL(same, 1);
  tessera_type type = 0;
  CHECK_OK(tessera_array_type(second, &type));
  CHECK_EQUAL(type, tessera_type_opaque(3));
  release(second);
  release(array);
  CHECK_OK(tessera_distribution_free(&parts));
  CHECK_OK(tessera_distribution_free(&others));
}

static void of_several_blocks_have_no_box(void) {
  const int64_t extents[2] = {8, 8 * 8};
  const int64_t block[2] = {2, 2};
  int64_t lo[2];
  int64_t hi[2];
  tessera_distribution* parts = NULL;
  tessera_array* array = NULL;
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.team = team;
  CHECK_OK(tessera_distribution_block_cyclic(job, members, 2, extents, block, NULL, &parts));
  CHECK_OK(tessera_array_create_distributed(job, TESSERA_I32, parts, &options, &array));
  CHECK_ERROR(tessera_array_own_box(array, lo, hi), TESSERA_UNSUPPORTED,
              "tessera_distribution_block");
  release(array);
  CHECK_OK(tessera_distribution_free(&parts));
}

static void may_be_empty(void) {
  const int64_t extents[3] = {4, 0, 5};
  const double one = 1;
  double sum = -1;
  tessera_array* const array = make_array(TESSERA_F64, 3, extents, "empty");
  CHECK_OK(tessera_array_put(array, NULL, NULL, NULL, NULL));
  CHECK_OK(tessera_array_fill(tessera_part_whole(array), &one));
  CHECK_OK(tessera_array_sum(tessera_part_whole(array), 0, &sum));
  CHECK_REAL(sum, 0);
  release(array);
}

const Case array_cases[] = {{"know_what_they_are", know_what_they_are},
                            {"know_who_owns_what", know_who_owns_what},
                            {"cut_boxes_into_patches", cut_boxes_into_patches},
                            {"are_made_with_options", are_made_with_options},
                            {"use_memory_of_others", use_memory_of_others},
                            {"tell_their_distribution", tell_their_distribution},
                            {"of_several_blocks_have_no_box", of_several_blocks_have_no_box},
                            {"may_be_empty", may_be_empty},
                            {NULL, NULL}};
