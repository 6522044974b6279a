// SPDX-License-Identifier: BSD-3-Clause
#include "linalg/sparse_diagonal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "linalg/detail/agreement.hpp"
#include "linalg/detail/arithmetic.hpp"
#include "linalg/detail/dense_panel.hpp"
#include "linalg/detail/vector_gather.hpp"

namespace tessera::linalg {

using arrays::Array;
using arrays::Box;
using arrays::detail::CallSignature;
using rma::Code;
using rma::Status;

namespace {

template <SparseElement T>
std::int64_t diagonal_length(const SparseMatrix<T>& matrix) {
  return std::min(matrix.rows(), matrix.columns());
}

// The entry of row i of this rank with this column; null if there is none.
template <SparseElement T>
T* find(const LocalRows<T>& own, std::int64_t i, std::int64_t column) {
  const auto columns = own.columns_of(i);
  const auto it = std::lower_bound(columns.begin(), columns.end(), column);
  return it != columns.end() && *it == column
             ? &own.values_of(i)[static_cast<std::size_t>(it - columns.begin())]
             : nullptr;
}

// A collective that works on own rows: checks `given` and `signature` on all members, works, and
// synchronises. `doing` is used in messages.
template <SparseElement T, class Work>
Status on_own_rows(SparseMatrix<T>& matrix, std::string_view doing, const Status& given,
                   CallSignature signature, Work&& work) {
  const auto attempt = [&](Status status) {
    return status.ok() ? Status()
                       : std::move(status).context(fmt::format("{} {}", doing, matrix.describe()));
  };
  signature.add(matrix.values().id());
  TESSERA_RETURN_IF_ERROR(attempt(detail::meet(matrix.values(), given, signature)));
  return attempt(detail::meet(matrix.values(), [&]() -> Status {
    TESSERA_ASSIGN_OR_RETURN(auto own, matrix.local());
    TESSERA_RETURN_IF_ERROR(work(own));
    return own.end();
  }));
}

// One-sided. Puts value(i) for this rank's rows below `limit` into `to`.
template <SparseElement T, class Value>
Status put_by_row(const LocalRows<T>& own, std::int64_t limit, Array<T>& to, Value&& value) {
  const std::int64_t first = own.first_row();
  const std::int64_t rows = std::max<std::int64_t>(std::min(own.rows(), limit - first), 0);
  for (std::int64_t lo = 0; lo < rows; lo += detail::panel_elements) {
    const std::int64_t hi = std::min(lo + detail::panel_elements, rows);
    std::vector<T> part;
    part.reserve(static_cast<std::size_t>(hi - lo));
    for (std::int64_t i = lo; i < hi; ++i) {
      part.push_back(value(i));
    }
    TESSERA_RETURN_IF_ERROR(to.put(Box({first + lo}, {first + hi}), part));
  }
  return {};
}

// Collective. One element of each row.
template <SparseElement T, class Column>
Status extract(SparseMatrix<T>& matrix, std::string_view doing, const Status& given,
               const CallSignature& signature, std::int64_t limit, Array<T>& result,
               Column&& column) {
  TESSERA_RETURN_IF_ERROR(
      on_own_rows(matrix, doing, given, signature, [&](const LocalRows<T>& own) {
        return put_by_row(own, limit, result, [&](std::int64_t i) {
          const T* const found = find(own, i, column(own.first_row() + i));
          return found == nullptr ? T{} : *found;
        });
      }));
  return result.sync();
}

template <SparseElement T>
Status check_diagonal(const LocalRows<T>& own, std::int64_t limit) {
  for (std::int64_t i = 0; i < own.rows() && own.first_row() + i < limit; ++i) {
    if (find(own, i, own.first_row() + i) == nullptr) {
      return Status::error(Code::invalid_argument,
                           fmt::format("({0}, {0}) is not an entry", own.first_row() + i))
          .hint(
              "add zeros on the diagonal when you build the matrix: its pattern can't change "
              "later");
    }
  }
  return {};
}

}  // namespace

template <SparseElement T>
Status get_diagonal(SparseMatrix<T>& matrix, Array<T>& diagonal) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  const std::int64_t length = diagonal_length(matrix);
  return extract(matrix, "getting the diagonal of",
                 detail::prepare_target(diagonal, {length}, matrix.team(), "the diagonal"),
                 CallSignature("get_diagonal"), length, diagonal,
                 [](std::int64_t row) { return row; });
}

