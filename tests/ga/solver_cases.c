/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Systems of equations: their solutions are known, factors are multiplied. All names see rows as
 * the last dimension of an array in C.
 */
#include <string.h>

#include "tests/ga/matrices.h"

enum { order = 11, sides = 3 };
static const double rounding = 1e-10;

extern void ga_lu_solve_(char*, Integer*, Integer*, size_t);
extern void ga_lu_solve_seq_(char*, Integer*, Integer*, size_t);
extern void ga_lu_solve_alt_(Integer*, Integer*, Integer*);
extern Integer ga_llt_solve_(Integer*, Integer*);
extern Integer nga_solve_(Integer*, Integer*);
extern Integer ga_spd_invert_(Integer*);
extern Integer ga_cholesky_(char*, Integer*, size_t);
extern Integer ga_llt_f_(char*, Integer*, Integer*, size_t);
extern void ga_llt_s_(char*, Integer*, Integer*, Integer*, size_t);
extern Integer ga_llt_i_(char*, Integer*, Integer*, size_t);
extern void ga_zeroul_(char*, Integer*, size_t);
extern void ga_symul_(char*, Integer*, size_t);
extern void slinit_(void);
extern void slexit2_(void);

/* op(A) X = B with a known X. */
typedef struct {
  Matrix matrix;
  Matrix solution;
  Integer a;
  Integer b;
} System;

static void new_system(System* system, const Matrix* matrix, char trans) {
  static Matrix right;
  const Part all = {0, 0, order, order};
  const Part vectors = {0, 0, order, sides};
  system->matrix = *matrix;
  random_matrix(&system->solution, C_DBL, order, sides);
  random_matrix(&right, C_DBL, order, sides);
  model_multiply(trans, 'n', 1, matrix, &all, &system->solution, &vectors, 0, &right, &vectors);
  system->a = matrix_array(matrix, C_DBL, fortran_view);
  system->b = matrix_array(&right, C_DBL, fortran_view);
}

static void end_system(const System* system) {
  GA_Destroy((int)system->a);
  GA_Destroy((int)system->b);
}

/* Checks the solution, and that the matrix has not changed. */
static void check_solved(const System* system) {
  check_doubles(&system->solution, (int)system->b, rounding);
  check_doubles(&system->matrix, (int)system->a, 0);
  end_system(system);
}

/* Positive definite except for row `bad` of the diagonal, from 1; 0: positive definite. */
static void definite(Matrix* matrix, int bad) {
  dominant_matrix(matrix, order, 1);
  if (bad > 0) {
    matrix->at[bad - 1][bad - 1] = -5.0 * order;
  }
}

typedef enum { c_name, fortran_name, sequential, by_number } LuName;

static void solve_by_lu(LuName name, char trans, System* system) {
  char upper = trans == 'n' ? 'N' : 'T';
  Integer number = trans == 'n' ? 0 : 1;
  if (name == c_name) {
    GA_Lu_solve(trans, (int)system->a, (int)system->b);
  } else if (name == fortran_name) {
    ga_lu_solve_(&upper, &system->a, &system->b, 1);
  } else if (name == sequential) {
    ga_lu_solve_seq_(&trans, &system->a, &system->b, 1);
  } else {
    ga_lu_solve_alt_(&number, &system->a, &system->b);
  }
}

static void by_lu(void) {
  static System system;
  static Matrix matrix;
  random_start(41);
  slinit_();
  for (LuName name = c_name; name <= by_number; ++name) {
    for (int turn = 0; turn < 2; ++turn) {
      const char trans = turn == 0 ? 'n' : 't';
      dominant_matrix(&matrix, order, 0);
      new_system(&system, &matrix, trans);
      solve_by_lu(name, trans, &system);
      check_solved(&system);
    }
  }
  slexit2_();
}

static void by_cholesky(void) {
  static System system;
  static Matrix matrix;
  random_start(42);
  for (int is_c = 0; is_c < 2; ++is_c) {
    definite(&matrix, 0);
    new_system(&system, &matrix, 'n');
    CHECK_EQUAL(
        is_c ? GA_Llt_solve((int)system.a, (int)system.b) : ga_llt_solve_(&system.a, &system.b), 0);
    check_solved(&system);
    definite(&matrix, 4);
    new_system(&system, &matrix, 'n');
    CHECK_EQUAL(GA_Llt_solve((int)system.a, (int)system.b), 4);
    end_system(&system);
  }
}

