// SPDX-License-Identifier: BSD-3-Clause
// Particles fly through a periodic square. Each rank has those in its own cells: those that leave
// go to their new owners by alltoallv. They add their charge to the corners of their cells, some of
// which are ghost cells; Halo::accumulate brings these to their owners.
//     build/bin/tessera-run -n 4 build/docs/examples/migration
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/halo.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/rma/collectives.hpp>

using namespace tessera::arrays;
using tessera::rma::Reduction;
using tessera::rma::require;

constexpr std::int64_t cells = 48, particles = 4'000, steps = 20;

struct Particle {
  std::int64_t number = 0;
  double x = 0, y = 0, vx = 0, vy = 0;  // in cells, and cells a step
};

// All numbers are multiples of 1/64, so that sums of them are exact.
Particle at_start(std::int64_t number) {
  const auto part = [](std::int64_t of) { return static_cast<double>(of) / 64; };
  return {number, part(number * 37 % (64 * cells)), part(number * 101 % (64 * cells)),
          part(number * 7 % 65 - 32), part(number * 13 % 65 - 32)};
}
double inside(double at) {
  return at - cells * std::floor(at / cells);
}
Index cell_of(const Particle& each) {
  return {static_cast<std::int64_t>(each.x), static_cast<std::int64_t>(each.y)};
}

// Returns how many particles left this rank.
std::int64_t migrate(tessera::rma::Job& job, const Array<double>& charge,
                     std::vector<Particle>& own) {
  const auto owner = [&](const Particle& each) { return charge.owner(cell_of(each)).value; };
  std::sort(own.begin(), own.end(),
            [&](const Particle& a, const Particle& b) { return owner(a) < owner(b); });
  std::vector<std::int64_t> leaving(static_cast<std::size_t>(job.size())), arriving(leaving.size());
  for (const Particle& each : own) {
    ++leaving[static_cast<std::size_t>(owner(each))];
  }
  require(alltoall(job.world(), leaving, arriving));
  std::vector<Particle> all(
      static_cast<std::size_t>(std::accumulate(arriving.begin(), arriving.end(), std::int64_t{0})));
  require(alltoallv(job.world(), own, {.counts = leaving}, all, {.counts = arriving}));
  const std::int64_t left = std::ssize(own) - leaving[static_cast<std::size_t>(job.rank().value)];
  own = std::move(all);
  return left;
}

void deposit(const std::vector<Particle>& own, Array<double>& charge, Halo& halo) {
  require(fill(charge, 0.0));
  auto access = charge.local().value();
  const auto grid = access.view();
  for (const Particle& each : own) {
    const Index at = cell_of(each);
    const double up = each.x - static_cast<double>(at[0]);
    const double right = each.y - static_cast<double>(at[1]);
    grid(at[0], at[1]) += (1 - up) * (1 - right);
    grid(at[0] + 1, at[1]) += up * (1 - right);
    grid(at[0], at[1] + 1) += (1 - up) * right;
    grid(at[0] + 1, at[1] + 1) += up * right;
  }
  require(access.end());
  require(halo.accumulate());
}

// Each particle is where it would be without neighbours.
bool is_right(const Particle& each) {
  const Particle first = at_start(each.number);
  return each.x == inside(first.x + steps * first.vx) &&
         each.y == inside(first.y + steps * first.vy);
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto charge =
      Array<double>::create(job, {cells, cells}, {.name = "charge", .ghosts = {1, 1}}).value();
  auto halo = Halo::create(charge, {.periodic = PeriodicDims().set()}).value();
  std::vector<Particle> own;
  for (std::int64_t i = job.rank().value; i < particles; i += job.size()) {
    own.push_back(at_start(i));
  }
  migrate(job, charge, own);
  std::int64_t moved = 0;
  for (int step = 0; step < steps; ++step) {
    for (Particle& each : own) {
      each.x = inside(each.x + each.vx);
      each.y = inside(each.y + each.vy);
    }
    moved += migrate(job, charge, own);
    deposit(own, charge, halo);
  }
  // All particles exist once, and the grid has their charge.
  std::vector<std::int64_t> sums{std::ssize(own), 0, 0, moved};
  for (const Particle& each : own) {
    sums[1] += each.number;
    sums[2] += is_right(each) ? 0 : 1;
  }
  require(job.world().allreduce(std::span(sums), Reduction::sum));
  const double total = sum(charge).value();
  if (job.rank().value == 0) {
    std::printf("particles: %lld, moves between ranks: %lld, wrong: %lld, charge: %.1f\n",
                static_cast<long long>(sums[0]), static_cast<long long>(sums[3]),
                static_cast<long long>(sums[2]), total);
  }
  const bool is_conserved = sums[0] == particles && sums[1] == particles * (particles - 1) / 2 &&
                            sums[2] == 0 && total == static_cast<double>(particles);
  return is_conserved ? 0 : 1;
}
