/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: test_ga_misuse CASE
 *
 * One mistake of a program, which the library has to answer by ending the job.
 */
#include <stdio.h>
#include <string.h>

#include "ga.h"
#include "macdecls.h"

static int is_case(char** argv, const char* name) {
  return strcmp(argv[1], name) == 0;
}

extern Integer ga_llt_f_(char*, Integer*, Integer*, size_t);
extern void ga_llt_s_(char*, Integer*, Integer*, Integer*, size_t);

/* Solves with a factor of another order, or, if it is 0, twice with the same one. */
static void misuse_factor(int other_order) {
  int dims[] = {4, 4};
  double one = 1;
  Integer kept = 0;
  Integer a = NGA_Create(C_DBL, 2, dims, "S", NULL);
  GA_Zero((int)a);
  GA_Shift_diagonal((int)a, &one);
  ga_llt_f_("L", &a, &kept, 1);
  dims[0] = dims[1] = other_order == 0 ? 4 : other_order;
  Integer other = NGA_Create(C_DBL, 2, dims, "O", NULL);
  Integer right = NGA_Create(C_DBL, 2, dims, "R", NULL);
  ga_llt_s_("L", &other, &right, &kept, 1);
  ga_llt_s_("L", &other, &right, &kept, 1);
}

/* Mistakes in products, ghost cells and properties. */
static void misuse_algebra(char** argv, int array) {
  int dims[] = {5, 6, 4};
  int lo[] = {0, 0, 0};
  int hi[] = {4, 5, 3};
  double one = 1;
  if (is_case(argv, "product")) {
    GA_Dgemm('n', 'n', 5, 6, 7, 1.0, array, array, 0.0, array);
  } else if (is_case(argv, "vector")) {
    const int other = NGA_Create(C_DBL, 1, dims, "V", NULL);
    GA_Dgemm('n', 'n', 2, 2, 2, 1.0, array, other, 0.0, array);
  } else if (is_case(argv, "elements")) {
    const int other = NGA_Create(C_INT, 2, dims, "I", NULL);
    GA_Dgemm('n', 'n', 2, 2, 2, 1.0, other, other, 0.0, other);
  } else if (is_case(argv, "letter")) {
    GA_Dgemm('x', 'n', 2, 2, 2, 1.0, array, array, 0.0, array);
  } else if (is_case(argv, "plane")) {
    const int other = NGA_Create(C_DBL, 3, dims, "T", NULL);
    NGA_Matmul_patch('n', 'n', &one, &one, other, lo, hi, array, lo, hi, array, lo, hi);
  } else if (is_case(argv, "square")) {
    GA_Spd_invert(array);
  } else if (is_case(argv, "factor")) {
    misuse_factor(3);
  } else if (is_case(argv, "used_factor")) {
    misuse_factor(0);
  } else if (is_case(argv, "direction")) {
    NGA_Update_ghost_dir(array, 0, 2, 1);
  } else if (is_case(argv, "property")) {
    GA_Set_property(array, "fast");
  } else if (is_case(argv, "read_only")) {
    GA_Set_property(array, "read_only");
    NGA_Put(array, lo, lo, &one, dims);
  }
}

static void misuse(char** argv, int array) {
  int dims[] = {5, 6};
  int lo[] = {0, 0};
  int hi[] = {1, 2};
  int ld[] = {3};
  double values[100] = {0};
  if (is_case(argv, "handle")) {
    NGA_Get(-5, lo, hi, values, ld);
  } else if (is_case(argv, "destroyed")) {
    GA_Destroy(array);
    GA_Destroy(array);
  } else if (is_case(argv, "unallocated")) {
    const int handle = GA_Create_handle();
    GA_Set_data(handle, 2, dims, C_DBL);
    NGA_Put(handle, lo, hi, values, ld);
  } else if (is_case(argv, "patch")) {
    lo[0] = 3;
    hi[0] = 9;
    hi[1] = 1;
    NGA_Put(array, lo, hi, values, ld);
  } else if (is_case(argv, "lead")) {
    ld[0] = 2;
    NGA_Get(array, lo, hi, values, ld);
  } else if (is_case(argv, "type")) {
    NGA_Create(99, 2, dims, "B", NULL);
  } else if (is_case(argv, "group")) {
    GA_Pgroup_sync(77);
  } else if (is_case(argv, "used_group")) {
    const int group = GA_Pgroup_split(GA_Pgroup_get_world(), 1);
    NGA_Create_config(C_DBL, 2, dims, "G", NULL, group);
    GA_Pgroup_destroy(group);
  } else if (is_case(argv, "mutex")) {
    GA_Lock(0);
  } else if (is_case(argv, "map")) {
    int block[] = {2, 1};
    int map[] = {0, 9, 0};
    NGA_Create_irreg(C_DBL, 2, dims, "B", block, map);
  } else if (is_case(argv, "operator")) {
    int one = 1;
    GA_Igop(&one, 1, "average");
  } else if (is_case(argv, "error") && GA_Nodeid() == 1) {
    GA_Error("given up", 7);
  }
  misuse_algebra(argv, array);
  GA_Sync();
}

int main(int argc, char** argv) {
  int dims[] = {5, 6};
  if (argc < 2) {
    return 2;
  }
  if (is_case(argv, "before")) {
    NGA_Create(C_DBL, 2, dims, "A", NULL);
  }
  GA_Initialize();
  misuse(argv, NGA_Create(C_DBL, 2, dims, "A", NULL));
  printf("not reached\n");
  return 0;
}
