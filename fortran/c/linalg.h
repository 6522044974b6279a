/* SPDX-License-Identifier: BSD-3-Clause
 *
 * linalg.h: dense linear algebra with distributed arrays; see tessera.h, and sparse.h for sparse
 * matrices.
 *
 *     tessera_matrix_gemm(tessera_matrix_whole(a), tessera_matrix_whole(b), NULL,
 *                         tessera_matrix_whole(c));                               C = A B
 *     tessera_matrix_solve(tessera_matrix_whole(a), tessera_matrix_box(b, lo, hi), NULL);
 *                                                                 A X = B, X replaces B
 *
 * Arguments: operands first, also those that are overwritten, then the options, and results last.
 *
 * A tessera_matrix is a two-dimensional array, a box of one, or a plane of an array with more
 * dimensions. Elements are TESSERA_F32, _F64, _C64 or _C128, the same in all operands. Operands may
 * be distributed in any way. The C++ headers give time, memory, and the method used:
 * linalg/gemm.hpp, contract.hpp, permute.hpp, factor.hpp, solve.hpp, eigen.hpp, svd.hpp,
 * method.hpp.
 *
 * All functions are collective over the team of the result, or of the first operand if nothing is
 * written. Other operands may be on teams that contain all its members. An operation sees what
 * members wrote before it, and all members see the result when it returns. Arguments, except
 * pointers, must be the same on all members.
 *
 * Errors of each: closed; invalid_argument (extents or types that do not fit, a box that is not a
 * matrix, operands that share elements with a result) and out_of_range: nothing was changed. After
 * no_memory and peer_lost the results are unspecified.
 */
#ifndef TESSERA_C_LINALG_H
#define TESSERA_C_LINALG_H

#include "fortran/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- operands and options --------------------------------------------------------------------- */

/* The part of an array that is used as a matrix; null bounds mean the whole array. In all
 * dimensions except those of rows and columns the box has extent 1. */
typedef struct tessera_matrix {
  const tessera_array* array;
  const int64_t* lo;
  const int64_t* hi;
  int64_t row_dim; /* the dimension of the row index */
  int64_t column_dim;
} tessera_matrix;

static inline tessera_matrix tessera_matrix_whole(const tessera_array* array) {
  const tessera_matrix matrix = {array, NULL, NULL, 0, 1};
  return matrix;
}
static inline tessera_matrix tessera_matrix_box(const tessera_array* array, const int64_t lo[],
                                                const int64_t hi[]) {
  const tessera_matrix matrix = {array, lo, hi, 0, 1};
  return matrix;
}
static inline tessera_matrix tessera_matrix_plane(const tessera_array* array, const int64_t lo[],
                                                  const int64_t hi[], int64_t row_dim,
                                                  int64_t column_dim) {
  const tessera_matrix matrix = {array, lo, hi, row_dim, column_dim};
  return matrix;
}

/* How an operand is used. For real matrices the last two are the same. */
typedef int tessera_transposition;
enum { TESSERA_PLAIN = 0, TESSERA_TRANSPOSED = 1, TESSERA_CONJUGATE_TRANSPOSED = 2 };

/* Which triangle is read; the side of X on which a triangular matrix stands; its diagonal. */
typedef int tessera_triangle;
enum { TESSERA_LOWER = 0, TESSERA_UPPER = 1 };
typedef int tessera_side;
enum { TESSERA_LEFT = 0, TESSERA_RIGHT = 1 };
typedef int tessera_diagonal;
enum { TESSERA_DIAGONAL_STORED = 0, TESSERA_DIAGONAL_OF_ONES = 1 };

/* Which implementation factors and solves. Automatic: ScaLAPACK if it can, else Tessera's own. */
typedef int tessera_method;
enum { TESSERA_METHOD_AUTOMATIC = 0, TESSERA_METHOD_OWN = 1, TESSERA_METHOD_SCALAPACK = 2 };

