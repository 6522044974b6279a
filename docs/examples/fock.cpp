// SPDX-License-Identifier: BSD-3-Clause
// Electrons of a chain of carbon atoms (the Pariser–Parr–Pople model) by self-consistent fields.
// Ranks build the Fock matrix in tasks from a shared counter. python/fock.py is the same program.
//     build/bin/tessera-run -n 4 build/docs/examples/fock
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tessera/arrays/counter.hpp>
#include <tessera/arrays/elementwise.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>
#include <tessera/linalg/eigen.hpp>
#include <tessera/linalg/gemm.hpp>

using namespace tessera::arrays;
using namespace tessera::linalg;
using tessera::rma::require;

constexpr std::int64_t n = 40, tile = 5;
using Matrix = Array<double>;

// The repulsion of electrons on two atoms (Ohno), in eV.
double repulsion(std::int64_t i, std::int64_t j) {
  const double distance = 1.4 * static_cast<double>(std::abs(i - j));
  return 14.397 / std::sqrt(distance * distance + 1.677);
}

// Electrons hop to the neighbours; the nuclei attract them.
double core(std::int64_t i, std::int64_t j) {
  double value = std::abs(i - j) == 1 ? -2.4 : 0;
  for (std::int64_t k = 0; i == j && k < n; ++k) {
    value -= k == i ? 0 : repulsion(i, k);
  }
  return value;
}

// A task computes some rows of F − H from the density, and adds them.
void build_rows(std::int64_t first, const Matrix& density, const Matrix& fock) {
  const Box rows({first, 0}, {first + tile, n});
  const std::vector<double> d = density.get(rows).value();
  std::vector<double> f(d.size());
  std::vector<double> charges(n);
  for (std::int64_t k = 0; k < n; ++k) {
    charges[static_cast<std::size_t>(k)] = density.get_element({k, k}).value();
  }
  for (std::int64_t i = first; i < first + tile; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>((i - first) * n + j);
      f[at] = -0.5 * d[at] * repulsion(i, j);
      for (std::int64_t k = 0; i == j && k < n; ++k) {
        f[at] += charges[static_cast<std::size_t>(k)] * repulsion(i, k);
      }
    }
  }
  require(fock.accumulate(rows, f));
}

int main() {
  auto job = tessera::rma::Job::start().value();
  auto h = Matrix::create(job, {n, n}, {.name = "H"}).value();
  auto fock = h.duplicate("F").value(), vectors = h.duplicate("C").value();
  auto density = h.duplicate("D").value(), both = h.duplicate("H + F").value();
  auto tasks = Counter::create(job, job.world()).value();
  require(for_each_element(h, [](const Index& at, double& value) { value = core(at[0], at[1]); }));
  require(for_each_element(
      density, [](const Index& at, double& value) { value = at[0] == at[1] ? 1.0 : 0.0; }));

  double energy = 0, before = 1;
  int steps = 0;
  while (std::abs(energy - before) > 1e-11 && steps < 200) {
    require(copy(h, fock));
    require(tasks.reset(0));
    for (auto task = tasks.next().value(); task < n / tile; task = tasks.next().value()) {
      build_rows(task * tile, density, fock);
    }
    require(fock.sync());
    require(add(0.5, h, 0.5, fock, both));
    before = energy;
    energy = dot(density, both, {.reproducible = true}).value();
    require(eigen(fock, vectors));
    const MatrixPatch<double> occupied(vectors, Box({0, 0}, {n, n / 2}));
    require(gemm(occupied, occupied, MatrixPatch<double>(density),
                 {.alpha = 2.0, .op_b = MatrixOp::transpose}));
    ++steps;
  }
  if (job.rank().value == 0) {
    std::printf("steps: %d\nelectronic_energy: %.9f\n", steps, energy);
  }
  return std::abs(energy - before) <= 1e-11 ? 0 : 1;
}
