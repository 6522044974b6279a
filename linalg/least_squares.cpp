// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/least_squares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays/call_signature.hpp"
#include "linalg/detail/dense_task.hpp"
#include "linalg/detail/matrix_checks.hpp"
#include "linalg/variants/factor_by_columns.hpp"
#include "linalg/variants/scalapack.hpp"
#include "linalg/variants/solve_by_columns.hpp"

namespace tessera::linalg {

using detail::CallSignature;
using detail::MatrixMap;
using detail::WorkMatrix;
using rma::Code;
using rma::Status;
using rma::Team;
using Use = detail::WorkMatrix::Use;
namespace library = variants::scalapack;

namespace {

// Collective. Checks that no column of a matrix factored by qr() is, except for rounding, a linear
// combination of the columns before it: its element on R's diagonal is then a rounding error.
template <Scalar T>
Status check_independent(WorkMatrix& factored, std::int64_t rows, std::int64_t columns) {
  if (columns == 0) {
    return {};
  }
  std::vector<double> of_column;
  TESSERA_RETURN_IF_ERROR(factored.team().agree([&] {
    of_column.resize(static_cast<std::size_t>(2 * columns));
    return Status();
  }));
  const std::span<double> largest = std::span(of_column).first(static_cast<std::size_t>(columns));
  const std::span<double> diagonal = std::span(of_column).last(static_cast<std::size_t>(columns));
  for (const arrays::Patch& block : factored.layout().blocks(factored.team().rank())) {
    const auto* const data =
        reinterpret_cast<const T*>(factored.array().region().local()) + block.offset;
    for (std::int64_t j = block.box.lo(1); j < block.box.hi(1); ++j) {
      const auto at = static_cast<std::size_t>(j);
      for (std::int64_t i = block.box.lo(0); i < std::min(block.box.hi(0), j + 1); ++i) {
        const double size =
            std::abs(std::complex<double>(data[(i - block.box.lo(0)) * block.strides[0] +
                                               (j - block.box.lo(1)) * block.strides[1]]));
        largest[at] = std::max(largest[at], size);
        diagonal[at] = i == j ? size : diagonal[at];
      }
    }
  }
  TESSERA_RETURN_IF_ERROR(factored.team().allreduce(std::span(of_column), rma::Reduction::max));
  const double rounding =
      static_cast<double>(rows) * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  for (std::size_t j = 0; j < largest.size(); ++j) {
    if (diagonal[j] <= rounding * largest[j]) {
      return factored.team().name_rank(
          Status::error(Code::invalid_argument,
                        fmt::format("column {} of A depends on earlier columns", j))
              .hint("omit it, or use svd() for the solution of smallest norm"));
    }
  }
  return {};
}

template <Scalar T>
Status solve_by_columns(const MatrixMap& a, const MatrixMap& b, const MatrixMap& x,
                        const MethodOptions& how) {
  const Team& team = x.array->team();
  TESSERA_ASSIGN_OR_RETURN(detail::OwnCopy copy, detail::own_copy(a, team, how.block));
  TESSERA_ASSIGN_OR_RETURN(const std::vector<T> tau,
                           variants::qr_by_columns<T>(copy.work, copy.blocks));
  TESSERA_RETURN_IF_ERROR(check_independent<T>(copy.work, a.rows(), a.columns()));
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix c, detail::whole_columns(b, team, Use::copy));
  const LocalMatrix<T> columns = c.local<T>();
  const auto solve = [&]() -> Status {
    if (columns.is_empty()) {
      return {};
    }
    TESSERA_RETURN_IF_ERROR(
        variants::multiply_by_q<T>(copy.work.map(), tau, true, copy.blocks.width, columns));
    MatrixMap r = copy.work.map();
    r.box.set(0, 0, a.columns());
    return variants::solve_triangular<T>({r, Triangle::upper}, copy.blocks.width,
                                         columns.part(0, a.columns(), 0, columns.columns));
  };
  return x.array->team().do_together([&] { return c.store(x, solve()); });
}

template <Scalar T>
Status solve_by_library(const MatrixMap& a, const MatrixMap& b, const MatrixMap& x,
                        const MethodOptions& how) {
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix work, library::at(a, x.array->team(), how.block, Use::copy));
  TESSERA_ASSIGN_OR_RETURN(const std::vector<T> tau, library::Routines<T>::qr(work));
  TESSERA_RETURN_IF_ERROR(check_independent<T>(work, a.rows(), a.columns()));
  TESSERA_ASSIGN_OR_RETURN(WorkMatrix c, library::beside(work, b, Use::copy));
  TESSERA_RETURN_IF_ERROR(library::Routines<T>::multiply_by_q_adjoint(work, tau, c));
  return c.store(x, library::Routines<T>::solve_triangular({.triangle = Triangle::upper}, work, c));
}

Status check_operands(const MatrixMap& a, const MatrixMap& b, const MatrixMap& x) {
  TESSERA_RETURN_IF_ERROR(detail::check_operands({{"A", a}, {"B", b}, detail::written("X", x)}));
  if (a.rows() < a.columns()) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("A ({}) is {} x {}: with fewer rows than columns there is no unique "
                    "solution",
                    detail::describe(a), a.rows(), a.columns()));
  }
  const std::string_view rule = "A is m x n, B is m x r and X is n x r";
  TESSERA_RETURN_IF_ERROR(
      detail::check_extents_match({"A", a}, a.rows(), {"B", b}, b.rows(), rule));
  TESSERA_RETURN_IF_ERROR(
      detail::check_extents_match({"A", a}, a.columns(), {"X", x}, x.rows(), rule));
  return detail::check_extents_match({"B", b}, b.columns(), {"X", x}, x.columns(), rule);
}

}  // namespace

template <Scalar T>
Status least_squares(const MatrixPatch<T>& a, const MatrixPatch<T>& b, const MatrixPatch<T>& x,
                     const MethodOptions& options) {
  const std::string_view attempt = "least_squares";
  const MatrixMap of_a = detail::map_of(a);
  const MatrixMap of_b = detail::map_of(b);
  const MatrixMap of_x = detail::map_of(x);
  TESSERA_RETURN_IF_ERROR(x.array().check_open().context(attempt));
  const arrays::detail::CallScope scope(attempt, x.array());
  const auto uses_scalapack =
      detail::begin_dense(x.array(), {{"A", of_a}, {"B", of_b}, {"X", of_x}}, options,
                          check_operands(of_a, of_b, of_x), CallSignature(attempt));
  TESSERA_RETURN_IF_ERROR(Status(uses_scalapack.status()).context(attempt));
  return (*uses_scalapack ? solve_by_library<T>(of_a, of_b, of_x, options)
                          : solve_by_columns<T>(of_a, of_b, of_x, options))
      .context(attempt);
}

template Status least_squares(const MatrixPatch<float>&, const MatrixPatch<float>&,
                              const MatrixPatch<float>&, const MethodOptions&);
template Status least_squares(const MatrixPatch<double>&, const MatrixPatch<double>&,
                              const MatrixPatch<double>&, const MethodOptions&);
template Status least_squares(const MatrixPatch<std::complex<float>>&,
                              const MatrixPatch<std::complex<float>>&,
                              const MatrixPatch<std::complex<float>>&, const MethodOptions&);
template Status least_squares(const MatrixPatch<std::complex<double>>&,
                              const MatrixPatch<std::complex<double>>&,
                              const MatrixPatch<std::complex<double>>&, const MethodOptions&);

}  // namespace tessera::linalg