/* Options of products. `alpha` and `beta` are numbers of the matrices' type. */
typedef struct tessera_product_options {
  int64_t struct_bytes; /* set by tessera_product_options_init */
  const void* alpha;    /* null: 1 */
  const void* beta;     /* null: 0, and the result is not read */
  int64_t buffer_bytes; /* overrides TESSERA_LINALG_BUFFER; 0: use that setting */
  tessera_transposition op_a;
  tessera_transposition op_b;
} tessera_product_options;

static inline void tessera_product_options_init(tessera_product_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
}

/* Options of factorisations, linear systems, eigenvalues and singular values. Each function says
 * which of side, triangle, op, diagonal and alpha it uses. */
typedef struct tessera_solver_options {
  int64_t struct_bytes; /* set by tessera_solver_options_init */
  int64_t block;        /* columns in one step; 0: chosen by size */
  int64_t max_bytes;    /* limit for an eigenproblem that one member solves alone */
  const void* alpha;    /* a number of the matrices' type; null: 1 */
  tessera_method method;
  tessera_triangle triangle;
  tessera_side side;
  tessera_transposition op;
  tessera_diagonal diagonal;
} tessera_solver_options;

static inline void tessera_solver_options_init(tessera_solver_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_bytes = sizeof *options;
  options->max_bytes = INT64_C(1) << 30;
}

/* --- products --------------------------------------------------------------------------------- */

/* Collective. C = alpha op(A) op(B) + beta C. `options` may be null, here and below. */
int tessera_matrix_gemm(tessera_matrix a, tessera_matrix b, const tessera_product_options* options,
                        tessera_matrix c);
/* Local. Frees the large buffers that this thread keeps from its products for the next ones
 * (linalg/buffers.hpp). */
void tessera_release_buffers(void);
/* Collective. C = alpha times the sum of A B over the letters that C does not have, plus beta C.
 * Each letter names a dimension: "abcd" has four. The options' transpositions are not used. */
int tessera_array_contract(const char* a_letters, const tessera_array* a, const char* b_letters,
                           const tessera_array* b, const tessera_product_options* options,
                           const char* c_letters, const tessera_array* c);
/* Collective. Dimension d of `to` is dimension dims[d] of `from`; {1, 0} transposes a matrix.
 * Elements may have any type. Of the options only buffer_bytes is used. */
int tessera_array_permute(const tessera_array* from, const int64_t dims[],
                          const tessera_product_options* options, const tessera_array* to);
/* Collective. to(i, j) = from(j, i). */
int tessera_array_transpose(const tessera_array* from, const tessera_product_options* options,
                            const tessera_array* to);
/* Collective. The same for parts. They may belong to one array if they have no element in common. A
 * dimension in which the box has extent 1 may be TESSERA_NO_DIM in `to`, or be left out of `from`:
 * {2, 1} transposes a plane of three dimensions, {TESSERA_NO_DIM, 1, 0} writes one. */
enum { TESSERA_NO_DIM = -1 };
int tessera_part_permute(tessera_part from, const int64_t dims[],
                         const tessera_product_options* options, tessera_part to);
int tessera_part_transpose(tessera_part from, const tessera_product_options* options,
                           tessera_part to);

/* --- factorisations, in place ----------------------------------------------------------------- */

/* Collective. A = L L^H or U^H U of a Hermitian positive definite matrix. Reads and replaces the
 * triangle that the options name. Errors: also invalid_argument if A is not positive definite. */
int tessera_matrix_cholesky(tessera_matrix a, const tessera_solver_options* options);
/* Collective. A = P L U. L, with ones on its diagonal, and U replace A. Step i, from 0, exchanged
 * row i with row pivots[i]; there are min(rows, columns) pivots. Errors: also invalid_argument if A
 * is singular. */
int tessera_matrix_lu(tessera_matrix a, const tessera_solver_options* options, int64_t pivots[]);
/* Collective. A = Q R by Householder reflections. R replaces the upper triangle, the reflectors the
 * rest; `tau` gets their min(rows, columns) factors, numbers of A's type. */
