// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace tessera::apps {
namespace {

std::string_view without_plus(std::string_view text) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return has_plus ? text.substr(1) : text;
}

// std::from_chars does not distinguish too large from too small.
Parsed<double> beyond_range(std::string_view text, const std::string& digits) {
  const double value = std::strtod(digits.c_str(), nullptr);
  if (std::abs(value) < 1) {
    return {value, ""};
  }
  return {0, quoted(text) + " is too large for a double (at most 1.8e+308)"};
}

// `text` is the user's text, `number` the same in C's notation.
Parsed<double> parse_as(std::string_view text, std::string_view number) {
  const std::string_view digits = without_plus(number);
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (stop != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    return {0, quoted(text) + " is not a number"};
  }
  if (error == std::errc::result_out_of_range) {
    return beyond_range(text, std::string(digits));
  }
  if (!std::isfinite(value)) {
    return {0, quoted(text) + " is not finite"};
  }
  return {value, ""};
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t max_characters = 40;
  std::string start(text.substr(0, max_characters));
  std::replace_if(
      start.begin(), start.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return start + (text.size() > max_characters ? "..." : "");
}

std::string quoted(std::string_view text) {
  return fmt::format("'{}'", shown(text));
}

Parsed<std::int64_t> parse_integer(std::string_view text) {
  const std::string_view digits = without_plus(text);
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    return {0, quoted(text) + " does not fit into 64 bits"};
  }
  if (error != std::errc{} || stop != digits.data() + digits.size()) {
    return {0, quoted(text) + " is not a whole number"};
  }
  return {value, ""};
}

Parsed<double> parse_real(std::string_view text) {
  return parse_as(text, text);
}

Parsed<double> parse_fortran_real(std::string_view text) {
  return parse_as(text, with_exponent_of_c(text));
}

std::string with_exponent_of_c(std::string_view text) {
  std::string number(text);
  std::replace_if(
      number.begin(), number.end(),
      [](char c) { return std::string_view("DdEQq").find(c) != std::string_view::npos; }, 'e');
  if (number.find('e') == std::string::npos) {
    // The exponent letter may be missing: 1.5+103.
    const std::size_t sign = number.find_first_of("+-", 1);
    if (sign != std::string::npos) {
      number.insert(sign, 1, 'e');
    }
  }
  return number;
}

}  // namespace tessera::apps
