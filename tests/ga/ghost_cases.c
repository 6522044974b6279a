/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ghost cells: each is compared with the element that it copies; those that an operation does not
 * update keep the value that the process gave them.
 */
#include <string.h>

#include "tests/ga/cases.h"

static const double untouched = -1000;

typedef struct {
  int ndim;
  int dims[GA_MAX_DIM];
  int width[GA_MAX_DIM];
  int array;
  /* This process's block, which may have no elements. */
  int lo[GA_MAX_DIM];
  int hi[GA_MAX_DIM];
  int local[GA_MAX_DIM]; /* with ghost cells */
  int ld[GA_MAX_DIM];
  double* cells;
} Field;

static const Field shapes[] = {{.ndim = 2, .dims = {7, 9}, .width = {1, 2}},
                               {.ndim = 1, .dims = {12}, .width = {2}},
                               {.ndim = 3, .dims = {5, 6, 4}, .width = {1, 0, 2}}};
enum { shape_count = 3 };

static int is_empty(const Field* field) {
  return field->hi[0] < field->lo[0];
}

static double value_at(const Field* field, const int* index) {
  double value = 0;
  for (int dim = 0; dim < field->ndim; ++dim) {
    const int length = field->dims[dim];
    value = value * 100 + (index[dim] % length + length) % length;
  }
  return value;
}

/* Moves through the cells of this process; `index` counts from its first ghost cell. */
static int next_cell(const Field* field, int* index) {
  int lo[GA_MAX_DIM] = {0};
  int hi[GA_MAX_DIM];
  for (int dim = 0; dim < field->ndim; ++dim) {
    hi[dim] = field->local[dim] - 1;
  }
  return next_index(field->ndim, lo, hi, index);
}

static double* cell_at(const Field* field, const int* index) {
  int at = index[0];
  for (int dim = 1; dim < field->ndim; ++dim) {
    at = at * field->ld[dim - 1] + index[dim];
  }
  return field->cells + at;
}

/* For each dimension: -1 before the block, 1 after it, 0 in it. Returns how many are not 0. */
static int direction_of(const Field* field, const int* index, int* direction) {
  int count = 0;
  for (int dim = 0; dim < field->ndim; ++dim) {
    const int at = index[dim] - field->width[dim];
    const int length = field->hi[dim] - field->lo[dim] + 1;
    direction[dim] = at < 0 ? -1 : (at >= length ? 1 : 0);
    count += direction[dim] != 0;
  }
  return count;
}

static Field new_field(const Field* shape) {
  Field field = *shape;
  field.array = NGA_Create_ghosts(C_DBL, field.ndim, field.dims, field.width, "field", NULL);
  CHECK_EQUAL(GA_Has_ghosts(field.array), 1);
  NGA_Distribution(field.array, GA_Nodeid(), field.lo, field.hi);
  NGA_Access_ghosts(field.array, field.local, &field.cells, field.ld);
  int index[GA_MAX_DIM] = {0};
  int direction[GA_MAX_DIM];
  if (!is_empty(&field)) {
    do {
      int at[GA_MAX_DIM];
      for (int dim = 0; dim < field.ndim; ++dim) {
        at[dim] = field.lo[dim] + index[dim] - field.width[dim];
      }
      *cell_at(&field, index) =
          direction_of(&field, index, direction) == 0 ? value_at(&field, at) : untouched;
    } while (next_cell(&field, index));
  }
  NGA_Release_update_ghosts(field.array);
  GA_Sync();
  return field;
}

typedef int Expectation(const int* direction, int count, const int* given);

