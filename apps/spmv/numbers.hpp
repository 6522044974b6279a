// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers in matrix files: in C's notation, separated by blanks, or in Fortran's fields of a fixed
// width ("(16I5)", "(1P3D24.15)").
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "apps/common/numbers.hpp"

namespace tessera::apps::spmv {

/// An integer of any length as a double. Refused if a double cannot represent it exactly.
Parsed<double> parse_whole_as_real(std::string_view text);

/// A field of a line.
struct FortranField {
  std::int64_t column = 0;  ///< of its first character, from 0
  std::int32_t width = 0;
  std::int32_t digits = 0;  ///< after the decimal point, if the field has no point
  std::int32_t scale = 0;   ///< the number before P: power of ten for fields without an exponent
};

/// The positions of numbers in a line. Copied between ranks as bytes.
struct FortranFormat {
  /// Fields of the same kind at the same distances.
  struct Run {
    FortranField first = {};
    std::int32_t distance = 0;
    std::int32_t count = 0;
  };
  static constexpr std::int32_t most_runs = 4;

  std::array<Run, most_runs> runs = {};
  std::int32_t run_count = 0;
  std::int32_t per_line = 0;
  bool is_whole = false;  ///< I; otherwise D, E, F or G

  /// Requires: 0 ≤ `number` < per_line.
  [[nodiscard]] FortranField field(std::int64_t number) const noexcept;
  [[nodiscard]] std::int64_t lines_for(std::int64_t fields) const noexcept {
    return fields / per_line + (fields % per_line == 0 ? 0 : 1);
  }
};

/// Parses "(16I5)", "(1P,4D20.12)", "(3(1P,E24.16))", "(5E15.8E2)", "(3ES26.18)", "(1X,8I9)";
/// ignores blanks and case. Refused: formats whose lines differ, and fields without a width.
Parsed<FortranFormat> parse_format(std::string_view text);

/// One field of a line. Blanks within it are ignored, as in Fortran; an empty one is refused.
Parsed<std::int64_t> parse_fortran_whole(std::string_view field);
/// The same as a double: see parse_whole_as_real().
Parsed<double> parse_fortran_whole_as_real(std::string_view field);
/// Parses "1.5D+03", "1.5+103", "15" with implied digits.
Parsed<double> parse_fortran_real(std::string_view text, const FortranField& field);

}  // namespace tessera::apps::spmv
