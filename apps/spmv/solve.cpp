// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "apps/spmv/matrix_entries.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/reductions.hpp"
#include "linalg/sparse_diagonal.hpp"

namespace tessera::apps::spmv {
namespace {

using arrays::Array;
using linalg::SparseMatrix;
using linalg::SpmvPlan;
using rma::Result;
using rma::Status;

// A system and its preconditioner.
template <class T>
class System {
 public:
  static Result<System> create(SparseMatrix<T>& matrix, SpmvPlan<T>& plan, Array<T>& b,
                               bool jacobi) {
    System system(matrix, plan, b);
    TESSERA_ASSIGN_OR_RETURN(system.b_norm_, arrays::norm2(b));
    if (jacobi) {
      TESSERA_ASSIGN_OR_RETURN(auto diagonal, b.duplicate("inverse of the diagonal"));
      TESSERA_RETURN_IF_ERROR(linalg::get_diagonal(matrix, diagonal));
      TESSERA_RETURN_IF_ERROR(arrays::reciprocal(diagonal));
      TESSERA_ASSIGN_OR_RETURN(const double greatest, arrays::norm_max(diagonal));
      if (!std::isfinite(greatest)) {
        return Status::error(rma::Code::invalid_argument,
                             fmt::format("{} has a zero on its diagonal", matrix.describe()))
            .hint("solve without --precondition jacobi");
      }
      system.inverse_.emplace(std::move(diagonal));
    }
    return system;
  }

  // A zero right side has the solution zero; its residuals are taken as they are.
  [[nodiscard]] double relative(double norm) const { return b_norm_ > 0 ? norm / b_norm_ : norm; }

  // The norm that is so large relative to b.
  [[nodiscard]] double absolute(double norm) const { return b_norm_ > 0 ? norm * b_norm_ : norm; }

  Result<Array<T>> vector(const char* name) { return b_->duplicate(name); }
  Status multiply(Array<T>& x, Array<T>& y) { return plan_->multiply(*matrix_, x, y); }
  // to = b − A x
  Status residual(Array<T>& x, Array<T>& to) {
    TESSERA_RETURN_IF_ERROR(multiply(x, to));
    return arrays::add(T{1}, *b_, T{-1}, to, to);
  }
  Status precondition(Array<T>& from, Array<T>& to) {
    return inverse_ ? arrays::multiply(from, *inverse_, to) : arrays::copy(from, to);
  }

 private:
  System(SparseMatrix<T>& matrix, SpmvPlan<T>& plan, Array<T>& b)
      : matrix_(&matrix), plan_(&plan), b_(&b) {}

