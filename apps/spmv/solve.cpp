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

// The power of two that brings a norm near to one: it changes exponents, no digit. It is itself a
// normal number, however small or large the norm is; so the result is only near one.
double scale_to_one(double norm) {
  constexpr int most = 1000;
  return norm > 0 && std::isfinite(norm)
             ? std::ldexp(1.0, -std::clamp(std::ilogb(norm), -most, most))
             : 1.0;
}

// The powers of two by which the matrix and the right-hand side are multiplied. Squares of numbers
// below 1e-154, or above 1e154, are zero or infinite, and would be mistaken for breakdowns.
struct Scales {
  double matrix = 1;
  double right_side = 1;
};

// Collective.
template <class T>
Result<double> largest_entry(SparseMatrix<T>& matrix) {
  double largest = 0;
  {
    TESSERA_ASSIGN_OR_RETURN(const auto own, matrix.local());
    for (const T& value : own.values()) {
      largest = std::max(largest, std::abs(value));
    }
  }
  return matrix.job().world().allreduce(largest, rma::Reduction::max);
}

// Collective. A row whose element of `inverses`, of a diagonal, is infinite. Requires: there is
// one.
template <class T>
Result<std::int64_t> infinite_row(Array<T>& inverses) {
  TESSERA_ASSIGN_OR_RETURN(const auto largest, arrays::select_max(inverses));
  if (!std::isfinite(std::abs(largest.value))) {
    return largest.at[0];
  }
  TESSERA_ASSIGN_OR_RETURN(const auto smallest, arrays::select_min(inverses));
  return smallest.at[0];
}

// Norms that need no scaling: squares of such numbers, and of those that become small, are in
// range.
bool needs_no_scaling(double norm) {
  constexpr double most = 0x1p256;
  return norm <= most && norm >= 1 / most;
}

// Collective.
template <class T>
Result<Scales> scales_of(SparseMatrix<T>& matrix, double b_norm) {
  TESSERA_ASSIGN_OR_RETURN(const double largest, largest_entry(matrix));
  return Scales{needs_no_scaling(largest) ? 1.0 : scale_to_one(largest),
                needs_no_scaling(b_norm) ? 1.0 : scale_to_one(b_norm)};
}

// Collective.
template <class T>
Status scale_by(Array<T>& vector, double factor) {
  return factor == 1 ? Status() : arrays::scale(vector, T{factor});
}

// A system and its preconditioner, scaled: (matrix scale) A y = (right side's scale) b.
template <class T>
class System {
 public:
  static Result<System> create(SparseMatrix<T>& matrix, SpmvPlan<T>& plan, Array<T>& b,
                               const Scales& scales, bool jacobi) {
    System system(matrix, plan, b, scales.matrix);
    if (scales.right_side != 1) {
      TESSERA_ASSIGN_OR_RETURN(system.scaled_b_, b.duplicate("b, scaled"));
      TESSERA_RETURN_IF_ERROR(arrays::copy(b, *system.scaled_b_));
      TESSERA_RETURN_IF_ERROR(arrays::scale(*system.scaled_b_, T{scales.right_side}));
    }
    TESSERA_ASSIGN_OR_RETURN(system.b_norm_, arrays::norm2(system.right_side()));
    if (scales.matrix != 1) {
      TESSERA_ASSIGN_OR_RETURN(system.scaled_, b.duplicate("a vector, scaled"));
    }
    if (jacobi) {
      TESSERA_ASSIGN_OR_RETURN(auto diagonal, b.duplicate("inverse of the diagonal"));
      TESSERA_RETURN_IF_ERROR(linalg::get_diagonal(matrix, diagonal));
      TESSERA_RETURN_IF_ERROR(scale_by(diagonal, scales.matrix));
      TESSERA_RETURN_IF_ERROR(arrays::reciprocal(diagonal));
      TESSERA_ASSIGN_OR_RETURN(const double greatest, arrays::norm_max(diagonal));
      if (!std::isfinite(greatest)) {
        TESSERA_ASSIGN_OR_RETURN(const std::int64_t row, infinite_row(diagonal));
        return Status::error(rma::Code::invalid_argument,
                             fmt::format("{} has a zero on its diagonal, in row {}",
                                         matrix.describe(), row + 1))
            .hint("solve without --precondition jacobi");
      }
      system.inverse_.emplace(std::move(diagonal));
    }
    return system;
  }

  // A zero right-hand side has the solution zero; its residuals are absolute.
  [[nodiscard]] double relative(double norm) const { return b_norm_ > 0 ? norm / b_norm_ : norm; }

