// SPDX-License-Identifier: BSD-3-Clause
//
// Text of the report's page: escapes text from files, and formats numbers.
#pragma once

#include <string>
#include <string_view>

#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

/// `text` escaped for an element or a quoted attribute. Control characters that XML can't hold and
/// invalid UTF-8 become U+FFFD.
std::string escape(std::string_view text);

/// What the numbers of an axis are.
enum class Unit {
  bytes,
  time,      ///< microseconds
  speed,     ///< MB/s, of 10^6 bytes
  messages,  ///< millions a second
  percent,
  ratio,
  count,
  powers,  ///< a count that goes up in powers of two
};

/// A tick's label, with its unit: "64 B", "4 KiB"; "250 ns", "1.5 µs"; "20 MB/s"; "90 %".
std::string label(double value, Unit unit);

/// "µs", "MB/s", …: for the header of a table whose numbers are plain(); empty for units without
/// one.
std::string_view symbol(Unit unit);

/// Six significant digits, without an exponent if possible; four.
std::string plain(double value);
std::string brief(double value);
/// "[1.2, 1.31]", in four digits.
std::string brief(Interval interval);

/// `text` as HTML code that breaks only between its words.
std::string code(std::string_view text);

}  // namespace tessera::bench::report
