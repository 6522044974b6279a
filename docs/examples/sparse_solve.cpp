// SPDX-License-Identifier: BSD-3-Clause
// A sparse linear system by conjugate gradients: the Laplacian of a square grid, in compressed
// rows.
//     build/bin/tessera-run -n 4 build/docs/examples/sparse_solve
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/linalg/sparse_builder.hpp>
#include <tessera/linalg/spmv.hpp>

using namespace tessera::arrays;
using namespace tessera::linalg;
using tessera::rma::Job;
using tessera::rma::require;

constexpr std::int64_t side = 60, n = side * side;
using Vector = Array<double>;

// 4 on the diagonal, −1 for each neighbour. Every rank adds the rows that it will own.
SparseMatrix<double> laplacian(const Job& job) {
  auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
  const auto first = n * job.rank().value / job.size();
  const auto last = n * (job.rank().value + 1) / job.size();
  for (std::int64_t row = first; row < last; ++row) {
    const std::int64_t i = row / side, j = row % side;
    require(builder.add(row, row, 4.0));
    for (const auto& [x, y] : {std::pair{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}}) {
      if (x >= 0 && x < side && y >= 0 && y < side) {
        require(builder.add(row, side * x + y, -1.0));
      }
    }
  }
  return builder.assemble().value();
}

// Solves A x = b, starting from x = 0. Returns the number of steps.
int conjugate_gradients(SparseMatrix<double>& a, Vector& b, Vector& x) {
  auto r = b.duplicate("r").value(), p = b.duplicate("p").value(), ap = b.duplicate("Ap").value();
  auto plan = SpmvPlan<double>::create(a, p, ap).value();  // once: finds what each rank needs
  require(copy(b, r));
  require(copy(b, p));
  double rr = dot(r, r).value();
  const double enough = 1e-20 * rr;
  int steps = 0;
  for (; rr > enough && steps < n; ++steps) {
    require(plan.multiply(a, p, ap));
    const double alpha = rr / dot(p, ap).value();
    require(add(1.0, x, alpha, p, x));
    require(add(1.0, r, -alpha, ap, r));
    const double before = std::exchange(rr, dot(r, r).value());
    require(add(1.0, r, rr / before, p, p));
  }
  return steps;
}

int main() {
  auto job = Job::start().value();
  auto a = laplacian(job);
  auto known = Vector::create(job, a.row_distribution(), {.name = "known"}).value();
  auto b = known.duplicate("b").value(), x = known.duplicate("x").value();
  require(fill_random(known, 1));
  auto plan = SpmvPlan<double>::create(a, known, b).value();
  require(plan.multiply(a, known, b));  // so that the solution is known

  const int steps = conjugate_gradients(a, b, x);
  require(add(1.0, x, -1.0, known, x));
  const double error = norm_max(x).value();
  if (job.rank().value == 0) {
    std::printf("%s: %d steps, error %.1e\n", a.describe().c_str(), steps, error);
  }
  return error < 1e-8 ? 0 : 1;
}
