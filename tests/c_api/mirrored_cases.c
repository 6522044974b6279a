/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays with a copy on each node, against sums that every member computes by itself.
 */
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/model.h"

enum { rows = 11, columns = 7, elements = rows * columns };

static int64_t node_of(int64_t of) {
  int64_t rank = -1;
  int64_t node = -1;
  CHECK_OK(tessera_team_world_rank(team, of, &rank));
  CHECK_OK(tessera_job_node(job, rank, &node));
  return node;
}

/* How many nodes the team's members are on. */
static int64_t count_nodes(void) {
  int64_t count = 0;
  for (int64_t of = 0; of < members; ++of) {
    int is_first = 1;
    for (int64_t before = 0; before < of; ++before) {
      is_first = is_first && node_of(before) != node_of(of);
    }
    count += is_first;
  }
  return count;
}

/* What a member adds to its node's copy: numbers that only this member adds. */
static int64_t share_of(int64_t of, int64_t i) {
  return 7 * i + (of + 1) * 1000000;
}

/* What members have added to an element: those of this node, or all. */
static int64_t sum_of_shares(int64_t i, int of_this_node) {
  int64_t sum = 0;
  for (int64_t of = 0; of < members; ++of) {
    if (!of_this_node || node_of(of) == node_of(member)) {
      sum += share_of(of, i);
    }
  }
  return sum;
}

static void check_sums(const tessera_array* array, int of_this_node) {
  int64_t values[elements] = {0};
  CHECK_OK(tessera_array_get(array, NULL, NULL, values, NULL));
  for (int64_t i = 0; i < elements; ++i) {
    CHECK_EQUAL(values[i], sum_of_shares(i, of_this_node));
  }
}

static tessera_mirrored* make_mirrored(tessera_type type, const int64_t ghosts[2]) {
  const int64_t extents[2] = {rows, columns};
  tessera_array_options options;
  tessera_mirrored* mirrored = NULL;
  tessera_array_options_init(&options);
  options.team = team;
  options.name = "M";
  options.ghosts = ghosts;
  CHECK_OK(tessera_mirrored_create(job, type, 2, extents, &options, &mirrored));
  return mirrored;
}

static tessera_array* copy_here(const tessera_mirrored* mirrored) {
  tessera_array* here = NULL;
  CHECK_OK(tessera_mirrored_local_copy(mirrored, &here));
  return here;
}

static void release_mirrored(tessera_mirrored* mirrored) {
  CHECK_OK(tessera_mirrored_free(&mirrored));
  CHECK(mirrored == NULL);
  CHECK_OK(tessera_mirrored_free(&mirrored));
}

static void sum_what_members_add(void) {
  const int64_t ghosts[2] = {2, 1};
  for (int with_ghosts = 0; with_ghosts < 2; ++with_ghosts) {
    tessera_mirrored* const mirrored = make_mirrored(TESSERA_I64, with_ghosts ? ghosts : NULL);
    tessera_array* const here = copy_here(mirrored);
    tessera_array* const sum = make_array(TESSERA_I64, 2, (int64_t[]){rows, columns}, "sum");
    int64_t share[elements];
    for (int64_t i = 0; i < elements; ++i) {
      share[i] = share_of(member, i);
    }
    CHECK_OK(tessera_array_accumulate(here, NULL, NULL, share, NULL, NULL));
    CHECK_OK(tessera_array_sync(here));
    check_sums(here, 1);
    CHECK_OK(tessera_mirrored_merge_into(mirrored, NULL, NULL, tessera_part_whole(sum)));
    check_sums(sum, 0);
    check_sums(here, 1);
    CHECK_OK(tessera_mirrored_merge(mirrored));
    check_sums(here, 0);
    release(sum);
    release_mirrored(mirrored);
  }
}

static void are_shared_by_the_members_on_a_node(void) {
  tessera_mirrored* const mirrored = make_mirrored(TESSERA_F64, NULL);
  tessera_array* const here = copy_here(mirrored);
  tessera_team* sharers = NULL;
  int64_t size = -1;
  int64_t expected = 0;
  for (int64_t of = 0; of < members; ++of) {
    expected += node_of(of) == node_of(member);
  }
  CHECK(copy_here(mirrored) == here);
  CHECK_OK(tessera_array_team(here, &sharers));
  CHECK_OK(tessera_team_size(sharers, &size));
  CHECK_EQUAL(size, expected);
  CHECK_OK(tessera_team_free(&sharers));
  release_mirrored(mirrored);
}