/* Cholesky first, then LU: the number says whether the matrix is positive definite. */
static void by_either(void) {
  static System system;
  static Matrix matrix;
  random_start(43);
  for (int bad = 0; bad <= order; bad += order) {
    definite(&matrix, bad);
    new_system(&system, &matrix, 'n');
    CHECK_EQUAL(GA_Solve((int)system.a, (int)system.b), bad);
    check_solved(&system);
    new_system(&system, &matrix, 'n');
    CHECK_EQUAL(nga_solve_(&system.a, &system.b), bad);
    check_solved(&system);
  }
}

static void check_inverse(const Matrix* matrix, int array) {
  static Matrix inverse;
  static Matrix product;
  const Part all = {0, 0, order, order};
  get_matrix(&inverse, array, C_DBL, fortran_view, order, order);
  random_matrix(&product, C_DBL, order, order);
  model_multiply('n', 'n', 1, matrix, &all, &inverse, &all, 0, &product, &all);
  for (int i = 0; i < order; ++i) {
    for (int j = 0; j < order; ++j) {
      CHECK(cabs(product.at[i][j] - (i == j ? 1 : 0)) < rounding);
      CHECK(cabs(inverse.at[i][j] - inverse.at[j][i]) < rounding);
    }
  }
  GA_Sync();
}

static void inverse(void) {
  static Matrix matrix;
  random_start(44);
  definite(&matrix, 0);
  int array = matrix_array(&matrix, C_DBL, fortran_view);
  CHECK_EQUAL(GA_Spd_invert(array), 0);
  check_inverse(&matrix, array);
  GA_Destroy(array);
  definite(&matrix, 7);
  Integer handle = matrix_array(&matrix, C_DBL, fortran_view);
  CHECK_EQUAL(ga_spd_invert_(&handle), 7);
  GA_Destroy((int)handle);
}

/* L L^T or U^T U is A, and the other triangle is zero. */
static void check_factor(const Matrix* matrix, char triangle, Integer array) {
  static Matrix factor;
  static Matrix product;
  const Part all = {0, 0, order, order};
  get_matrix(&factor, (int)array, C_DBL, fortran_view, order, order);
  for (int i = 0; i < order; ++i) {
    for (int j = 0; j < order; ++j) {
      CHECK((triangle == 'L' ? i >= j : i <= j) || factor.at[i][j] == 0);
    }
  }
  random_matrix(&product, C_DBL, order, order);
  const char first = triangle == 'L' ? 'n' : 't';
  const char second = triangle == 'L' ? 't' : 'n';
  model_multiply(first, second, 1, &factor, &all, &factor, &all, 0, &product, &all);
  for (int i = 0; i < order; ++i) {
    for (int j = 0; j < order; ++j) {
      CHECK(cabs(product.at[i][j] - matrix->at[i][j]) < rounding);
    }
  }
  GA_Sync();
}

static void factors(void) {
  static System system;
  static Matrix matrix;
  Integer none = -1;
  random_start(45);
  for (int turn = 0; turn < 2; ++turn) {
    char triangle = turn == 0 ? 'L' : 'U';
    definite(&matrix, 0);
    new_system(&system, &matrix, 'n');
    CHECK_EQUAL(turn == 0 ? ga_cholesky_(&triangle, &system.a, 1)
                          : ga_llt_f_(&triangle, &system.a, &none, 1),
                0);
    check_factor(&matrix, triangle, system.a);
    ga_llt_s_(&triangle, &system.a, &system.b, &none, 1);
    check_doubles(&system.solution, (int)system.b, rounding);
    CHECK_EQUAL(ga_llt_i_(&triangle, &system.a, &none, 1), 0);
    check_inverse(&matrix, (int)system.a);
    end_system(&system);
    definite(&matrix, 2);
    Integer bad = matrix_array(&matrix, C_DBL, fortran_view);
    CHECK_EQUAL(ga_cholesky_(&triangle, &bad, 1), 2);
    GA_Destroy((int)bad);
  }
}

