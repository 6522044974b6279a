// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/sparse_dense.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include "arrays/array_base.hpp"
#include "linalg/detail/dense_panel.hpp"
#include "linalg/detail/row_fetch.hpp"
#include "linalg/detail/row_kernels.hpp"
#include "linalg/detail/vector_gather.hpp"

namespace tessera::linalg {

using arrays::Array;
using arrays::Box;
using arrays::LocalView;
using detail::RowRange;
using rma::Code;
using rma::Handle;
using rma::Result;
using rma::Status;

namespace {

template <SparseElement T>
Status check_product(const SparseMatrix<T>& sparse, Array<T>& dense, Array<T>& result,
                     const arrays::Extents& dense_extents, const arrays::Extents& extents) {
  TESSERA_RETURN_IF_ERROR(
      detail::prepare_source(dense, dense_extents, sparse.team(), "the dense factor"));
  TESSERA_RETURN_IF_ERROR(detail::prepare_target(result, extents, sparse.team(), "the result"));
  if (arrays::share_memory(dense, dense.box(), result, result.box())) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("{} is both factor and result, or they share memory", result.describe()));
  }
  return {};
}

// One-sided. Reads some rows of a dense array, one after another; neighbours are read together.
template <SparseElement T>
Status get_rows(const Array<T>& dense, std::span<const std::int64_t> rows, RowRange columns,
                std::vector<T>& panel) {
  const std::int64_t width = columns.size();
  panel.resize(rows.size() * static_cast<std::size_t>(width));
  Handle all;
  for (std::size_t i = 0; i < rows.size() && width > 0;) {
    const std::size_t first = i;
    while (i < rows.size() && rows[i] == rows[first] + static_cast<std::int64_t>(i - first)) {
      ++i;
    }
    const Box box({rows[first], columns.lo},
                  {rows[first] + static_cast<std::int64_t>(i - first), columns.hi});
    T* const to = panel.data() + static_cast<std::int64_t>(first) * width;
    all.collect(dense.get_async(box, LocalView<T>(to, box.extents())));
  }
  return all.wait();
}

// Some columns of sparse · dense, on the rank that owns the sparse rows.
template <SparseElement T>
class PanelOfRows {
 public:
  PanelOfRows(const LocalRows<T>& own, const Array<T>& b, RowRange columns)
      : own_(own),
        b_(b),
        columns_(columns),
        max_rows_(std::max<std::int64_t>(
            detail::panel_elements / std::max<std::int64_t>(columns.size(), 1), 1)) {}

  // Computes rows lo to hi of c.
  Status make(std::int64_t lo, std::int64_t hi, std::vector<T>& c) {
    c.assign(static_cast<std::size_t>((hi - lo) * columns_.size()), T{});
    row_ = lo;
    for (std::int64_t first = own_.row_start(lo); first < own_.row_start(hi);) {
      // At most as many entries as rows of b fit.
      const std::int64_t last = std::min(first + max_rows_, own_.row_start(hi));
      TESSERA_RETURN_IF_ERROR(add_entries(first, last, lo, c));
      first = last;
    }
    return {};
  }
  [[nodiscard]] std::int64_t max_rows() const noexcept { return max_rows_; }

 private:
  Status add_entries(std::int64_t first, std::int64_t last, std::int64_t lo, std::vector<T>& c) {
    const auto column = own_.columns().subspan(static_cast<std::size_t>(first),
                                               static_cast<std::size_t>(last - first));
    const std::vector<std::int64_t> needed = detail::sorted_unique(column);
    TESSERA_RETURN_IF_ERROR(get_rows(b_, needed, columns_, panel_));
    const std::int64_t width = columns_.size();
    for (std::int64_t entry = first; entry < last; ++entry) {
      while (own_.row_start(row_ + 1) <= entry) {
        ++row_;
      }
      const auto at = std::lower_bound(needed.begin(), needed.end(),
                                       column[static_cast<std::size_t>(entry - first)]);
      detail::add_multiple(own_.values()[static_cast<std::size_t>(entry)],
                           panel_.data() + (at - needed.begin()) * width, width,
                           c.data() + (row_ - lo) * width);
    }
    return {};
  }

  const LocalRows<T>& own_;
  const Array<T>& b_;
  RowRange columns_;
  std::int64_t max_rows_;
  std::int64_t row_ = 0;  // row of the next entry, or an earlier row
  std::vector<T> panel_;
};

