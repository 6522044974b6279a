/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/dense.h"
#include "tests/c_api/model.h"

/* The residual A X - B is compared with this many rounding errors of the largest numbers. */
enum { size = 9, sides = 3, roundings = 1000 };

static double tolerance(tessera_type type) {
  return roundings * epsilon_of(type);
}

static double complex general(int64_t i, int64_t j) {
  return small_number(i, j) + (i == size - 1 - j ? 9 : 0);
}

/* Calls solve(type) for each type. */
static void for_each_type(void (*solve)(tessera_type type)) {
  for (int number = 0; number < scalar_types; ++number) {
    solve(scalars[number]);
  }
}

static void check_solved(const Dense* a, tessera_transposition op, const tessera_array* x,
                         const Dense* b, tessera_type type) {
  const Dense found = collect(x);
  const Dense back = product(a, op, &found, TESSERA_PLAIN);
  CHECK(difference(&back, b) <= tolerance(type));
}

static void by_cholesky(tessera_type type) {
  const Dense a = dense_of(type, size, size, hermitian);
  const Dense b = dense_of(type, size, sides, small_number);
  for (tessera_triangle triangle = TESSERA_LOWER; triangle <= TESSERA_UPPER; ++triangle) {
    tessera_array* const of_a = spread(&a, type, "A");
    tessera_array* const of_b = spread(&b, type, "B");
    tessera_solver_options options;
    tessera_solver_options_init(&options);
    options.triangle = triangle;
    options.block = 4;
    CHECK_OK(tessera_matrix_cholesky(tessera_matrix_whole(of_a), &options));
    const Dense left = collect(of_a);
    const Dense factor = triangle_of(&left, triangle, 0);
    const int is_lower = triangle == TESSERA_LOWER;
    const Dense back = product(&factor, is_lower ? TESSERA_PLAIN : TESSERA_CONJUGATE_TRANSPOSED,
                               &factor, is_lower ? TESSERA_CONJUGATE_TRANSPOSED : TESSERA_PLAIN);
    CHECK(difference(&back, &a) <= tolerance(type));
    CHECK_OK(tessera_matrix_solve_cholesky(tessera_matrix_whole(of_a), tessera_matrix_whole(of_b),
                                           &options));
    check_solved(&a, TESSERA_PLAIN, of_b, &b, type);
    release(of_b);
    release(of_a);
  }
}

static void by_lu(tessera_type type) {
  const Dense a = dense_of(type, size, size, general);
  const Dense b = dense_of(type, size, sides, small_number);
  int64_t pivots[size];
  tessera_array* const of_a = spread(&a, type, "A");
  CHECK_OK(tessera_matrix_lu(tessera_matrix_whole(of_a), NULL, pivots));
  const Dense left = collect(of_a);
  const Dense lower = triangle_of(&left, TESSERA_LOWER, 1);
  const Dense upper = triangle_of(&left, TESSERA_UPPER, 0);
  Dense back = product(&lower, TESSERA_PLAIN, &upper, TESSERA_PLAIN);
  for (int64_t step = size - 1; step >= 0; --step) {
    for (int64_t j = 0; j < size; ++j) {
      const double complex kept = back.at[step * size + j];
      back.at[step * size + j] = back.at[pivots[step] * size + j];
      back.at[pivots[step] * size + j] = kept;
    }
  }
  CHECK(difference(&back, &a) <= tolerance(type));
  for (tessera_transposition op = TESSERA_PLAIN; op <= TESSERA_CONJUGATE_TRANSPOSED; ++op) {
    tessera_array* const of_b = spread(&b, type, "B");
    tessera_solver_options options;
    tessera_solver_options_init(&options);
    options.op = op;
    CHECK_OK(tessera_matrix_solve_lu(tessera_matrix_whole(of_a), size, pivots,
                                     tessera_matrix_whole(of_b), &options));
    check_solved(&a, op, of_b, &b, type);
    release(of_b);
  }
  release(of_a);
}

