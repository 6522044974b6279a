/* SPDX-License-Identifier: BSD-3-Clause
 * Conjugate gradients for A x = b, with the Laplacian of a square grid as a sparse matrix.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/sparse_solve
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

enum { side = 20, n = side * side };
static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}
/* Each rank adds every size-th row; the library sends the entries to their owners. */
static tessera_sparse* make_laplacian(tessera_job* job, int64_t rank, int64_t size) {
  const double entries[2] = {4, -1}; /* of a point itself, and of its neighbours */
  tessera_sparse_builder* builder = NULL;
  tessera_sparse* matrix = NULL;
  check(tessera_sparse_builder_create(job, TESSERA_F64, n, n, NULL, &builder));
  for (int64_t i = rank; i < n; i += size) {
    const int64_t row = i / side, column = i % side, at[4] = {i - side, i + side, i - 1, i + 1};
    const int inside[4] = {row != 0, row != side - 1, column != 0, column != side - 1};
    check(tessera_sparse_builder_add(builder, i, i, &entries[0]));
    for (int k = 0; k < 4; ++k) {
      check(inside[k] ? tessera_sparse_builder_add(builder, i, at[k], &entries[1]) : 0);
    }
  }
  check(tessera_sparse_builder_assemble(builder, &matrix));
  return matrix;
}
static void combine(double alpha, tessera_part a, double beta, tessera_part b, tessera_part to) {
  check(tessera_array_add(&alpha, a, &beta, b, to)); /* to = alpha a + beta b */
}
static double dot(tessera_part a, tessera_part b) {
  double product = 0;
  check(tessera_array_dot(a, b, 1, &product));
  return product;
}
int main(void) {
  enum { known, x, r, d, ad, vectors }; /* r = b - A x; d is the search direction */
  tessera_array* v[vectors];
  tessera_part w[vectors]; /* the same as operands */
  int64_t rank = 0, size = 1, steps = 0;
  tessera_job* job = NULL;
  tessera_spmv* plan = NULL;
  tessera_distribution* rows = NULL; /* vectors are distributed as the rows */
  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_job_size(job, &size));
  tessera_sparse* const a = make_laplacian(job, rank, size);
  check(tessera_sparse_row_distribution(a, &rows));
  for (int i = 0; i < vectors; ++i) {
    check(tessera_array_create_distributed(job, TESSERA_F64, rows, NULL, &v[i]));
    w[i] = tessera_part_whole(v[i]);
  }
  check(tessera_spmv_create(a, v[d], v[ad], NULL, &plan)); /* once: finds what each rank needs */
  check(tessera_array_fill_random(w[known], 1, -1, 1));
  check(tessera_spmv_multiply(plan, a, v[known], v[r])); /* b; x is 0 */
  check(tessera_array_copy(w[r], w[d]));
  double square = dot(w[r], w[r]);
  for (const double enough = 1e-24 * square; square > enough && steps < n; ++steps) {
    check(tessera_spmv_multiply(plan, a, v[d], v[ad]));
    const double length = square / dot(w[d], w[ad]), before = square;
    combine(1, w[x], length, w[d], w[x]);
    combine(1, w[r], -length, w[ad], w[r]);
    square = dot(w[r], w[r]);
    combine(1, w[r], square / before, w[d], w[d]);
  }
  combine(1, w[x], -1, w[known], w[x]);
  const double error = sqrt(dot(w[x], w[x]) / dot(w[known], w[known]));
  if (rank == 0) {
    printf("%d unknowns, %d steps, relative error %.1e\n", n, (int)steps, error);
  }
  check(tessera_job_free(&job));
  return error < 1e-9 ? 0 : 1;
}
