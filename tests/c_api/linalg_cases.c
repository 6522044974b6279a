/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tests/c_api/cases.h"
#include "tests/c_api/dense.h"
#include "tests/c_api/model.h"

static double complex other_number(int64_t i, int64_t j) {
  return small_number(j + 1, 2 * i);
}

/* c = alpha op(a) op(b) + beta c, with numbers that are exact in all types. */
static void multiply(tessera_type type, tessera_transposition op_a, tessera_transposition op_b) {
  enum { m = 9, n = 7, k = 8 };
  const Dense a =
      dense_of(type, op_a == TESSERA_PLAIN ? m : k, op_a == TESSERA_PLAIN ? k : m, small_number);
  const Dense b =
      dense_of(type, op_b == TESSERA_PLAIN ? k : n, op_b == TESSERA_PLAIN ? n : k, other_number);
  Dense c = dense_of(type, m, n, hermitian);
  tessera_array* const of_a = spread(&a, type, "A");
  tessera_array* const of_b = spread(&b, type, "B");
  tessera_array* const of_c = spread(&c, type, "C");
  double complex alpha = 0;
  double complex beta = 0;
  const double complex factor = is_complex(type) ? 2 - I : 2;
  tessera_product_options options;
  tessera_product_options_init(&options);
  write_number(type, &alpha, 0, factor);
  write_number(type, &beta, 0, -1);
  options.alpha = &alpha;
  options.beta = &beta;
  options.op_a = op_a;
  options.op_b = op_b;
  Dense expected = product(&a, op_a, &b, op_b);
  for (int64_t place = 0; place < m * n; ++place) {
    expected.at[place] = factor * expected.at[place] - c.at[place];
  }
  CHECK_OK(tessera_matrix_gemm(tessera_matrix_whole(of_a), tessera_matrix_whole(of_b), &options,
                               tessera_matrix_whole(of_c)));
  c = collect(of_c);
  CHECK_REAL(difference(&c, &expected), 0);
  release(of_c);
  release(of_b);
  release(of_a);
}

static void products(void) {
  for (int type = 0; type < scalar_types; ++type) {
    multiply(scalars[type], TESSERA_PLAIN, TESSERA_PLAIN);
    multiply(scalars[type], TESSERA_TRANSPOSED, TESSERA_CONJUGATE_TRANSPOSED);
    multiply(scalars[type], TESSERA_CONJUGATE_TRANSPOSED, TESSERA_PLAIN);
  }
}

/* Parts of arrays, one of them a plane of three dimensions. */
static void products_of_parts(void) {
  const int64_t extents[3] = {3, 8, 4};
  const int64_t plane_lo[3] = {1, 0, 0};
  const int64_t plane_hi[3] = {2, 8, 4};
  const int64_t lo[2] = {2, 1};
  const int64_t hi[2] = {7, 5};
  double values[8 * 4];
  const Dense a = dense_of(TESSERA_F64, 8, 4, small_number);
  Dense part = {5, 4, {0}};
  Dense c = {9, 9, {0}};
  tessera_array* const stack = make_array(TESSERA_F64, 3, extents, "stack");
  tessera_array* const of_a = spread(&a, TESSERA_F64, "A");
  tessera_array* const of_c = spread(&c, TESSERA_F64, "C");
  for (int64_t place = 0; place < 8 * 4; ++place) {
    values[place] = creal(a.at[place]);
  }
  for (int64_t i = 0; i < 5; ++i) {
    memcpy(&part.at[i * 4], &a.at[(i + 2) * 4], 4 * sizeof part.at[0]);
  }
  if (member == 0) {
    CHECK_OK(tessera_array_put(stack, plane_lo, plane_hi, values, NULL));
  }
  CHECK_OK(tessera_array_sync(stack));
  const int64_t part_lo[2] = {2, 0};
  const int64_t part_hi[2] = {7, 4};
  const int64_t result_hi[2] = {7, 9};
  CHECK_OK(tessera_matrix_gemm(tessera_matrix_box(of_a, part_lo, part_hi),
                               tessera_matrix_plane(stack, plane_lo, plane_hi, 2, 1), NULL,
                               tessera_matrix_box(of_c, lo, result_hi)));
  const Dense expected = product(&part, TESSERA_PLAIN, &a, TESSERA_TRANSPOSED);
  c = collect(of_c);
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = 0; j < 9; ++j) {
      const int is_in = i >= 2 && i < 7 && j >= 1;
      CHECK_REAL(creal(c.at[i * 9 + j]), is_in ? creal(expected.at[(i - 2) * 8 + j - 1]) : 0);
    }
  }
  CHECK_ERROR(tessera_matrix_gemm(tessera_matrix_box(of_a, lo, hi), tessera_matrix_whole(of_a),
                                  NULL, tessera_matrix_whole(of_c)),
              TESSERA_OUT_OF_RANGE, "array 'A' (float64, 8 x 4)");
  release(of_c);
  release(of_a);
  release(stack);
}

