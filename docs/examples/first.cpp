// SPDX-License-Identifier: BSD-3-Clause
// A 1000 x 1000 array over all ranks: everybody adds to one patch, rank 0 reports.
#include <cstdio>
#include <vector>

#include "arrays/array.hpp"

using tessera::arrays::Array;
using tessera::arrays::Box;
using tessera::rma::require;

int main() {
  auto job = tessera::rma::Job::start().value();
  auto a = Array<double>::create(job, {1000, 1000}, {.name = "A"}).value();

  const Box patch({400, 400}, {600, 600});  // rows and columns 400 … 599, whoever owns them
  const std::vector<double> ones(40'000, 1.0);
  require(a.accumulate(patch, ones, 0.5));  // every rank: a = a + 0.5 · ones
  require(a.sync());                        // from here on all see what any rank did

  const double value = a.get_element({500, 500}).value();
  if (job.rank().value == 0) {
    std::printf("%d ranks, a(500, 500) = %g\n", job.size(), value);
  }
  return value == 0.5 * job.size() ? 0 : 1;
}
