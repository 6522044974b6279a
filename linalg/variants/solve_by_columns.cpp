// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/variants/solve_by_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

#include "linalg/detail/local_loops.hpp"
#include "linalg/detail/matrix_checks.hpp"
#include "linalg/detail/panel.hpp"
#include "linalg/lapack.hpp"

namespace tessera::linalg::variants {

using detail::Interval;
using detail::MatrixMap;
using detail::Panel;
using rma::Code;
using rma::Status;

namespace {

// Some columns of a factor, and the rows that are needed with them.
struct SolvePiece {
  Interval rows;
  Interval columns;
};

// Calls `action(SolvePiece, panel)` for all pieces in order; each is fetched during the previous
// action.
template <Scalar T, class Action>
Status for_each_panel(const MatrixMap& map, const std::vector<SolvePiece>& pieces,
                      Action&& action) {
  std::array<Panel, 2> panels;
  const auto start = [&](std::size_t i) {
    if (i < pieces.size()) {
      panels[i % 2].start(map, {pieces[i].rows}, {pieces[i].columns});
    }
  };
  Status own_status;
  start(0);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    start(i + 1);
    Status fetched = panels[i % 2].wait();
    if (own_status.ok()) {
      own_status = std::move(fetched);
    }
    if (own_status.ok()) {
      own_status = action(pieces[i], panels[i % 2].template matrix<T>());
    }
  }
  return own_status;
}

template <Scalar T>
Status check_diagonal(const TriangularFactor& a, const LocalMatrix<T>& diagonal,
                      std::int64_t first) {
  for (std::int64_t i = 0; a.diagonal == blas::Diagonal::stored && i < diagonal.rows; ++i) {
    if (diagonal(i, i) == T{}) {
      return a.map.array->name_rank(
          Status::error(Code::invalid_argument,
                        fmt::format("element ({0}, {0}) of {1} is zero: the matrix is singular",
                                    first + i, detail::describe(a.map))));
    }
  }
  return {};
}

std::vector<SolvePiece> pieces_of(const TriangularFactor& a, std::int64_t width) {
  std::vector<SolvePiece> pieces;
  const std::int64_t n = a.map.rows();
  const bool is_lower = a.triangle == blas::Triangle::lower;
  for (std::int64_t lo = 0; lo < n; lo += width) {
    const Interval columns{lo, std::min(lo + width, n)};
    pieces.push_back({is_lower ? Interval{lo, n} : Interval{0, columns.hi}, columns});
  }
  if (!is_lower) {
    std::reverse(pieces.begin(), pieces.end());
  }
  return pieces;
}

template <Scalar T>
Status solve_by_panels(const TriangularFactor& a, std::int64_t width, const LocalMatrix<T>& x) {
  detail::ColumnMajorCopy<T> copy;
  const bool is_lower = a.triangle == blas::Triangle::lower;
  return for_each_panel<T>(
      a.map, pieces_of(a, width), [&](const SolvePiece& piece, const LocalMatrix<const T>& panel) {
        const std::int64_t count = piece.columns.length();
        const std::int64_t others = panel.rows - count;
        const LocalMatrix<T> diagonal =
            copy.of(panel.part(is_lower ? 0 : others, count, 0, count), a.is_conjugated);
        TESSERA_RETURN_IF_ERROR(check_diagonal(a, diagonal, piece.columns.lo));
        const LocalMatrix<T> solved = x.part(piece.columns.lo, count, 0, x.columns);
        TESSERA_RETURN_IF_ERROR(blas::trsm<T>(blas::Side::left, a.triangle, a.diagonal, T{1},
                                              {.matrix = diagonal}, solved));
        return blas::gemm<T>(T{-1},
                             {.matrix = panel.part(is_lower ? count : 0, others, 0, count),
                              .is_conjugated = a.is_conjugated},
                             {.matrix = solved}, T{1},
                             x.part(is_lower ? piece.columns.hi : 0, others, 0, x.columns));
      });
}

template <Scalar T>
Status multiply_by_panels(const MatrixMap& a, std::span<const T> tau, bool is_adjoint,
                          std::int64_t width, const LocalMatrix<T>& c) {
  std::vector<SolvePiece> pieces;
  for (std::int64_t lo = 0; lo < std::ssize(tau); lo += width) {
    pieces.push_back({{lo, a.rows()}, {lo, std::min(lo + width, std::ssize(tau))}});
  }
  if (!is_adjoint) {
    std::reverse(pieces.begin(), pieces.end());
  }
  detail::ColumnMajorCopy<T> copy;
  return for_each_panel<T>(
      a, pieces, [&](const SolvePiece& piece, const LocalMatrix<const T>& panel) {
        const auto factors = tau.subspan(static_cast<std::size_t>(piece.columns.lo),
                                         static_cast<std::size_t>(piece.columns.length()));
        return lapack::multiply_by_q<T>(copy.of(panel, false), factors, is_adjoint,
                                        c.part(piece.rows.lo, panel.rows, 0, c.columns));
      });
}

}  // namespace

template <Scalar T>
Status solve_triangular(const TriangularFactor& a, std::int64_t width, const LocalMatrix<T>& x) {
  return x.is_empty() ? Status() : solve_by_panels(a, width, x);
}

template <Scalar T>
Status multiply_by_q(const MatrixMap& a, std::span<const T> tau, bool is_adjoint,
                     std::int64_t width, const LocalMatrix<T>& c) {
  return c.is_empty() ? Status() : multiply_by_panels(a, tau, is_adjoint, width, c);
}

template Status solve_triangular(const TriangularFactor&, std::int64_t, const LocalMatrix<float>&);
template Status multiply_by_q(const MatrixMap&, std::span<const float>, bool, std::int64_t,
                              const LocalMatrix<float>&);
template Status solve_triangular(const TriangularFactor&, std::int64_t, const LocalMatrix<double>&);
template Status multiply_by_q(const MatrixMap&, std::span<const double>, bool, std::int64_t,
                              const LocalMatrix<double>&);
template Status solve_triangular(const TriangularFactor&, std::int64_t,
                                 const LocalMatrix<std::complex<float>>&);
template Status multiply_by_q(const MatrixMap&, std::span<const std::complex<float>>, bool,
                              std::int64_t, const LocalMatrix<std::complex<float>>&);
template Status solve_triangular(const TriangularFactor&, std::int64_t,
                                 const LocalMatrix<std::complex<double>>&);
template Status multiply_by_q(const MatrixMap&, std::span<const std::complex<double>>, bool,
                              std::int64_t, const LocalMatrix<std::complex<double>>&);

}  // namespace tessera::linalg::variants
