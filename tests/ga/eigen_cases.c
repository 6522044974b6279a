/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Eigenvalues: the equations that define them are checked by the serial model.
 */
#include <string.h>

#include "tests/ga/matrices.h"

enum { order = 13 };
static const double rounding = 1e-9;

typedef void Solver(Integer*, Integer*, double*, Integer*);
typedef void PartSolver(Integer*, Integer*, double*, Integer*, Integer*);
extern Solver ga_pdsyev_;
extern Solver ga_pdsyevx_;
extern Solver ga_pdsyevd_;
extern Solver ga_pzheevd_;
extern PartSolver ga_pdsyevr_;
extern PartSolver ga_evp_real_;
extern PartSolver ga_pzheevr_;
extern void ga_pdsygv_(Integer*, Integer*, Integer*, double*);
extern void ga_diag_std_(Integer*, Integer*, double*);
extern void ga_diag_(Integer*, Integer*, Integer*, double*);

static void symmetric(Matrix* matrix) {
  random_matrix(matrix, C_DBL, order, order);
  for (int i = 0; i < order; ++i) {
    for (int j = 0; j < i; ++j) {
      matrix->at[j][i] = matrix->at[i][j];
    }
  }
}

/* Checks A V = S V diag(values) for `count` columns, and that the values ascend. Without S: V's
 * columns have length 1. */
static void check_pairs(const Matrix* a, const Matrix* s, const Matrix* v, const double* values,
                        int count) {
  for (int column = 0; column < count; ++column) {
    double length = 0;
    for (int i = 0; i < order; ++i) {
      double _Complex left = 0;
      double _Complex right = 0;
      for (int k = 0; k < order; ++k) {
        left += a->at[i][k] * v->at[k][column];
        right += (s != NULL ? s->at[i][k] : (i == k ? 1 : 0)) * v->at[k][column];
      }
      CHECK(cabs(left - values[column] * right) < rounding);
      length += creal(conj(v->at[i][column]) * right);
    }
    CHECK(length > 1 - rounding && length < 1 + rounding);
    CHECK(column == 0 || values[column] >= values[column - 1]);
  }
}

static void check_vectors(const Matrix* a, const Matrix* s, Integer vectors, const double* values,
                          int count) {
  static Matrix v;
  get_matrix(&v, (int)vectors, C_DBL, fortran_view, order, order);
  check_pairs(a, s, &v, values, count);
  GA_Sync();
}

/* C's names and those of Fortran that have no block size. */
static void call_standard(int name, Integer a, Integer v, double* values) {
  static Solver* const solvers[] = {ga_pdsyev_, ga_pdsyevx_, ga_pdsyevd_};
  Integer block = name % 2 * 4;
  if (name == 0) {
    GA_Diag_std((int)a, (int)v, values);
  } else if (name == 1) {
    GA_Diag_std_seq((int)a, (int)v, values);
  } else if (name == 2) {
    ga_diag_std_(&a, &v, values);
  } else {
    solvers[name - 3](&a, &v, values, &block);
  }
}

static void standard(void) {
  static Matrix matrix;
  double values[order];
  random_start(51);
  for (int name = 0; name < 6; ++name) {
    symmetric(&matrix);
    Integer a = matrix_array(&matrix, C_DBL, fortran_view);
    Integer v = matrix_array(&matrix, C_DBL, fortran_view);
    memset(values, 0xff, sizeof values);
    call_standard(name, a, v, values);
    check_vectors(&matrix, NULL, v, values, order);
    check_doubles(&matrix, (int)a, 0);
    GA_Destroy((int)a);
    GA_Destroy((int)v);
  }
}

/* The vectors may replace the matrix. */
static void in_place(void) {
  static Matrix matrix;
  double values[order];
  Integer block = 0;
  random_start(52);
  symmetric(&matrix);
  Integer a = matrix_array(&matrix, C_DBL, fortran_view);
  ga_pdsyev_(&a, &a, values, &block);
  check_vectors(&matrix, NULL, a, values, order);
  GA_Destroy((int)a);
}

