// SPDX-License-Identifier: BSD-3-Clause
// The ScaLAPACK code of docs/guide/14-with-other-libraries.md.
#include <mpi.h>

#include <array>
#include <cmath>
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::require;

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridmap(int* context, int* ranks, int leading, int rows, int columns);
void Cblacs_barrier(int context, const char* scope);
void Cblacs_gridexit(int context);
double pdlange_(const char* norm, const int* m, const int* n, const double* a, const int* ia,
                const int* ja, const int* descriptor, double* work);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int good = 1;
  {
    Job job = Job::start({}).value();
    // [call]
    // Blocks of 16 x 16 on a grid of 1 x ranks; each rank has one column-major matrix.
    auto layout = Distribution::scalapack({100, 80}, {16, 16}, {1, job.size()}, job.size()).value();
    auto a = Array<double>::create(job, layout, {.name = "A"}).value();
    require(fill_random(a, 7));

    std::vector<int> ranks(static_cast<std::size_t>(job.size()));  // the grid, column by column
    for (int column = 0; column < job.size(); ++column) {
      ranks[static_cast<std::size_t>(column)] = column;
    }
    int context = 0;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridmap(&context, ranks.data(), 1, 1, job.size());

    const int rows = static_cast<int>(layout.local_extents({job.rank().value})[0]);
    const std::array<int, 9> descriptor{1, context, 100, 80, 16, 16, 0, 0, rows};
    const int one = 1;
    double largest = 0;
    {
      const auto blocks = a.local_blocks().value();
      largest = pdlange_("M", &descriptor[2], &descriptor[3], blocks.data(), &one, &one,
                         descriptor.data(), nullptr);
    }
    Cblacs_barrier(context, "All");  // before the next collective of Tessera
    Cblacs_gridexit(context);
    // [/call]
    good = std::abs(largest - norm_max(a).value()) < 1e-15 ? 1 : 0;
  }
  MPI_Finalize();
  return good == 1 ? 0 : 1;
}