/* Checks each cell: one that `is_updated` has its element's value. */
static void check_field(const Field* field, Expectation* is_updated, const int* given) {
  int index[GA_MAX_DIM] = {0};
  int direction[GA_MAX_DIM];
  GA_Sync();
  if (!is_empty(field)) {
    int is_same = 1;
    do {
      int at[GA_MAX_DIM];
      for (int dim = 0; dim < field->ndim; ++dim) {
        at[dim] = field->lo[dim] + index[dim] - field->width[dim];
      }
      const int count = direction_of(field, index, direction);
      const double expected =
          count == 0 || is_updated(direction, count, given) ? value_at(field, at) : untouched;
      is_same = CHECK_REAL(*cell_at(field, index), expected);
    } while (is_same && next_cell(field, index));
  }
  GA_Sync();
}

static int all_cells(const int* direction, int count, const int* given) {
  (void)direction;
  (void)count;
  (void)given;
  return 1;
}
static int no_corners(const int* direction, int count, const int* given) {
  (void)direction;
  (void)given;
  return count == 1;
}
/* `given`: the dimension, the direction, and whether corners are updated. */
static int one_side(const int* direction, int count, const int* given) {
  return direction[given[0]] == given[1] && (given[2] || count == 1);
}
/* `given`: the number of dimensions and the direction. */
static int one_direction(const int* direction, int count, const int* given) {
  (void)count;
  return memcmp(direction, given + 1, (size_t)given[0] * sizeof(int)) == 0;
}

static void update(void) {
  for (int shape = 0; shape < shape_count; ++shape) {
    Field field = new_field(&shapes[shape]);
    GA_Update_ghosts(field.array);
    check_field(&field, all_cells, NULL);
    GA_Destroy(field.array);
    field = new_field(&shapes[shape]);
    GA_Set_ghost_corner_flag(field.array, 0);
    NGA_Update_ghosts(field.array);
    check_field(&field, no_corners, NULL);
    GA_Destroy(field.array);
  }
}

static void update_without_waiting(void) {
  for (int shape = 0; shape < shape_count; ++shape) {
    const Field field = new_field(&shapes[shape]);
    ga_nbhdl_t request = 0;
    NGA_Update_ghosts_nb(field.array, &request);
    NGA_NbWait(&request);
    check_field(&field, all_cells, NULL);
    GA_Destroy(field.array);
  }
}

static void sides(void) {
  for (int shape = 0; shape < shape_count; ++shape) {
    for (int number = 0; number < 4 * shapes[shape].ndim; ++number) {
      const int given[] = {number / 4, number % 2 == 0 ? -1 : 1, number / 2 % 2};
      const Field field = new_field(&shapes[shape]);
      CHECK_EQUAL(NGA_Update_ghost_dir(field.array, given[0], given[1], given[2]), 1);
      check_field(&field, one_side, given);
      GA_Destroy(field.array);
    }
  }
}

extern void nga_nbget_ghost_dir_(Integer*, Integer[], Integer*);
extern void nga_nbwait_(Integer*);

static void directions(void) {
  for (int number = 0; number < 9; ++number) {
    const Field field = new_field(&shapes[0]);
    int given[] = {2, number / 3 - 1, number % 3 - 1};
    Integer array = field.array;
    Integer mask[] = {given[2], given[1]};
    Integer request = 0;
    if (number % 2 == 0) {
      NGA_NbGet_ghost_dir(field.array, given + 1, &request);
      NGA_NbWait(&request);
    } else {
      nga_nbget_ghost_dir_(&array, mask, &request);
      nga_nbwait_(&request);
    }
    check_field(&field, one_direction, given);
    GA_Destroy(field.array);
  }
}

typedef Integer Update(Integer*);
extern Update ga_update2_ghosts_;
extern Update nga_update3_ghosts_;
extern Update ga_update4_ghosts_;
extern Update ga_update5_ghosts_;
extern Update ga_update6_ghosts_;
extern Update ga_update7_ghosts_;
extern Update ga_update44_ghosts_;
extern Update ga_update55_ghosts_;
extern Update ga_set_update4_info_;
extern Update ga_set_ghost_info_;
extern void ga_update1_ghosts_(Integer*);
extern void ga_ghost_barrier_(void);