  // The norm with this size relative to b.
  [[nodiscard]] double absolute(double norm) const { return b_norm_ > 0 ? norm * b_norm_ : norm; }

  Result<Array<T>> vector(const char* name) { return b_->duplicate(name); }
  // Scaled before the product, which then keeps its digits.
  Status multiply(Array<T>& x, Array<T>& y) {
    if (!scaled_) {
      return plan_->multiply(*matrix_, x, y);
    }
    TESSERA_RETURN_IF_ERROR(arrays::copy(x, *scaled_));
    TESSERA_RETURN_IF_ERROR(arrays::scale(*scaled_, T{scale_}));
    return plan_->multiply(*matrix_, *scaled_, y);
  }
  // to = b − A x
  Status residual(Array<T>& x, Array<T>& to) {
    TESSERA_RETURN_IF_ERROR(multiply(x, to));
    return arrays::add(T{1}, right_side(), T{-1}, to, to);
  }
  Status precondition(Array<T>& from, Array<T>& to) {
    return inverse_ ? arrays::multiply(from, *inverse_, to) : arrays::copy(from, to);
  }

 private:
  System(SparseMatrix<T>& matrix, SpmvPlan<T>& plan, Array<T>& b, double scale)
      : matrix_(&matrix), plan_(&plan), b_(&b), scale_(scale) {}
  [[nodiscard]] Array<T>& right_side() { return scaled_b_ ? *scaled_b_ : *b_; }

  SparseMatrix<T>* matrix_;
  SpmvPlan<T>* plan_;
  Array<T>* b_;
  double scale_;
  std::optional<Array<T>> scaled_b_;  // none: b itself
  std::optional<Array<T>> scaled_;    // operand of products in place of a vector; none: that vector
  double b_norm_ = 0;
  std::optional<Array<T>> inverse_;
};

double real_part(double value) {
  return value;
}
double real_part(std::complex<double> value) {
  return value.real();
}
double imaginary_part(double /*value*/) {
  return 0;
}
double imaginary_part(std::complex<double> value) {
  return value.imag();
}

// y += alpha x
template <class T>
Status add_to(Array<T>& y, T alpha, Array<T>& x) {
  return arrays::add(T{1}, y, alpha, x, y);
}

// The residual, relative to b, above which its roundings hide the tolerance. The limits allow for
// coarse and for unreachable tolerances.
double greatest_residual(double tolerance) {
  return std::clamp(10 * tolerance / std::numeric_limits<double>::epsilon(), 1e4, 1e8);
}

// Whether no digit is significant in a product of two vectors with these norms: they are
// orthogonal.
bool is_orthogonal(double product, double norm, double other_norm) {
  constexpr double noise = 64 * std::numeric_limits<double>::epsilon();
  return !(product > noise * norm * other_norm);
}

// Writes the carried residual into the result; returns whether to continue.
template <class T>
Result<bool> can_continue(System<T>& system, Array<T>& r, const SolveOptions& options,
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
  } else if (result.failure.empty() && result.iterations >= options.max_iterations) {
    result.failure = fmt::format("{} steps were not enough", result.iterations);
  }
  return !result.has_converged && result.failure.empty();
}

// Collective. Why conjugate gradients cannot continue along p, with q = A p and curvature = p*q;
// empty if they can.
template <class T>
Result<std::string> curvature_failure(T curvature, Array<T>& p, Array<T>& q,
                                      std::int64_t iteration) {
  // The part of p*Ap that is not rounding, if p*Ap is a small part of |p| |Ap|.
  constexpr double max_imaginary = 0.1;
  const double real = real_part(curvature);
  const double imaginary = imaginary_part(curvature);
  if (real > 0 && std::abs(imaginary) <= max_imaginary * real && std::isfinite(real)) {
    return std::string();
  }
  TESSERA_ASSIGN_OR_RETURN(const double p_norm, arrays::norm2(p));
  TESSERA_ASSIGN_OR_RETURN(const double q_norm, arrays::norm2(q));
  const bool is_finite = std::isfinite(real) && std::isfinite(imaginary);
  const bool has_underflowed = q_norm > 0 && p_norm * q_norm < 1e-300;
  if (!is_finite || has_underflowed) {
    return fmt::format("numbers {} in iteration {}: |p| is {:.1e} and |Ap| {:.1e}",
                       is_finite ? "underflow" : "overflow", iteration, p_norm, q_norm);
  }
  if (std::abs(imaginary) > max_imaginary * std::abs(real)) {
    return fmt::format("the matrix is not Hermitian: p*Ap is {:g}{:+g}i in iteration {}", real,
                       imaginary, iteration);
  }
  return fmt::format("the matrix is not positive definite: p*Ap is {:g} in iteration {}", real,
                     iteration);
}