/* With a number other than -1 the factor is kept apart: the array keeps its values. */
static void kept_factors(void) {
  static System system;
  static Matrix matrix;
  random_start(48);
  for (int turn = 0; turn < 4; ++turn) {
    char triangle = turn % 2 == 0 ? 'L' : 'u';
    Integer first = turn < 2 ? 0 : 77;
    Integer second = first;
    definite(&matrix, 0);
    new_system(&system, &matrix, 'n');
    CHECK_EQUAL(ga_llt_f_(&triangle, &system.a, &first, 1), 0);
    CHECK_EQUAL(ga_llt_f_(&triangle, &system.a, &second, 1), 0);
    CHECK(first > 0 && second > 0 && first != second);
    check_doubles(&matrix, (int)system.a, 0);
    ga_llt_s_(&triangle, &system.a, &system.b, &first, 1);
    check_doubles(&system.solution, (int)system.b, rounding);
    check_doubles(&matrix, (int)system.a, 0);
    CHECK_EQUAL(ga_llt_i_(&triangle, &system.a, &second, 1), 0);
    check_inverse(&matrix, (int)system.a);
    end_system(&system);
  }
}

/* No factor is kept of a matrix that is not positive definite; one that no call uses is freed at
   the end. */
static void no_kept_factor(void) {
  static Matrix matrix;
  char triangle = 'L';
  Integer number = 5;
  random_start(49);
  definite(&matrix, 3);
  Integer bad = matrix_array(&matrix, C_DBL, fortran_view);
  CHECK_EQUAL(ga_llt_f_(&triangle, &bad, &number, 1), 3);
  CHECK_EQUAL(number, 5);
  check_doubles(&matrix, (int)bad, 0);
  GA_Destroy((int)bad);
  definite(&matrix, 0);
  Integer good = matrix_array(&matrix, C_DBL, fortran_view);
  CHECK_EQUAL(ga_llt_f_(&triangle, &good, &number, 1), 0);
  GA_Destroy((int)good);
}

static void a_factor_with_a_zero(void) {
  static Matrix matrix;
  char triangle = 'L';
  Integer none = -1;
  random_start(46);
  random_matrix(&matrix, C_DBL, order, order);
  for (int i = 0; i < order; ++i) {
    matrix.at[i][i] = i == 5 || i == 8 ? 0 : 1;
  }
  Integer array = matrix_array(&matrix, C_DBL, fortran_view);
  CHECK_EQUAL(ga_llt_i_(&triangle, &array, &none, 1), 6);
  check_doubles(&matrix, (int)array, 0);
  GA_Destroy((int)array);
}

static void triangles(void) {
  static Matrix matrix;
  static Matrix zeroed;
  static Matrix symmetric;
  random_start(47);
  for (int turn = 0; turn < 2; ++turn) {
    char triangle = turn == 0 ? 'L' : 'u';
    random_matrix(&matrix, C_DBL, order, order);
    zeroed = matrix;
    symmetric = matrix;
    for (int i = 0; i < order; ++i) {
      for (int j = 0; j < order; ++j) {
        const int is_kept = turn == 0 ? i >= j : i <= j;
        zeroed.at[i][j] = is_kept ? matrix.at[i][j] : 0;
        symmetric.at[i][j] = is_kept ? matrix.at[i][j] : matrix.at[j][i];
      }
    }
    Integer array = matrix_array(&matrix, C_DBL, fortran_view);
    Integer other = matrix_array(&matrix, C_DBL, fortran_view);
    ga_zeroul_(&triangle, &array, 1);
    check_doubles(&zeroed, (int)array, 0);
    ga_symul_(&triangle, &other, 1);
    check_doubles(&symmetric, (int)other, 0);
    GA_Destroy((int)array);
    GA_Destroy((int)other);
  }
}

const Case solver_cases[] = {{"by_lu", by_lu},
                             {"by_cholesky", by_cholesky},
                             {"by_either", by_either},
                             {"inverse", inverse},
                             {"factors", factors},
                             {"kept_factors", kept_factors},
                             {"triangles", triangles},
                             {"no_kept_factor", no_kept_factor},
                             {"zero", a_factor_with_a_zero},
                             {NULL, NULL}};
