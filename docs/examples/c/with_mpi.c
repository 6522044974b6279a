/* SPDX-License-Identifier: BSD-3-Clause
 * Tessera in an MPI program: a job over a communicator of the program, and calls of both libraries
 * side by side. All processes except the first one work; a single process works alone.
 *     mpirun -n 4 build/docs/examples/c/with_mpi
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <tessera/tessera.h>

static void check(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", tessera_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/* The largest element of a random array: by Tessera, and by MPI from what each rank owns. */
static int work(MPI_Comm workers) {
  const int64_t extents[2] = {300, 300};
  int64_t at[2] = {0, 0};
  double mine = 0;
  double by_mpi = 0;
  double by_tessera = 0;
  int64_t rank = 0;
  tessera_job* job = NULL;
  tessera_array* a = NULL;
  tessera_access* access = NULL;
  tessera_local_block own;

  check(tessera_job_start_mpi(MPI_Comm_c2f(workers), &job));
  check(tessera_job_rank(job, &rank));
  check(tessera_array_create(job, TESSERA_F64, 2, extents, NULL, &a));
  check(tessera_array_fill_random(tessera_part_whole(a), 7, 0, 1));

  check(tessera_access_begin(a, 0, &own, &access));
  for (int64_t i = 0; i < own.hi[0] - own.lo[0]; ++i) {
    for (int64_t j = 0; j < own.hi[1] - own.lo[1]; ++j) {
      mine = fmax(mine, ((const double*)own.data)[i * own.strides[0] + j * own.strides[1]]);
    }
  }
  check(tessera_access_end(&access));
  MPI_Allreduce(&mine, &by_mpi, 1, MPI_DOUBLE, MPI_MAX, workers);

  check(tessera_array_select_max(tessera_part_whole(a), &by_tessera, at));
  if (rank == 0) {
    printf("the largest element is %.9f by MPI and %.9f by Tessera, which found it at (%d, %d)\n",
           by_mpi, by_tessera, (int)at[0], (int)at[1]);
  }
  check(tessera_job_free(&job)); /* before MPI ends */
  return by_mpi == by_tessera;
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  int good = 1;
  int all_good = 0;
  MPI_Comm workers = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0 || size == 1 ? 0 : MPI_UNDEFINED, rank, &workers);
  if (workers != MPI_COMM_NULL) {
    good = work(workers);
    MPI_Comm_free(&workers);
  }
  MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  return all_good ? 0 : 1;
}