template <class T>
Status run_cg(System<T>& system, Array<T>& x, const SolveOptions& options, SolveResult& result) {
  TESSERA_ASSIGN_OR_RETURN(auto r, system.vector("r"));
  TESSERA_ASSIGN_OR_RETURN(auto z, system.vector("z"));
  TESSERA_ASSIGN_OR_RETURN(auto p, system.vector("p"));
  TESSERA_ASSIGN_OR_RETURN(auto q, system.vector("q"));
  TESSERA_RETURN_IF_ERROR(system.residual(x, r));
  T rho{1};
  TESSERA_ASSIGN_OR_RETURN(bool is_going, can_continue(system, r, options, result));
  while (is_going) {
    TESSERA_RETURN_IF_ERROR(system.precondition(r, z));
    TESSERA_ASSIGN_OR_RETURN(const T next_rho, arrays::dot_conjugated(r, z));
    const T beta = result.iterations == 0 ? T{} : next_rho / rho;
    rho = next_rho;
    TESSERA_RETURN_IF_ERROR(arrays::add(T{1}, z, beta, p, p));
    TESSERA_RETURN_IF_ERROR(system.multiply(p, q));
    TESSERA_ASSIGN_OR_RETURN(const T curvature, arrays::dot_conjugated(p, q));
    TESSERA_ASSIGN_OR_RETURN(result.failure,
                             curvature_failure(curvature, p, q, result.iterations + 1));
    if (!result.failure.empty()) {
      return {};
    }
    const T alpha = rho / curvature;
    TESSERA_RETURN_IF_ERROR(add_to(x, alpha, p));
    TESSERA_RETURN_IF_ERROR(add_to(r, -alpha, q));
    ++result.iterations;
    TESSERA_ASSIGN_OR_RETURN(is_going, can_continue(system, r, options, result));
  }
  return {};
}

// The vectors of BiCGStab, preconditioned from the right: r remains the residual of x.
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
  bool has_broken_down = false;

  // Also sets the failure.
  void set_breakdown(SolveResult& result, std::string_view how) {
    has_broken_down = true;
    result.failure =
        fmt::format("broke down in iteration {}: {}{}", result.iterations + 1, how,
                    result.restarts > 0 ? fmt::format(" ({} restarts)", result.restarts) : "");
  }
};

