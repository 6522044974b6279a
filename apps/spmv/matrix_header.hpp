// SPDX-License-Identifier: BSD-3-Clause
//
// The head of a matrix file: its kind and size, and where its entries begin.
//
//     %%MatrixMarket matrix coordinate real symmetric     Matrix Market: the first line has the
//     kind, % a comment                                         comments follow, then the sizes 5 5
//     8
//
//     title                                    ARC130     Harwell-Boeing and Rutherford-Boeing:
//              502         9        65       428    0     lines in all and of each section
//     RUA                130       130      1282    0     type and sizes
//     (16I5)          (20I4)          (1P3D24.15)         how pointers, rows and values are written
//
// For the latter, assembled matrices are supported: real, complex, integer or pattern; unsymmetric,
// rectangular, symmetric, Hermitian or skew symmetric. Right-hand sides are skipped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apps/spmv/numbers.hpp"
#include "apps/spmv/text_file.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::spmv {

enum class Layout : std::uint8_t { coordinate, array, compressed_columns };
enum class Field : std::uint8_t { real, integer, pattern, complex };
enum class Symmetry : std::uint8_t { general, symmetric, skew_symmetric, hermitian };

/// The name in Matrix Market files: "real", "complex", ….
std::string_view to_string(Field field) noexcept;
std::string_view to_string(Symmetry symmetry) noexcept;
/// "Matrix Market coordinate", "Harwell-Boeing".
std::string_view to_string(Layout layout) noexcept;

/// A part of a Harwell-Boeing file: its number of fields, and of lines.
struct Section {
  FortranFormat format = {};
  std::int64_t fields = 0;
  std::int64_t first_line = 0;
  std::int64_t lines = 0;
};

/// Copied between ranks as bytes.
struct MatrixHeader {
  Layout layout = Layout::coordinate;
  Field field = Field::real;
  bool is_unsigned = false;  ///< for whole numbers: none is negative
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;    ///< in the file: for symmetric matrices those of one half
  std::int64_t size_line = 0;  ///< the line with the number of entries
  TextStart start = {};        ///< of the entries
  Section pointers = {};       ///< for compressed_columns only, as the two below
  Section indices = {};
  Section values = {};
  std::int64_t right_side_lines = 0;  ///< lines after them, which are not read
};

/// Reads the head and leaves the stream after it. Errors: invalid_argument, with file, line and
/// what was expected; unsupported for kinds of matrices that are not supported.
rma::Result<MatrixHeader> read_header(LineStream& stream);

}  // namespace tessera::apps::spmv
