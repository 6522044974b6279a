// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <span>
#include <string_view>
#include <utility>

#include "arrays/call_signature.hpp"
#include "linalg/detail/dense_task.hpp"
#include "linalg/detail/local_loops.hpp"
#include "linalg/detail/matrix_checks.hpp"
#include "linalg/variants/factor_by_columns.hpp"
#include "linalg/variants/scalapack.hpp"
#include "linalg/variants/solve_by_columns.hpp"

namespace tessera::linalg {

using detail::CallSignature;
using detail::ColumnBlocks;
using detail::MatrixMap;
using detail::OwnCopy;
using detail::WorkMatrix;
using rma::Code;
using rma::Result;
using rma::Status;
using rma::Team;
using variants::TriangularFactor;
using Use = detail::WorkMatrix::Use;

namespace {

// ---- Shared by both methods

char letter(MatrixOp op) {
  return op == MatrixOp::none ? 'N' : (op == MatrixOp::transpose ? 'T' : 'C');
}

TriangularFactor with_op(const TriangularFactor& factor, MatrixOp op) {
  return op == MatrixOp::none
             ? factor
             : (op == MatrixOp::transpose ? factor.transposed() : factor.adjoint());
}

template <Scalar T>
void multiply(const LocalMatrix<T>& x, T alpha) {
  for (std::int64_t column = 0; column < x.columns; ++column) {
    for (std::int64_t row = 0; alpha != T{1} && row < x.rows; ++row) {
      x(row, column) = alpha == T{} ? T{} : alpha * x(row, column);
    }
  }
}

// ---- The own method: each rank has whole columns of the right-hand sides

// Collective. Applies `solver` to this rank's columns of B.
template <Scalar T, class Solver>
Status solve_columns(const MatrixMap& b, Solver&& solver) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix x, detail::whole_columns(b, b.array->team(), Use::in_place));
  return b.array->team().do_together([&] { return x.store(b, solver(x.local<T>())); });
}

std::int64_t panel_width(const MatrixMap& a, const MethodOptions& how) {
  constexpr std::int64_t usual = 128;
  return how.block > 0 ? how.block : std::clamp<std::int64_t>(a.columns(), 1, usual);
}

template <Scalar T>
Status solve_both_factors(const TriangularFactor& first, const TriangularFactor& second,
                          std::int64_t width, const LocalMatrix<T>& x) {
  TESSERA_RETURN_IF_ERROR(variants::solve_triangular<T>(first, width, x));
  return variants::solve_triangular<T>(second, width, x);
}

template <Scalar T>
Status solve_lu_columns(const MatrixMap& a, std::span<const std::int64_t> pivots, MatrixOp op,
                        std::int64_t width, const LocalMatrix<T>& x) {
  const TriangularFactor lower{a, Triangle::lower, Diagonal::unit};
  const TriangularFactor upper{a, Triangle::upper, Diagonal::stored};
  if (op == MatrixOp::none) {
    detail::exchange_rows(x, pivots);
    return solve_both_factors<T>(lower, upper, width, x);
  }
  TESSERA_RETURN_IF_ERROR(solve_both_factors<T>(with_op(upper, op), with_op(lower, op), width, x));
  detail::exchange_rows_back(x, pivots);
  return {};
}

template <Scalar T>
Status solve_cholesky_columns(const MatrixMap& a, Triangle triangle, std::int64_t width,
                              const LocalMatrix<T>& x) {
  const TriangularFactor factor{a, triangle};
  return triangle == Triangle::lower ? solve_both_factors<T>(factor, factor.adjoint(), width, x)
                                     : solve_both_factors<T>(factor.adjoint(), factor, width, x);
}

template <Scalar T>
Status solve_general_own(const MatrixMap& a, const MatrixMap& b, const MethodOptions& how) {
  TESSERA_ASSIGN_OR_RETURN(OwnCopy copy, detail::own_copy(a, b.array->team(), how.block));
  TESSERA_ASSIGN_OR_RETURN(const variants::LuSteps steps,
                           variants::lu_by_columns<T>(copy.work, copy.blocks));
  TESSERA_RETURN_IF_ERROR(detail::check_pivots(steps.singular, {"A", a}, how));
  return solve_columns<T>(b, [&](const LocalMatrix<T>& x) {
    return solve_lu_columns<T>(copy.work.map(), steps.pivots, MatrixOp::none, copy.blocks.width, x);
  });
}

