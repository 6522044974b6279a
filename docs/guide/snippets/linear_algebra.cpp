// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/06-linear-algebra.md.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include <tessera/arrays/matrix.hpp>
#include <tessera/arrays/random.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/arrays/transform.hpp>
#include <tessera/linalg/contract.hpp>
#include <tessera/linalg/count_sketch.hpp>
#include <tessera/linalg/eigen.hpp>
#include <tessera/linalg/gemm.hpp>
#include <tessera/linalg/permute.hpp>
#include <tessera/linalg/solve.hpp>
#include <tessera/linalg/sparse_builder.hpp>
#include <tessera/linalg/sparse_convert.hpp>
#include <tessera/linalg/sparse_dense.hpp>
#include <tessera/linalg/sparse_diagonal.hpp>
#include <tessera/linalg/sparse_product.hpp>
#include <tessera/linalg/spmv.hpp>
#include <tessera/linalg/svd.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using namespace tessera::linalg;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::require;

namespace {

using Matrix = Array<double>;

Matrix random_matrix(Job& job, const Extents& extents, std::uint64_t seed) {
  auto a = Matrix::create(job, extents, {.name = "random"}).value();
  require(fill_random(a, seed));
  return a;
}

// The largest |a − b|; a becomes a − b.
double difference(Matrix& a, Matrix& b) {
  require(add(1.0, a, -1.0, b, a));
  return norm_max(a).value();
}

void multiply_matrices(Job& job) {
  auto a = random_matrix(job, {40, 30}, 1);
  auto b = random_matrix(job, {30, 50}, 2);
  auto c = Matrix::create(job, {40, 50}, {.name = "C"}).value();
  // [gemm]
  require(gemm(a, b, c));                                // C = A B
  require(gemm(a, b, c, {.alpha = -1.0, .beta = 1.0}));  // C = C − A B: zeros
  // [/gemm]
  expect(norm_max(c).value() < 1e-12, "C − C");
  auto bt = Matrix::create(job, {50, 30}, {.name = "B'"}).value();
  auto once_more = c.duplicate("once more").value();
  // [transpose]
  require(transpose(b, bt));                               // B' = Bᵀ
  require(gemm(a, bt, c, {.op_b = MatrixOp::transpose}));  // C = A B'ᵀ
  // [/transpose]
  require(gemm(a, b, once_more));
  expect(difference(once_more, c) < 1e-12, "two ways to A B");
  // [patch]
  const MatrixPatch<double> corner(c, Box({0, 0}, {10, 20}));
  const MatrixPatch<double> left(a, Box({0, 0}, {10, 30}));
  const MatrixPatch<double> right(b, Box({0, 0}, {30, 20}));
  require(gemm(left, right, corner));
  // [/patch]
}

void multiply_planes(Job& job) {
  auto t = random_matrix(job, {20, 5, 30}, 9);
  auto g = Matrix::create(job, {30, 30}, {.name = "G"}).value();
  // [plane]
  const Box at_two({0, 2, 0}, {20, 3, 30});  // T[:, 2, :], of 20 x 5 x 30
  const MatrixPatch<double> plane(t, at_two, {.rows = 0, .columns = 2});   // 20 x 30
  const MatrixPatch<double> turned(t, at_two, {.rows = 2, .columns = 0});  // 30 x 20
  require(gemm(turned, plane, MatrixPatch<double>(g)));
  // [/plane]
  auto d = Matrix::create(job, {30}, {.name = "d"}).value();
  require(get_diagonal(g, d));
  const double squares = dot(part(t, at_two), part(t, at_two)).value();
  expect(std::abs(sum(d).value() - squares) < 1e-10, "the trace is the sum of squares");
}

void contract_tensors(Job& job) {
  constexpr std::int64_t o = 4;
  constexpr std::int64_t v = 6;
  auto t = random_matrix(job, {v, v, o, o}, 3);
  auto w = random_matrix(job, {v, v, v, v}, 4);
  auto r = Matrix::create(job, {v, v, o, o}, {.name = "R"}).value();
  // [contract]
  require(contract("abcd", w, "cdij", t, "abij", r));  // R[abij] = Σ over c, d: W[abcd] T[cdij]
  // [/contract]
  auto r2 = Matrix::create(job, {v, v, o, o}, {.name = "R2"}).value();
  auto transposed = Matrix::create(job, {o, o, v, v}, {.name = "T'"}).value();
  // [permute]
  require(permute(t, transposed, {2, 3, 0, 1}));  // T'[ijab] = T[abij]
  // [/permute]
  require(contract("abcd", w, "ijcd", transposed, "abij", r2));
  expect(difference(r2, r) < 1e-12, "two ways to R");
}

void solve_systems(Job& job) {
  constexpr std::int64_t n = 60;
  auto a = random_matrix(job, {n, n}, 5);
  require(shift_diagonal(a, double{n}));
  auto x = random_matrix(job, {n, 3}, 6);
  auto b = x.duplicate("B").value();
  require(gemm(a, x, b));
  auto b2 = b.duplicate("B2").value();
  require(copy(b, b2));
  // [solve]
  require(solve(a, b));  // B becomes X of A X = B; A stays
  // [/solve]
  expect(difference(b, x) < 1e-10, "the solution is known");
  // [factor]
  const Pivots pivots = lu(a).value();  // A becomes L and U
  require(solve_lu(a, pivots, b2));     // once for each set of right sides
  // [/factor]
  expect(difference(b2, x) < 1e-10, "the solution is known");
}

void find_eigenvalues(Job& job) {
  constexpr std::int64_t n = 30;
  auto a = random_matrix(job, {n, n}, 7);
  require(symmetrize(a));
  auto v = a.duplicate("V").value();
  // [eigen]
  const auto values = eigen(a, v).value();  // ascending; column k of V belongs to values[k]
  // [/eigen]
  double trace = 0;
  for (const double value : values) {
    trace += value;
  }
  auto d = Matrix::create(job, {n}, {.name = "d"}).value();
  require(get_diagonal(a, d));
  expect(std::abs(sum(d).value() - trace) < 1e-11, "their sum is the trace");
  auto m = random_matrix(job, {40, 20}, 8);
  // [svd]
  auto u = Matrix::create(job, {40, 20}, {.name = "U"}).value();
  auto vh = Matrix::create(job, {20, 20}, {.name = "VH"}).value();
  const auto sigma = svd(m, u, vh).value();  // descending
  // [/svd]
  expect(sigma.size() == 20 && sigma.front() > sigma.back(), "twenty singular values");
  require(shift_diagonal(a, double{n}));
  // [method]
  if (const auto status = check_scalapack(job, job.world()); !status.ok()) {
    std::cout << status.message() << '\n';  // the reason, and the remedy
  }
  require(cholesky(a, {.how = {.method = Method::own}}));
  // [/method]
}

void multiply_sparse(Job& job) {
  // [build]
  constexpr std::int64_t n = 1000;  // −1 2 −1 in each row
  auto builder = SparseBuilder<double>::create(job, n, n, {.name = "A"}).value();
  for (std::int64_t row = job.rank().value; row < n; row += job.size()) {
    require(builder.add(row, row, 2.0));
    if (row > 0) {
      require(builder.add(row, row - 1, -1.0));
      require(builder.add(row - 1, row, -1.0));  // any rank may add any entry
    }
  }
  SparseMatrix<double> a = builder.assemble().value();
  // [/build]
  // [spmv]
  auto x = Array<double>::create(job, a.row_distribution(), {.name = "x"}).value();
  auto y = x.duplicate("y").value();
  auto plan = SpmvPlan<double>::create(a, x, y).value();  // once: finds what each rank needs
  require(fill(x, 1.0));
  require(plan.multiply(a, x, y));             // y = A x, as often as needed
  require(plan.multiply_transposed(a, y, x));  // x = Aᵀ y
  // [/spmv]
  expect(sum(y).value() == 2, "one at each end");
  expect(x.get_element({0}).value() == 2 && x.get_element({1}).value() == -1, "A is symmetric");
  // [rows]
  {
    const auto own = a.local().value();  // this rank's rows
    for (double& value : own.values()) {
      value *= 2;
    }
  }
  require(a.sync());
  const LocalCsr<double> piece = a.get(Box({10, 10}, {13, 14})).value();  // any rank, any part
  // [/rows]
  expect(piece.entries() == 8 && piece.value[0] == 4 && piece.value[1] == -2, "doubled rows");
}

// Column 3 of the sketch is column 3, each element with its sign in its bucket.
void check_sketch(Job& job, const Matrix& column, SparseMatrix<double>& sketch) {
  std::vector<double> left(16);
  std::vector<double> elements(60);
  require(column.get(column.box(), elements));
  for (std::int64_t row = 0; row < 60; ++row) {
    const SketchBucket place = sketch_bucket(7, row, 16);
    const double element = elements[static_cast<std::size_t>(row)];
    left[static_cast<std::size_t>(place.bucket)] += place.is_negative ? -element : element;
  }
  auto brought = Matrix::create(job, {16}, {.name = "brought down"}).value();
  std::vector<double> right(16);
  require(get_column(sketch, 3, brought));
  require(brought.get(brought.box(), right));
  expect(left == right, "the sketch of column 3");
}

// Of each ten elements one is large.
void set_some(Matrix& a) {
  require(for_each_element(a, [](const Index& at, double& x) {
    x = (at[0] + at[1]) % 10 == 0 ? 1.0 + static_cast<double>(at[0]) : 1e-9;
  }));
}

void convert_sparse(Job& job) {
  auto d = Matrix::create(job, {60, 40}, {.name = "D"}).value();
  auto b = random_matrix(job, {40, 8}, 10);
  auto c = Matrix::create(job, {60, 8}, {.name = "C"}).value();
  set_some(d);
  // [convert]
  auto s = from_dense(d, {.name = "S"}, 1e-6).value();  // entries larger than 1e-6
  require(to_dense(s, d));                              // D is S, with zeros elsewhere
  auto column = Matrix::create(job, {60}, {.name = "column"}).value();
  require(get_column(s, 3, column));
  const SparseSummary summary = summarise(s).value();
  if (job.rank().value == 0) {
    std::cout << to_string(summary);
  }
  // [/convert]
  expect(s.entries() == 240 && summary.most_in_row == 4, "one of ten");
  expect(sum(column).value() == 8 + 18 + 28 + 38 + 48 + 58, "rows 7, 17, …");
  // [products]
  auto st = transpose(s, {.name = "ST"}).value();
  auto gram = multiply(st, s, "SᵀS").value();             // sparse and sparse
  require(multiply(s, b, c));                             // sparse and dense: C = S B
  auto small = count_sketch(s, 16, {.seed = 7}).value();  // 16 x 40
  // [/products]
  auto c2 = c.duplicate("C2").value();
  require(gemm(d, b, c2));
  expect(difference(c2, c) < 1e-12, "two ways to S B");
  auto diagonal = Matrix::create(job, {40}, {.name = "diagonal"}).value();
  require(get_diagonal(gram, diagonal));
  expect(sum(diagonal).value() == dot(d, d).value(), "the trace is the sum of squares");
  check_sketch(job, column, small);
}

}  // namespace

int main() {
  auto job = Job::start().value();
  multiply_matrices(job);
  multiply_planes(job);
  contract_tensors(job);
  solve_systems(job);
  find_eigenvalues(job);
  multiply_sparse(job);
  convert_sparse(job);
}