int tessera_matrix_qr(tessera_matrix a, const tessera_solver_options* options, void* tau);

/* --- linear systems: X replaces B ---------------------------------------------------------
 */

/* Collective. op(A) X = alpha B, or X op(A) = alpha B, with a triangular A. Uses all options. */
int tessera_matrix_solve_triangular(tessera_matrix a, tessera_matrix b,
                                    const tessera_solver_options* options);
/* Collective. op(A) X = B with the result of tessera_matrix_lu in A, and its `count` pivots. */
int tessera_matrix_solve_lu(tessera_matrix a, int64_t count, const int64_t pivots[],
                            tessera_matrix b, const tessera_solver_options* options);
/* Collective. A X = B with the result of tessera_matrix_cholesky in the same triangle of A. */
int tessera_matrix_solve_cholesky(tessera_matrix a, tessera_matrix b,
                                  const tessera_solver_options* options);
/* Collective. A X = B with a square A, which is not changed; the second for a Hermitian positive
 * definite A, of which one triangle is read. Errors: also invalid_argument (a singular A; an A that
 * is not positive definite). */
int tessera_matrix_solve(tessera_matrix a, tessera_matrix b, const tessera_solver_options* options);
int tessera_matrix_solve_positive_definite(tessera_matrix a, tessera_matrix b,
                                           const tessera_solver_options* options);
/* Collective. Replaces a Hermitian positive definite A by its whole inverse. */
int tessera_matrix_invert_positive_definite(tessera_matrix a,
                                            const tessera_solver_options* options);
/* Collective. X with the smallest |A X - B| in each column; A and B are not changed. */
int tessera_matrix_least_squares(tessera_matrix a, tessera_matrix b,
                                 const tessera_solver_options* options, tessera_matrix x);

/* --- eigenvalues and singular values ---------------------------------------------------------- */

/* Values are float for TESSERA_F32 and _C64, double for the others, and the same on all members. Of
 * Hermitian matrices the lower triangle is read. Operands are not changed. Errors of each: also
 * limit_exceeded if one member would need more than max_bytes to solve a problem alone. */

/* Collective. All eigenvalues, ascending. */
int tessera_matrix_eigenvalues(tessera_matrix a, const tessera_solver_options* options,
                               void* values);
/* Collective. Also the eigenvectors, of length 1, as the columns of `vectors`. */
int tessera_matrix_eigen(tessera_matrix a, const tessera_solver_options* options,
                         tessera_matrix vectors, void* values);
/* Collective. The same for A v = lambda B v with a positive definite B; v^H B v = 1. */
int tessera_matrix_eigenvalues_generalised(tessera_matrix a, tessera_matrix b,
                                           const tessera_solver_options* options, void* values);
int tessera_matrix_eigen_generalised(tessera_matrix a, tessera_matrix b,
                                     const tessera_solver_options* options, tessera_matrix vectors,
                                     void* values);
/* Collective. The k = min(m, n) singular values, descending. */
int tessera_matrix_singular_values(tessera_matrix a, const tessera_solver_options* options,
                                   void* values);
/* Collective. Also A = U S V^H: U is m x k, V^H is k x n. */
int tessera_matrix_svd(tessera_matrix a, const tessera_solver_options* options, tessera_matrix u,
                       tessera_matrix vh, void* values);

/* --- implementations -------------------------------------------------------------------------- */

/* Local. Returns 0 if ScaLAPACK can be used for arrays on this team. Errors: unsupported, with the
 * reason. */
int tessera_team_check_scalapack(const tessera_team* team);
/* Local. The number of threads that this rank's BLAS should use, 0 if the user's environment
 * variables set it; the second function sets it, as all functions above do. */
int tessera_job_blas_threads(const tessera_job* job, int64_t* threads);
int tessera_job_limit_blas_threads(const tessera_job* job);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_C_LINALG_H */
