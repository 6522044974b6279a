/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

/* Checks that every element is in one block of one member, where locate() reports it, and that an
 * array with this distribution holds what is put to it. Frees the distribution. */
static void check_distribution(tessera_distribution* parts, int64_t rows, int64_t columns) {
  int owners[most_elements] = {0};
  tessera_array* array = NULL;
  int64_t sum = 0;
  for (int64_t of = 0; of < members; ++of) {
    int64_t count = -1;
    int64_t elements = -1;
    CHECK_OK(tessera_distribution_block_count(parts, of, &count));
    CHECK_OK(tessera_distribution_local_elements(parts, of, &elements));
    for (int64_t number = 0; number < count; ++number) {
      tessera_patch block;
      CHECK_OK(tessera_distribution_block(parts, of, number, &block));
      CHECK_EQUAL(block.owner, of);
      for (int64_t i = block.lo[0]; i < block.hi[0]; ++i) {
        for (int64_t j = block.lo[1]; j < block.hi[1]; ++j) {
          const int64_t at[2] = {i, j};
          int64_t owner = -1;
          int64_t offset = -1;
          CHECK_OK(tessera_distribution_locate(parts, at, &owner, &offset));
          CHECK_EQUAL(owner, of);
          CHECK_EQUAL(offset, block.offset + (i - block.lo[0]) * block.strides[0] +
                                  (j - block.lo[1]) * block.strides[1]);
          CHECK(offset < elements);
          owners[i * columns + j] += 1;
          ++sum;
        }
      }
    }
  }
  CHECK_EQUAL(sum, rows * columns);
  for (int64_t i = 0; i < rows * columns; ++i) {
    CHECK_EQUAL(owners[i], 1);
  }
  CHECK_OK(tessera_array_create_distributed(job, TESSERA_F64, parts, NULL, &array));
  set_all(array, by_index);
  CHECK_ALL(array, by_index);
  release(array);
  CHECK_OK(tessera_distribution_free(&parts));
  CHECK(parts == NULL);
}

static void regular_and_restricted(void) {
  const int64_t extents[2] = {13, 11};
  const int64_t last = members - 1;
  tessera_distribution_options options;
  tessera_distribution* parts = NULL;
  int64_t count = -1;
  CHECK_OK(tessera_distribution_regular(job, members, 2, extents, NULL, &parts));
  check_distribution(parts, 13, 11);
  tessera_distribution_options_init(&options);
  options.process_grid = (int64_t[]){members, 1};
  options.min_block = (int64_t[]){1, 1};
  options.order = TESSERA_COLUMN_MAJOR;
  options.ranks_per_node = 2;
  CHECK_OK(tessera_distribution_regular(job, members, 2, extents, &options, &parts));
  check_distribution(parts, 13, 11);
  options.ghosts = (int64_t[]){2, 1};
  CHECK_OK(tessera_distribution_regular(job, members, 2, extents, &options, &parts));
  CHECK_OK(tessera_distribution_local_elements(parts, 0, &count));
  CHECK_EQUAL(count, ((13 + members - 1) / members + 4) * (11 + 2));
  check_distribution(parts, 13, 11);
  CHECK_OK(tessera_distribution_restricted(job, members, 2, extents, 1, &last, NULL, &parts));
  CHECK_OK(tessera_distribution_block_count(parts, last, &count));
  CHECK_EQUAL(count, 1);
  check_distribution(parts, 13, 11);
}

static void irregular_ones(void) {
  const int64_t extents[2] = {13, 11};
  const int64_t one[2] = {1, 1};
  const int64_t origin[2] = {0, 0};
  const int64_t counts[2] = {3, 2};
  const int64_t starts[5] = {0, 2, 9, 0, 10};
  const int64_t grid[2] = {1, members};
  tessera_distribution* parts = NULL;
  tessera_patch block;
  CHECK_OK(tessera_distribution_irregular(job, members, 2, extents, one, origin, NULL, &parts));
  check_distribution(parts, 13, 11);
  CHECK_OK(tessera_distribution_tiled_irregular(job, members, 2, extents, counts, starts, grid,
                                                NULL, &parts));
  CHECK_OK(tessera_distribution_block(parts, 0, 0, &block));
  CHECK_EQUAL(block.hi[0], 2);
  CHECK_EQUAL(block.hi[1], 10);
  check_distribution(parts, 13, 11);
  CHECK_ERROR(
      tessera_distribution_irregular(job, members, 2, extents, counts, origin + 0, NULL, NULL),
      TESSERA_INVALID_ARGUMENT, "distribution is null");
  CHECK_ERROR(tessera_distribution_tiled_irregular(job, members, 2, extents, counts,
                                                   (int64_t[]){0, 9, 2, 0, 10}, grid, NULL, &parts),
              TESSERA_INVALID_ARGUMENT, "tessera_distribution_tiled_irregular");
}

