// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/diis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "apps/ccsd/local_product.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Result;
using rma::Status;

Status copy_to(Amplitudes& to, Amplitudes& from) {
  to.t1 = from.t1;
  TESSERA_ASSIGN_OR_RETURN(const OwnRows destination, OwnRows::of(to.t2));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows source, OwnRows::of(from.t2));
  std::copy(source.all().begin(), source.all().end(), destination.all().begin());
  return {};
}

void add_scaled(std::span<double> to, double alpha, std::span<const double> from) {
  std::transform(to.begin(), to.end(), from.begin(), to.begin(),
                 [alpha](double a, double b) { return a + alpha * b; });
}

/// x = B⁻¹ x for a symmetric B, which is overwritten. False if it is not positive definite.
bool solve_symmetric(const Matrix& b, std::vector<double>& x) {
  using linalg::blas::Diagonal;
  using linalg::blas::Side;
  using linalg::blas::Triangle;
  const Matrix column = matrix(x.data(), b.rows, 1);
  return linalg::blas::potrf(Triangle::lower, b).ok() &&
         linalg::blas::trsm<double>(Side::left, Triangle::lower, Diagonal::stored, 1.0, {b}, column)
             .ok() &&
         linalg::blas::trsm<double>(Side::left, Triangle::upper, Diagonal::stored, 1.0,
                                    {b.transposed()}, column)
             .ok();
}

}  // namespace

Result<double> inner_product(Amplitudes& t, Amplitudes& s) {
  TESSERA_ASSIGN_OR_RETURN(const OwnRows t2, OwnRows::of(t.t2));
  TESSERA_ASSIGN_OR_RETURN(const OwnRows s2, OwnRows::of(s.t2));
  const double own = std::inner_product(t2.all().begin(), t2.all().end(), s2.all().begin(), 0.0);
  TESSERA_ASSIGN_OR_RETURN(const double doubles, t.t2.team().allreduce(own, rma::Reduction::sum));
  return std::inner_product(t.t1.begin(), t.t1.end(), s.t1.begin(), doubles);
}

Status add_step(Amplitudes& t, Amplitudes& s) {
  add_scaled(t.t1, 1.0, s.t1);
  {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows t2, OwnRows::of(t.t2));
    TESSERA_ASSIGN_OR_RETURN(const OwnRows s2, OwnRows::of(s.t2));
    add_scaled(t2.all(), 1.0, s2.all());
  }
  return t.t2.sync();
}

Result<Diis> Diis::create(const rma::Job& job, const OrbitalSpace& space, std::size_t depth) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < depth; ++i) {
    TESSERA_ASSIGN_OR_RETURN(auto amplitudes, Amplitudes::create(job, space, "diis_t"));
    TESSERA_ASSIGN_OR_RETURN(auto step, Amplitudes::create(job, space, "diis_step"));
    entries.push_back({std::move(amplitudes), std::move(step)});
  }
  Diis diis(std::move(entries));
  diis.products_.resize(depth * depth);
  return diis;
}

Status Diis::multiply_with(std::size_t index) {
  for (std::size_t other = 0; other < used_; ++other) {
    TESSERA_ASSIGN_OR_RETURN(const double value,
                             inner_product(entries_[index].step, entries_[other].step));
    product(index, other) = value;
    product(other, index) = value;
  }
  return {};
}

// Minimises c·B·c with Σ c = 1: B c = λ 1. Steps shrink by orders of magnitude, so B is first
// scaled to a unit diagonal. Empty if there is no solution.
std::vector<double> Diis::coefficients() const {
  const std::size_t n = used_;
  std::vector<double> scale(n);
  for (std::size_t a = 0; a < n; ++a) {
    if (products_[a * entries_.size() + a] <= 0.0) {
      return {};  // a step of zero: nothing to improve
    }
    scale[a] = 1.0 / std::sqrt(products_[a * entries_.size() + a]);
  }
  std::vector<double> b(n * n);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      b[row * n + column] = products_[row * entries_.size() + column] * scale[row] * scale[column];
    }
    b[row * n + row] += 1e-14;  // keeps it nonsingular for parallel steps
  }
  std::vector<double> c = scale;
  const auto size = static_cast<std::int64_t>(n);
  if (!solve_symmetric(matrix(b.data(), size, size), c)) {
    return {};
  }
  std::transform(c.begin(), c.end(), scale.begin(), c.begin(), std::multiplies<>());
  const double sum = std::accumulate(c.begin(), c.end(), 0.0);
  for (double& each : c) {
    each /= sum;
  }
  return c;
}

Status Diis::extrapolate(Amplitudes& amplitudes, Amplitudes& step) {
  Entry& entry = entries_[next_];
  TESSERA_RETURN_IF_ERROR(copy_to(entry.amplitudes, amplitudes));
  TESSERA_RETURN_IF_ERROR(copy_to(entry.step, step));
  const std::size_t index = std::exchange(next_, (next_ + 1) % entries_.size());
  used_ = std::min(used_ + 1, entries_.size());
  TESSERA_RETURN_IF_ERROR(multiply_with(index));
  const std::vector<double> c = coefficients();
  if (c.empty()) {
    return {};
  }
  {
    TESSERA_ASSIGN_OR_RETURN(const OwnRows t2, OwnRows::of(amplitudes.t2));
    std::fill(t2.all().begin(), t2.all().end(), 0.0);
    std::fill(amplitudes.t1.begin(), amplitudes.t1.end(), 0.0);
    for (std::size_t i = 0; i < used_; ++i) {
      TESSERA_ASSIGN_OR_RETURN(const OwnRows kept, OwnRows::of(entries_[i].amplitudes.t2));
      add_scaled(t2.all(), c[i], kept.all());
      add_scaled(amplitudes.t1, c[i], entries_[i].amplitudes.t1);
    }
  }
  return amplitudes.t2.sync();
}

}  // namespace tessera::apps::ccsd
