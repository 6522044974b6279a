/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"
#include "tests/support/heap.h"

static double* element(const tessera_local_block* block, int64_t i, int64_t j) {
  return (double*)block->data + (i - block->ghost_lo[0]) * block->strides[0] +
         (j - block->ghost_lo[1]) * block->strides[1];
}

/* Each member stores to its own elements, in any order of memory. */
static void stores_and_loads(void) {
  for (tessera_order order = TESSERA_ROW_MAJOR; order <= TESSERA_COLUMN_MAJOR; ++order) {
    const int64_t extents[2] = {9, 8};
    tessera_array_options options;
    tessera_array* array = NULL;
    tessera_access* access = NULL;
    tessera_local_block block;
    tessera_array_options_init(&options);
    options.team = team;
    options.order = order;
    CHECK_OK(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array));
    CHECK_OK(tessera_access_begin(array, 0, &block, &access));
    if (block.data != NULL) {
      CHECK_EQUAL(block.strides[order == TESSERA_ROW_MAJOR ? 1 : 0], 1);
      CHECK_EQUAL(
          block.strides[order == TESSERA_ROW_MAJOR ? 0 : 1],
          order == TESSERA_ROW_MAJOR ? block.hi[1] - block.lo[1] : block.hi[0] - block.lo[0]);
    }
    for (int64_t i = block.lo[0]; i < block.hi[0]; ++i) {
      for (int64_t j = block.lo[1]; j < block.hi[1]; ++j) {
        *element(&block, i, j) = by_index(i, j);
      }
    }
    CHECK_OK(tessera_access_end(&access));
    CHECK(access == NULL);
    CHECK_OK(tessera_access_end(&access));
    CHECK_ALL(array, by_index);
    CHECK_ERROR(tessera_access_begin(array, 1, &block, &access), TESSERA_OUT_OF_RANGE,
                "there is no block 1");
    release(array);
  }
}

static void stores_to_each_of_several_blocks(void) {
  const int64_t extents[2] = {10, 9};
  const int64_t tile[2] = {3, 4};
  tessera_distribution* parts = NULL;
  tessera_array* array = NULL;
  tessera_array_options options;
  int64_t count = 0;
  tessera_array_options_init(&options);
  options.team = team;
  CHECK_OK(tessera_distribution_block_cyclic(job, members, 2, extents, tile, NULL, &parts));
  CHECK_OK(tessera_array_create_distributed(job, TESSERA_F64, parts, &options, &array));
  CHECK_OK(tessera_distribution_block_count(parts, member, &count));
  for (int64_t number = 0; number < count; ++number) {
    tessera_access* access = NULL;
    tessera_local_block block;
    CHECK_OK(tessera_access_begin(array, number, &block, &access));
    for (int64_t i = block.lo[0]; i < block.hi[0]; ++i) {
      for (int64_t j = block.lo[1]; j < block.hi[1]; ++j) {
        *element(&block, i, j) = by_index(i, j);
      }
    }
    CHECK_OK(tessera_access_end(&access));
  }
  CHECK_ALL(array, by_index);
  release(array);
  CHECK_OK(tessera_distribution_free(&parts));
}

static void begin_and_end(const tessera_array* array, tessera_access** copy) {
  tessera_access* access = NULL;
  tessera_local_block block;
  CHECK_OK(tessera_access_begin(array, 0, &block, &access));
  *copy = access;
  CHECK_OK(tessera_access_end(&access));
}

/* However often an array is accessed, each old handle is recognised as freed, also while other
 * handles of its kind are in use. */
static void tell_all_ended_ones(void) {
  enum { uses = 600 };
  tessera_access* copies[uses];
  tessera_access* first = NULL;
  tessera_access* second = NULL;
  tessera_local_block block;
  tessera_array* const array = make_matrix(9, 7, "A");
  for (int use = 0; use < uses; ++use) {
    begin_and_end(array, &copies[use]);
  }
  CHECK_OK(tessera_access_begin(array, 0, &block, &first));
  CHECK_OK(tessera_access_begin(array, 0, &block, &second));
  CHECK(first != second);
  for (int use = 0; use < uses; ++use) {
    CHECK(copies[use] != first && copies[use] != second);
    CHECK_ERROR(tessera_access_end(&copies[use]), TESSERA_CLOSED, "local access");
  }
  CHECK_ERROR(tessera_array_sync((const tessera_array*)first), TESSERA_INVALID_ARGUMENT,
              "the argument for the array is not a handle of that kind");
  CHECK_OK(tessera_access_end(&second));
  CHECK_OK(tessera_access_end(&first));
  release(array);
}

static double megabytes_in_use(void) {
  return (double)heap_bytes() / (1 << 20);
}

/* 200000 accesses leave 0.2 MB; a shell for each would leave 27. */
static void take_no_memory_for_each(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  tessera_access* copy = NULL;
  begin_and_end(array, &copy);
  const double before = megabytes_in_use();
  for (int use = 0; use < 200000; ++use) {
    begin_and_end(array, &copy);
  }
  CHECK(megabytes_in_use() - before < 5);
  release(array);
}