template <SparseElement T>
Status multiply_own_rows(const LocalRows<T>& own, const Array<T>& b, Array<T>& c) {
  const std::int64_t n = c.extents()[1];
  std::vector<T> part;
  for (std::int64_t left = 0; left < n; left += detail::panel_columns) {
    const RowRange columns{left, std::min(left + detail::panel_columns, n)};
    PanelOfRows<T> panel(own, b, columns);
    for (std::int64_t lo = 0; lo < own.rows(); lo += panel.max_rows()) {
      const std::int64_t hi = std::min(lo + panel.max_rows(), own.rows());
      TESSERA_RETURN_IF_ERROR(panel.make(lo, hi, part));
      TESSERA_RETURN_IF_ERROR(
          c.put(Box({own.first_row() + lo, columns.lo}, {own.first_row() + hi, columns.hi}), part));
    }
  }
  return {};
}

// The part of c that this rank computes in dense · sparse.
template <SparseElement T>
Result<Box> own_part(const Array<T>& c) {
  if (c.distribution().is_one_block_per_rank()) {
    return c.own_box();
  }
  TESSERA_ASSIGN_OR_RETURN(const auto even,
                           arrays::Distribution::regular(c.extents(), c.team().size()));
  return even.box_of(c.team().rank());
}

// Entries of a batch's rows with columns in a range.
template <SparseElement T>
std::vector<RowRange> entries_within(const LocalCsr<T>& batch, RowRange columns) {
  std::vector<RowRange> found;
  found.reserve(static_cast<std::size_t>(batch.rows));
  for (std::size_t row = 0; row < static_cast<std::size_t>(batch.rows); ++row) {
    const auto begin = batch.column.begin() + batch.row_starts[row];
    const auto end = batch.column.begin() + batch.row_starts[row + 1];
    const auto lo = std::lower_bound(begin, end, columns.lo);
    const auto hi = std::lower_bound(lo, end, columns.hi);
    found.push_back({lo - batch.column.begin(), hi - batch.column.begin()});
  }
  return found;
}

// part += a(rows of the part, rows of the batch) · batch, for the columns of the part. The batch
// has consecutive rows, starting with `first`.
template <SparseElement T>
Status add_batch(const Array<T>& a, const LocalCsr<T>& batch, std::int64_t first, const Box& part,
                 std::vector<T>& left, std::vector<T>& c) {
  constexpr std::int64_t together = 8;  // rows of c that stay in the cache during a pass over b
  const std::int64_t height = part.extent(0);
  left.resize(static_cast<std::size_t>(height * batch.rows));
  TESSERA_RETURN_IF_ERROR(a.get(Box({part.lo(0), first}, {part.hi(0), first + batch.rows}), left));
  const auto within = entries_within(batch, {part.lo(1), part.hi(1)});
  for (std::int64_t top = 0; top < height; top += together) {
    for (std::int64_t k = 0; k < batch.rows; ++k) {
      const RowRange entries = within[static_cast<std::size_t>(k)];
      for (std::int64_t i = top; i < std::min(top + together, height); ++i) {
        const T factor = left[static_cast<std::size_t>(i * batch.rows + k)];
        T* const row = c.data() + i * part.extent(1);
        for (auto entry = static_cast<std::size_t>(entries.lo);
             entry < static_cast<std::size_t>(entries.hi); ++entry) {
          T& sum = row[batch.column[entry] - part.lo(1)];
          sum = detail::multiply_add(sum, factor, batch.value[entry]);
        }
      }
    }
  }
  return {};
}

// Computes one panel of c: one pass over all rows of b, in their order.
template <SparseElement T>
Status multiply_panel(const Array<T>& a, SparseMatrix<T>& b, const Box& part, Array<T>& c) {
  std::vector<T> sums(static_cast<std::size_t>(part.volume()));
  std::vector<T> left;
  const std::int64_t max_rows = detail::panel_rows(part.extent(0));
  for (std::int64_t lo = 0; lo < b.rows(); lo += max_rows) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(max_rows, b.rows() - lo)));
    std::iota(rows.begin(), rows.end(), lo);
    TESSERA_ASSIGN_OR_RETURN(const auto locations, detail::locate_rows(*b.pattern(), rows));
    std::int64_t first = lo;
    for (std::span<const detail::RowLocation> rest(locations); !rest.empty();) {
      const std::size_t count = detail::rows_in_batch(rest);
      TESSERA_ASSIGN_OR_RETURN(const auto batch, detail::fetch_rows(b, rest.first(count)));
      TESSERA_RETURN_IF_ERROR(add_batch(a, batch, first, part, left, sums));
      rest = rest.subspan(count);
      first += static_cast<std::int64_t>(count);
    }
  }
  return c.put(part, sums);
}

