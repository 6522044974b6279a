// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/detail/panel.hpp"

#include <utility>

#include "rma/transfer.hpp"

namespace tessera::linalg::detail {

using arrays::Box;
using arrays::Extents;
using arrays::MemoryOrder;
using arrays::Patch;
using arrays::Strides;
using rma::Status;

namespace {

std::int64_t signed_bytes(const MatrixMap& map) {
  return static_cast<std::int64_t>(map.array->element_bytes());
}

rma::RemoteAddress address_of(const MatrixMap& map, rma::TeamRank owner, std::int64_t offset) {
  return map.array->region().at(owner, static_cast<std::uint64_t>(offset * signed_bytes(map)));
}

}  // namespace

void* direct_pointer(const MatrixMap& map, const MatrixLocation& location, std::int64_t rows,
                     std::int64_t columns) {
  const LocalMatrix<std::byte> shape{nullptr, rows, columns, location.row_stride,
                                     location.column_stride};
  std::byte* const slice = shape.fits_blas() ? map.array->region().direct(location.owner) : nullptr;
  return slice == nullptr ? nullptr : slice + location.offset * signed_bytes(map);
}

void Panel::start(const MatrixMap& map, const IntervalList& rows, const IntervalList& columns) {
  rows_ = total_length(rows);
  columns_ = total_length(columns);
  failed_ = Status();
  const auto location = locate(map, rows, columns);
  if (location) {
    if (void* const data = direct_pointer(map, *location, rows_, columns_)) {
      use(data, location->row_stride, location->column_stride);
      return;
    }
  }
  failed_ = reserve(map);
  if (!failed_.ok()) {
    return;
  }
  if (location) {
    fetch_located(map, *location);
  } else {
    fetch_blocks(map, merged(rows), merged(columns));
  }
}

Status Panel::wait() {
  Status fetched = fetching_.wait();
  return failed_.ok() ? std::move(fetched) : std::exchange(failed_, Status());
}

void Panel::use(void* data, std::int64_t row_stride, std::int64_t column_stride) noexcept {
  data_ = data;
  row_stride_ = row_stride;
  column_stride_ = column_stride;
}

// In the order of the owners' memory, so that contiguous runs are copied.
Status Panel::reserve(const MatrixMap& map) {
  const bool is_row_major = map.is_row_major();
  const std::int64_t line = padded(is_row_major ? columns_ : rows_);
  TESSERA_RETURN_IF_ERROR(buffer_.reserve(
      static_cast<std::size_t>((is_row_major ? rows_ : columns_) * line * signed_bytes(map))));
  use(buffer_.data(), is_row_major ? line : 1, is_row_major ? 1 : line);
  return {};
}

void Panel::fetch_located(const MatrixMap& map, const MatrixLocation& location) {
  const auto shape = arrays::copy_shape(
      Extents{rows_, columns_},
      map.is_row_major() ? MemoryOrder::row_major : MemoryOrder::column_major,
      Strides{row_stride_, column_stride_}, Strides{location.row_stride, location.column_stride},
      map.array->element_bytes());
  fetching_ = rma::get_async(map.array->job(), address_of(map, location.owner, location.offset),
                             data_, shape);
}

void Panel::fetch_blocks(const MatrixMap& map, const IntervalList& rows,
                         const IntervalList& columns) {
  std::int64_t row = 0;
  for (const Interval& in_rows : rows) {
    std::int64_t column = 0;
    for (const Interval& in_columns : columns) {
      const std::int64_t offset = row * row_stride_ + column * column_stride_;
      fetch_box(map, map.part(in_rows, in_columns),
                static_cast<std::byte*>(data_) + offset * signed_bytes(map));
      column += in_columns.length();
    }
    row += in_rows.length();
  }
}

void Panel::fetch_box(const MatrixMap& map, const Box& box, std::byte* to) {
  Strides local = Strides::zeros(box.ndims());
  local[map.row_dim] = row_stride_;
  local[map.column_dim] = column_stride_;
  for (const Patch& patch : map.array->distribution().patches(box)) {
    const std::int64_t offset = distance(box.lo(), patch.box.lo(), local) * signed_bytes(map);
    fetching_.collect(rma::get_async(map.array->job(), address_of(map, patch.owner, patch.offset),
                                     to + offset,
                                     copy_shape(patch, local, map.array->element_bytes())));
  }
}

}  // namespace tessera::linalg::detail
