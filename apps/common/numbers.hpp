// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers in files of users. Nothing is guessed: what is no decimal number, not finite, or too
// large to be held is refused, with the reason as a sentence for the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::apps {

/// A number, or why there is none.
template <class T>
struct Parsed {
  T value{};
  std::string fault;
  [[nodiscard]] bool ok() const noexcept { return fault.empty(); }
};

/// What a message repeats of a file: short, and without bytes that are no text.
std::string shown(std::string_view text);
/// The same in quotes.
std::string quoted(std::string_view text);
/// A call with a std::string also finds std::quoted, if a header of the standard library includes
/// <iomanip>. This overload is the better match.
inline std::string quoted(const std::string& text) {
  return quoted(std::string_view(text));
}

/// Of all of `text`; a sign is allowed.
Parsed<std::int64_t> parse_whole(std::string_view text);
/// Of all of `text`: "-1.5", "1e-3", "+2". What is too small to be held becomes zero.
Parsed<double> parse_real(std::string_view text);
/// The same with exponents as Fortran writes them, too: "1.5D+03", "1.5+103".
Parsed<double> parse_fortran_real(std::string_view text);

/// A number of Fortran with its exponent as C writes it, if it has one: "1.5e+03", "1.5e+103".
std::string with_exponent_of_c(std::string_view text);

}  // namespace tessera::apps