// Collective. The lower Cholesky factor of A, or of its transpose if the upper triangle is used.
template <Scalar T>
Result<OwnCopy> own_cholesky(const MatrixMap& a, const Team& team, const CholeskyOptions& options) {
  const MatrixMap turned = options.triangle == Triangle::upper ? a.transposed() : a;
  TESSERA_ASSIGN_OR_RETURN(OwnCopy copy, detail::own_copy(turned, team, options.how.block));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t minor,
                           variants::cholesky_by_columns<T>(copy.work, copy.blocks));
  TESSERA_RETURN_IF_ERROR(detail::check_minor(minor, {"A", a}, options.how));
  return copy;
}

// The map with which that factor is the requested one.
MatrixMap factor_map(const OwnCopy& copy, Triangle triangle) {
  return triangle == Triangle::upper ? copy.work.map().transposed() : copy.work.map();
}

template <Scalar T>
Status solve_definite_own(const MatrixMap& a, const MatrixMap& b, const CholeskyOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(OwnCopy copy, own_cholesky<T>(a, b.array->team(), options));
  return solve_columns<T>(b, [&](const LocalMatrix<T>& x) {
    return solve_cholesky_columns<T>(factor_map(copy, options.triangle), options.triangle,
                                     copy.blocks.width, x);
  });
}

template <Scalar T>
Status invert_definite_own(const MatrixMap& a, const CholeskyOptions& options) {
  Team& team = a.array->team();
  TESSERA_ASSIGN_OR_RETURN(OwnCopy copy, own_cholesky<T>(a, team, options));
  const ColumnBlocks blocks = detail::even_blocks(a, team);
  TESSERA_ASSIGN_OR_RETURN(const arrays::Distribution layout,
                           team.agree([&] { return blocks.distribution(); }));
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix inverse, WorkMatrix::zeros(*a.array, team, layout));
  const LocalMatrix<T> x = inverse.local<T>();
  for (std::int64_t column = 0; column < x.columns; ++column) {
    x(blocks.block(blocks.rank).lo + column, column) = T{1};
  }
  return team.do_together([&] {
    return inverse.store(a, solve_cholesky_columns<T>(factor_map(copy, options.triangle),
                                                      options.triangle, copy.blocks.width, x));
  });
}

template <Scalar T>
Status solve_triangular_own(const MatrixMap& a, const MatrixMap& b,
                            const TriangularOptions<T>& options) {
  const bool is_left = options.side == Side::left;
  const TriangularFactor factor = with_op({a, options.triangle, options.diagonal}, options.op);
  return solve_columns<T>(is_left ? b : b.transposed(), [&](const LocalMatrix<T>& x) {
    multiply(x, options.alpha);
    return variants::solve_triangular<T>(is_left ? factor : factor.transposed(),
                                         panel_width(a, options.how), x);
  });
}

// ---- ScaLAPACK

namespace library = variants::scalapack;

// Checks for zeros on the diagonal of a triangular factor: ScaLAPACK would divide by them.
template <Scalar T>
Status check_diagonal(WorkMatrix& a) {
  Status own_status;
  for (const arrays::Patch& block : a.layout().blocks(a.team().rank())) {
    const auto* const data = reinterpret_cast<const T*>(a.array().region().local()) + block.offset;
    const std::int64_t lo = std::max(block.box.lo(0), block.box.lo(1));
    const std::int64_t hi = std::min(block.box.hi(0), block.box.hi(1));
    for (std::int64_t i = lo; i < hi && own_status.ok(); ++i) {
      if (data[(i - block.box.lo(0)) * block.strides[0] +
               (i - block.box.lo(1)) * block.strides[1]] == T{}) {
        own_status = Status::error(
            Code::invalid_argument,
            fmt::format("element ({0}, {0}) of A is zero: the matrix is singular", i));
      }
    }
  }
  return a.team().agree(own_status);
}

template <Scalar T>
Status solve_triangular_library(const MatrixMap& a, const MatrixMap& b,
                                const TriangularOptions<T>& options) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix factor,
                           library::at(a, b.array->team(), options.how.block, Use::in_place));
  if (options.diagonal == Diagonal::stored) {
    TESSERA_RETURN_IF_ERROR(check_diagonal<T>(factor));
  }
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix x, library::beside(factor, b, Use::in_place));
  return x.store(b, library::Routines<T>::solve_triangular({.side = options.side,
                                                            .triangle = options.triangle,
                                                            .diagonal = options.diagonal,
                                                            .op = letter(options.op),
                                                            .alpha = options.alpha},
                                                           factor, x));
}

