/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names for profilers that differ from those of C and Fortran, and puts that notify.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ga-papi.h"
#include "tests/ga/cases.h"

static int integers(const char* name, int ndim, int* dims) {
  const int array = NGA_Create(C_LONG, ndim, dims, (char*)name, NULL);
  GA_Zero(array);
  return array;
}

/* The same elements by C's list of pointers and by Fortran's list of indices. */
static void lists(void) {
  int dims[] = {5, 7};
  int places[3][2] = {{0, 6}, {4, 1}, {2, 3}};
  int* pointers[] = {places[0], places[1], places[2]};
  Integer flat[] = {7, 1, 2, 5, 4, 3};
  long values[] = {11, 22, 33};
  long back[3] = {0};
  long two = 2;
  const int array = integers("listed", 2, dims);
  if (GA_Nodeid() == 0) {
    pnga_scatter(array, values, pointers, 1, 3);
    pnga_scatter_acc(array, values, flat, 0, 3, &two);
  }
  GA_Sync();
  pnga_gather(array, back, flat, 0, 3);
  for (int i = 0; i < 3; ++i) {
    CHECK_EQUAL(back[i], 3 * values[i]);
  }
  memset(back, 0, sizeof back);
  pnga_gather(array, back, pointers, 1, 3);
  for (int i = 0; i < 3; ++i) {
    CHECK_EQUAL(back[i], 3 * values[i]);
  }
  GA_Destroy(array);
}

static void dots(void) {
  int dims[] = {6};
  long one = 1;
  long sum = 0;
  Integer from = 2;
  Integer to = 4;
  char plain[] = "n";
  const int array = integers("multiplied", 1, dims);
  GA_Fill(array, &one);
  pnga_dot(C_LONG, array, array, &sum);
  CHECK_EQUAL(sum, 6);
  pnga_dot_patch(array, plain, &from, &to, array, plain, &from, &to, &sum);
  CHECK_EQUAL(sum, 3);
  GA_Destroy(array);
}

static void patches(void) {
  Integer lo[] = {1, 5};
  Integer hi[] = {4, 9};
  Integer other_lo[] = {3, 1};
  Integer other_hi[] = {8, 6};
  CHECK_EQUAL(pnga_patch_intersect(lo, hi, other_lo, other_hi, 2), 1);
  CHECK_EQUAL(other_lo[0], 3);
  CHECK_EQUAL(other_hi[0], 4);
  CHECK_EQUAL(other_lo[1], 5);
  CHECK_EQUAL(other_hi[1], 6);
  other_lo[1] = 10;
  other_hi[1] = 12;
  CHECK_EQUAL(pnga_patch_intersect(lo, hi, other_lo, other_hi, 2), 0);
  CHECK_EQUAL(other_lo[1], 10);
  Integer thin_lo[] = {4, 2, 7};
  Integer thin_hi[] = {7, 6, 7};
  CHECK_EQUAL(pnga_comp_patch(2, lo, hi, 3, thin_lo, thin_hi), 1);
  CHECK_EQUAL(pnga_comp_patch(3, thin_lo, thin_hi, 2, lo, hi), 1);
  thin_hi[2] = 8;
  CHECK_EQUAL(pnga_comp_patch(2, lo, hi, 3, thin_lo, thin_hi), 0);
  thin_hi[2] = 7;
  thin_hi[0] = 8;
  CHECK_EQUAL(pnga_comp_patch(2, lo, hi, 3, thin_lo, thin_hi), 0);
}

