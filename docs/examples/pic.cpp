// SPDX-License-Identifier: BSD-3-Clause
// A plasma wave: particles in cells of a periodic line. Every rank accumulates the charge of its
// particles in the shared grid. python/pic.py is the same program.
//     build/bin/tessera-run -n 4 build/docs/examples/pic
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/reductions.hpp>

using namespace tessera::arrays;
using tessera::rma::Reduction;
using tessera::rma::require;

constexpr std::int64_t cells = 64, particles = 6400, steps = 100;
constexpr double length = 2 * std::numbers::pi, cell = length / cells, time_step = 0.1;
constexpr double charge = -length / particles;  // the plasma frequency is 1

struct Particle {
  double x = 0, v = 0;
};

// The cell to the left of a particle, and the share of the one to its right.
struct Weight {
  std::size_t left = 0, right = 0;
  double share = 0;
};
Weight weight(double x) {
  const double at = x / cell;
  const auto left = static_cast<std::int64_t>(std::floor(at));
  return {static_cast<std::size_t>(left % cells), static_cast<std::size_t>((left + 1) % cells),
          at - static_cast<double>(left)};
}

// The field on the grid of a charge density whose mean is zero: its integral, also of mean zero.
std::vector<double> field_of(const std::vector<double>& density) {
  std::vector<double> field(cells);
  double below = 0, mean = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    const double before = density[(i + cells - 1) % cells];
    below += 0.5 * cell * (before + density[i]);
    field[i] = below;
    mean += below / cells;
  }
  for (double& value : field) {
    value -= mean;
  }
  return field;
}

void deposit(const std::vector<Particle>& own, Array<double>& density) {
  std::vector<double> grid(cells);
  for (const Particle& each : own) {
    const Weight at = weight(each.x);
    grid[at.left] += charge / cell * (1 - at.share);
    grid[at.right] += charge / cell * at.share;
  }
  require(fill(density, 1.0));  // the ions
  require(density.accumulate(density.box(), grid));
  require(density.sync());
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto density = Array<double>::create(job, {cells}, {.name = "density"}).value();
  std::vector<Particle> own;
  for (std::int64_t i = job.rank().value; i < particles; i += job.size()) {
    const double x = (static_cast<double>(i) + 0.5) * length / particles;
    own.push_back({x + 0.01 * std::cos(x), 0});
  }
  double energy = 0, first = 0;
  for (int step = 0; step < steps; ++step) {
    deposit(own, density);
    const std::vector<double> field = field_of(density.get(density.box()).value());
    energy = 0;
    for (const double value : field) {
      energy += 0.5 * cell * value * value;
    }
    first = step == 0 ? energy : first;
    for (Particle& each : own) {
      const Weight at = weight(each.x);
      each.v -= time_step * ((1 - at.share) * field[at.left] + at.share * field[at.right]);
      each.x = std::fmod(each.x + time_step * each.v + length, length);
    }
    require(job.barrier());
  }
  double kinetic = 0;
  for (const Particle& each : own) {
    kinetic += -0.5 * charge * each.v * each.v;
  }
  kinetic = job.world().allreduce(kinetic, Reduction::sum).value();
  if (job.rank().value == 0) {
    std::printf("first_field_energy: %.9e\nfield_energy: %.9e\nkinetic_energy: %.9e\n", first,
                energy, kinetic);
  }
  return std::abs(kinetic + energy - first) < 0.1 * first ? 0 : 1;
}
