// SPDX-License-Identifier: BSD-3-Clause
//
// Counts on the command lines of all programs, and the error for anything else.
#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace tessera::apps {

/// Accepts decimal numbers from `least` to `most`. Removes leading zeros, because CLI11 would read
/// such numbers as octal. For Option::transform().
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
    // The message names the upper limit only if the number is too large.
    const bool is_too_large = error == std::errc::result_out_of_range || value > most;
    return "'" + text + "': expected a whole number of at " +
           (is_too_large ? "most " + std::to_string(most) : "least " + std::to_string(least));
  };
  return {check, ""};
}

}  // namespace tessera::apps