template <SparseElement T>
Status get_column(SparseMatrix<T>& matrix, std::int64_t column, Array<T>& result) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  Status given = detail::prepare_target(result, {matrix.rows()}, matrix.team(), "the result");
  if (given.ok() && (column < 0 || column >= matrix.columns())) {
    given = Status::error(Code::out_of_range, fmt::format("there is no column {}", column));
  }
  return extract(matrix, "getting a column of", given, CallSignature("get_column").add(column),
                 matrix.rows(), result, [column](std::int64_t) { return column; });
}

template <SparseElement T>
Status shift_diagonal(SparseMatrix<T>& matrix, std::type_identity_t<T> shift) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  constexpr std::string_view doing = "shifting the diagonal of";
  const CallSignature signature = CallSignature("shift_diagonal").add_scalar(shift);
  const std::int64_t length = diagonal_length(matrix);
  TESSERA_RETURN_IF_ERROR(
      on_own_rows(matrix, doing, Status(), signature,
                  [&](const LocalRows<T>& own) { return check_diagonal(own, length); }));
  return on_own_rows(matrix, doing, Status(), signature, [&](const LocalRows<T>& own) {
    for (std::int64_t i = 0; i < own.rows() && own.first_row() + i < length; ++i) {
      T* const value = find(own, i, own.first_row() + i);
      *value = detail::add(*value, shift);
    }
    return Status();
  });
}

template <SparseElement T>
Status scale(SparseMatrix<T>& matrix, std::type_identity_t<T> factor) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  const CallSignature signature = CallSignature("scale").add_scalar(factor);
  return on_own_rows(matrix, "scaling", Status(), signature, [&](const LocalRows<T>& own) {
    for (T& value : own.values()) {
      value = detail::multiply(factor, value);
    }
    return Status();
  });
}

template <SparseElement T>
Status scale_rows(SparseMatrix<T>& matrix, Array<T>& factors) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  const Status given =
      detail::prepare_source(factors, {matrix.rows()}, matrix.team(), "the factors");
  const CallSignature signature("scale_rows");
  return on_own_rows(matrix, "scaling the rows of", given, signature, [&](const LocalRows<T>& own) {
    std::vector<T> part;
    for (std::int64_t lo = 0; lo < own.rows(); lo += detail::panel_elements) {
      const std::int64_t hi = std::min(lo + detail::panel_elements, own.rows());
      part.resize(static_cast<std::size_t>(hi - lo));
      TESSERA_RETURN_IF_ERROR(
          factors.get(Box({own.first_row() + lo}, {own.first_row() + hi}), part));
      for (std::int64_t i = lo; i < hi; ++i) {
        for (T& value : own.values_of(i)) {
          value = detail::multiply(part[static_cast<std::size_t>(i - lo)], value);
        }
      }
    }
    return Status();
  });
}