static void types(void) {
  int dims[] = {3, 2};
  Integer type = 0;
  char text[32] = "";
  CHECK_EQUAL(pnga_initialized(), 1);
  CHECK_EQUAL(pnga_type_f2c(MT_F_DBL), C_DBL);
  CHECK_EQUAL(pnga_type_f2c(MT_F_INT), C_LONG);
  CHECK_EQUAL(pnga_type_c2f(C_DCPL), MT_F_DCPL);
  const int code = pnga_register_type(24);
  CHECK(code >= 1017);
  CHECK_EQUAL(pnga_deregister_type(code), 0);
  const int array = integers("typed", 2, dims);
  pnga_inquire_type(array, &type);
  CHECK_EQUAL(type, C_LONG);
  pnga_get_distribution_type(array, text);
  CHECK_EQUAL(strcmp(text, "regular"), 0);
  CHECK_EQUAL(pnga_uses_irreg_proc_grid(array), 0);
  CHECK(pnga_memory_avail_type(C_DBL) > 0);
  GA_Destroy(array);
}

static void periodic(void) {
  int dims[] = {4};
  Integer lo = 4;
  Integer hi = 5;
  Integer ld = 2;
  long values[] = {7, 9};
  long back[2] = {0};
  long three = 3;
  enum { get = 1, put = 2, acc = 3 };
  const int array = integers("periodic", 1, dims);
  if (GA_Nodeid() == 0) {
    pnga_periodic(array, &lo, &hi, values, &ld, NULL, put);
    pnga_periodic(array, &lo, &hi, values, &ld, &three, acc);
  }
  GA_Sync();
  pnga_periodic(array, &lo, &hi, back, &ld, NULL, get);
  CHECK_EQUAL(back[0], 28);
  CHECK_EQUAL(back[1], 36);
  GA_Destroy(array);
}

/* All processes but the last get a block from the one before, and read it when they see its flag.
 */
static void notify(int is_same_array) {
  enum { length = 1000, rounds = 20 };
  const int count = GA_Nnodes();
  const int own = GA_Nodeid();
  int dims[] = {count, length};
  int flag_dims[] = {count, 1};
  int chunk[] = {1, -1};
  static long block[length];
  const int data = NGA_Create(C_LONG, 2, dims, "data", chunk);
  const int flags = is_same_array ? data : NGA_Create(C_LONG, 2, flag_dims, "flags", chunk);
  GA_Zero(data);
  GA_Zero(flags);
  /* In Fortran's order, from 1. The flag is in the middle of the block if it is in the same array.
   */
  const int middle = length / 2;
  for (long round = 1; round <= rounds; ++round) {
    const int to = (own + 1) % count;
    Integer lo[] = {1, to + 1};
    Integer hi[] = {length, to + 1};
    Integer ld[] = {length};
    Integer place[] = {is_same_array ? middle + 1 : 1, to + 1};
    Integer request = 0;
    for (int i = 0; i < length; ++i) {
      block[i] = 1000 * round + i;
    }
    long flag = is_same_array ? block[middle] : round;
    pnga_nbput_notify(data, lo, hi, block, ld, flags, place, &flag, &request);
    const long expected = is_same_array ? 1000 * round + middle : round;
    int at[] = {own, is_same_array ? middle : 0};
    int ld_one[] = {1};
    long seen = -1;
    while (seen != expected) {
      NGA_Get(flags, at, at, &seen, ld_one);
    }
    static long got[length];
    int own_lo[] = {own, 0};
    int own_hi[] = {own, length - 1};
    int own_ld[] = {length};
    NGA_Get(data, own_lo, own_hi, got, own_ld);
    int wrong = 0;
    for (int i = 0; i < length; ++i) {
      wrong += got[i] != 1000 * round + i;
    }
    CHECK_EQUAL(wrong, 0);
    pnga_nbwait_notify(&request);
    GA_Sync();
  }
  if (!is_same_array) {
    GA_Destroy(flags);
  }
  GA_Destroy(data);
}

static void notify_elsewhere(void) {
  notify(0);
}
static void notify_inside(void) {
  notify(1);
}

const Case profiling_cases[] = {{"lists", lists},
                                {"dots", dots},
                                {"patches", patches},
                                {"types", types},
                                {"periodic", periodic},
                                {"notify_elsewhere", notify_elsewhere},
                                {"notify_inside", notify_inside},
                                {NULL, NULL}};
