// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers in matrix files: as C writes them, separated by blanks, and as Fortran does, in fields of
// a fixed width ("(16I5)", "(1P3D24.15)").
#pragma once

#include <cstdint>
#include <string_view>

#include "apps/common/numbers.hpp"

namespace tessera::apps::spmv {

/// A whole number as a double. Refused from 2^53 on, where not every one has a double of its own.
Parsed<double> parse_whole_as_real(std::string_view text);

/// An edit descriptor of Fortran, repeated in a line: 1P3D24.15 is three fields of 24 columns.
struct FortranFormat {
  std::int32_t per_line = 0;
  std::int32_t width = 0;
  std::int32_t digits = 0;  ///< after the point, where the field has no point
  std::int32_t scale = 0;   ///< the power of ten of fields without an exponent: the number before P
  bool is_whole = false;    ///< I; else D, E, F or G
  std::int32_t skipped = 0;  ///< columns in front of each field that are passed over: X

  /// Where a field of a line begins, both counted from 0.
  [[nodiscard]] std::int64_t column_of(std::int64_t field) const noexcept {
    return field * (std::int64_t{skipped} + width) + skipped;
  }
  [[nodiscard]] std::int64_t lines_for(std::int64_t fields) const noexcept {
    return fields / per_line + (fields % per_line == 0 ? 0 : 1);
  }
};

/// "(16I5)", "(1P,4D20.12)", "(4(1PE20.12))", "(5E15.8E2)", "(3ES26.18)", "(2(1X,F7.3))"; blanks
/// and case don't count.
Parsed<FortranFormat> parse_format(std::string_view text);

/// One field of a line. Blanks within it don't count, as Fortran reads; an empty one is refused.
Parsed<std::int64_t> parse_fortran_whole(std::string_view field);
/// "1.5D+03", "1.5+103", "15" with implied digits.
Parsed<double> parse_fortran_real(std::string_view field, const FortranFormat& format);

}  // namespace tessera::apps::spmv