static void other_names(void) {
  static Update* const names[] = {ga_update2_ghosts_,  nga_update3_ghosts_, ga_update4_ghosts_,
                                  ga_update5_ghosts_,  ga_update6_ghosts_,  ga_update7_ghosts_,
                                  ga_update44_ghosts_, ga_update55_ghosts_};
  for (int number = 0; number <= 8; ++number) {
    const Field field = new_field(&shapes[0]);
    Integer array = field.array;
    if (number == 8) {
      ga_update1_ghosts_(&array);
    } else {
      CHECK_EQUAL(ga_set_update4_info_(&array), 1);
      CHECK_EQUAL(ga_set_ghost_info_(&array), 1);
      CHECK_EQUAL(names[number](&array), 1);
    }
    ga_ghost_barrier_();
    check_field(&field, all_cells, NULL);
    GA_Destroy(field.array);
  }
}

/* From ghost cells that have been updated, or from the owners of elements. */
static void blocks(void) {
  Field field = new_field(&shapes[0]);
  GA_Update_ghosts(field.array);
  double values[400];
  for (int number = 0; number < 2; ++number) {
    int lo[2] = {number == 0 ? field.lo[0] - 1 : -3, number == 0 ? field.lo[1] - 2 : 5};
    int hi[2] = {number == 0 ? field.hi[0] + 1 : 4, number == 0 ? field.hi[1] : 11};
    if (is_empty(&field) && number == 0) {
      continue;
    }
    int ld[] = {hi[1] - lo[1] + 2};
    int index[] = {lo[0], lo[1]};
    NGA_Get_ghost_block(field.array, lo, hi, values, ld);
    do {
      CHECK_REAL(values[local_at(2, lo, ld, index)], value_at(&field, index));
    } while (next_index(2, lo, hi, index));
  }
  /* What a process has changed in its ghost cells is in its blocks. */
  if (!is_empty(&field)) {
    int first[] = {0, 0};
    int ld[] = {1};
    int lead[] = {0};
    double* cell = NULL;
    NGA_Access_ghost_element(field.array, &cell, first, lead);
    CHECK_POINTER(cell, field.cells);
    CHECK_EQUAL(lead[0], field.local[1]);
    int second[] = {1, 2};
    NGA_Access_ghost_element(field.array, &cell, second, lead);
    CHECK_POINTER(cell, cell_at(&field, second));
    NGA_Release_ghost_element(field.array, second);
    field.cells[0] = 77;
    int lo[] = {field.lo[0] - 1, field.lo[1] - 2};
    NGA_Get_ghost_block(field.array, lo, lo, values, ld);
    CHECK_REAL(values[0], 77.0);
  }
  GA_Sync();
  GA_Destroy(field.array);
}

/* As in GA, updates of an array without ghost cells do nothing. */
static void none(void) {
  int dims[] = {6, 5};
  const int array = NGA_Create(C_DBL, 2, dims, "plain", NULL);
  int local[2];
  int ld[1];
  int lo[2];
  int hi[2];
  double* cells = NULL;
  CHECK_EQUAL(GA_Has_ghosts(array), 0);
  GA_Update_ghosts(array);
  CHECK_EQUAL(NGA_Update_ghost_dir(array, 0, 1, 1), 1);
  NGA_Access_ghosts(array, local, &cells, ld);
  NGA_Distribution(array, GA_Nodeid(), lo, hi);
  if (hi[0] >= lo[0]) {
    CHECK_EQUAL(local[0], hi[0] - lo[0] + 1);
    CHECK_EQUAL(local[1], hi[1] - lo[1] + 1);
  }
  GA_Destroy(array);
}

const Case ghost_cases[] = {{"update", update},
                            {"update_without_waiting", update_without_waiting},
                            {"sides", sides},
                            {"directions", directions},
                            {"other_names", other_names},
                            {"blocks", blocks},
                            {"none", none},
                            {NULL, NULL}};
