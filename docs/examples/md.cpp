// SPDX-License-Identifier: BSD-3-Clause
// Molecular dynamics: 108 atoms of a Lennard-Jones fluid in a periodic box. Positions are shared;
// each rank moves its own atoms. python/md.py is the same program.
//     build/bin/tessera-run -n 4 build/docs/examples/md
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::Reduction;
using tessera::rma::require;
using Vectors = Array<double>;

constexpr std::int64_t cells = 3, atoms = 4 * cells * cells * cells, steps = 100;
constexpr double box = 5.1, time_step = 0.004;

// Atoms of a face-centred cubic crystal.
double place(std::int64_t atom, std::int64_t dim) {
  const std::int64_t cell = atom / 4, corner = atom % 4;
  const std::int64_t at = dim == 0 ? cell / 9 : dim == 1 ? cell / 3 % 3 : cell % 3;
  const bool is_shifted = corner != 0 && corner - 1 != dim;
  return (static_cast<double>(at) + (is_shifted ? 0.5 : 0)) * box / cells;
}

// Forces on the atoms of this rank's rows, from all atoms. Returns their part of the energy.
double forces(const std::vector<double>& x, std::int64_t first, std::int64_t last,
              std::vector<double>& force) {
  double energy = 0;
  for (std::int64_t i = first; i < last; ++i) {
    double* const total = &force[static_cast<std::size_t>(3 * (i - first))];
    total[0] = total[1] = total[2] = 0;
    for (std::int64_t j = 0; j < atoms; ++j) {
      double d[3] = {}, square = 0;
      for (std::size_t dim = 0; dim < 3; ++dim) {
        d[dim] =
            x[static_cast<std::size_t>(3 * i) + dim] - x[static_cast<std::size_t>(3 * j) + dim];
        d[dim] -= box * std::nearbyint(d[dim] / box);
        square += d[dim] * d[dim];
      }
      if (j == i || square > 0.25 * box * box) {
        continue;
      }
      const double sixth = 1 / (square * square * square);
      energy += 2 * (sixth * sixth - sixth);  // a half for each atom of the pair
      for (std::size_t dim = 0; dim < 3; ++dim) {
        total[dim] += (48 * sixth * sixth - 24 * sixth) / square * d[dim];
      }
    }
  }
  return energy;
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto x = Vectors::create(job, {atoms, 3}, {.name = "x", .process_grid = {0, 1}}).value();
  require(for_each_element(x, [](const Index& at, double& value) {
    value = place(at[0], at[1]) + 0.01 * std::sin(static_cast<double>(7 * at[0] + 3 * at[1]));
  }));
  const Box own = x.own_box();
  const auto count = static_cast<std::size_t>(own.volume());
  std::vector<double> v(count), force(count);
  double potential = 0, first_total = 0, total = 0;
  for (int step = 0; step <= steps; ++step) {
    const std::vector<double> all = x.get(x.box()).value();
    potential = forces(all, own.lo(0), own.hi(0), force);
    double kinetic = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double middle = v[i] + (step == 0 ? 0 : 0.5 * time_step * force[i]);
      kinetic += 0.5 * middle * middle;
      v[i] += (step == 0 ? 0.5 : 1) * time_step * force[i];
    }
    total = job.world().allreduce(potential + kinetic, Reduction::sum).value();
    first_total = step == 0 ? total : first_total;
    const auto local = x.local().value();  // allreduce: no rank reads positions any more
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      local.view()(own.lo(0) + at / 3, at % 3) += time_step * v[i];
    }
    require(x.sync());
  }
  potential = job.world().allreduce(potential, Reduction::sum).value();
  if (job.rank().value == 0) {
    std::printf("first_energy: %.8f\nenergy: %.8f\npotential: %.8f\n", first_total, total,
                potential);
  }
  return std::abs(total - first_total) < 1e-3 * std::abs(first_total) ? 0 : 1;
}