template <SparseElement T>
Status multiply_own_part(const Array<T>& a, SparseMatrix<T>& b, Array<T>& c) {
  TESSERA_ASSIGN_OR_RETURN(const Box own, own_part(c));
  const std::int64_t height = detail::panel_rows(own.extent(1));
  for (std::int64_t lo = own.lo(0); lo < own.hi(0) && !own.is_empty(); lo += height) {
    const Box part({lo, own.lo(1)}, {std::min(lo + height, own.hi(0)), own.hi(1)});
    TESSERA_RETURN_IF_ERROR(multiply_panel(a, b, part, c));
  }
  return {};
}

Status not_a_matrix(int ndims) {
  return Status::error(
      Code::invalid_argument,
      fmt::format("the dense factor has {} dimension{}, not two", ndims, ndims == 1 ? "" : "s"));
}

}  // namespace

template <SparseElement T>
Status multiply(SparseMatrix<T>& a, Array<T>& b, Array<T>& c) {
  TESSERA_RETURN_IF_ERROR(a.check_open());
  TESSERA_RETURN_IF_ERROR(b.check_open());
  TESSERA_RETURN_IF_ERROR(c.check_open());
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(
                             fmt::format("multiplying {} and {}", a.describe(), b.describe()));
  };
  const Status given = b.ndims() == 2 ? check_product(a, b, c, {a.columns(), b.extents()[1]},
                                                      {a.rows(), b.extents()[1]})
                                      : not_a_matrix(b.ndims());
  TESSERA_RETURN_IF_ERROR(attempt(b.sync(given)));
  return attempt(c.sync([&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(auto own, a.local());
    TESSERA_RETURN_IF_ERROR(multiply_own_rows(own, b, c));
    return own.end();
  }));
}

template <SparseElement T>
Status multiply(Array<T>& a, SparseMatrix<T>& b, Array<T>& c) {
  TESSERA_RETURN_IF_ERROR(a.check_open());
  TESSERA_RETURN_IF_ERROR(b.check_open());
  TESSERA_RETURN_IF_ERROR(c.check_open());
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(
                             fmt::format("multiplying {} and {}", a.describe(), b.describe()));
  };
  const Status given = a.ndims() == 2 ? check_product(b, a, c, {a.extents()[0], b.rows()},
                                                      {a.extents()[0], b.columns()})
                                      : not_a_matrix(a.ndims());
  TESSERA_RETURN_IF_ERROR(attempt(a.sync(given)));
  return attempt(c.sync([&] { return multiply_own_part(a, b, c); }));
}

template Status multiply(SparseMatrix<std::int32_t>&, Array<std::int32_t>&, Array<std::int32_t>&);
template Status multiply(Array<std::int32_t>&, SparseMatrix<std::int32_t>&, Array<std::int32_t>&);
template Status multiply(SparseMatrix<std::int64_t>&, Array<std::int64_t>&, Array<std::int64_t>&);
template Status multiply(Array<std::int64_t>&, SparseMatrix<std::int64_t>&, Array<std::int64_t>&);
template Status multiply(SparseMatrix<float>&, Array<float>&, Array<float>&);
template Status multiply(Array<float>&, SparseMatrix<float>&, Array<float>&);
template Status multiply(SparseMatrix<double>&, Array<double>&, Array<double>&);
template Status multiply(Array<double>&, SparseMatrix<double>&, Array<double>&);
template Status multiply(SparseMatrix<std::complex<float>>&, Array<std::complex<float>>&,
                         Array<std::complex<float>>&);
template Status multiply(Array<std::complex<float>>&, SparseMatrix<std::complex<float>>&,
                         Array<std::complex<float>>&);
template Status multiply(SparseMatrix<std::complex<double>>&, Array<std::complex<double>>&,
                         Array<std::complex<double>>&);
template Status multiply(Array<std::complex<double>>&, SparseMatrix<std::complex<double>>&,
                         Array<std::complex<double>>&);

}  // namespace tessera::linalg