/* Boxes are copied to boxes elsewhere; the elements around them stay. */
static void move_boxes(void) {
  const int64_t from_lo[2] = {3, 1}, from_hi[2] = {9, 5};
  const int64_t to_lo[2] = {2, 7}, to_hi[2] = {8, 11};
  const double two = 2;
  const double before = -1;
  double values[8 * 12];
  tessera_mirrored* const mirrored = make_mirrored(TESSERA_F64, NULL);
  tessera_array* const target = make_matrix(8, 12, "target");
  CHECK_OK(tessera_array_fill(tessera_part_whole(copy_here(mirrored)), &two));
  CHECK_OK(tessera_array_fill(tessera_part_whole(target), &before));
  CHECK_OK(tessera_mirrored_merge_into(mirrored, from_lo, from_hi,
                                       tessera_part_box(target, to_lo, to_hi)));
  CHECK_OK(tessera_array_get(target, NULL, NULL, values, NULL));
  for (int64_t i = 0; i < 8; ++i) {
    for (int64_t j = 0; j < 12; ++j) {
      const int is_inside = i >= 2 && j >= 7 && j < 11;
      CHECK_REAL(values[12 * i + j], is_inside ? 2.0 * (double)count_nodes() : -1);
    }
  }
  release(target);
  release_mirrored(mirrored);
}

static void load_what_an_array_has(void) {
  const int64_t from_lo[2] = {1, 2}, from_hi[2] = {4, 6};
  const int64_t to_lo[2] = {5, 3}, to_hi[2] = {8, 7};
  double values[elements];
  double box[3 * 4];
  tessera_mirrored* const mirrored = make_mirrored(TESSERA_F64, NULL);
  tessera_array* const here = copy_here(mirrored);
  tessera_array* const source = make_matrix(rows, columns, "source");
  set_all(source, by_index);
  CHECK_OK(tessera_mirrored_load(mirrored, NULL, NULL, tessera_part_whole(source)));
  CHECK_OK(tessera_array_get(here, NULL, NULL, values, NULL));
  for (int64_t i = 0; i < elements; ++i) {
    CHECK_REAL(values[i], by_index(i / columns, i % columns));
  }
  CHECK_OK(tessera_array_sync(here));
  CHECK_OK(
      tessera_mirrored_load(mirrored, to_lo, to_hi, tessera_part_box(source, from_lo, from_hi)));
  CHECK_OK(tessera_array_get(here, to_lo, to_hi, box, NULL));
  for (int64_t i = 0; i < 3 * 4; ++i) {
    CHECK_REAL(box[i], by_index(1 + i / 4, 2 + i % 4));
  }
  release(source);
  release_mirrored(mirrored);
}

static void have_any_type_of_numbers(void) {
  const uint8_t one_u8 = 1;
  const float one_f32 = 1;
  const double one_c128[2] = {1, -1};
  const struct {
    tessera_type type;
    const void* one;
  } kinds[3] = {{TESSERA_U8, &one_u8}, {TESSERA_F32, &one_f32}, {TESSERA_C128, one_c128}};
  for (int kind = 0; kind < 3; ++kind) {
    const uint8_t sum_u8 = (uint8_t)count_nodes();
    const float sum_f32 = (float)count_nodes();
    const double sum_c128[2] = {(double)count_nodes(), -(double)count_nodes()};
    const void* const sums[3] = {&sum_u8, &sum_f32, sum_c128};
    const int64_t last[2] = {rows - 1, columns - 1};
    char element[16] = {0};
    int64_t bytes = 0;
    tessera_mirrored* const mirrored = make_mirrored(kinds[kind].type, NULL);
    CHECK_OK(tessera_array_fill(tessera_part_whole(copy_here(mirrored)), kinds[kind].one));
    CHECK_OK(tessera_mirrored_merge(mirrored));
    CHECK_OK(tessera_array_get_element(copy_here(mirrored), last, element));
    CHECK_OK(tessera_type_bytes(kinds[kind].type, &bytes));
    CHECK(memcmp(element, sums[kind], (size_t)bytes) == 0);
    release_mirrored(mirrored);
  }
}

