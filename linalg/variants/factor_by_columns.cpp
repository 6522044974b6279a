// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/variants/factor_by_columns.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "linalg/blas.hpp"
#include "linalg/detail/local_loops.hpp"
#include "linalg/detail/panel.hpp"
#include "linalg/lapack.hpp"

namespace tessera::linalg::variants {

using detail::ColumnBlocks;
using detail::Interval;
using detail::Panel;
using detail::WorkMatrix;
using rma::Result;
using rma::Status;

namespace {

// The result of a block's factorisation, which its owner sends to the other ranks.
template <class N>
struct PanelResult {
  std::int64_t info = 0;   // LAPACK's info for the block
  bool is_failed = false;  // the owner can't continue
  std::vector<N> numbers;  // pivots, or factors of reflectors
};

// The loop over blocks: its state, and the parts that all three factorisations share.
template <Scalar T>
class Loop {
 public:
  Loop(WorkMatrix& a, const ColumnBlocks& blocks)
      : a_(&a),
        blocks_(blocks),
        own_(a.local<T>()),
        steps_(std::min(blocks.rows, blocks.columns)) {}

  [[nodiscard]] const ColumnBlocks& blocks() const { return blocks_; }
  // The columns of block k.
  [[nodiscard]] Interval columns(std::int64_t k) const { return blocks_.block(k); }
  // The number of columns of block k that are eliminated: fewer than its width if rows end before.
  [[nodiscard]] std::int64_t steps_of(std::int64_t k) const {
    return std::max<std::int64_t>(std::min(steps_, columns(k).hi) - columns(k).lo, 0);
  }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] const LocalMatrix<T>& own() const { return own_; }
  // This rank's own block k, from its diagonal down.
  [[nodiscard]] LocalMatrix<T> own_block(std::int64_t k) const {
    return own_.part(columns(k).lo, blocks_.rows - columns(k).lo, blocks_.own_columns_before(k),
                     columns(k).length());
  }
  // All of this rank's columns to the right of block k, from that block's diagonal down.
  [[nodiscard]] LocalMatrix<T> own_trailing(std::int64_t k) const {
    const std::int64_t from = blocks_.own_columns_before(k + 1);
    const std::int64_t count = blocks_.own_columns() - from;
    return own_.part(columns(k).lo, count > 0 ? blocks_.rows - columns(k).lo : 0, from, count);
  }

  // Block k from its diagonal down, on any rank; read by ranks that have columns to the right of
  // it.
  Result<LocalMatrix<const T>> fetch(std::int64_t k) {
    panel_.start(a_->map(), {{columns(k).lo, blocks_.rows}}, {columns(k)});
    TESSERA_RETURN_IF_ERROR(panel_.wait());
    return panel_.template matrix<T>();
  }

  // Collective. Sends the owner's result to all ranks. Returns errors of the transfer only, not of
  // the work.
  template <class N>
  Status share(std::int64_t k, PanelResult<N>& panel_result) {
    std::array<std::int64_t, 2> head{panel_result.info, panel_result.is_failed ? 1 : 0};
    TESSERA_RETURN_IF_ERROR(a_->team().broadcast_value(head, blocks_.owner(k)));
    panel_result.info = head[0];
    panel_result.is_failed = head[1] != 0;
    return panel_result.numbers.empty()
               ? Status()
               : a_->team().broadcast(std::as_writable_bytes(std::span(panel_result.numbers)),
                                      blocks_.owner(k));
  }

  // Collective. Synchronises; returns the error of any rank.
  Status finish(Status own_status) { return a_->array().sync(std::move(own_status)); }

 private:
  WorkMatrix* a_;
  ColumnBlocks blocks_;
  LocalMatrix<T> own_;
  std::int64_t steps_;
  Panel panel_;
};

template <class T>
blas::Operand<T> adjoint(const LocalMatrix<const T>& matrix) {
  return {.matrix = matrix.transposed(), .is_conjugated = rma::ComplexElement<T>};
}

// ---- Cholesky

template <Scalar T>
Result<std::int64_t> cholesky_block(const Loop<T>& loop, std::int64_t k) {
  const LocalMatrix<T> block = loop.own_block(k);
  const std::int64_t width = block.columns;
  const LocalMatrix<T> diagonal = block.part(0, width, 0, width);
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t info,
                           lapack::cholesky(blas::Triangle::lower, diagonal));
  if (info != 0) {
    return loop.columns(k).lo + info;
  }
  // L21 = A21 L11⁻ᴴ. The conjugation is done before and after, since BLAS has no call for this
  // case.
  const LocalMatrix<T> below = block.part(width, block.rows - width, 0, width);
  detail::conjugate_in_place(below);
  const Status solved =
      blas::trsm<T>(blas::Side::right, blas::Triangle::upper, blas::Diagonal::stored, T{1},
                    {.matrix = LocalMatrix<const T>(diagonal).transposed()}, below);
  detail::conjugate_in_place(below);
  TESSERA_RETURN_IF_ERROR(solved);
  return 0;
}