/* C[j, i] = sum over k and l of A[i, k, l] B[l, j, k]. */
static void contractions(void) {
  enum { i_end = 5, j_end = 4, k_end = 3, l_end = 6 };
  const int64_t of_a[3] = {i_end, k_end, l_end};
  const int64_t of_b[3] = {l_end, j_end, k_end};
  double complex a_values[i_end * k_end * l_end];
  double complex b_values[l_end * j_end * k_end];
  for (int number = 0; number < scalar_types; ++number) {
    const tessera_type type = scalars[number];
    Dense c = {j_end, i_end, {0}};
    tessera_array* const a = make_array(type, 3, of_a, "A");
    tessera_array* const b = make_array(type, 3, of_b, "B");
    tessera_array* const to = spread(&c, type, "C");
    for (int64_t place = 0; place < i_end * k_end * l_end; ++place) {
      write_number(type, a_values, place, small_number(place, 1));
    }
    for (int64_t place = 0; place < l_end * j_end * k_end; ++place) {
      write_number(type, b_values, place, small_number(3, place));
    }
    for (int64_t j = 0; j < j_end; ++j) {
      for (int64_t i = 0; i < i_end; ++i) {
        for (int64_t kl = 0; kl < k_end * l_end; ++kl) {
          const int64_t k = kl / l_end;
          const int64_t l = kl % l_end;
          c.at[j * i_end + i] += read_number(type, a_values, (i * k_end + k) * l_end + l) *
                                 read_number(type, b_values, (l * j_end + j) * k_end + k);
        }
      }
    }
    if (member == 0) {
      CHECK_OK(tessera_array_put(a, NULL, NULL, a_values, NULL));
      CHECK_OK(tessera_array_put(b, NULL, NULL, b_values, NULL));
    }
    CHECK_OK(tessera_array_sync(a));
    CHECK_OK(tessera_array_sync(b));
    CHECK_OK(tessera_array_contract("ikl", a, "ljk", b, NULL, "ji", to));
    const Dense found = collect(to);
    CHECK_REAL(difference(&found, &c), 0);
    CHECK_ERROR(tessera_array_contract("ik", a, "ljk", b, NULL, "ji", to), TESSERA_INVALID_ARGUMENT,
                "tessera_array_contract");
    CHECK_ERROR(tessera_array_contract("ikl", a, NULL, b, NULL, "ji", to), TESSERA_INVALID_ARGUMENT,
                "letters is null");
    release(to);
    release(b);
    release(a);
  }
}