static void refuse_what_does_not_fit(void) {
  const int64_t lo[2] = {0, 0}, hi[2] = {4, 4}, wide[2] = {4, 5}, beyond[2] = {rows + 1, columns};
  tessera_mirrored* const mirrored = make_mirrored(TESSERA_F64, NULL);
  tessera_array* const b = make_matrix(rows, columns, "B");
  tessera_array* const whole_numbers = make_array(TESSERA_I32, 2, (int64_t[]){4, 4}, "I");
  const tessera_part all = tessera_part_whole(b);
  CHECK_ERROR(tessera_mirrored_merge_into(mirrored, lo, hi, tessera_part_box(b, lo, wide)),
              TESSERA_INVALID_ARGUMENT,
              "the box [0,4) x [0,4) of array 'M' (float64, 11 x 7) is 4 x 4, but the box [0,4) x "
              "[0,5) of array 'B' (float64, 11 x 7) is 4 x 5");
  CHECK_ERROR(tessera_mirrored_load(mirrored, lo, beyond, all), TESSERA_OUT_OF_RANGE,
              "tessera_mirrored_load: loading the copies of array 'M'");
  CHECK_ERROR(tessera_mirrored_load(mirrored, lo, NULL, all), TESSERA_INVALID_ARGUMENT,
              "upper bounds");
  CHECK_ERROR(
      tessera_mirrored_merge_into(mirrored, lo, hi, tessera_part_whole(whole_numbers)),
      TESSERA_INVALID_ARGUMENT,
      "array 'M' (float64, 11 x 7) and array 'I' (int32, 4 x 4) have elements of different");
  CHECK_ERROR(tessera_mirrored_load(mirrored, NULL, NULL, tessera_part_whole(NULL)),
              TESSERA_INVALID_ARGUMENT, "the array is null");
  /* An error of one member. */
  CHECK_EQUAL(tessera_mirrored_load(mirrored, lo, member == members - 1 ? NULL : hi,
                                    tessera_part_box(b, lo, hi)),
              TESSERA_INVALID_ARGUMENT);
  CHECK_HAS(tessera_last_error(), "upper bounds");
  CHECK_OK(tessera_mirrored_load(mirrored, NULL, NULL, all));
  release(whole_numbers);
  release(b);
  release_mirrored(mirrored);
}

static void are_made_of_numbers_and_cut_alike(void) {
  const int64_t extents[2] = {4, 4}, grid[2] = {1, 1};
  tessera_mirrored* none = NULL;
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.team = team;
  options.name = "N";
  CHECK_ERROR(tessera_mirrored_create(job, tessera_type_opaque(12), 2, extents, &options, &none),
              TESSERA_INVALID_ARGUMENT,
              "mirrored array 'N': opaque elements, which are only moved, have no sum");
  CHECK_ERROR(tessera_mirrored_create(job, TESSERA_F64, 2, NULL, &options, &none),
              TESSERA_INVALID_ARGUMENT, "extents is null");
  CHECK_ERROR(tessera_mirrored_create(job, TESSERA_F64, 2, extents, &options, NULL),
              TESSERA_INVALID_ARGUMENT, "mirrored array is null");
  options.process_grid = grid;
  CHECK_ERROR(tessera_mirrored_create(job, TESSERA_F64, 2, extents, &options, &none),
              TESSERA_INVALID_ARGUMENT, "holders and process_grid can't be given");
  CHECK(none == NULL);
}

static void tell_what_was_freed(void) {
  tessera_mirrored* mirrored = make_mirrored(TESSERA_F64, NULL);
  tessera_mirrored* const copy = mirrored;
  tessera_array* here = copy_here(mirrored);
  CHECK_ERROR(tessera_array_free(&here), TESSERA_INVALID_ARGUMENT,
              "array 'M' is this node's copy of a mirrored array");
  CHECK(here != NULL);
  CHECK_ERROR(tessera_mirrored_local_copy(mirrored, NULL), TESSERA_INVALID_ARGUMENT,
              "array is null");
  CHECK_OK(tessera_mirrored_free(&mirrored));
  CHECK_ERROR(tessera_array_sync(here), TESSERA_CLOSED, "the array 'M' was freed");
  CHECK_ERROR(tessera_mirrored_merge(copy), TESSERA_CLOSED, "the mirrored array 'M' was freed");
  CHECK_ERROR(tessera_mirrored_merge(NULL), TESSERA_INVALID_ARGUMENT, "mirrored array is null");
}

const Case mirrored_cases[] = {
    {"sum_what_members_add", sum_what_members_add},
    {"are_shared_by_the_members_on_a_node", are_shared_by_the_members_on_a_node},
    {"move_boxes", move_boxes},
    {"load_what_an_array_has", load_what_an_array_has},
    {"have_any_type_of_numbers", have_any_type_of_numbers},
    {"refuse_what_does_not_fit", refuse_what_does_not_fit},
    {"are_made_of_numbers_and_cut_alike", are_made_of_numbers_and_cut_alike},
    {"tell_what_was_freed", tell_what_was_freed},
    {NULL, NULL}};
