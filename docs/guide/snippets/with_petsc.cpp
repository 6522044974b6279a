// SPDX-License-Identifier: BSD-3-Clause
// The PETSc code of docs/guide/14-with-other-libraries.md.
#include <petscvec.h>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::require;

int main(int argc, char** argv) {
  PetscInitialize(&argc, &argv, nullptr, nullptr);
  {
    // [vector]
    Job job = Job::start({}).value();  // over MPI_COMM_WORLD: PETSc has started MPI
    auto x = Array<double>::create(job, {1000}, {.name = "x"}).value();
    require(fill(x, 1.0));
    {
      const auto access = x.local().value();
      Vec vector = nullptr;
      VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, static_cast<PetscInt>(access.own().extent(0)),
                            1000, access.view().local().data_handle(), &vector);
      VecScale(vector, 2.0);  // in the array's memory
      VecDestroy(&vector);
    }
    require(x.sync());
    // [/vector]
    expect(sum(x).value() == 2000.0, "PETSc scaled the array");
  }
  PetscFinalize();
}
