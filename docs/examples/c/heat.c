/* SPDX-License-Identifier: BSD-3-Clause
 * The heat equation with ghost cells. A product of sines shrinks by a known factor in each step.
 *     build/bin/tessera-run -n 4 build/docs/examples/c/heat [heat.pgm]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

enum { n = 200, steps = 100 };
static const double k = 0.2, h = 3.14159265358979323846 / (n + 1); /* steps of time and space */
static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    exit(1);
  }
}
static void set_start(const int64_t at[], void* element, void* context) {
  (void)context;
  *(double*)element = sin(3 * h * (double)(at[0] + 1)) * sin(2 * h * (double)(at[1] + 1));
}
static void step(tessera_array* u, tessera_halo* halo, tessera_array* next) {
  tessera_local_block from, to; /* this rank's own elements, and the ghost cells around them */
  tessera_access* access[2] = {NULL, NULL};
  check(tessera_halo_update(halo));
  check(tessera_access_begin(u, 0, &from, &access[0]));
  check(tessera_access_begin(next, 0, &to, &access[1]));
  const int64_t row = from.strides[0];
  for (int64_t i = 1; i <= from.hi[0] - from.lo[0]; ++i) { /* 0 is the ghost layer */
    const double* const old = (const double*)from.data + i * row + 1;
    double* const later = (double*)to.data + i * row + 1;
    for (int64_t j = 0; j < from.hi[1] - from.lo[1]; ++j) {
      later[j] = old[j] + k * (old[j - row] + old[j + row] + old[j - 1] + old[j + 1] - 4 * old[j]);
    }
  }
  check(tessera_access_end(&access[0]));
  check(tessera_access_end(&access[1]));
}
static void write_picture(const tessera_array* u, FILE* picture) {
  static double values[n * n];
  check(tessera_array_get(u, NULL, NULL, values, NULL));
  fprintf(picture, "P5 %d %d 255\n", n, n);
  for (int i = 0; i < n * n; ++i) {
    fputc((int)lround(127.5 + 127.5 * values[i]), picture);
  }
  fclose(picture);
}
int main(int argc, char** argv) {
  const int64_t extents[2] = {n, n}, ghosts[2] = {1, 1};
  double error = 0, one = 1;
  int64_t rank = 0;
  tessera_job* job = NULL;
  tessera_array* u[3]; /* two that alternate, and the start */
  tessera_halo* halo[3];
  tessera_array_options options;
  tessera_array_options_init(&options);
  options.ghosts = ghosts;
  check(tessera_job_start(&job));
  check(tessera_job_rank(job, &rank));
  for (int i = 0; i < 3; ++i) {
    check(tessera_array_create(job, TESSERA_F64, 2, extents, &options, &u[i]));
    check(tessera_halo_create(u[i], NULL, &halo[i]));
    check(tessera_array_for_each(tessera_part_whole(u[i]), set_start, NULL));
  }
  for (int i = 0; i < steps; ++i) {
    step(u[i % 2], halo[i % 2], u[1 - i % 2]);
  }
  const double decay = -pow(1 + 2 * k * (cos(3 * h) + cos(2 * h) - 2), steps);
  const tessera_part result = tessera_part_whole(u[0]), start = tessera_part_whole(u[2]);
  check(tessera_array_add(&one, result, &decay, start, start)); /* the difference is the error */
  check(tessera_array_norm_max(start, &error));
  FILE* const picture = rank == 0 ? fopen(argc > 1 ? argv[1] : "heat.pgm", "wb") : NULL;
  if (picture != NULL) {
    write_picture(u[0], picture);
    printf("%d steps, waves of %.6f of their height, error %.1e\n", steps, -decay, error);
  }
  check(tessera_job_free(&job)); /* frees arrays and halos, too */
  return error < 1e-12 && (picture != NULL || rank > 0) ? 0 : 1;
}
