// SPDX-License-Identifier: BSD-3-Clause
// Tessera in an MPI program: a job over a communicator of the program, and calls of both libraries
// side by side. All processes except the last one work; a single process works alone.
//     mpirun -n 4 build/docs/examples/with_mpi
#include <mpi.h>

#include <cmath>
#include <cstdio>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>

using tessera::arrays::Array;
using tessera::rma::Job;
using tessera::rma::mpi_bootstrap;
using tessera::rma::require;

// The sum of a random array, twice: by Tessera, and by MPI from each rank's
// own elements.
bool work(MPI_Comm workers) {
  // The communicator is passed as a Fortran handle, so that Tessera's headers don't need mpi.h.
  auto job = Job::start({.bootstrap = mpi_bootstrap(MPI_Comm_c2f(workers)).value()}).value();
  auto a = Array<double>::create(job, {300, 300}, {.name = "A"}).value();
  require(fill_random(a, 7));

  double mine = 0;
  const auto access = a.local().value();
  const auto view = access.view();
  for (auto i = access.own().lo(0); i < access.own().hi(0); ++i) {
    for (auto j = access.own().lo(1); j < access.own().hi(1); ++j) {
      mine += view(i, j);
    }
  }
  double by_mpi = 0;
  MPI_Allreduce(&mine, &by_mpi, 1, MPI_DOUBLE, MPI_SUM, workers);

  const double by_tessera = sum(a).value();
  if (job.rank().value == 0) {
    std::printf("%d workers: %.9f by MPI, %.9f by Tessera\n", job.size(), by_mpi, by_tessera);
  }
  return std::abs(by_mpi - by_tessera) < 1e-9 * by_tessera;
}  // the array is freed and the job stopped here, before MPI ends

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const bool is_worker = rank < size - 1 || size == 1;
  MPI_Comm workers = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_worker ? 0 : MPI_UNDEFINED, rank, &workers);
  int good = 1;
  if (is_worker) {
    good = work(workers) ? 1 : 0;
    MPI_Comm_free(&workers);
  }
  int all_good = 0;
  MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  return all_good == 1 ? 0 : 1;
}
