// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <vector>

#include <tessera/tessera.hpp>
using namespace tessera;

int main() {
  auto job = rma::Job::start().value();
  auto a = arrays::Array<double>::create(job, {1000, 1000}, {.name = "A"}).value();
  const std::vector<double> ones(200 * 200, 1.0);
  rma::require(a.accumulate(arrays::Box({400, 400}, {600, 600}), ones, 0.5));
  rma::require(a.sync());  // after this, every rank sees what any rank added
  const double value = a.get_element({500, 500}).value();
  if (job.rank().value == 0) {
    std::printf("%d ranks, a(500, 500) = %g\n", job.size(), value);
  }
  return value == 0.5 * job.size() ? 0 : 1;
}