template <Scalar T>
Status solve_with_lu(WorkMatrix& factors, std::span<const std::int64_t> pivots, MatrixOp op,
                     const MatrixMap& b) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix x, library::beside(factors, b, Use::in_place));
  return x.store(b, library::Routines<T>::solve_lu(factors, pivots, letter(op), x));
}

template <Scalar T>
Status solve_with_cholesky(WorkMatrix& factor, Triangle triangle, const MatrixMap& b) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix x, library::beside(factor, b, Use::in_place));
  const bool is_lower = triangle == Triangle::lower;
  library::Triangular<T> how{.triangle = triangle, .op = is_lower ? 'N' : 'C'};
  Status own_status = library::Routines<T>::solve_triangular(how, factor, x);
  if (own_status.ok()) {
    how.op = is_lower ? 'C' : 'N';
    own_status = library::Routines<T>::solve_triangular(how, factor, x);
  }
  return x.store(b, std::move(own_status));
}

template <Scalar T>
Status solve_general_library(const MatrixMap& a, const MatrixMap& b, const MethodOptions& how) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix work, library::at(a, b.array->team(), how.block, Use::copy));
  TESSERA_ASSIGN_OR_RETURN(const variants::LuSteps steps, library::Routines<T>::lu(work));
  TESSERA_RETURN_IF_ERROR(detail::check_pivots(steps.singular, {"A", a}, how));
  return solve_with_lu<T>(work, steps.pivots, MatrixOp::none, b);
}

template <Scalar T>
Result<WorkMatrix> library_cholesky(const MatrixMap& a, const Team& team,
                                    const CholeskyOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix work, library::at(a, team, options.how.block, Use::copy));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t minor,
                           library::Routines<T>::cholesky(work, options.triangle));
  TESSERA_RETURN_IF_ERROR(detail::check_minor(minor, {"A", a}, options.how));
  return work;
}

template <Scalar T>
Status invert_definite_library(const MatrixMap& a, const CholeskyOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix work, library_cholesky<T>(a, a.array->team(), options));
  TESSERA_RETURN_IF_ERROR(library::Routines<T>::invert_cholesky(work, options.triangle));
  TESSERA_RETURN_IF_ERROR(detail::mirror_triangle<T>(work, options.triangle));
  return work.store(a);
}

// ---- Checks

Status check_system(const MatrixMap& a, const MatrixMap& b) {
  TESSERA_RETURN_IF_ERROR(detail::check_operands({{"A", a}, detail::written("B", b)}));
  TESSERA_RETURN_IF_ERROR(detail::check_square(a).context("A"));
  return detail::check_extents_match({"A", a}, a.columns(), {"B", b}, b.rows(),
                                     "A is n x n and B is n x r");
}

Status check_triangular(const MatrixMap& a, const MatrixMap& b, Side side) {
  if (side == Side::left) {
    return check_system(a, b);
  }
  TESSERA_RETURN_IF_ERROR(detail::check_operands({{"A", a}, detail::written("B", b)}));
  TESSERA_RETURN_IF_ERROR(detail::check_square(a).context("A"));
  return detail::check_extents_match({"A", a}, a.rows(), {"B", b}, b.columns(),
                                     "A is n x n and, for a solution from the right, B is r x n");
}

Status check_pivots_of(const MatrixMap& a, std::span<const std::int64_t> pivots) {
  if (std::ssize(pivots) != a.rows()) {
    return Status::error(Code::invalid_argument, fmt::format("{} pivots are given for A of {} x {}",
                                                             pivots.size(), a.rows(), a.columns()))
        .hint("give what lu() returned for this matrix");
  }
  for (std::int64_t i = 0; i < std::ssize(pivots); ++i) {
    const std::int64_t row = pivots[static_cast<std::size_t>(i)];
    if (row < i || row >= a.rows()) {
      return Status::error(Code::invalid_argument,
                           fmt::format("pivot {} is row {}, but must be one of {} to {}", i, row, i,
                                       a.rows() - 1))
          .hint("give what lu() returned for this matrix");
    }
  }
  return {};
}

}  // namespace

template <Scalar T>
Status solve_triangular(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                        const std::type_identity_t<TriangularOptions<T>>& options) {
  const std::string_view attempt = "solve_triangular";
  const MatrixMap of_a = detail::map_of(a);
  const MatrixMap of_b = detail::map_of(b);
  // Without B there is no team to agree with; the same holds for all functions below.
  TESSERA_RETURN_IF_ERROR(b.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, b.array());
  CallSignature signature(attempt);
  signature.add(options.side).add(options.triangle).add(options.op);
  signature.add(options.diagonal).add_scalar(options.alpha);
  const auto uses_scalapack =
      detail::begin_dense(b.array(), {{"A", of_a}, {"B", of_b}}, options.how,
                          check_triangular(of_a, of_b, options.side), signature);
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  return (*uses_scalapack ? solve_triangular_library<T>(of_a, of_b, options)
                          : solve_triangular_own<T>(of_a, of_b, options))
      .context(attempt);
}