/* Only the first vectors and values are written. */
static void the_first_ones(void) {
  static Matrix matrix;
  static Matrix found;
  static PartSolver* const solvers[] = {ga_pdsyevr_, ga_evp_real_};
  random_start(53);
  for (int turn = 0; turn < 6; ++turn) {
    double values[order + 1];
    Integer block = 0;
    Integer count = turn < 2 ? 4 : (turn < 4 ? 0 : order + 1);
    const int first = turn < 2 ? 4 : order;
    symmetric(&matrix);
    Integer a = matrix_array(&matrix, C_DBL, fortran_view);
    Integer v = matrix_array(&matrix, C_DBL, fortran_view);
    for (int i = 0; i <= order; ++i) {
      values[i] = -1000;
    }
    solvers[turn % 2](&a, &v, values, &block, &count);
    CHECK_EQUAL(count, first);
    check_vectors(&matrix, NULL, v, values, first);
    CHECK_REAL(values[first], -1000.0);
    get_matrix(&found, (int)v, C_DBL, fortran_view, order, order);
    for (int i = 0; i < order && first < order; ++i) {
      CHECK_REAL(creal(found.at[i][first]), creal(matrix.at[i][first]));
    }
    GA_Sync();
    GA_Destroy((int)a);
    GA_Destroy((int)v);
  }
}

static void generalised(void) {
  static Matrix matrix;
  static Matrix metric;
  double values[order];
  random_start(54);
  for (int name = 0; name < 5; ++name) {
    symmetric(&matrix);
    dominant_matrix(&metric, order, 1);
    Integer a = matrix_array(&matrix, C_DBL, fortran_view);
    Integer s = matrix_array(&metric, C_DBL, fortran_view);
    Integer v = matrix_array(&matrix, C_DBL, fortran_view);
    memset(values, 0xff, sizeof values);
    if (name == 0) {
      GA_Diag((int)a, (int)s, (int)v, values);
    } else if (name == 1) {
      GA_Diag_seq((int)a, (int)s, (int)v, values);
    } else if (name == 2) {
      GA_Diag_reuse(0, (int)a, (int)s, (int)v, values);
      GA_Diag_reuse(1, (int)a, (int)s, (int)v, values);
      GA_Diag_reuse(-1, (int)a, (int)s, (int)v, values);
    } else if (name == 3) {
      ga_diag_(&a, &s, &v, values);
    } else {
      ga_pdsygv_(&a, &s, &v, values);
    }
    check_vectors(&matrix, &metric, v, values, order);
    check_doubles(&matrix, (int)a, 0);
    check_doubles(&metric, (int)s, 0);
    GA_Destroy((int)a);
    GA_Destroy((int)s);
    GA_Destroy((int)v);
  }
}

/* Real and imaginary parts are arrays of their own. */
static void hermitian(void) {
  static Matrix matrix;
  static Matrix part;
  static Matrix v;
  static Matrix imaginary;
  random_start(55);
  for (int turn = 0; turn < 2; ++turn) {
    double values[order];
    Integer block = 0;
    Integer count = 5;
    random_matrix(&matrix, C_DCPL, order, order);
    for (int i = 0; i < order; ++i) {
      matrix.at[i][i] = creal(matrix.at[i][i]);
      for (int j = 0; j < i; ++j) {
        matrix.at[j][i] = conj(matrix.at[i][j]);
      }
    }
    Integer a[2];
    Integer vectors[2];
    for (int number = 0; number < 2; ++number) {
      part = matrix;
      for (int i = 0; i < order; ++i) {
        for (int j = 0; j < order; ++j) {
          part.at[i][j] = number == 0 ? creal(matrix.at[i][j]) : cimag(matrix.at[i][j]);
        }
      }
      a[number] = matrix_array(&part, C_DBL, fortran_view);
      vectors[number] = matrix_array(&part, C_DBL, fortran_view);
    }
    if (turn == 0) {
      ga_pzheevd_(a, vectors, values, &block);
    } else {
      ga_pzheevr_(a, vectors, values, &block, &count);
      CHECK_EQUAL(count, 5);
    }
    get_matrix(&v, (int)vectors[0], C_DBL, fortran_view, order, order);
    get_matrix(&imaginary, (int)vectors[1], C_DBL, fortran_view, order, order);
    for (int i = 0; i < order; ++i) {
      for (int j = 0; j < order; ++j) {
        v.at[i][j] += I * imaginary.at[i][j];
      }
    }
    check_pairs(&matrix, NULL, &v, values, turn == 0 ? order : 5);
    GA_Sync();
    for (int number = 0; number < 2; ++number) {
      GA_Destroy((int)a[number]);
      GA_Destroy((int)vectors[number]);
    }
  }
}

const Case eigen_cases[] = {
    {"standard", standard},       {"in_place", in_place},   {"the_first_ones", the_first_ones},
    {"generalised", generalised}, {"hermitian", hermitian}, {NULL, NULL}};
