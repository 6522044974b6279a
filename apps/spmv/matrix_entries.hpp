// SPDX-License-Identifier: BSD-3-Clause
//
// Private to the readers: converts the numbers of an entry for callers.
#pragma once

#include <fmt/format.h>

#include <complex>
#include <cstdint>
#include <string>

#include "apps/spmv/matrix_file.hpp"
#include "apps/spmv/matrix_header.hpp"
#include "rma/element.hpp"

namespace tessera::apps::spmv {

/// The number of parts of a value in a file.
inline std::int64_t parts_of(Field field) {
  return field == Field::pattern ? 0 : (field == Field::complex ? 2 : 1);
}

template <class T>
T value_of(const double* parts) {
  if constexpr (rma::ComplexElement<T>) {
    return {parts[0], parts[1]};
  } else {
    return parts[0];
  }
}

/// Passes an entry to `sink`, and its mirror image if the file stores one half. Returns the error,
/// or an empty text. Requires: row and column are inside the matrix.
template <class T>
std::string give(Symmetry symmetry, std::int64_t row, std::int64_t column, T value,
                 const EntrySink<T>& sink) {
  if (symmetry != Symmetry::general && column > row) {
    return fmt::format(
        "entry ({}, {}) is above the diagonal: for {} matrices files store the lower "
        "half",
        row + 1, column + 1, to_string(symmetry));
  }
  if (symmetry == Symmetry::skew_symmetric && row == column) {
    // Some writers store the zeros, too; they are not entries.
    return value == T{} ? std::string()
                        : fmt::format(
                              "entry ({0}, {0}) is on the diagonal, where skew-symmetric matrices "
                              "must have zeros",
                              row + 1);
  }
  T mirrored = symmetry == Symmetry::skew_symmetric ? -value : value;
  if constexpr (rma::ComplexElement<T>) {
    if (symmetry == Symmetry::hermitian && row == column && value.imag() != 0) {
      return fmt::format("entry ({0}, {0}) of a Hermitian matrix is not real", row + 1);
    }
    mirrored = symmetry == Symmetry::hermitian ? std::conj(value) : mirrored;
  }
  sink(row, column, value);
  if (symmetry != Symmetry::general && row != column) {
    sink(column, row, mirrored);
  }
  return {};
}

/// Collective. The entries of a file of compressed columns. `lines` is its number of lines.
template <class T>
rma::Status read_compressed_columns(rma::Job& job, const std::string& file,
                                    const MatrixHeader& header, LineStream* at_first,
                                    const EntrySink<T>& sink);

}  // namespace tessera::apps::spmv