static void by_qr(tessera_type type) {
  enum { rows = 12 };
  const Dense a = dense_of(type, rows, size, general);
  const Dense x = dense_of(type, size, sides, small_number);
  const Dense b = product(&a, TESSERA_PLAIN, &x, TESSERA_PLAIN);
  double complex tau[size] = {0};
  tessera_array* const of_a = spread(&a, type, "A");
  tessera_array* const of_b = spread(&b, type, "B");
  tessera_array* const of_x = spread(&x, type, "X");
  CHECK_OK(tessera_array_zero(tessera_part_whole(of_x)));
  CHECK_OK(tessera_matrix_least_squares(tessera_matrix_whole(of_a), tessera_matrix_whole(of_b),
                                        NULL, tessera_matrix_whole(of_x)));
  const Dense found = collect(of_x);
  CHECK(difference(&found, &x) <= tolerance(type));
  CHECK_OK(tessera_matrix_qr(tessera_matrix_whole(of_a), NULL, tau));
  CHECK(cabs(read_number(type, tau, 0)) >= 1 - tolerance(type));
  const Dense left = collect(of_a);
  Dense upper = triangle_of(&left, TESSERA_UPPER, 0);
  upper.rows = size;
  const Dense squares = product(&a, TESSERA_CONJUGATE_TRANSPOSED, &a, TESSERA_PLAIN);
  const Dense back = product(&upper, TESSERA_CONJUGATE_TRANSPOSED, &upper, TESSERA_PLAIN);
  CHECK(difference(&squares, &back) <= tolerance(type));
  release(of_x);
  release(of_b);
  release(of_a);
}

static void of_triangles(tessera_type type) {
  const Dense a = dense_of(type, size, size, hermitian);
  const Dense upper = triangle_of(&a, TESSERA_UPPER, 1);
  const Dense b = dense_of(type, sides, size, small_number);
  double complex alpha = 0;
  tessera_solver_options options;
  tessera_array* const of_a = spread(&a, type, "A");
  tessera_array* const of_b = spread(&b, type, "B");
  tessera_solver_options_init(&options);
  write_number(type, &alpha, 0, 2);
  options.side = TESSERA_RIGHT;
  options.triangle = TESSERA_UPPER;
  options.op = TESSERA_TRANSPOSED;
  options.diagonal = TESSERA_DIAGONAL_OF_ONES;
  options.alpha = &alpha;
  /* Without growth: the triangle is scaled to be small against its ones. */
  Dense small_part = upper;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      small_part.at[i * size + j] *= i == j ? 1 : 0.125;
    }
  }
  tessera_array* const of_small = spread(&small_part, type, "T");
  CHECK_OK(tessera_matrix_solve_triangular(tessera_matrix_whole(of_small),
                                           tessera_matrix_whole(of_b), &options));
  const Dense x = collect(of_b);
  const Dense back = product(&x, TESSERA_PLAIN, &small_part, TESSERA_TRANSPOSED);
  Dense twice = b;
  for (int64_t place = 0; place < sides * size; ++place) {
    twice.at[place] *= 2;
  }
  CHECK(difference(&back, &twice) <= tolerance(type));
  release(of_small);
  release(of_b);
  release(of_a);
}