template <Scalar T>
Status update_cholesky(Loop<T>& loop, std::int64_t k) {
  const ColumnBlocks& blocks = loop.blocks();
  if (blocks.own_from(k + 1) >= blocks.count()) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const LocalMatrix<const T> panel, loop.fetch(k));
  for (std::int64_t j = blocks.own_from(k + 1); j < blocks.count(); j += blocks.ranks) {
    const LocalMatrix<T> target = loop.own_block(j);
    const std::int64_t width = target.columns;
    const auto rows = panel.part(panel.rows - target.rows, target.rows, 0, panel.columns);
    const auto top = rows.part(0, width, 0, panel.columns);
    TESSERA_RETURN_IF_ERROR(
        blas::herk<T>(blas::Triangle::lower, -1, top, 1, target.part(0, width, 0, width)));
    TESSERA_RETURN_IF_ERROR(
        blas::gemm<T>(T{-1}, {.matrix = rows.part(width, rows.rows - width, 0, panel.columns)},
                      adjoint<T>(top), T{1}, target.part(width, target.rows - width, 0, width)));
  }
  return {};
}

// ---- LU

template <Scalar T>
Status update_lu(Loop<T>& loop, std::int64_t k, std::span<const std::int32_t> pivots) {
  const LocalMatrix<T> behind = loop.own_trailing(k);
  if (behind.is_empty()) {
    return {};
  }
  detail::exchange_rows(behind, pivots);
  TESSERA_ASSIGN_OR_RETURN(const LocalMatrix<const T> panel, loop.fetch(k));
  const std::int64_t steps = loop.steps_of(k);
  const LocalMatrix<T> top = behind.part(0, steps, 0, behind.columns);
  TESSERA_RETURN_IF_ERROR(blas::trsm<T>(blas::Side::left, blas::Triangle::lower,
                                        blas::Diagonal::unit, T{1},
                                        {.matrix = panel.part(0, steps, 0, steps)}, top));
  return blas::gemm<T>(T{-1}, {.matrix = panel.part(steps, panel.rows - steps, 0, steps)},
                       {.matrix = top}, T{1},
                       behind.part(steps, behind.rows - steps, 0, behind.columns));
}

// Columns before a block get its exchanges at the end; until then other ranks read them.
template <Scalar T>
void exchange_in_earlier_columns(const Loop<T>& loop, std::span<const std::int64_t> pivots) {
  const ColumnBlocks& blocks = loop.blocks();
  for (std::int64_t k = blocks.own_from(0); k < blocks.count(); k += blocks.ranks) {
    const std::int64_t from = std::min(blocks.block(k).hi, loop.steps());
    const LocalMatrix<T> columns =
        loop.own().part(0, blocks.rows, blocks.own_columns_before(k), blocks.block(k).length());
    detail::exchange_rows(columns, pivots, from);
  }
}

// ---- QR

template <Scalar T>
Status update_qr(Loop<T>& loop, std::int64_t k, std::span<const T> tau,
                 detail::ColumnMajorCopy<T>& copy) {
  const LocalMatrix<T> behind = loop.own_trailing(k);
  if (behind.is_empty()) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const LocalMatrix<const T> panel, loop.fetch(k));
  // Copies a panel that is used in place: LAPACK writes to it, and other ranks read it.
  const LocalMatrix<T> reflectors = copy.of(panel.part(0, panel.rows, 0, std::ssize(tau)), false);
  return lapack::multiply_by_q<T>(reflectors, tau, true, behind);
}

// ---- The loops

// Collectives of all members: a share() or the finish() follows wherever memory may run out.

template <Scalar T>
Result<std::int64_t> run_cholesky(WorkMatrix& a, const ColumnBlocks& blocks) {
  Loop<T> loop(a, blocks);
  Status own_status;
  PanelResult<std::int64_t> panel_result;
  for (std::int64_t k = 0; k < blocks.count() && panel_result.info == 0 && !panel_result.is_failed;
       ++k) {
    if (blocks.owns(k) && own_status.ok()) {
      const auto info = cholesky_block(loop, k);
      own_status = info.status();
      panel_result.info = info.ok() ? *info : 0;
    }
    panel_result.is_failed = !own_status.ok();
    TESSERA_RETURN_IF_ERROR(loop.share(k, panel_result));
    if (own_status.ok() && panel_result.info == 0 && !panel_result.is_failed) {
      own_status = update_cholesky(loop, k);
    }
  }
  TESSERA_RETURN_IF_ERROR(loop.finish(std::move(own_status)));
  return panel_result.info;
}