static void permutations(void) {
  const int64_t extents[3] = {2, 3, 4};
  const int64_t turned[3] = {4, 2, 3};
  const int64_t dims[3] = {2, 0, 1};
  const int64_t wrong[3] = {2, 0, 7};
  char values[2 * 3 * 4][3];
  char found[2 * 3 * 4][3];
  tessera_array* const from = make_array(tessera_type_opaque(3), 3, extents, "A");
  tessera_array* const to = make_array(tessera_type_opaque(3), 3, turned, "B");
  memset(values, 0, sizeof values);
  for (int place = 0; place < 2 * 3 * 4; ++place) {
    values[place][1] = (char)place;
  }
  if (member == 0) {
    CHECK_OK(tessera_array_put(from, NULL, NULL, values, NULL));
  }
  CHECK_OK(tessera_array_sync(from));
  CHECK_OK(tessera_array_permute(from, dims, NULL, to));
  CHECK_OK(tessera_array_get(to, NULL, NULL, found, NULL));
  for (int k = 0; k < 4; ++k) {
    for (int ij = 0; ij < 2 * 3; ++ij) {
      CHECK_EQUAL(found[k * 6 + ij][1], ij * 4 + k);
    }
  }
  CHECK_ERROR(tessera_array_permute(from, wrong, NULL, to), TESSERA_INVALID_ARGUMENT,
              "is not an order of the dimensions");
  CHECK_ERROR(tessera_array_permute(from, NULL, NULL, to), TESSERA_INVALID_ARGUMENT,
              "dimensions is null");
  CHECK_ERROR(tessera_array_permute(NULL, dims, NULL, to), TESSERA_INVALID_ARGUMENT,
              "the array is null");
  release(to);
  release(from);
}

static void transposes(void) {
  for (int number = 0; number < scalar_types; ++number) {
    const tessera_type type = scalars[number];
    const Dense a = dense_of(type, 9, 7, small_number);
    Dense b = {7, 9, {0}};
    tessera_array* const from = spread(&a, type, "A");
    tessera_array* const to = spread(&b, type, "B");
    CHECK_OK(tessera_array_transpose(from, NULL, to));
    b = collect(to);
    for (int64_t i = 0; i < 9; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        CHECK(b.at[j * 9 + i] == a.at[i * 7 + j]);
      }
    }
    CHECK_ERROR(tessera_array_transpose(from, NULL, from), TESSERA_INVALID_ARGUMENT,
                "dimension 0 of array 'A'");
    release(to);
    release(from);
  }
}

static void transposes_of_parts(void) {
  const int64_t from_lo[2] = {4, 2}, from_hi[2] = {8, 5}, to_lo[2] = {1, 1}, to_hi[2] = {4, 5};
  const int64_t cube_extents[3] = {2, 9, 7}, lo[3] = {1, 0, 0}, hi[3] = {2, 9, 7};
  const int64_t beside[2] = {8, 6}, dims[2] = {2, 1}, planes[3] = {TESSERA_NO_DIM, 1, 0};
  const Dense a = dense_of(TESSERA_F64, 9, 7, small_number);
  Dense b = dense_of(TESSERA_F64, 7, 9, small_number);
  const Dense before = b;
  tessera_array* const from = spread(&a, TESSERA_F64, "A");
  tessera_array* const to = spread(&b, TESSERA_F64, "B");
  tessera_array* const cube = make_array(TESSERA_F64, 3, cube_extents, "cube");
  CHECK_OK(tessera_part_transpose(tessera_part_box(from, from_lo, from_hi), NULL,
                                  tessera_part_box(to, to_lo, to_hi)));
  b = collect(to);
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t j = 0; j < 9; ++j) {
      const int is_inside = i >= 1 && i < 4 && j >= 1 && j < 5;
      CHECK(b.at[i * 9 + j] ==
            (is_inside ? a.at[(j - 1 + 4) * 7 + i - 1 + 2] : before.at[i * 9 + j]));
    }
  }
  /* To a plane of three dimensions, and back: then B is A transposed. */
  CHECK_OK(
      tessera_part_permute(tessera_part_whole(to), planes, NULL, tessera_part_box(cube, lo, hi)));
  CHECK_OK(
      tessera_part_permute(tessera_part_box(cube, lo, hi), dims, NULL, tessera_part_whole(to)));
  const Dense again = collect(to);
  CHECK_REAL(difference(&again, &b), 0);
  CHECK_ERROR(tessera_part_transpose(tessera_part_box(from, from_lo, beside), NULL,
                                     tessera_part_box(to, to_lo, to_hi)),
              TESSERA_INVALID_ARGUMENT, "has extent 3");
  CHECK_ERROR(tessera_part_transpose(tessera_part_box(from, from_lo, from_hi), NULL,
                                     tessera_part_box(from, from_lo, from_hi)),
              TESSERA_INVALID_ARGUMENT, "dimension 0");
  release(cube);
  release(to);
  release(from);
}