template <Scalar T>
Status solve_lu(const MatrixPatch<T>& a, std::span<const std::int64_t> pivots,
                const MatrixPatch<T>& b, const LuSolveOptions& options) {
  const std::string_view attempt = "solve_lu";
  const MatrixMap of_a = detail::map_of(a);
  const MatrixMap of_b = detail::map_of(b);
  TESSERA_RETURN_IF_ERROR(b.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, b.array());
  Status own_status = check_system(of_a, of_b);
  if (own_status.ok()) {
    own_status = check_pivots_of(of_a, pivots);
  }
  CallSignature signature(attempt);
  signature.add(options.op);
  for (const std::int64_t pivot : pivots) {
    signature.add(pivot);
  }
  const auto uses_scalapack = detail::begin_dense(b.array(), {{"A", of_a}, {"B", of_b}},
                                                  options.how, std::move(own_status), signature);
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  if (*uses_scalapack) {
    auto factors = library::at(of_a, b.array().team(), options.how.block, Use::in_place);
    TESSERA_RETURN_IF_ERROR(Status(factors.status()).context(attempt));
    return solve_with_lu<T>(*factors, pivots, options.op, of_b).context(attempt);
  }
  return solve_columns<T>(of_b,
                          [&](const LocalMatrix<T>& x) {
                            return solve_lu_columns<T>(of_a, pivots, options.op,
                                                       panel_width(of_a, options.how), x);
                          })
      .context(attempt);
}

template <Scalar T>
Status solve_cholesky(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                      const CholeskyOptions& options) {
  const std::string_view attempt = "solve_cholesky";
  const MatrixMap of_a = detail::map_of(a);
  const MatrixMap of_b = detail::map_of(b);
  TESSERA_RETURN_IF_ERROR(b.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, b.array());
  const auto uses_scalapack =
      detail::begin_dense(b.array(), {{"A", of_a}, {"B", of_b}}, options.how,
                          check_system(of_a, of_b), CallSignature(attempt).add(options.triangle));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  if (*uses_scalapack) {
    auto factor = library::at(of_a, b.array().team(), options.how.block, Use::in_place);
    TESSERA_RETURN_IF_ERROR(Status(factor.status()).context(attempt));
    return solve_with_cholesky<T>(*factor, options.triangle, of_b).context(attempt);
  }
  return solve_columns<T>(of_b,
                          [&](const LocalMatrix<T>& x) {
                            return solve_cholesky_columns<T>(of_a, options.triangle,
                                                             panel_width(of_a, options.how), x);
                          })
      .context(attempt);
}

template <Scalar T>
Status solve(const MatrixPatch<T>& a, const MatrixPatch<T>& b, const MethodOptions& options) {
  const std::string_view attempt = "solve";
  const MatrixMap of_a = detail::map_of(a);
  const MatrixMap of_b = detail::map_of(b);
  TESSERA_RETURN_IF_ERROR(b.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, b.array());
  const auto uses_scalapack = detail::begin_dense(b.array(), {{"A", of_a}, {"B", of_b}}, options,
                                                  check_system(of_a, of_b), CallSignature(attempt));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  return (*uses_scalapack ? solve_general_library<T>(of_a, of_b, options)
                          : solve_general_own<T>(of_a, of_b, options))
      .context(attempt);
}

template <Scalar T>
Status solve_positive_definite(const MatrixPatch<T>& a, const MatrixPatch<T>& b,
                               const CholeskyOptions& options) {
  const std::string_view attempt = "solve_positive_definite";
  const MatrixMap of_a = detail::map_of(a);
  const MatrixMap of_b = detail::map_of(b);
  TESSERA_RETURN_IF_ERROR(b.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, b.array());
  const auto uses_scalapack =
      detail::begin_dense(b.array(), {{"A", of_a}, {"B", of_b}}, options.how,
                          check_system(of_a, of_b), CallSignature(attempt).add(options.triangle));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  if (*uses_scalapack) {
    auto factor = library_cholesky<T>(of_a, b.array().team(), options);
    TESSERA_RETURN_IF_ERROR(Status(factor.status()).context(attempt));
    return solve_with_cholesky<T>(*factor, options.triangle, of_b).context(attempt);
  }
  return solve_definite_own<T>(of_a, of_b, options).context(attempt);
}

