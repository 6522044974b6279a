// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/own_tile.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include "linalg/blas.hpp"

namespace tessera::linalg::detail {

using rma::Status;

namespace {

// Blocks with at least this many rows and columns: a kernel call for each is as fast as one for
// all.
constexpr std::int64_t large_block = 256;

// Calls the action for each pair of corresponding elements, line by line of `to`'s memory.
template <class T, class Action>
void for_each_pair(LocalMatrix<T> to, LocalMatrix<const T> from, Action&& action) {
  if (to.column_stride > to.row_stride) {
    to = to.transposed();
    from = from.transposed();
  }
  for (std::int64_t i = 0; i < to.rows; ++i) {
    T* const line = to.data + i * to.row_stride;
    const T* const source = from.data + i * from.row_stride;
    if (to.column_stride == 1 && from.column_stride == 1) {
      for (std::int64_t j = 0; j < to.columns; ++j) {
        action(line[j], source[j]);
      }
    } else {
      for (std::int64_t j = 0; j < to.columns; ++j) {
        action(line[j * to.column_stride], source[j * from.column_stride]);
      }
    }
  }
}

template <class T>
void add_scaled(const LocalMatrix<T>& to, T beta, const LocalMatrix<const T>& from) {
  if (beta == T{0}) {
    for_each_pair(to, from, [](T& element, const T& added) { element = added; });
  } else if (beta == T{1}) {
    for_each_pair(to, from, [](T& element, const T& added) { element += added; });
  } else {
    for_each_pair(to, from, [=](T& element, const T& added) { element = beta * element + added; });
  }
}

}  // namespace

template <Scalar T>
void scale(const LocalMatrix<T>& block, T beta) {
  if (beta == T{0}) {
    for_each_pair<T>(block, block, [](T& element, const T&) { element = T{0}; });
  } else if (beta != T{1}) {
    for_each_pair<T>(block, block, [=](T& element, const T&) { element *= beta; });
  }
}

TileTarget choose_target(const MatrixMap& c, const OwnPart& part) {
  const std::int64_t rows = total_length(part.rows);
  const std::int64_t columns = total_length(part.columns);
  const auto has_unit_stride = [](std::int64_t height, std::int64_t width, std::int64_t row_stride,
                                  std::int64_t column_stride) {
    return LocalMatrix<char>{nullptr, height, width, row_stride, column_stride}.fits_blas();
  };
  if (const auto location = locate(c, part.rows, part.columns)) {
    return has_unit_stride(rows, columns, location->row_stride, location->column_stride)
               ? TileTarget::in_place
               : TileTarget::scratch;
  }
  const bool is_large = rows >= large_block * std::ssize(part.rows) &&
                        columns >= large_block * std::ssize(part.columns);
  bool fits = true;
  if (is_large) {
    for_each_block<char>(c, part, nullptr, [&](const LocalMatrix<char>& block, auto, auto) {
      fits = fits && block.fits_blas();
    });
  }
  return is_large && fits ? TileTarget::block_by_block : TileTarget::scratch;
}

template <Scalar T>
Status OwnTile<T>::begin(OwnPart tile, TileTarget target) {
  tile_ = std::move(tile);
  target_ = target;
  is_first_ = true;
  const std::int64_t rows = total_length(tile_.rows);
  const std::int64_t columns = total_length(tile_.columns);
  if (target_ == TileTarget::in_place) {
    const auto location = locate(c_, tile_.rows, tile_.columns);
    matrix_ = {slice_ + location->offset, rows, columns, location->row_stride,
               location->column_stride};
  } else if (target_ == TileTarget::scratch) {
    const bool is_row_major = c_.is_row_major();
    const std::int64_t line = padded(is_row_major ? columns : rows);
    const std::int64_t elements = (is_row_major ? rows : columns) * line;
    TESSERA_RETURN_IF_ERROR(scratch_.reserve(static_cast<std::size_t>(elements) * sizeof(T)));
    matrix_ = {static_cast<T*>(scratch_.data()), rows, columns, is_row_major ? line : 1,
               is_row_major ? 1 : line};
  }
  return {};
}

template <Scalar T>
Status OwnTile<T>::add_product(T alpha, const LocalMatrix<const T>& a, bool conjugates_a,
                               const LocalMatrix<const T>& b, bool conjugates_b, T beta) {
  const bool is_scratch = target_ == TileTarget::scratch;
  const T factor = !is_first_ ? T{1} : is_scratch ? T{0} : beta;
  beta_ = is_first_ ? beta : beta_;
  is_first_ = false;
  if (target_ != TileTarget::block_by_block) {
    return blas::gemm<T>(alpha, {a, conjugates_a}, {b, conjugates_b}, factor, matrix_);
  }
  Status status;
  for_each_block(
      c_, tile_, slice_, [&](const LocalMatrix<T>& block, std::int64_t row, std::int64_t column) {
        if (status.ok()) {
          status = blas::gemm<T>(alpha, {a.part(row, block.rows, 0, a.columns), conjugates_a},
                                 {b.part(0, b.rows, column, block.columns), conjugates_b}, factor,
                                 block);
        }
      });
  return status;
}

template <Scalar T>
void OwnTile<T>::end() {
  if (target_ != TileTarget::scratch) {
    return;
  }
  for_each_block(
      c_, tile_, slice_, [&](const LocalMatrix<T>& block, std::int64_t row, std::int64_t column) {
        add_scaled<T>(block, beta_, matrix_.part(row, block.rows, column, block.columns));
      });
}

template class OwnTile<float>;
template class OwnTile<double>;
template class OwnTile<std::complex<float>>;
template class OwnTile<std::complex<double>>;
template void scale(const LocalMatrix<float>&, float);
template void scale(const LocalMatrix<double>&, double);
template void scale(const LocalMatrix<std::complex<float>>&, std::complex<float>);
template void scale(const LocalMatrix<std::complex<double>>&, std::complex<double>);

}  // namespace tessera::linalg::detail
