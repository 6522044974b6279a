// SPDX-License-Identifier: BSD-3-Clause
//
// A program outside the tree that calls all layers: a matrix product over all ranks.
#include <cstdio>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/linalg/gemm.hpp>

int main() {
  using tessera::arrays::Array;
  using tessera::rma::require;
  constexpr std::int64_t n = 20;
  auto job = tessera::rma::Job::start().value();
  auto a = Array<double>::create(job, {n, n}, {.name = "A"}).value();
  auto c = a.duplicate("C").value();
  require(fill(a, 0.5));
  require(tessera::linalg::gemm(a, a, c));
  const double total = sum(c).value();
  if (job.rank().value == 0) {
    std::printf("%d ranks: the sum is %g\n", job.size(), total);
  }
  return total == 2000 ? 0 : 1;
}