template <Scalar T>
Status invert_positive_definite(const MatrixPatch<T>& a, const CholeskyOptions& options) {
  const std::string_view attempt = "invert_positive_definite";
  const MatrixMap of_a = detail::map_of(a);
  TESSERA_RETURN_IF_ERROR(a.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, a.array());
  Status own_status = detail::check_operands({detail::written("A", of_a)});
  if (own_status.ok()) {
    own_status = detail::check_square(of_a).context("A");
  }
  const auto uses_scalapack =
      detail::begin_dense(a.array(), {{"A", of_a}}, options.how, std::move(own_status),
                          CallSignature(attempt).add(options.triangle));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  return (*uses_scalapack ? invert_definite_library<T>(of_a, options)
                          : invert_definite_own<T>(of_a, options))
      .context(attempt);
}

template Status solve_triangular(const MatrixPatch<float>&, const MatrixPatch<float>&,
                                 const TriangularOptions<float>&);
template Status solve_lu(const MatrixPatch<float>&, std::span<const std::int64_t>,
                         const MatrixPatch<float>&, const LuSolveOptions&);
template Status solve_cholesky(const MatrixPatch<float>&, const MatrixPatch<float>&,
                               const CholeskyOptions&);
template Status solve(const MatrixPatch<float>&, const MatrixPatch<float>&, const MethodOptions&);
template Status solve_positive_definite(const MatrixPatch<float>&, const MatrixPatch<float>&,
                                        const CholeskyOptions&);
template Status invert_positive_definite(const MatrixPatch<float>&, const CholeskyOptions&);
template Status solve_triangular(const MatrixPatch<double>&, const MatrixPatch<double>&,
                                 const TriangularOptions<double>&);
template Status solve_lu(const MatrixPatch<double>&, std::span<const std::int64_t>,
                         const MatrixPatch<double>&, const LuSolveOptions&);
template Status solve_cholesky(const MatrixPatch<double>&, const MatrixPatch<double>&,
                               const CholeskyOptions&);
template Status solve(const MatrixPatch<double>&, const MatrixPatch<double>&, const MethodOptions&);
template Status solve_positive_definite(const MatrixPatch<double>&, const MatrixPatch<double>&,
                                        const CholeskyOptions&);
template Status invert_positive_definite(const MatrixPatch<double>&, const CholeskyOptions&);
template Status solve_triangular(const MatrixPatch<std::complex<float>>&,
                                 const MatrixPatch<std::complex<float>>&,
                                 const TriangularOptions<std::complex<float>>&);
template Status solve_lu(const MatrixPatch<std::complex<float>>&, std::span<const std::int64_t>,
                         const MatrixPatch<std::complex<float>>&, const LuSolveOptions&);
template Status solve_cholesky(const MatrixPatch<std::complex<float>>&,
                               const MatrixPatch<std::complex<float>>&, const CholeskyOptions&);
template Status solve(const MatrixPatch<std::complex<float>>&,
                      const MatrixPatch<std::complex<float>>&, const MethodOptions&);
template Status solve_positive_definite(const MatrixPatch<std::complex<float>>&,
                                        const MatrixPatch<std::complex<float>>&,
                                        const CholeskyOptions&);
template Status invert_positive_definite(const MatrixPatch<std::complex<float>>&,
                                         const CholeskyOptions&);
template Status solve_triangular(const MatrixPatch<std::complex<double>>&,
                                 const MatrixPatch<std::complex<double>>&,
                                 const TriangularOptions<std::complex<double>>&);
template Status solve_lu(const MatrixPatch<std::complex<double>>&, std::span<const std::int64_t>,
                         const MatrixPatch<std::complex<double>>&, const LuSolveOptions&);
template Status solve_cholesky(const MatrixPatch<std::complex<double>>&,
                               const MatrixPatch<std::complex<double>>&, const CholeskyOptions&);
template Status solve(const MatrixPatch<std::complex<double>>&,
                      const MatrixPatch<std::complex<double>>&, const MethodOptions&);
template Status solve_positive_definite(const MatrixPatch<std::complex<double>>&,
                                        const MatrixPatch<std::complex<double>>&,
                                        const CholeskyOptions&);
template Status invert_positive_definite(const MatrixPatch<std::complex<double>>&,
                                         const CholeskyOptions&);

}  // namespace tessera::linalg