  SparseMatrix<T>* matrix_;
  SpmvPlan<T>* plan_;
  Array<T>* b_;
  double b_norm_ = 0;
  std::optional<Array<T>> inverse_;
};

double real_part(double value) {
  return value;
}
double real_part(std::complex<double> value) {
  return value.real();
}

// y += alpha x
template <class T>
Status add_to(Array<T>& y, T alpha, Array<T>& x) {
  return arrays::add(T{1}, y, alpha, x, y);
}

// Roundings of a residual that was so large, relative to b, hide what is to be reached. The limits
// leave room to coarse and to hopeless tolerances.
double greatest_residual(double tolerance) {
  return std::clamp(10 * tolerance / std::numeric_limits<double>::epsilon(), 1e4, 1e8);
}

// Whether there is no digit in a product of two vectors with these norms: they are orthogonal.
bool is_lost(double product, double norm, double other_norm) {
  constexpr double noise = 64 * std::numeric_limits<double>::epsilon();
  return !(product > noise * norm * other_norm);
}

// Writes the carried residual into the result; true while there is reason to go on.
template <class T>
Result<bool> goes_on(System<T>& system, Array<T>& r, const SolveOptions& options,
                     SolveResult& result) {
  TESSERA_ASSIGN_OR_RETURN(const double norm, arrays::norm2(r));
  result.carried_residual = system.relative(norm);
  result.has_converged = result.carried_residual <= options.tolerance;
  if (options.progress) {
    options.progress(result.iterations, result.carried_residual);
  }
  if (result.has_converged) {
    result.failure.clear();
  } else if (!std::isfinite(norm)) {
    result.failure = "the residual is no longer finite";
  } else if (result.carried_residual > greatest_residual(options.tolerance)) {
    result.failure = fmt::format("diverged: in iteration {} the residual is {:.1e} times b",
                                 result.iterations, result.carried_residual);
  } else if (result.failure.empty() && result.iterations >= options.most_iterations) {
    result.failure = fmt::format("{} steps did not suffice", result.iterations);
  }
  return !result.has_converged && result.failure.empty();
}

template <class T>
Status run_cg(System<T>& system, Array<T>& x, const SolveOptions& options, SolveResult& result) {
  TESSERA_ASSIGN_OR_RETURN(auto r, system.vector("r"));
  TESSERA_ASSIGN_OR_RETURN(auto z, system.vector("z"));
  TESSERA_ASSIGN_OR_RETURN(auto p, system.vector("p"));
  TESSERA_ASSIGN_OR_RETURN(auto q, system.vector("q"));
  TESSERA_RETURN_IF_ERROR(system.residual(x, r));
  T rho{1};
  TESSERA_ASSIGN_OR_RETURN(bool is_going, goes_on(system, r, options, result));
  while (is_going) {
    TESSERA_RETURN_IF_ERROR(system.precondition(r, z));
    TESSERA_ASSIGN_OR_RETURN(const T next_rho, arrays::dot_conjugated(r, z));
    const T beta = result.iterations == 0 ? T{} : next_rho / rho;
    rho = next_rho;
    TESSERA_RETURN_IF_ERROR(arrays::add(T{1}, z, beta, p, p));
    TESSERA_RETURN_IF_ERROR(system.multiply(p, q));
    TESSERA_ASSIGN_OR_RETURN(const T curvature, arrays::dot_conjugated(p, q));
    if (!(real_part(curvature) > 0)) {
      result.failure =
          fmt::format("the matrix is not positive definite: p*Ap is {:g} in iteration {}",
                      real_part(curvature), result.iterations + 1);
      return {};
    }
    const T alpha = rho / curvature;
    TESSERA_RETURN_IF_ERROR(add_to(x, alpha, p));
    TESSERA_RETURN_IF_ERROR(add_to(r, -alpha, q));
    ++result.iterations;
    TESSERA_ASSIGN_OR_RETURN(is_going, goes_on(system, r, options, result));
  }
  return {};
}

// The vectors of BiCGStab, preconditioned from the right: r stays the residual of x.
template <class T>
struct BiCgStabVectors {
  Array<T> r, shadow, p, v, preconditioned, t;