template <SparseElement T>
Status scale_columns(SparseMatrix<T>& matrix, Array<T>& factors) {
  TESSERA_RETURN_IF_ERROR(matrix.check_open());
  const Status given =
      detail::prepare_source(factors, {matrix.columns()}, matrix.team(), "the factors");
  const CallSignature signature("scale_columns");
  return on_own_rows(
      matrix, "scaling the columns of", given, signature, [&](const LocalRows<T>& own) {
        constexpr auto batch = static_cast<std::size_t>(detail::panel_elements);
        const auto columns = own.columns();
        for (std::size_t lo = 0; lo < columns.size(); lo += batch) {
          const auto part = columns.subspan(lo, std::min(batch, columns.size() - lo));
          detail::VectorGather<T> gather(factors, detail::sorted_unique(part),
                                         {.mode = SpmvMode::vector});
          TESSERA_RETURN_IF_ERROR(gather.get(factors));
          for (std::size_t k = 0; k < part.size(); ++k) {
            T& value = own.values()[lo + k];
            value = detail::multiply(value, gather.buffer()[gather.position_of(part[k])]);
          }
        }
        return Status();
      });
}

template Status get_diagonal(SparseMatrix<std::int32_t>&, Array<std::int32_t>&);
template Status get_column(SparseMatrix<std::int32_t>&, std::int64_t, Array<std::int32_t>&);
template Status shift_diagonal(SparseMatrix<std::int32_t>&, std::int32_t);
template Status scale(SparseMatrix<std::int32_t>&, std::int32_t);
template Status scale_rows(SparseMatrix<std::int32_t>&, Array<std::int32_t>&);
template Status scale_columns(SparseMatrix<std::int32_t>&, Array<std::int32_t>&);
template Status get_diagonal(SparseMatrix<std::int64_t>&, Array<std::int64_t>&);
template Status get_column(SparseMatrix<std::int64_t>&, std::int64_t, Array<std::int64_t>&);
template Status shift_diagonal(SparseMatrix<std::int64_t>&, std::int64_t);
template Status scale(SparseMatrix<std::int64_t>&, std::int64_t);
template Status scale_rows(SparseMatrix<std::int64_t>&, Array<std::int64_t>&);
template Status scale_columns(SparseMatrix<std::int64_t>&, Array<std::int64_t>&);
template Status get_diagonal(SparseMatrix<float>&, Array<float>&);
template Status get_column(SparseMatrix<float>&, std::int64_t, Array<float>&);
template Status shift_diagonal(SparseMatrix<float>&, float);
template Status scale(SparseMatrix<float>&, float);
template Status scale_rows(SparseMatrix<float>&, Array<float>&);
template Status scale_columns(SparseMatrix<float>&, Array<float>&);
template Status get_diagonal(SparseMatrix<double>&, Array<double>&);
template Status get_column(SparseMatrix<double>&, std::int64_t, Array<double>&);
template Status shift_diagonal(SparseMatrix<double>&, double);
template Status scale(SparseMatrix<double>&, double);
template Status scale_rows(SparseMatrix<double>&, Array<double>&);
template Status scale_columns(SparseMatrix<double>&, Array<double>&);
template Status get_diagonal(SparseMatrix<std::complex<float>>&, Array<std::complex<float>>&);
template Status get_column(SparseMatrix<std::complex<float>>&, std::int64_t,
                           Array<std::complex<float>>&);
template Status shift_diagonal(SparseMatrix<std::complex<float>>&, std::complex<float>);
template Status scale(SparseMatrix<std::complex<float>>&, std::complex<float>);
template Status scale_rows(SparseMatrix<std::complex<float>>&, Array<std::complex<float>>&);
template Status scale_columns(SparseMatrix<std::complex<float>>&, Array<std::complex<float>>&);
template Status get_diagonal(SparseMatrix<std::complex<double>>&, Array<std::complex<double>>&);
template Status get_column(SparseMatrix<std::complex<double>>&, std::int64_t,
                           Array<std::complex<double>>&);
template Status shift_diagonal(SparseMatrix<std::complex<double>>&, std::complex<double>);
template Status scale(SparseMatrix<std::complex<double>>&, std::complex<double>);
template Status scale_rows(SparseMatrix<std::complex<double>>&, Array<std::complex<double>>&);
template Status scale_columns(SparseMatrix<std::complex<double>>&, Array<std::complex<double>>&);

}  // namespace tessera::linalg
