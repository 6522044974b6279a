// SPDX-License-Identifier: BSD-3-Clause
//
// Text of the report's page: what others wrote made harmless, and numbers as people read them.
#pragma once

#include <string>
#include <string_view>

#include "bench/support/statistics.hpp"

namespace tessera::bench::report {

/// `text` as it stands in an element or a quoted attribute. What XML can't hold, control characters
/// and bytes that are no UTF-8, becomes U+FFFD.
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

/// "µs", "MB/s", …: what stands in the head of a table, whose numbers are plain(); else empty.
std::string_view symbol(Unit unit);

/// Six significant digits, without an exponent where one can do without; four.
std::string plain(double value);
std::string brief(double value);
/// "[1.2, 1.31]", in four digits.
std::string brief(Interval interval);

/// `text` as code that breaks between its words only, in HTML.
std::string code(std::string_view text);

}  // namespace tessera::bench::report
