// SPDX-License-Identifier: BSD-3-Clause
// Linear algebra on distributed arrays: eigenvalues and eigenvectors of a symmetric matrix, and two
// matrix products that verify them.
//     build/bin/tessera-run -n 4 build/docs/examples/gemm_eigen
#include <cstdio>

#include <tessera/arrays/matrix.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/linalg/eigen.hpp>
#include <tessera/linalg/gemm.hpp>

using namespace tessera::arrays;
using namespace tessera::linalg;
using tessera::rma::require;

int main() {
  auto job = tessera::rma::Job::start().value();
  constexpr std::int64_t n = 200;
  auto a = Array<double>::create(job, {n, n}, {.name = "A"}).value();
  require(fill_random(a, 42, {.low = -1, .high = 1}));
  require(symmetrize(a));

  // A v = λ v: the values come to all ranks, ascending; the vectors are columns of V.
  auto v = a.duplicate("V").value();
  const auto values = eigen(a, v).value();

  // The residual R = A V − V Λ.
  auto r = a.duplicate("R").value();
  auto v_lambda = a.duplicate("V lambda").value();
  auto lambda = Array<double>::create(job, {n}, {.name = "lambda"}).value();
  if (job.rank().value == 0) {
    require(lambda.put(lambda.box(), values));
  }
  require(copy(v, v_lambda));
  require(scale_columns(v_lambda, lambda));
  require(gemm(a, v, r));
  require(add(1.0, r, -1.0, v_lambda, r));
  const double residual = norm_max(r).value();

  // Vᵀ V = I, in the same array.
  require(gemm(v, v, r, {.op_a = MatrixOp::transpose}));
  require(shift_diagonal(r, -1.0));
  const double skew = norm_max(r).value();

  if (job.rank().value == 0) {
    std::printf("eigenvalues from %.6f to %.6f; residual %.1e, skew %.1e\n", values.front(),
                values.back(), residual, skew);
  }
  return residual < 1e-11 && skew < 1e-12 ? 0 : 1;
}
