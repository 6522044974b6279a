// SPDX-License-Identifier: BSD-3-Clause
// The OpenMP code of docs/guide/14-with-other-libraries.md.
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/reductions.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::require;

int main() {
  Job job = Job::start({}).value();
  auto a = Array<double>::create(job, {60, 40}, {.name = "A"}).value();
  require(fill(a, 1.0));
  // [loop]
  {
    const auto access = a.local().value();
    const Box& own = access.own();
    const auto view = access.view();
#pragma omp parallel for
    for (auto i = own.lo(0); i < own.hi(0); ++i) {
      for (auto j = own.lo(1); j < own.hi(1); ++j) {
        view(i, j) += static_cast<double>(i);
      }
    }
  }
  require(a.sync());  // one thread; all ranks
#pragma omp parallel for
  for (std::int64_t row = 0; row < 60; ++row) {
    std::vector<double> values(40);
    require(a.get(Box({row, 0}, {row + 1, 40}), values));  // any thread
    for (double& each : values) {
      each = 1.0;
    }
    require(a.accumulate(Box({row, 0}, {row + 1, 40}), values));
  }
  // [/loop]
  require(a.sync());
  const double rows = 40.0 * (59 * 60 / 2);
  expect(sum(a).value() == rows + 60 * 40 * (1.0 + job.size()), "threads add once for each rank");
}
