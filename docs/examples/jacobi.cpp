// SPDX-License-Identifier: BSD-3-Clause
// The Poisson equation by Jacobi's method, with ghost cells, until nothing changes much.
// python/jacobi.py is the same program.
//     build/bin/tessera-run -n 4 build/docs/examples/jacobi
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <tessera/arrays/halo.hpp>
#include <tessera/arrays/reductions.hpp>

using namespace tessera::arrays;
using tessera::rma::Reduction;
using tessera::rma::require;

constexpr int n = 48;
constexpr double h = 1.0 / (n + 1), source = h * h;  // −Δu = 1, u = 0 on the walls

// One sweep over this rank's elements; returns the largest change.
double sweep(Array<double>& u, Halo& halo, Array<double>& next) {
  require(halo.update());
  const auto from = u.local().value(), to = next.local().value();
  const auto old = from.view(), later = to.view();
  const Box own = from.own();
  double change = 0;
  for (auto i = own.lo(0); i < own.hi(0); ++i) {
    for (auto j = own.lo(1); j < own.hi(1); ++j) {
      later(i, j) =
          0.25 * (((old(i - 1, j) + old(i + 1, j)) + (old(i, j - 1) + old(i, j + 1))) + source);
      change = std::max(change, std::abs(later(i, j) - old(i, j)));
    }
  }
  return change;
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto u = Array<double>::create(job, {n, n}, {.name = "u", .ghosts = {1, 1}}).value();
  auto v = u.duplicate("v").value();
  auto halo_u = Halo::create(u).value(), halo_v = Halo::create(v).value();
  double change = 1;
  int sweeps = 0;
  while (change > 1e-7) {
    const double first = sweep(u, halo_u, v);
    const double second = sweep(v, halo_v, u);
    change = job.world().allreduce(std::max(first, second), Reduction::max).value();
    sweeps += 2;
  }
  require(u.sync());
  const double total = sum(u, {.reproducible = true}).value() * h * h;
  const double middle = u.get_element({n / 2, n / 2}).value();
  if (job.rank().value == 0) {
    std::printf("sweeps: %d\nintegral: %.12f\nmiddle: %.12f\n", sweeps, total, middle);
  }
  return std::abs(middle - 0.0734) < 1e-3 ? 0 : 1;  // 0.07367 in the middle of the square
}
