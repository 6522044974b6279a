// SPDX-License-Identifier: BSD-3-Clause
// The heat equation with ghost cells: the interior is computed while they are exchanged. Writes a
// picture. The exact result is known: a product of sines keeps its shape and shrinks.
//     build/bin/tessera-run -n 4 build/docs/examples/heat [heat.pgm]
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <vector>

#include <tessera/arrays/halo.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>

using namespace tessera::arrays;
using tessera::rma::require;

constexpr int n = 200, steps = 100;
constexpr double k = 0.2, h = std::numbers::pi / (n + 1);  // time step / cell size², cell size · π

// sin(3 π x) sin(2 π y): zero at the walls, which are the ghost cells around the whole array.
double start(const Index& at) {
  return std::sin(3 * h * static_cast<double>(at[0] + 1)) *
         std::sin(2 * h * static_cast<double>(at[1] + 1));
}

void relax(const Box& box, const GlobalView<double>& u, const GlobalView<double>& next) {
  for (auto i = box.lo(0); i < box.hi(0); ++i) {
    for (auto j = box.lo(1); j < box.hi(1); ++j) {
      next(i, j) =
          u(i, j) + k * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j));
    }
  }
}

void step(Array<double>& u, Halo& halo, Array<double>& next) {
  const auto from = u.local().value(), to = next.local().value();
  const Box own = from.own();
  const Index lo = own.lo(), hi = own.hi();
  auto update = halo.start().value();
  relax(own.grown({-1, -1}), from.view(), to.view());  // what needs no ghost cell
  require(update.finish());
  for (const Box& edge : {Box(lo, {lo[0] + 1, hi[1]}), Box({hi[0] - 1, lo[1]}, hi),
                          Box(lo, {hi[0], lo[1] + 1}), Box({lo[0], hi[1] - 1}, hi)}) {
    relax(intersect(edge, own), from.view(), to.view());
  }
}

void write_picture(const Array<double>& u, const char* path) {
  std::vector<double> values(n * n);
  require(u.get(u.box(), values));
  std::ofstream picture(path, std::ios::binary);
  picture << "P5 " << n << ' ' << n << " 255\n";
  for (const double value : values) {
    picture.put(static_cast<char>(std::lround(127.5 + 127.5 * value)));
  }
}

int main(int argc, char** argv) {
  auto job = tessera::rma::Job::start().value();
  auto u = Array<double>::create(job, {n, n}, {.name = "u", .ghosts = {1, 1}}).value();
  auto v = u.duplicate("v").value();
  auto halo_u = Halo::create(u).value(), halo_v = Halo::create(v).value();
  require(for_each_element(u, [](const Index& at, double& value) { value = start(at); }));
  for (int count = 0; count < steps; count += 2) {
    step(u, halo_u, v);
    step(v, halo_v, u);
  }
  require(u.sync());
  if (job.rank().value == 0) {
    write_picture(u, argc > 1 ? argv[1] : "heat.pgm");
  }
  const double decay = std::pow(1 + 2 * k * (std::cos(3 * h) + std::cos(2 * h) - 2), steps);
  require(for_each_element(u, [&](const Index& at, double& value) { value -= decay * start(at); }));
  const double error = norm_max(u).value();
  if (job.rank().value == 0) {
    std::printf("%d steps, waves of %.6f of their height, error %.1e\n", steps, decay, error);
  }
  return error < 1e-12 ? 0 : 1;
}
