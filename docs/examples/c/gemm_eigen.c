/* SPDX-License-Identifier: BSD-3-Clause
 * Eigenvalues and eigenvectors of a symmetric matrix, the vibrations of a string of n beads; and
 * matrix products, to check A V = V L. The eigenvalues are known: 2 - 2 cos(k pi / (n + 1)).
 *     build/bin/tessera-run -n 4 build/docs/examples/c/gemm_eigen
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

enum { n = 100 };

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}

static void set_element(const int64_t at[], void* element, void* context) {
  const int64_t distance = at[0] < at[1] ? at[1] - at[0] : at[0] - at[1];
  (void)context;
  *(double*)element = distance == 0 ? 2 : distance == 1 ? -1 : 0;
}

int main(void) {
  const int64_t extents[2] = {n, n};
  const int64_t length = n;
  const double minus = -1;
  const double pi = 3.14159265358979323846;
  double values[n];
  double worst_value = 0;
  double residual = 0;
  int64_t rank = 0;
  tessera_job* job = NULL;
  tessera_array *a = NULL, *v = NULL, *vl = NULL, *l = NULL;
  tessera_product_options options;

  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  check(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &a));
  check(tessera_array_create(job, TESSERA_F64, 1, &length, NULL, &l));
  check(tessera_array_duplicate(a, "V", &v));
  check(tessera_array_duplicate(a, "V L", &vl));
  check(tessera_array_for_each(tessera_part_whole(a), set_element, NULL));

  check(tessera_matrix_eigen(tessera_matrix_whole(a), NULL, tessera_matrix_whole(v), values));
  for (int k = 0; k < n; ++k) {
    worst_value = fmax(worst_value, fabs(values[k] - 2 + 2 * cos((k + 1) * pi / (n + 1))));
  }

  /* VL = V L; below, A V is subtracted from it. */
  if (rank == 0) {
    check(tessera_array_put(l, NULL, NULL, values, NULL));
  }
  check(tessera_array_copy(tessera_part_whole(v), tessera_part_whole(vl)));
  check(tessera_array_scale_columns(tessera_part_whole(vl), tessera_part_whole(l)));
  // [gemm]
  tessera_product_options_init(&options);
  options.alpha = &minus;
  options.beta = (const double[]){1};
  /* VL = -A V + VL */
  check(tessera_matrix_gemm(tessera_matrix_whole(a), tessera_matrix_whole(v), &options,
                            tessera_matrix_whole(vl)));
  // [/gemm]
  check(tessera_array_norm_max(tessera_part_whole(vl), &residual));
  if (rank == 0) {
    printf("eigenvalues from %.6f to %.6f: error %.1e, |A V - V L| %.1e\n", values[0],
           values[n - 1], worst_value, residual);
  }
  check(tessera_job_free(&job));
  return worst_value < 1e-12 && residual < 1e-12 ? 0 : 1;
}
