// SPDX-License-Identifier: BSD-3-Clause
//
// What all programs have in common as to their command lines: how they are read, and exit codes.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>

namespace tessera::apps {

/// The results are wrong, or there are none.
inline constexpr int exit_failed = 1;
/// What was typed, or a file that it names, can't be used.
inline constexpr int exit_usage = 2;

/// Local. Reads the command line. The exit code when the program is done with that: help or the
/// version was asked for, or there was a mistake, which CLI11 then has explained.
inline std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  return std::nullopt;
}

}  // namespace tessera::apps
