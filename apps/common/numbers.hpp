// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers in users' files. Text that is not a decimal number, not finite, or too large is refused,
// with a sentence for the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::apps {

/// A number, or the error.
template <class T>
struct Parsed {
  T value{};
  std::string fault;
  [[nodiscard]] bool ok() const noexcept { return fault.empty(); }
};

/// Text of a file for a message: shortened, and with '?' for bytes that are not printable.
std::string shown(std::string_view text);
/// The same in quotes.
std::string quoted(std::string_view text);
/// A call with a std::string also finds std::quoted, if a header of the standard library includes
/// <iomanip>. This overload is the better match.
inline std::string quoted(const std::string& text) {
  return quoted(std::string_view(text));
}

/// Parses all of `text`; a sign is allowed.
Parsed<std::int64_t> parse_integer(std::string_view text);
/// Parses all of `text`: "-1.5", "1e-3", "+2". A number too small for a double becomes zero.
Parsed<double> parse_real(std::string_view text);
/// The same, also with Fortran's exponents: "1.5D+03", "1.5+103".
Parsed<double> parse_fortran_real(std::string_view text);

/// A Fortran number with its exponent in C's notation, if it has one: "1.5e+03", "1.5e+103".
std::string with_exponent_of_c(std::string_view text);

}  // namespace tessera::apps
