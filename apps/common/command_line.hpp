// SPDX-License-Identifier: BSD-3-Clause
//
// Command lines of all programs.
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

/// For App::failure_message(): the program's name and CLI11's message, and nothing else.
inline std::string format_usage_error(const CLI::App* app, const CLI::Error& error) {
  std::string text = CLI::FailureMessage::simple(app, error);
  if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[1])) == 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return std::filesystem::path(app->get_name()).filename().string() + ": " + text;
}

/// Local. For errors on the command line, which all ranks find: rank 0 prints "PROGRAM: message" to
/// standard error.
inline void print_error_once(std::string_view program, std::string_view message) {
  if (rma::detect_launcher().rank <= 0) {
    print_error(program, message);
  }
}

/// Local. Reads the command line. Returns an exit code if the program ends there: the user asked
/// for help or the version, or there was an error, which was printed. Only one rank prints.
inline std::optional<int> parse_command_line(
    CLI::App& app, int argc, const char* const* argv,
    const std::function<std::string(const CLI::App*, const CLI::Error&)>& explain =
        format_usage_error) {
  app.failure_message(explain);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_first = rma::detect_launcher().rank <= 0;
    std::ostringstream text;  // printed below, where the reason of a failure is kept
    const int code = is_first ? app.exit(error, text) : error.get_exit_code();
    if (is_first) {
      print_text(text.str());
    }
    return code == 0 ? 0 : exit_usage;
  }
  return std::nullopt;
}

/// For Option::check(): refuses the empty name that a script passes if its variable is not set.
inline std::string check_file_name(const std::string& name) {
  return name.empty() ? "an empty name is not a file" : "";
}

/// Local. Returns an exit code if `threads` ranks (0: the user did not ask for threads) are not
/// possible. If tessera-run or mpirun started this process as one of several, each would run its
/// own job. (A script under srun looks like a rank but is not one.) Also if the system allows fewer
/// threads.
inline std::optional<int> refuse_threads(std::string_view program, std::int32_t threads) {
  const rma::LauncherInfo launcher = rma::detect_launcher();
  if (threads == 0) {
    return std::nullopt;
  }
  if (!launcher.launcher.empty() && launcher.launcher != "srun" && launcher.ranks != 1) {
    print_error_once(program, "--threads: " + std::string(launcher.launcher) +
                                  " already starts ranks; use only one of the two");
    return exit_usage;
  }
  if (const rma::Status possible = rma::check_thread_count(threads); !possible.ok()) {
    print_error_once(program, "--threads: " + possible.message());
    return exit_usage;
  }
  return std::nullopt;
}

}  // namespace tessera::apps