static void bad_operands(void) {
  const int64_t extents[2] = {9, 9};
  const Dense square = dense_of(TESSERA_F64, 9, 9, small_number);
  tessera_array* const a = spread(&square, TESSERA_F64, "A");
  tessera_array* const whole = make_array(TESSERA_I32, 2, extents, "whole");
  tessera_array* const single = make_array(TESSERA_F32, 2, extents, "single");
  const tessera_matrix of_a = tessera_matrix_whole(a);
  tessera_product_options options;
  tessera_product_options_init(&options);
  CHECK_ERROR(tessera_matrix_gemm(of_a, tessera_matrix_whole(whole), NULL, of_a),
              TESSERA_INVALID_ARGUMENT,
              "'whole' (int32, 9 x 9) has elements of a type that linear algebra");
  CHECK_ERROR(tessera_matrix_gemm(of_a, of_a, NULL, tessera_matrix_whole(single)),
              TESSERA_INVALID_ARGUMENT, "elements of different types");
  CHECK_ERROR(tessera_matrix_gemm(of_a, of_a, NULL, of_a), TESSERA_INVALID_ARGUMENT, "share");
  CHECK_ERROR(tessera_matrix_gemm(tessera_matrix_plane(a, NULL, NULL, 1, 1), of_a, NULL, of_a),
              TESSERA_INVALID_ARGUMENT, "do not make a matrix of 2 dimensions");
  CHECK_ERROR(tessera_matrix_gemm(of_a, tessera_matrix_whole(NULL), NULL, of_a),
              TESSERA_INVALID_ARGUMENT, "the array is null");
  CHECK_ERROR(tessera_array_transpose(a, NULL, single), TESSERA_INVALID_ARGUMENT,
              "elements of different types");
  options.op_b = 3;
  CHECK_ERROR(tessera_matrix_gemm(of_a, of_a, &options, of_a), TESSERA_INVALID_ARGUMENT,
              "there is no transposition 3");
  /* An error of one member is reported to the others. */
  const int code = tessera_matrix_gemm(of_a, of_a, member == members - 1 ? &options : NULL,
                                       tessera_matrix_whole(single));
  CHECK_EQUAL(code, TESSERA_INVALID_ARGUMENT);
  release(single);
  release(whole);
  release(a);
}

static void who_does_the_work(void) {
  int64_t threads = -1;
  const int code = tessera_team_check_scalapack(team);
  CHECK(code == TESSERA_OK || code == TESSERA_UNSUPPORTED);
  if (code != TESSERA_OK) {
    CHECK_HAS(tessera_last_error(), "ScaLAPACK");
  }
  CHECK_OK(tessera_job_blas_threads(job, &threads));
  CHECK(threads >= 0);
  CHECK_OK(tessera_job_limit_blas_threads(job));
  tessera_release_buffers();
  CHECK_ERROR(tessera_job_blas_threads(job, NULL), TESSERA_INVALID_ARGUMENT, "result is null");
}

const Case linalg_cases[] = {{"products", products},
                             {"products_of_parts", products_of_parts},
                             {"contractions", contractions},
                             {"permutations", permutations},
                             {"transposes", transposes},
                             {"transposes_of_parts", transposes_of_parts},
                             {"bad_operands", bad_operands},
                             {"who_does_the_work", who_does_the_work},
                             {NULL, NULL}};
