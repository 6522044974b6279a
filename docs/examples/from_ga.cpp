// SPDX-License-Identifier: BSD-3-Clause
// The program of docs/from-ga.md: all ranks add to one patch of an array and read it again.
#include <cmath>
#include <cstdio>
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/reductions.hpp>

using namespace tessera::arrays;
using tessera::rma::Job;
using tessera::rma::require;

int main() {
  auto job = Job::start().value();
  auto a = Array<double>::create(job, {1000, 1000}, {.name = "A"}).value();
  const Box box({10, 20}, {20, 40});
  std::vector<double> values(200, 1.0);
  require(zero(a));
  require(a.accumulate(box, values));
  require(a.sync());
  require(a.get(box, values));
  const double norm = norm2(a).value();

  if (job.rank().value == 0) {
    std::printf("each element %g, norm %.3f\n", values[0], norm);
  }
  return std::abs(norm - std::sqrt(200.0) * job.size()) < 1e-9 ? 0 : 1;
}