static void systems(tessera_type type) {
  const Dense a = dense_of(type, size, size, general);
  const Dense definite = dense_of(type, size, size, hermitian);
  const Dense b = dense_of(type, size, sides, small_number);
  Dense ones = {size, size, {0}};
  tessera_array* const of_a = spread(&a, type, "A");
  tessera_array* const of_definite = spread(&definite, type, "D");
  tessera_array* of_b = spread(&b, type, "B");
  CHECK_OK(tessera_matrix_solve(tessera_matrix_whole(of_a), tessera_matrix_whole(of_b), NULL));
  check_solved(&a, TESSERA_PLAIN, of_b, &b, type);
  const Dense kept = collect(of_a);
  CHECK_REAL(difference(&kept, &a), 0);
  release(of_b);
  of_b = spread(&b, type, "B");
  CHECK_OK(tessera_matrix_solve_positive_definite(tessera_matrix_whole(of_definite),
                                                  tessera_matrix_whole(of_b), NULL));
  check_solved(&definite, TESSERA_PLAIN, of_b, &b, type);
  CHECK_OK(tessera_matrix_invert_positive_definite(tessera_matrix_whole(of_definite), NULL));
  const Dense inverse = collect(of_definite);
  const Dense back = product(&definite, TESSERA_PLAIN, &inverse, TESSERA_PLAIN);
  for (int64_t i = 0; i < size; ++i) {
    ones.at[i * size + i] = 1;
  }
  CHECK(difference(&back, &ones) <= tolerance(type));
  release(of_b);
  release(of_definite);
  release(of_a);
}

/* The columns of `vectors`, each times its value. */
static Dense scaled_columns(const Dense* vectors, tessera_type type, const void* values) {
  Dense scaled = *vectors;
  for (int64_t i = 0; i < vectors->rows; ++i) {
    for (int64_t j = 0; j < vectors->columns; ++j) {
      scaled.at[i * vectors->columns + j] *= read_value(type, values, j);
    }
  }
  return scaled;
}

static void check_values(tessera_type type, const double* one, const double* other, int64_t count,
                         int is_ascending) {
  for (int64_t i = 0; i < count; ++i) {
    CHECK(fabs(read_value(type, one, i) - read_value(type, other, i)) <= tolerance(type));
    if (i > 0 && is_ascending) {
      CHECK(read_value(type, one, i - 1) <= read_value(type, one, i));
    } else if (i > 0) {
      CHECK(read_value(type, one, i - 1) >= read_value(type, one, i));
    }
  }
}

static void eigenproblems(tessera_type type) {
  const Dense a = dense_of(type, size, size, hermitian);
  Dense b = dense_of(type, size, size, hermitian);
  double values[size] = {0};
  double alone[size] = {0};
  for (int64_t i = 0; i < size; ++i) {
    b.at[i * size + i] += (double)i;
  }
  tessera_array* const of_a = spread(&a, type, "A");
  tessera_array* const of_b = spread(&b, type, "B");
  tessera_array* const of_v = spread(&a, type, "V");
  const tessera_matrix matrix = tessera_matrix_whole(of_a);
  const tessera_matrix metric = tessera_matrix_whole(of_b);
  CHECK_OK(tessera_matrix_eigenvalues(matrix, NULL, alone));
  CHECK_OK(tessera_matrix_eigen(matrix, NULL, tessera_matrix_whole(of_v), values));
  check_values(type, values, alone, size, 1);
  Dense vectors = collect(of_v);
  Dense left = product(&a, TESSERA_PLAIN, &vectors, TESSERA_PLAIN);
  Dense right = scaled_columns(&vectors, type, values);
  CHECK(difference(&left, &right) <= tolerance(type));
  CHECK_OK(tessera_matrix_eigenvalues_generalised(matrix, metric, NULL, alone));
  CHECK_OK(
      tessera_matrix_eigen_generalised(matrix, metric, NULL, tessera_matrix_whole(of_v), values));
  check_values(type, values, alone, size, 1);
  vectors = collect(of_v);
  left = product(&a, TESSERA_PLAIN, &vectors, TESSERA_PLAIN);
  right = product(&b, TESSERA_PLAIN, &vectors, TESSERA_PLAIN);
  right = scaled_columns(&right, type, values);
  CHECK(difference(&left, &right) <= tolerance(type));
  release(of_v);
  release(of_b);
  release(of_a);
}