static void cyclic_ones(void) {
  const int64_t extents[2] = {13, 11};
  const int64_t block[2] = {3, 4};
  const int64_t grid[2] = {members, 1};
  tessera_distribution_options options;
  tessera_distribution* parts = NULL;
  tessera_patch first;
  int64_t owner = -1;
  tessera_distribution_options_init(&options);
  CHECK_OK(tessera_distribution_block_cyclic(job, members, 2, extents, block, &options, &parts));
  CHECK_OK(tessera_distribution_locate(parts, (int64_t[]){0, 4}, &owner, NULL));
  CHECK_EQUAL(owner, 1 % members);
  check_distribution(parts, 13, 11);
  options.storage = TESSERA_LOCAL_MATRIX;
  CHECK_OK(tessera_distribution_tiled(job, members, 2, extents, block, grid, &options, &parts));
  CHECK_OK(tessera_distribution_block(parts, 0, 0, &first));
  CHECK_EQUAL(first.strides[0], 11);
  CHECK_OK(tessera_distribution_locate(parts, (int64_t[]){3, 4}, &owner, NULL));
  CHECK_EQUAL(owner, 1 % members);
  check_distribution(parts, 13, 11);
  CHECK_OK(tessera_distribution_scalapack(job, members, 2, extents, block, grid,
                                          TESSERA_COLUMN_MAJOR, &parts));
  check_distribution(parts, 13, 11);
  CHECK_ERROR(tessera_distribution_scalapack(job, members, 2, extents, block, grid, 2, &parts),
              TESSERA_INVALID_ARGUMENT, "no memory order 2");
  options.storage = -1;
  CHECK_ERROR(tessera_distribution_tiled(job, members, 2, extents, block, grid, &options, &parts),
              TESSERA_INVALID_ARGUMENT, "no storage -1");
}

static void are_compared_and_described(void) {
  const int64_t extents[2] = {12, 10};
  int64_t found[TESSERA_MAX_DIMS] = {0};
  int64_t ndims = -1;
  int64_t nranks = -1;
  int64_t length = -1;
  int same = -1;
  char text[400];
  tessera_distribution* one = NULL;
  tessera_distribution* two = NULL;
  tessera_distribution* other = NULL;
  CHECK_OK(tessera_distribution_regular(job, 1, 2, extents, NULL, &one));
  CHECK_OK(tessera_distribution_regular(job, 1, 2, extents, NULL, &two));
  CHECK_OK(tessera_distribution_regular(job, 2, 2, extents, NULL, &other));
  CHECK_OK(tessera_distribution_compare(one, two, &same));
  CHECK_EQUAL(same, 1);
  CHECK_OK(tessera_distribution_compare(one, other, &same));
  CHECK_EQUAL(same, 0);
  CHECK_OK(tessera_distribution_shape(other, &ndims, found, &nranks));
  CHECK_EQUAL(ndims, 2);
  CHECK_EQUAL(found[0], 12);
  CHECK_EQUAL(found[1], 10);
  CHECK_EQUAL(nranks, 2);
  CHECK_OK(tessera_distribution_describe(one, text, sizeof text, &length));
  CHECK_HAS(text, "12 x 10: 1 x 1 blocks");
  CHECK_EQUAL(length, strlen(text));
  CHECK_OK(tessera_distribution_print(one, 10, text, sizeof text, NULL));
  CHECK_HAS(text, "rank 0: [0,12) x [0,10)\n");
  CHECK_ERROR(tessera_distribution_locate(one, (int64_t[]){12, 0}, NULL, NULL),
              TESSERA_OUT_OF_RANGE, "tessera_distribution_locate");
  CHECK_ERROR(tessera_distribution_block(one, 0, 1, &(tessera_patch){0}), TESSERA_OUT_OF_RANGE,
              "there are 1");
  CHECK_ERROR(tessera_distribution_regular(job, 1, 9, extents, NULL, &two),
              TESSERA_INVALID_ARGUMENT, "9 dimensions; 1 to 8 are possible");
  CHECK_ERROR(tessera_distribution_regular(job, 1, 2, NULL, NULL, &two), TESSERA_INVALID_ARGUMENT,
              "extents is null");
  CHECK_ERROR(tessera_distribution_regular(job, 0, 2, extents, NULL, &two),
              TESSERA_INVALID_ARGUMENT, "tessera_distribution_regular");
  CHECK_OK(tessera_distribution_free(&one));
  CHECK_OK(tessera_distribution_free(&two));
  CHECK_OK(tessera_distribution_free(&other));
}

