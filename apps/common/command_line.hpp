// SPDX-License-Identifier: BSD-3-Clause
//
// How all programs read their command lines.
#pragma once

#include <CLI/CLI.hpp>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "apps/common/exit_codes.hpp"
#include "apps/common/output.hpp"
#include "rma/bootstrap.hpp"
#include "rma/job.hpp"

namespace tessera::apps {

/// For App::failure_message(): what CLI11 says of a mistake, behind the program's name as all that
/// the program says.
inline std::string explain_mistake(const CLI::App* app, const CLI::Error& error) {
  std::string text = CLI::FailureMessage::simple(app, error);
  if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) == 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return std::filesystem::path(app->get_name()).filename().string() + ": " + text;
}

/// Local. For mistakes on the command line, which all ranks find: prints "PROGRAM: message" to
/// standard error on the first one.
inline void complain_once(std::string_view program, std::string_view message) {
  if (rma::detect_launcher().rank <= 0) {
    complain(program, message);
  }
}

/// Local. Reads the command line. The exit code when the program is done with that: help or the
/// version was asked for, or there was a mistake, which was explained. One rank says what all
/// would.
inline std::optional<int> parse_command_line(
    CLI::App& app, int argc, const char* const* argv,
    const std::function<std::string(const CLI::App*, const CLI::Error&)>& explain =
        explain_mistake) {
  app.failure_message(explain);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_first = rma::detect_launcher().rank <= 0;
    std::ostringstream text;  // printed by tell(), which keeps the reason if that fails
    const int code = is_first ? app.exit(error, text) : error.get_exit_code();
    if (is_first) {
      tell(text.str());
    }
    return code == 0 ? 0 : exit_usage;
  }
  return std::nullopt;
}

/// For Option::check(): what a script writes whose variable is not set.
inline std::string check_file_name(const std::string& name) {
  return name.empty() ? "an empty name is not a file" : "";
}

/// Local. The exit code if ranks were asked for as `threads` (0: they weren't) and can't be so: of
/// a process that tessera-run or mpirun has started as one of several each would run a job of its
/// own (a script under srun is no rank, but looks like one); or the system allows fewer.
inline std::optional<int> refuse_threads(std::string_view program, std::int32_t threads) {
  const rma::LauncherTrace trace = rma::detect_launcher();
  if (threads == 0) {
    return std::nullopt;
  }
  if (!trace.launcher.empty() && trace.launcher != "srun" && trace.ranks != 1) {
    complain_once(program, "--threads: " + std::string(trace.launcher) +
                               " starts ranks already; leave one of them out");
    return exit_usage;
  }
  if (const rma::Status possible = rma::check_thread_count(threads); !possible.ok()) {
    complain_once(program, "--threads: " + possible.message());
    return exit_usage;
  }
  return std::nullopt;
}

}  // namespace tessera::apps