  static Result<BiCgStabVectors> create(System<T>& system) {
    TESSERA_ASSIGN_OR_RETURN(auto r, system.vector("r"));
    TESSERA_ASSIGN_OR_RETURN(auto shadow, system.vector("shadow of r"));
    TESSERA_ASSIGN_OR_RETURN(auto p, system.vector("p"));
    TESSERA_ASSIGN_OR_RETURN(auto v, system.vector("v"));
    TESSERA_ASSIGN_OR_RETURN(auto preconditioned, system.vector("p or s, preconditioned"));
    TESSERA_ASSIGN_OR_RETURN(auto t, system.vector("t"));
    return BiCgStabVectors{std::move(r), std::move(shadow),         std::move(p),
                           std::move(v), std::move(preconditioned), std::move(t)};
  }
};

template <class T>
struct BiCgStabNumbers {
  T rho{1}, alpha{1}, omega{1};
  double shadow_norm = 0;
};

std::string broke_down(const SolveResult& result, std::string_view how) {
  return fmt::format("broke down in iteration {}: {}", result.iterations + 1, how);
}

// One step; `failure` is set where a divisor is nothing but roundings.
template <class T>
Status step_bicgstab(System<T>& system, BiCgStabVectors<T>& vectors, BiCgStabNumbers<T>& numbers,
                     Array<T>& x, SolveResult& result) {
  auto& [r, shadow, p, v, ready, t] = vectors;
  TESSERA_ASSIGN_OR_RETURN(const T rho, arrays::dot_conjugated(shadow, r));
  if (is_lost(std::abs(rho), numbers.shadow_norm, system.absolute(result.carried_residual))) {
    result.failure = broke_down(result, "the residual is orthogonal to the first one");
    return {};
  }
  const T beta = rho / numbers.rho * (numbers.alpha / numbers.omega);
  numbers.rho = rho;
  // p = r + beta (p − omega v); both are zero at first.
  TESSERA_RETURN_IF_ERROR(add_to(p, -numbers.omega, v));
  TESSERA_RETURN_IF_ERROR(arrays::add(T{1}, r, beta, p, p));
  TESSERA_RETURN_IF_ERROR(system.precondition(p, ready));
  TESSERA_RETURN_IF_ERROR(system.multiply(ready, v));
  TESSERA_ASSIGN_OR_RETURN(const T divisor, arrays::dot_conjugated(shadow, v));
  TESSERA_ASSIGN_OR_RETURN(const double v_norm, arrays::norm2(v));
  if (is_lost(std::abs(divisor), numbers.shadow_norm, v_norm)) {
    result.failure = broke_down(result, "A p is orthogonal to the first residual");
    return {};
  }
  numbers.alpha = rho / divisor;
  TESSERA_RETURN_IF_ERROR(add_to(x, numbers.alpha, ready));
  TESSERA_RETURN_IF_ERROR(add_to(r, -numbers.alpha, v));
  TESSERA_RETURN_IF_ERROR(system.precondition(r, ready));
  TESSERA_RETURN_IF_ERROR(system.multiply(ready, t));
  TESSERA_ASSIGN_OR_RETURN(const T along, arrays::dot_conjugated(t, r));
  TESSERA_ASSIGN_OR_RETURN(const double t_norm, arrays::norm2(t));
  TESSERA_ASSIGN_OR_RETURN(const double s_norm, arrays::norm2(r));
  if (is_lost(std::abs(along), t_norm, s_norm)) {
    // Half a step is done, which may have led to the solution.
    result.failure = broke_down(result, "A s is orthogonal to s, the residual half a step on");
    ++result.iterations;
    return {};
  }
  numbers.omega = along / (t_norm * t_norm);
  TESSERA_RETURN_IF_ERROR(add_to(x, numbers.omega, ready));
  TESSERA_RETURN_IF_ERROR(add_to(r, -numbers.omega, t));
  ++result.iterations;
  return {};
}

template <class T>
Status run_bicgstab(System<T>& system, Array<T>& x, const SolveOptions& options,
                    SolveResult& result) {
  TESSERA_ASSIGN_OR_RETURN(auto vectors, BiCgStabVectors<T>::create(system));
  BiCgStabNumbers<T> numbers;
  TESSERA_RETURN_IF_ERROR(system.residual(x, vectors.r));
  TESSERA_RETURN_IF_ERROR(arrays::copy(vectors.r, vectors.shadow));
  TESSERA_ASSIGN_OR_RETURN(numbers.shadow_norm, arrays::norm2(vectors.shadow));
  TESSERA_ASSIGN_OR_RETURN(bool is_going, goes_on(system, vectors.r, options, result));
  while (is_going) {
    TESSERA_RETURN_IF_ERROR(step_bicgstab(system, vectors, numbers, x, result));
    TESSERA_ASSIGN_OR_RETURN(is_going, goes_on(system, vectors.r, options, result));
  }
  return {};
}

}  // namespace

template <class T>
Result<SolveResult> solve(SparseMatrix<T>& matrix, SpmvPlan<T>& plan, Array<T>& b, Array<T>& x,
                          const SolveOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(auto system, System<T>::create(matrix, plan, b, options.jacobi));
  SolveResult result;
  TESSERA_RETURN_IF_ERROR(options.method == Method::cg ? run_cg(system, x, options, result)
                                                       : run_bicgstab(system, x, options, result));
  TESSERA_ASSIGN_OR_RETURN(auto residual, system.vector("b - A x"));
  TESSERA_RETURN_IF_ERROR(system.residual(x, residual));
  TESSERA_ASSIGN_OR_RETURN(const double norm, arrays::norm2(residual));
  result.true_residual = system.relative(norm);
  return result;
}

template Result<SolveResult> solve(SparseMatrix<double>&, SpmvPlan<double>&, Array<double>&,
                                   Array<double>&, const SolveOptions&);
template Result<SolveResult> solve(SparseMatrix<std::complex<double>>&,
                                   SpmvPlan<std::complex<double>>&, Array<std::complex<double>>&,
                                   Array<std::complex<double>>&, const SolveOptions&);

}  // namespace tessera::apps::spmv