/* An array of 8 x 6 with ghost cells. */
static tessera_array* make_grown(const int64_t ghosts[2]) {
  const int64_t extents[2] = {8, 6};
  tessera_array_options options;
  tessera_array* array = NULL;
  tessera_array_options_init(&options);
  options.team = team;
  options.name = "grown";
  options.ghosts = ghosts;
  CHECK_OK(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array));
  set_all(array, by_index);
  return array;
}

/* Checks that every ghost cell is its element's periodic image. */
static void check_images(const tessera_array* array) {
  tessera_access* access = NULL;
  tessera_local_block block;
  CHECK_OK(tessera_access_begin(array, 0, &block, &access));
  for (int64_t i = block.ghost_lo[0]; i < block.ghost_hi[0]; ++i) {
    for (int64_t j = block.ghost_lo[1]; j < block.ghost_hi[1]; ++j) {
      CHECK_REAL(*element(&block, i, j), by_index((i + 8) % 8, (j + 6) % 6));
    }
  }
  CHECK_OK(tessera_access_end(&access));
}

static void exchanges_ghost_cells(void) {
  const int64_t ghosts[2] = {2, 1};
  tessera_array* const array = make_grown(ghosts);
  tessera_halo_options options;
  tessera_halo* halo = NULL;
  int64_t bytes = -1;
  tessera_halo_options_init(&options);
  options.periodic = 1 << 0 | 1 << 1;
  CHECK_OK(tessera_halo_create(array, &options, &halo));
  CHECK_OK(tessera_halo_update(halo));
  check_images(array);
  if (member != 0) {
    CHECK_OK(tessera_halo_post(halo));
  }
  CHECK_OK(tessera_halo_start(halo));
  CHECK_ERROR(tessera_halo_start(halo), TESSERA_INVALID_ARGUMENT, "is in progress");
  CHECK_ERROR(tessera_halo_post(halo), TESSERA_INVALID_ARGUMENT, "is in progress");
  CHECK_ERROR(tessera_halo_update(halo), TESSERA_INVALID_ARGUMENT, "is in progress");
  CHECK_OK(tessera_halo_finish(halo));
  check_images(array);
  CHECK_ERROR(tessera_halo_finish(halo), TESSERA_INVALID_ARGUMENT, "tessera_halo_start");
  CHECK_OK(tessera_halo_bytes(halo, &bytes));
  CHECK_EQUAL(bytes > 0, members > 1);
  CHECK_OK(tessera_halo_accumulate(halo));
  CHECK_OK(tessera_halo_start(halo));
  CHECK_OK(tessera_halo_free(&halo));
  CHECK(halo == NULL);
  release(array);
}

/* Faces only, not periodic, one layer of two in the first dimension: others keep their value. */
static void exchanges_what_is_asked_for(void) {
  const int64_t ghosts[2] = {2, 1};
  const int64_t widths[2] = {1, 0};
  tessera_array* const array = make_grown(ghosts);
  tessera_halo_options options;
  tessera_halo* halo = NULL;
  tessera_access* access = NULL;
  tessera_local_block block;
  tessera_halo_options_init(&options);
  options.widths = widths;
  options.faces_only = 1;
  options.left_out = 1 << 1;
  CHECK_OK(tessera_halo_create(array, &options, &halo));
  CHECK_OK(tessera_halo_update(halo));
  CHECK_OK(tessera_access_begin(array, 0, &block, &access));
  for (int64_t i = block.ghost_lo[0]; i < block.ghost_hi[0]; ++i) {
    for (int64_t j = block.ghost_lo[1]; j < block.ghost_hi[1]; ++j) {
      const int is_near = i >= block.lo[0] - 1 && i < block.hi[0] + 1 && i >= 0 && i < 8;
      const int is_own_column = j >= block.lo[1] && j < block.hi[1];
      CHECK_REAL(*element(&block, i, j), is_near && is_own_column ? by_index(i, j) : 0);
    }
  }
  CHECK_OK(tessera_access_end(&access));
  CHECK_OK(tessera_halo_free(&halo));
  options.widths = (int64_t[]){3, 0};
  CHECK_ERROR(tessera_halo_create(array, &options, &halo), TESSERA_INVALID_ARGUMENT, "grown");
  options.periodic = -1;
  CHECK_ERROR(tessera_halo_create(array, &options, &halo), TESSERA_INVALID_ARGUMENT,
              "periodic dimensions");
  release(array);
}

