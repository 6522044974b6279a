// SPDX-License-Identifier: BSD-3-Clause
//
// Parsers of the numbers in matrix files. Matrix Market files separate numbers by blanks, in C's
// notation; Harwell-Boeing files have Fortran's fields of a fixed width ("(16I5)", "(1P3D24.15)").
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "apps/common/numbers.hpp"

namespace tessera::apps::spmv {

/// Parses an integer of any length as a double. An error if a double cannot represent it exactly.
Parsed<double> parse_integer_as_real(std::string_view text);

/// A field of a line.
struct FortranField {
  std::int64_t column = 0;  ///< of its first character, from 0
  std::int32_t width = 0;
  std::int32_t digits = 0;  ///< implied digits after the point: "15" with 4 digits is 0.0015
  std::int32_t scale =
      0;  ///< scale factor: "15" with 2P is divided by 10², unless it has an exponent
};

/// The positions of numbers in a line. Copied between ranks as bytes.
struct FortranFormat {
  /// `count` fields like `first`, each `distance` columns after the previous one.
  struct Run {
    FortranField first = {};
    std::int32_t distance = 0;
    std::int32_t count = 0;
  };
  static constexpr std::int32_t max_runs = 4;

  std::array<Run, max_runs> runs = {};
  std::int32_t run_count = 0;
  std::int32_t fields_per_line = 0;
  bool is_integer = false;  ///< I; otherwise D, E, F or G

  /// Requires: 0 ≤ `number` < fields_per_line.
  [[nodiscard]] FortranField field(std::int64_t number) const noexcept;
  [[nodiscard]] std::int64_t lines_for(std::int64_t fields) const noexcept {
    return fields / fields_per_line + (fields % fields_per_line == 0 ? 0 : 1);
  }
};

/// Parses "(16I5)", "(1P,4D20.12)", "(3(1P,E24.16))", "(5E15.8E2)", "(3ES26.18)", "(1X,8I9)";
/// ignores blanks and case. Errors: formats whose lines differ, and fields without a width.
Parsed<FortranFormat> parse_format(std::string_view text);

/// Parses one field of a line. Blanks within it are ignored, as in Fortran; an empty field is an
/// error.
Parsed<std::int64_t> parse_fortran_integer(std::string_view field);
/// The same as a double: see parse_integer_as_real().
Parsed<double> parse_fortran_integer_as_real(std::string_view field);
/// Parses "1.5D+03", "1.5+103", "15" with implied digits.
Parsed<double> parse_fortran_real(std::string_view text, const FortranField& field);

}  // namespace tessera::apps::spmv
