/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions: all operators on all types, compared with a serial reduction of all processes'
 * values. Values are small and whole, so that results are exact.
 */
#include <stdlib.h>

#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"
#include "tests/armci/memory.h"

enum { most = 3000 };

/* Small values of both signs; a power of two for products. */
static int value_of(int proc, int index, const char* op) {
  if (op[0] == '*') {
    return 1 + (proc + index) % 2;
  }
  return (proc * 7 + index * 3) % 23 - 11;
}

static double magnitude(double value) {
  return value < 0 ? -value : value;
}

/* The result of "a op b", for values that all types hold. */
static double combine(const char* op, double a, double b) {
  if (strcmp(op, "+") == 0) {
    return a + b;
  }
  if (strcmp(op, "*") == 0) {
    return a * b;
  }
  if (strcmp(op, "min") == 0) {
    return a < b ? a : b;
  }
  if (strcmp(op, "max") == 0) {
    return a > b ? a : b;
  }
  const double left = magnitude(a);
  const double right = magnitude(b);
  if (strcmp(op, "absmin") == 0) {
    return left < right ? left : right;
  }
  return left > right ? left : right;
}

static long combine_bits(const char* op, long a, long b) {
  if (strcmp(op, "land") == 0 || strcmp(op, "&&") == 0) {
    return a != 0 && b != 0;
  }
  if (strcmp(op, "lor") == 0 || strcmp(op, "||") == 0) {
    return a != 0 || b != 0;
  }
  if (strcmp(op, "band") == 0 || strcmp(op, "&") == 0) {
    return a & b;
  }
  return a | b;
}

/* The reduction of all processes' values; of magnitudes for the absolute operators. */
static double expected_real(const char* op, int index) {
  double result = value_of(0, index, op);
  if (strncmp(op, "abs", 3) == 0) {
    result = magnitude(result);
  }
  for (int proc = 1; proc < nproc(); ++proc) {
    result = combine(op, result, value_of(proc, index, op));
  }
  return result;
}

static long expected_bits(const char* op, int index) {
  long result = value_of(0, index, op);
  for (int proc = 1; proc < nproc(); ++proc) {
    result = combine_bits(op, result, value_of(proc, index, op));
  }
  return result;
}

/* The same values in each of the types. */
typedef struct {
  int of_int[most];
  long of_long[most];
  long long of_long_long[most];
  float of_float[most];
  double of_double[most];
} Row;

static void fill_row(Row* row, int count, const char* op) {
  for (int index = 0; index < count; ++index) {
    const int value = value_of(me(), index, op);
    row->of_int[index] = value;
    row->of_long[index] = value;
    row->of_long_long[index] = value;
    row->of_float[index] = (float)value;
    row->of_double[index] = value;
  }
}

static void check_row(const Row* row, int count, const char* op) {
  for (int index = 0; index < count; ++index) {
    const double wanted = expected_real(op, index);
    CHECK_REAL(row->of_int[index], wanted);
    CHECK_REAL((double)row->of_long[index], wanted);
    CHECK_REAL((double)row->of_long_long[index], wanted);
    CHECK_REAL(row->of_float[index], wanted);
    CHECK_REAL(row->of_double[index], wanted);
  }
}

static const char* const operators[] = {"+", "*", "min", "max", "absmin", "absmax"};
static const char* const logical[] = {"land", "&&", "lor", "||", "band", "&", "bor", "|", "or"};

static void all_operators_on_all_types(void) {
  static const int counts[] = {0, 1, 2, 100, most};
  Row* const row = zeroed(sizeof *row);
  for (int number = 0; number < 6 * 5; ++number) {
    const char* const op = operators[number / 5];
    const int count = counts[number % 5];
    fill_row(row, count, op);
    armci_msg_igop(row->of_int, count, op);
    armci_msg_lgop(row->of_long, count, op);
    armci_msg_llgop(row->of_long_long, count, op);
    armci_msg_fgop(row->of_float, count, op);
    armci_msg_dgop(row->of_double, count, op);
    check_row(row, count, op);
  }
  free(row);
}

static void all_types_by_number(void) {
  enum { count = 50 };
  Row* const row = zeroed(sizeof *row);
  for (int number = 0; number < 6; ++number) {
    const char* const op = operators[number];
    fill_row(row, count, op);
    armci_msg_gop_scope(SCOPE_ALL, row->of_int, count, op, ARMCI_INT);
    armci_msg_gop_scope(SCOPE_ALL, row->of_long, count, op, ARMCI_LONG);
    armci_msg_gop_scope(SCOPE_ALL, row->of_long_long, count, op, ARMCI_LONG_LONG);
    armci_msg_gop_scope(SCOPE_ALL, row->of_float, count, op, ARMCI_FLOAT);
    armci_msg_gop_scope(SCOPE_ALL, row->of_double, count, op, ARMCI_DOUBLE);
    check_row(row, count, op);
  }
  free(row);
}