static void dealt_by_a_list(void) {
  const int64_t extents[2] = {13, 11};
  const int64_t counts[2] = {3, 2};
  const int64_t starts[5] = {0, 2, 9, 0, 7};
  int64_t owners[6];
  tessera_distribution* parts = NULL;
  tessera_order order = -1;
  tessera_storage storage = -1;
  int64_t ghosts[2] = {-1, -1};
  for (int64_t block = 0; block < 6; ++block) {
    owners[block] = block * block % members;
  }
  CHECK_OK(tessera_distribution_with_owners(job, members, 2, extents, counts, starts, owners, NULL,
                                            &parts));
  for (int64_t block = 0; block < 6; ++block) {
    const int64_t corner[2] = {starts[block / 2], starts[3 + block % 2]};
    int64_t owner = -1;
    CHECK_OK(tessera_distribution_locate(parts, corner, &owner, NULL));
    CHECK_EQUAL(owner, owners[block]);
  }
  CHECK_OK(tessera_distribution_layout(parts, &order, &storage, ghosts));
  CHECK_EQUAL(order, TESSERA_ROW_MAJOR);
  CHECK_EQUAL(storage, TESSERA_BLOCK_BY_BLOCK);
  CHECK_EQUAL(ghosts[0] + ghosts[1], 0);
  check_distribution(parts, 13, 11);
  owners[3] = members;
  parts = NULL;
  CHECK_ERROR(tessera_distribution_with_owners(job, members, 2, extents, counts, starts, owners,
                                               NULL, &parts),
              TESSERA_INVALID_ARGUMENT, "tessera_distribution_with_owners");
  CHECK(parts == NULL);
}

static void grids_and_patches(void) {
  const int64_t extents[2] = {12, 10};
  const int64_t block[2] = {3, 4};
  const int64_t lo[2] = {2, 3};
  const int64_t hi[2] = {7, 9};
  int64_t grid[2] = {0, 0};
  int64_t local[2] = {0, 0};
  int64_t count = 0;
  int64_t elements = 0;
  tessera_patch patches[16];
  tessera_distribution* parts = NULL;
  CHECK_OK(tessera_process_grid_choose(6, 2, extents, NULL, grid));
  CHECK_EQUAL(grid[0] * grid[1], 6);
  CHECK_ERROR(tessera_process_grid_choose(0, 2, extents, NULL, grid), TESSERA_INVALID_ARGUMENT,
              "tessera_process_grid_choose");
  CHECK_OK(tessera_distribution_block_cyclic(job, members, 2, extents, block, NULL, &parts));
  CHECK_OK(tessera_distribution_patches(parts, lo, hi, 16, patches, &count));
  CHECK_EQUAL(count, 9);
  for (int64_t number = 0; number < count; ++number) {
    const tessera_patch* const one = &patches[number];
    elements += (one->hi[0] - one->lo[0]) * (one->hi[1] - one->lo[1]);
    CHECK(one->owner >= 0 && one->owner < members);
  }
  CHECK_EQUAL(elements, 5 * 6);
  if (members == 1) {
    CHECK_ERROR(tessera_distribution_local_extents(parts, 0, local), TESSERA_UNSUPPORTED,
                "not one matrix");
  }
  CHECK_OK(tessera_distribution_free(&parts));
  grid[0] = members;
  grid[1] = 1;
  CHECK_OK(tessera_distribution_scalapack(job, members, 2, extents, block, grid,
                                          TESSERA_COLUMN_MAJOR, &parts));
  elements = 0;
  for (int64_t of = 0; of < members; ++of) {
    CHECK_OK(tessera_distribution_local_extents(parts, of, local));
    elements += local[0] * local[1];
  }
  CHECK_EQUAL(elements, 12 * 10);
  CHECK_OK(tessera_distribution_free(&parts));
}