// One step; sets `failure` if a divisor is only roundings.
template <class T>
Status step_bicgstab(System<T>& system, BiCgStabVectors<T>& vectors, BiCgStabNumbers<T>& numbers,
                     Array<T>& x, SolveResult& result) {
  auto& [r, shadow, p, v, ready, t] = vectors;
  TESSERA_ASSIGN_OR_RETURN(const T rho, arrays::dot_conjugated(shadow, r));
  if (is_orthogonal(std::abs(rho), numbers.shadow_norm, system.absolute(result.carried_residual))) {
    numbers.set_breakdown(result, "the residual is orthogonal to the first one");
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
  if (is_orthogonal(std::abs(divisor), numbers.shadow_norm, v_norm)) {
    numbers.set_breakdown(result, "A p is orthogonal to the first residual");
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
  if (is_orthogonal(std::abs(along), t_norm, s_norm)) {
    // Half a step is done, which may have reached the solution.
    numbers.set_breakdown(result, "A s is orthogonal to s, the residual after half a step");
    ++result.iterations;
    return {};
  }
  numbers.omega = along / (t_norm * t_norm);
  TESSERA_RETURN_IF_ERROR(add_to(x, numbers.omega, ready));
  TESSERA_RETURN_IF_ERROR(add_to(r, -numbers.omega, t));
  ++result.iterations;
  return {};
}

// Collective. Starts again from the true residual, which becomes the new shadow residual.
template <class T>
Status start_bicgstab(System<T>& system, BiCgStabVectors<T>& vectors, BiCgStabNumbers<T>& numbers,
                      Array<T>& x) {
  numbers = {};
  TESSERA_RETURN_IF_ERROR(system.residual(x, vectors.r));
  TESSERA_RETURN_IF_ERROR(arrays::copy(vectors.r, vectors.shadow));
  TESSERA_RETURN_IF_ERROR(arrays::zero(vectors.p));
  TESSERA_RETURN_IF_ERROR(arrays::zero(vectors.v));
  TESSERA_ASSIGN_OR_RETURN(numbers.shadow_norm, arrays::norm2(vectors.shadow));
  return {};
}

template <class T>
Status run_bicgstab(System<T>& system, Array<T>& x, const SolveOptions& options,
                    SolveResult& result) {
  constexpr int max_restarts = 10;
  TESSERA_ASSIGN_OR_RETURN(auto vectors, BiCgStabVectors<T>::create(system));
  BiCgStabNumbers<T> numbers;
  std::int64_t started_at = 0;
  TESSERA_RETURN_IF_ERROR(start_bicgstab(system, vectors, numbers, x));
  TESSERA_ASSIGN_OR_RETURN(bool is_going, can_continue(system, vectors.r, options, result));
  while (is_going) {
    TESSERA_RETURN_IF_ERROR(step_bicgstab(system, vectors, numbers, x, result));
    TESSERA_ASSIGN_OR_RETURN(is_going, can_continue(system, vectors.r, options, result));
    // If no step was done since, the same division would fail again.
    const bool may_restart = numbers.has_broken_down && !result.has_converged &&
                             result.iterations > started_at && result.restarts < max_restarts;
    if (may_restart) {
      result.failure.clear();
      ++result.restarts;
      started_at = result.iterations;
      TESSERA_RETURN_IF_ERROR(start_bicgstab(system, vectors, numbers, x));
      TESSERA_ASSIGN_OR_RETURN(is_going, can_continue(system, vectors.r, options, result));
    }
  }
  return {};
}

// Collective. Solves the scaled system, from and to the unscaled x.
template <class T>
Status solve_scaled(SparseMatrix<T>& matrix, SpmvPlan<T>& plan, Array<T>& b, Array<T>& x,
                    const Scales& scales, const SolveOptions& options, SolveResult& result) {
  TESSERA_ASSIGN_OR_RETURN(auto system, System<T>::create(matrix, plan, b, scales, options.jacobi));
  // In two steps: the quotient of both may overflow a double.
  TESSERA_RETURN_IF_ERROR(scale_by(x, scales.right_side));
  TESSERA_RETURN_IF_ERROR(scale_by(x, 1 / scales.matrix));
  TESSERA_RETURN_IF_ERROR(options.method == Method::cg ? run_cg(system, x, options, result)
                                                       : run_bicgstab(system, x, options, result));
  TESSERA_RETURN_IF_ERROR(scale_by(x, scales.matrix));
  return scale_by(x, 1 / scales.right_side);
}

// The error of a solution whose carried residual is small enough; empty: none.
std::string residual_failure(const SolveResult& result, double tolerance) {
  if (!result.has_converged || is_accurate(result, tolerance)) {
    return result.failure;
  }
  return std::isfinite(result.true_residual)
             ? fmt::format(
                   "|b - A x| is {:.1e} |b|, more than ten times the tolerance: rounding errors "
                   "hid this",
                   result.true_residual)
             : "b - A x is not finite: numbers overflow";
}

}  // namespace

bool is_accurate(const SolveResult& result, double tolerance) noexcept {
  return result.true_residual <= 10 * tolerance;
}

template <class T>
Result<SolveResult> solve(SparseMatrix<T>& matrix, SpmvPlan<T>& plan, Array<T>& b, Array<T>& x,
                          const SolveOptions& options) {
  SolveResult result;
  TESSERA_ASSIGN_OR_RETURN(const double b_norm, arrays::norm2(b));
  if (!std::isfinite(b_norm)) {
    result.failure = "the right-hand side is not finite: numbers overflow";
    result.carried_residual = b_norm;
    result.true_residual = b_norm;
    return result;
  }
  TESSERA_ASSIGN_OR_RETURN(const Scales scales, scales_of(matrix, b_norm));
  TESSERA_RETURN_IF_ERROR(solve_scaled(matrix, plan, b, x, scales, options, result));
  // For the solution that callers get.
  TESSERA_ASSIGN_OR_RETURN(auto residual, b.duplicate("b - A x"));
  TESSERA_RETURN_IF_ERROR(plan.multiply(matrix, x, residual));
  TESSERA_RETURN_IF_ERROR(arrays::add(T{1}, b, T{-1}, residual, residual));
  TESSERA_ASSIGN_OR_RETURN(const double norm, arrays::norm2(residual));
  result.true_residual = b_norm > 0 ? norm / b_norm : norm;
  result.failure = residual_failure(result, options.tolerance);
  return result;
}

template Result<SolveResult> solve(SparseMatrix<double>&, SpmvPlan<double>&, Array<double>&,
                                   Array<double>&, const SolveOptions&);
template Result<SolveResult> solve(SparseMatrix<std::complex<double>>&,
                                   SpmvPlan<std::complex<double>>&, Array<std::complex<double>>&,
                                   Array<std::complex<double>>&, const SolveOptions&);

}  // namespace tessera::apps::spmv