/* Cells outside this rank's box only in the second dimension are the caller's. */
static void leaves_out_what_is_asked_for(void) {
  const int64_t ghosts[2] = {2, 1};
  tessera_array* const array = make_grown(ghosts);
  tessera_halo_options options;
  tessera_halo* halo = NULL;
  tessera_access* access = NULL;
  tessera_local_block block;
  tessera_halo_options_init(&options);
  options.periodic = 1 << 0 | 1 << 1;
  options.left_out = 1 << 1;
  CHECK_OK(tessera_halo_create(array, &options, &halo));
  CHECK_OK(tessera_halo_update(halo));
  CHECK_OK(tessera_access_begin(array, 0, &block, &access));
  for (int64_t i = block.ghost_lo[0]; i < block.ghost_hi[0]; ++i) {
    for (int64_t j = block.ghost_lo[1]; j < block.ghost_hi[1]; ++j) {
      const int is_own_row = i >= block.lo[0] && i < block.hi[0];
      const int is_own_column = j >= block.lo[1] && j < block.hi[1];
      if (is_own_row || is_own_column) {
        CHECK_REAL(*element(&block, i, j), is_own_column ? by_index((i + 8) % 8, j) : 0);
      }
    }
  }
  CHECK_OK(tessera_access_end(&access));
  CHECK_OK(tessera_halo_free(&halo));
  release(array);
}

static void follows_access_modes(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  const int64_t at[2] = {0, 0};
  const double value = 1;
  double values[9 * 7];
  tessera_access* access = NULL;
  tessera_local_block block;
  tessera_access_mode mode = -1;
  set_all(array, by_index);
  CHECK_OK(tessera_array_set_access_mode(array, TESSERA_ACCESS_READ_ONLY, 1, 0));
  CHECK_OK(tessera_array_access_mode(array, &mode));
  CHECK_EQUAL(mode, TESSERA_ACCESS_READ_ONLY);
  CHECK_OK(tessera_array_get(array, NULL, NULL, values, NULL));
  CHECK_REAL(values[62], by_index(8, 6));
  CHECK_ERROR(tessera_array_put_element(array, at, &value), TESSERA_INVALID_ARGUMENT, "read_only");
  CHECK_OK(tessera_array_set_access_mode(array, TESSERA_ACCESS_READ_ONLY, 0, 1 << 20));
  CHECK_OK(tessera_array_get(array, NULL, NULL, values, NULL));
  CHECK_REAL(values[61], by_index(8, 5));
  CHECK_OK(tessera_array_set_access_mode(array, TESSERA_ACCESS_NO_LOCAL, 0, 0));
  CHECK_ERROR(tessera_access_begin(array, 0, &block, &access), TESSERA_INVALID_ARGUMENT,
              "local access to array 'A'");
  CHECK_ERROR(tessera_array_set_access_mode(array, 4, 0, 0), TESSERA_INVALID_ARGUMENT,
              "no access mode 4");
  CHECK_ERROR(tessera_array_set_access_mode(array, TESSERA_ACCESS_ANY, 0, -1),
              TESSERA_INVALID_ARGUMENT, "cache");
  CHECK_OK(tessera_array_set_access_mode(array, TESSERA_ACCESS_ANY, 0, 0));
  CHECK_ALL(array, by_index);
  release(array);
}

static double by_index_and_members(int64_t row, int64_t column) {
  return by_index(row, column) + (row == 2 && column == 3 ? 2.0 * (double)members : 0.0);
}

static void adds_in_phases(void) {
  tessera_array* const array = make_matrix(9, 7, "A");
  const int64_t lo[2] = {2, 3};
  const int64_t hi[2] = {3, 4};
  const double one = 1;
  double value = 0;
  tessera_access_mode mode = -1;
  set_all(array, by_index);
  for (int copies = 0; copies <= 1; ++copies) {
    CHECK_OK(tessera_array_set_access_mode(array, TESSERA_ACCESS_ACCUMULATE_ONLY, copies, 0));
    CHECK_OK(tessera_array_access_mode(array, &mode));
    CHECK_EQUAL(mode, TESSERA_ACCESS_ACCUMULATE_ONLY);
    CHECK_OK(tessera_array_accumulate(array, lo, hi, &one, NULL, NULL));
    CHECK_ERROR(tessera_array_get(array, lo, hi, &value, NULL), TESSERA_INVALID_ARGUMENT,
                "the array is accumulate_only now, which forbids a get");
    CHECK_ERROR(tessera_array_set_access_mode(array, TESSERA_ACCESS_NO_LOCAL, 1, 0),
                TESSERA_INVALID_ARGUMENT, "a copy on each node was requested for");
  }
  CHECK_OK(tessera_array_set_access_mode(array, TESSERA_ACCESS_ANY, 0, 0));
  CHECK_ALL(array, by_index_and_members);
  release(array);
}

const Case access_cases[] = {{"stores_and_loads", stores_and_loads},
                             {"stores_to_each_of_several_blocks", stores_to_each_of_several_blocks},
                             {"tell_all_ended_ones", tell_all_ended_ones},
                             {"take_no_memory_for_each", take_no_memory_for_each},
                             {"exchanges_ghost_cells", exchanges_ghost_cells},
                             {"exchanges_what_is_asked_for", exchanges_what_is_asked_for},
                             {"leaves_out_what_is_asked_for", leaves_out_what_is_asked_for},
                             {"follows_access_modes", follows_access_modes},
                             {"adds_in_phases", adds_in_phases},
                             {NULL, NULL}};