static void singular_problems(tessera_type type) {
  enum { rows = 12 };
  const Dense a = dense_of(type, rows, size, general);
  const Dense square = dense_of(type, size, size, general);
  double values[size] = {0};
  double alone[size] = {0};
  tessera_array* const of_a = spread(&a, type, "A");
  tessera_array* const of_u = spread(&a, type, "U");
  tessera_array* const of_vh = spread(&square, type, "Vh");
  CHECK_OK(tessera_matrix_singular_values(tessera_matrix_whole(of_a), NULL, alone));
  CHECK_OK(tessera_matrix_svd(tessera_matrix_whole(of_a), NULL, tessera_matrix_whole(of_u),
                              tessera_matrix_whole(of_vh), values));
  check_values(type, values, alone, size, 0);
  const Dense u = collect(of_u);
  const Dense vh = collect(of_vh);
  const Dense scaled = scaled_columns(&u, type, values);
  const Dense back = product(&scaled, TESSERA_PLAIN, &vh, TESSERA_PLAIN);
  CHECK(difference(&back, &a) <= tolerance(type));
  release(of_vh);
  release(of_u);
  release(of_a);
}

static void cholesky(void) {
  for_each_type(by_cholesky);
}
static void lu(void) {
  for_each_type(by_lu);
}
static void qr(void) {
  for_each_type(by_qr);
}
static void triangles(void) {
  for_each_type(of_triangles);
}
static void whole_systems(void) {
  for_each_type(systems);
}
static void eigenvalues(void) {
  for_each_type(eigenproblems);
}
static void singular_values(void) {
  for_each_type(singular_problems);
}

static void bad_systems(void) {
  const Dense none = {size, size, {0}};
  const Dense narrow = {size, 4, {0}};
  int64_t pivots[size];
  double values[size];
  tessera_solver_options options;
  tessera_array* const zeros = spread(&none, TESSERA_F64, "Z");
  tessera_array* const slim = spread(&narrow, TESSERA_F64, "N");
  const tessera_matrix of_zeros = tessera_matrix_whole(zeros);
  const tessera_matrix of_slim = tessera_matrix_whole(slim);
  tessera_solver_options_init(&options);
  CHECK_ERROR(tessera_matrix_cholesky(of_zeros, NULL), TESSERA_INVALID_ARGUMENT,
              "not positive definite");
  CHECK_ERROR(tessera_matrix_cholesky(of_slim, NULL), TESSERA_INVALID_ARGUMENT, "not square");
  CHECK_ERROR(tessera_matrix_lu(of_zeros, NULL, pivots), TESSERA_INVALID_ARGUMENT, "singular");
  CHECK_ERROR(tessera_matrix_lu(of_zeros, NULL, NULL), TESSERA_INVALID_ARGUMENT, "null");
  CHECK_ERROR(tessera_matrix_solve(of_zeros, of_slim, NULL), TESSERA_INVALID_ARGUMENT, "singular");
  CHECK_ERROR(tessera_matrix_eigenvalues(of_slim, NULL, values), TESSERA_INVALID_ARGUMENT,
              "not square");
  options.triangle = 2;
  CHECK_ERROR(tessera_matrix_cholesky(of_zeros, &options), TESSERA_INVALID_ARGUMENT,
              "there is no triangle 2");
  options.triangle = 0;
  options.method = TESSERA_METHOD_OWN;
  options.max_bytes = 8;
  CHECK_ERROR(tessera_matrix_eigenvalues(of_zeros, &options, values), TESSERA_LIMIT_EXCEEDED,
              "tessera_matrix_eigenvalues");
  options.struct_bytes = 1;
  CHECK_ERROR(tessera_matrix_eigenvalues(of_zeros, &options, values), TESSERA_INVALID_ARGUMENT,
              "call tessera_solver_options_init");
  release(slim);
  release(zeros);
}

const Case solve_cases[] = {{"cholesky", cholesky},
                            {"lu", lu},
                            {"qr", qr},
                            {"triangles", triangles},
                            {"whole_systems", whole_systems},
                            {"eigenvalues", eigenvalues},
                            {"singular_values", singular_values},
                            {"bad_systems", bad_systems},
                            {NULL, NULL}};