template <Scalar T>
Result<LuSteps> run_lu(WorkMatrix& a, const ColumnBlocks& blocks) {
  Loop<T> loop(a, blocks);
  Status own_status;
  LuSteps steps;
  PanelResult<std::int32_t> panel_result;
  panel_result.numbers.reserve(static_cast<std::size_t>(loop.steps_of(0)));
  steps.pivots.reserve(static_cast<std::size_t>(loop.steps()));
  for (std::int64_t k = 0; loop.steps_of(k) > 0 && !panel_result.is_failed; ++k) {
    panel_result.numbers.resize(static_cast<std::size_t>(loop.steps_of(k)));
    if (blocks.owns(k) && own_status.ok()) {
      const auto info = lapack::lu<T>(loop.own_block(k), panel_result.numbers);
      own_status = info.status();
      panel_result.info = info.ok() ? *info : 0;
    }
    panel_result.is_failed = !own_status.ok();
    TESSERA_RETURN_IF_ERROR(loop.share(k, panel_result));
    if (steps.singular == 0 && panel_result.info != 0) {
      steps.singular = blocks.block(k).lo + panel_result.info;
    }
    for (const std::int32_t pivot : panel_result.numbers) {
      steps.pivots.push_back(blocks.block(k).lo + pivot);
    }
    if (own_status.ok() && !panel_result.is_failed) {
      own_status = update_lu<T>(loop, k, panel_result.numbers);
    }
  }
  TESSERA_RETURN_IF_ERROR(loop.finish(std::move(own_status)));
  exchange_in_earlier_columns<T>(loop, steps.pivots);
  TESSERA_RETURN_IF_ERROR(loop.finish({}));
  return steps;
}

template <Scalar T>
Result<std::vector<T>> run_qr(WorkMatrix& a, const ColumnBlocks& blocks) {
  Loop<T> loop(a, blocks);
  Status own_status;
  std::vector<T> tau;
  PanelResult<T> panel_result;
  detail::ColumnMajorCopy<T> copy;
  panel_result.numbers.reserve(static_cast<std::size_t>(loop.steps_of(0)));
  tau.reserve(static_cast<std::size_t>(loop.steps()));
  for (std::int64_t k = 0; loop.steps_of(k) > 0 && !panel_result.is_failed; ++k) {
    panel_result.numbers.resize(static_cast<std::size_t>(loop.steps_of(k)));
    if (blocks.owns(k) && own_status.ok()) {
      own_status = lapack::qr<T>(loop.own_block(k), panel_result.numbers);
    }
    panel_result.is_failed = !own_status.ok();
    TESSERA_RETURN_IF_ERROR(loop.share(k, panel_result));
    tau.insert(tau.end(), panel_result.numbers.begin(), panel_result.numbers.end());
    if (own_status.ok() && !panel_result.is_failed) {
      own_status = update_qr<T>(loop, k, panel_result.numbers, copy);
    }
  }
  TESSERA_RETURN_IF_ERROR(loop.finish(std::move(own_status)));
  return tau;
}

}  // namespace

template <Scalar T>
Result<std::int64_t> cholesky_by_columns(WorkMatrix& a, const ColumnBlocks& blocks) {
  return a.team().do_together([&] { return run_cholesky<T>(a, blocks); });
}
template <Scalar T>
Result<LuSteps> lu_by_columns(WorkMatrix& a, const ColumnBlocks& blocks) {
  return a.team().do_together([&] { return run_lu<T>(a, blocks); });
}
template <Scalar T>
Result<std::vector<T>> qr_by_columns(WorkMatrix& a, const ColumnBlocks& blocks) {
  return a.team().do_together([&] { return run_qr<T>(a, blocks); });
}

template Result<std::int64_t> cholesky_by_columns<float>(WorkMatrix&, const ColumnBlocks&);
template Result<LuSteps> lu_by_columns<float>(WorkMatrix&, const ColumnBlocks&);
template Result<std::vector<float>> qr_by_columns<float>(WorkMatrix&, const ColumnBlocks&);
template Result<std::int64_t> cholesky_by_columns<double>(WorkMatrix&, const ColumnBlocks&);
template Result<LuSteps> lu_by_columns<double>(WorkMatrix&, const ColumnBlocks&);
template Result<std::vector<double>> qr_by_columns<double>(WorkMatrix&, const ColumnBlocks&);
template Result<std::int64_t> cholesky_by_columns<std::complex<float>>(WorkMatrix&,
                                                                       const ColumnBlocks&);
template Result<LuSteps> lu_by_columns<std::complex<float>>(WorkMatrix&, const ColumnBlocks&);
template Result<std::vector<std::complex<float>>> qr_by_columns<std::complex<float>>(
    WorkMatrix&, const ColumnBlocks&);
template Result<std::int64_t> cholesky_by_columns<std::complex<double>>(WorkMatrix&,
                                                                        const ColumnBlocks&);
template Result<LuSteps> lu_by_columns<std::complex<double>>(WorkMatrix&, const ColumnBlocks&);
template Result<std::vector<std::complex<double>>> qr_by_columns<std::complex<double>>(
    WorkMatrix&, const ColumnBlocks&);

}  // namespace tessera::linalg::variants
