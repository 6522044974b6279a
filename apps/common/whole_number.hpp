// SPDX-License-Identifier: BSD-3-Clause
//
// What the command lines of all programs take as a count, and what they say when it is none.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace tessera::apps {

/// Accepts decimal numbers from `least` to `most`, also with zeros in front, which it takes away:
/// CLI11 would read them as octal. For Option::transform().
inline CLI::Validator whole_number(std::int64_t least = 1,
                                   std::int64_t most = std::numeric_limits<std::int32_t>::max()) {
  const auto check = [least, most](std::string& text) -> std::string {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc{} && stop == end && value >= least && value <= most) {
      text = std::to_string(value);
      return "";
    }
    // Who gave too large a number is told the limit; all others need not know it.
    const bool is_too_large = error == std::errc::result_out_of_range || value > most;
    return "'" + text + "': expected a whole number of at " +
           (is_too_large ? "most " + std::to_string(most) : "least " + std::to_string(least));
  };
  return {check, ""};
}

}  // namespace tessera::apps