static void logical_operators_on_integers(void) {
  enum { count = 50 };
  Row* const row = zeroed(sizeof *row);
  for (int number = 0; number < 9; ++number) {
    const char* const op = logical[number];
    fill_row(row, count, op);
    armci_msg_igop(row->of_int, count, op);
    armci_msg_lgop(row->of_long, count, op);
    armci_msg_llgop(row->of_long_long, count, op);
    for (int index = 0; index < count && nproc() > 1; ++index) {
      const long wanted = expected_bits(op, index);
      CHECK_EQUAL(row->of_int[index], wanted);
      CHECK_EQUAL(row->of_long[index], wanted);
      CHECK_EQUAL(row->of_long_long[index], wanted);
    }
  }
  free(row);
}

/* At process 0 only; the other processes' values afterwards are undefined. */
static void reductions_to_the_first(void) {
  enum { count = 100 };
  Row* const row = zeroed(sizeof *row);
  for (int number = 0; number < 6; ++number) {
    const char* const op = operators[number];
    fill_row(row, count, op);
    armci_msg_reduce(row->of_int, count, op, ARMCI_INT);
    armci_msg_reduce_scope(SCOPE_ALL, row->of_long, count, op, ARMCI_LONG);
    armci_msg_reduce_scope(SCOPE_ALL, row->of_long_long, count, op, ARMCI_LONG_LONG);
    armci_msg_reduce(row->of_float, count, op, ARMCI_FLOAT);
    armci_msg_reduce(row->of_double, count, op, ARMCI_DOUBLE);
    if (me() == 0) {
      check_row(row, count, op);
    }
  }
  int on_node = 1;
  armci_msg_reduce_scope(SCOPE_NODE, &on_node, 1, "+", ARMCI_INT);
  int members = 0;
  int is_first = 1;
  for (int proc = 0; proc < nproc(); ++proc) {
    members += ARMCI_Same_node(proc);
    is_first = is_first && (proc >= me() || !ARMCI_Same_node(proc));
  }
  if (is_first) {
    CHECK_EQUAL(on_node, members);
  }
  free(row);
}

/* Results are bitwise equal on all processes, and in each repetition. */
static void sums_of_reals_are_the_same_everywhere(void) {
  enum { count = 200 };
  double first[count];
  double again[count];
  double of_zero[count];
  for (int index = 0; index < count; ++index) {
    first[index] = again[index] = 1.0 / (3 + me() * 7 + index);
  }
  armci_msg_dgop(first, count, "+");
  armci_msg_dgop(again, count, "+");
  CHECK_BYTES(again, first, sizeof first);
  memcpy(of_zero, first, sizeof first);
  armci_msg_bcast(of_zero, sizeof of_zero, 0);
  CHECK_BYTES(first, of_zero, sizeof first);
}

typedef struct {
  double key;
  int who;
  char more[100];
} Candidate;

static void selection_takes_all_of_the_best(void) {
  Candidate one;
  for (int largest = 0; largest < 2; ++largest) {
    memset(&one, 0, sizeof one);
    one.key = (me() + 1) % nproc() - 0.5;
    one.who = me();
    fill_pattern(one.more, sizeof one.more, me());
    const int best = largest ? (2 * nproc() - 2) % nproc() : nproc() - 1;
    if (largest) {
      armci_msg_sel(&one, sizeof one, "max", ARMCI_DOUBLE, 1);
    } else {
      armci_msg_sel_scope(SCOPE_ALL, &one, sizeof one, "min", ARMCI_DOUBLE, 1);
    }
    CHECK_EQUAL(one.who, best);
    CHECK_REAL(one.key, (best + 1) % nproc() - 0.5);
    CHECK_EQUAL((unsigned char)one.more[99], pattern_byte(best, 99));
  }
}

/* Among equal values the first counts, and only processes that contribute. */
static void selection_among_contributors(void) {
  struct {
    int key;
    int who;
  } one = {5, me()};
  armci_msg_sel(&one, sizeof one, "max", ARMCI_INT, 1);
  CHECK_EQUAL(one.who, 0);
  one.key = -me();
  one.who = me();
  armci_msg_sel(&one, sizeof one, "max", ARMCI_INT, me() == nproc() - 1);
  CHECK_EQUAL(one.who, nproc() - 1);
  long of_long = me();
  armci_msg_sel(&of_long, sizeof of_long, "min", ARMCI_LONG, 1);
  CHECK_EQUAL(of_long, 0);
  long long of_long_long = me();
  armci_msg_sel(&of_long_long, sizeof of_long_long, "max", ARMCI_LONG_LONG, 1);
  CHECK_EQUAL(of_long_long, nproc() - 1);
  float of_float = (float)me();
  armci_msg_sel(&of_float, sizeof of_float, "max", ARMCI_FLOAT, 1);
  CHECK_REAL(of_float, nproc() - 1);
  of_float = (float)me();
  armci_msg_sel(&of_float, sizeof of_float, "max", ARMCI_FLOAT, 0);
  CHECK_REAL(of_float, me());
}

const Case reduction_cases[] = {
    {"all_operators_on_all_types", all_operators_on_all_types},
    {"all_types_by_number", all_types_by_number},
    {"logical_operators_on_integers", logical_operators_on_integers},
    {"reductions_to_the_first", reductions_to_the_first},
    {"sums_of_reals_are_the_same_everywhere", sums_of_reals_are_the_same_everywhere},
    {"selection_takes_all_of_the_best", selection_takes_all_of_the_best},
    {"selection_among_contributors", selection_among_contributors},
    {NULL, NULL}};