/* Blocks and members along each dimension, and the coordinates of each member, which has the blocks
 * with that remainder. */
static void tell_their_grids(void) {
  const int64_t extents[2] = {13, 11};
  const int64_t block[2] = {3, 4};
  const int64_t grid[2] = {2, 3};
  const int64_t holders[2] = {5, 1};
  int64_t blocks[TESSERA_MAX_DIMS] = {0};
  int64_t found[TESSERA_MAX_DIMS] = {0};
  int64_t place[TESSERA_MAX_DIMS] = {-1, -1};
  tessera_block_map block_map = -1;
  tessera_distribution* parts = NULL;
  CHECK_OK(tessera_distribution_tiled(job, 7, 2, extents, block, grid, NULL, &parts));
  CHECK_OK(tessera_distribution_grid(parts, &block_map, blocks, found));
  CHECK_EQUAL(block_map, TESSERA_BLOCK_MAP_CYCLIC_GRID);
  CHECK_EQUAL(blocks[0] * 10 + blocks[1], 53);
  CHECK_EQUAL(found[0] * 10 + found[1], 23);
  for (int64_t of = 0; of < 6; ++of) {
    tessera_patch first;
    CHECK_OK(tessera_distribution_coordinates(parts, of, place));
    CHECK_EQUAL(place[0] * 3 + place[1], of);
    CHECK_OK(tessera_distribution_block(parts, of, 0, &first));
    CHECK_EQUAL(first.lo[0], 3 * place[0]);
    CHECK_EQUAL(first.lo[1], 4 * place[1]);
  }
  CHECK_ERROR(tessera_distribution_coordinates(parts, 6, place), TESSERA_OUT_OF_RANGE,
              "member 6 is outside the grid of 2 x 3 members");
  CHECK_ERROR(tessera_distribution_coordinates(parts, 7, place), TESSERA_OUT_OF_RANGE,
              "there is no member 7: there are 7");
  CHECK_ERROR(tessera_distribution_coordinates(parts, 0, NULL), TESSERA_INVALID_ARGUMENT,
              "result is null");
  CHECK_OK(tessera_distribution_free(&parts));
  CHECK_OK(tessera_distribution_regular(
      job, 6, 2, extents,
      &(tessera_distribution_options){.struct_bytes = sizeof(tessera_distribution_options),
                                      .process_grid = (int64_t[]){3, 2}},
      &parts));
  CHECK_OK(tessera_distribution_grid(parts, &block_map, NULL, found));
  CHECK_EQUAL(block_map, TESSERA_BLOCK_MAP_GRID);
  CHECK_EQUAL(found[0] * 10 + found[1], 32);
  CHECK_OK(tessera_distribution_free(&parts));
  CHECK_OK(tessera_distribution_block_cyclic(job, 4, 2, extents, block, NULL, &parts));
  CHECK_OK(tessera_distribution_grid(parts, &block_map, blocks, found));
  CHECK_EQUAL(block_map, TESSERA_BLOCK_MAP_ROUND_ROBIN);
  CHECK_EQUAL(blocks[0] * 10 + blocks[1], 53);
  CHECK_ERROR(tessera_distribution_coordinates(parts, 0, place), TESSERA_UNSUPPORTED,
              "the members have no grid");
  CHECK_OK(tessera_distribution_free(&parts));
  CHECK_OK(tessera_distribution_restricted(job, 6, 2, extents, 2, holders, NULL, &parts));
  CHECK_OK(tessera_distribution_grid(parts, &block_map, NULL, NULL));
  CHECK_EQUAL(block_map, TESSERA_BLOCK_MAP_TABLE);
  CHECK_OK(tessera_distribution_grid(parts, NULL, NULL, NULL));
  CHECK_OK(tessera_distribution_free(&parts));
}

const Case distribution_cases[] = {{"regular_and_restricted", regular_and_restricted},
                                   {"irregular_ones", irregular_ones},
                                   {"cyclic_ones", cyclic_ones},
                                   {"are_compared_and_described", are_compared_and_described},
                                   {"dealt_by_a_list", dealt_by_a_list},
                                   {"grids_and_patches", grids_and_patches},
                                   {"tell_their_grids", tell_their_grids},
                                   {NULL, NULL}};
