// SPDX-License-Identifier: BSD-3-Clause
//
// tessera: information about the library and this machine.
//
//     tessera info            version, build, transports, and every setting with its value here;
//     tessera info --settings only the settings for users, without those for experiments;
//     tessera info --json -   the same as JSON;
//     tessera timeline FILE   a web page of the waits that TESSERA_PROFILE=trace recorded;
//     tessera doctor          finds what makes jobs fail or slow here, with remedies; also under
//                             tessera-run, mpirun and srun, for all ranks together
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "apps/tool/doctor.hpp"
#include "apps/tool/info.hpp"
#include "apps/tool/settings.hpp"
#include "apps/tool/timeline.hpp"
#include "rma/base/version.hpp"
#include "rma/bootstrap.hpp"

namespace {

namespace rma = tessera::rma;
namespace tool = tessera::tool;
using tessera::apps::exit_failed;
using tessera::apps::exit_usage;
using tessera::apps::print_error;

constexpr const char* program_name = "tessera";

struct OutputOptions {
  std::string json_file;  ///< "-": standard output instead of text; empty: none
  bool is_quiet = false;
  bool is_for_settings = false;  ///< info: print only the settings for users
  bool is_launched = false;      ///< by tessera-run, mpirun or srun
};

// Prints `json` or `text`, as the options say; returns the exit code.
int print_or_write_json(const OutputOptions& output_options, const nlohmann::ordered_json& json,
                        const std::string& text) {
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
  const std::string file_text = json.dump(2, ' ', false, replace) + "\n";
  if (tessera::apps::goes_to_output(output_options.json_file)) {
    tessera::apps::print_text(file_text);
    return 0;
  }
  if (!output_options.is_quiet) {
    tessera::apps::print_text(text);
  }
  if (!output_options.json_file.empty()) {
    const rma::Status written =
        tessera::apps::write_output_file(output_options.json_file, file_text);
    if (!written.ok()) {
      print_error(program_name, written.message());
      return exit_usage;
    }
  }
  return 0;
}

// Launchers may give ranks their own terminal, and write its output to a file.
bool has_colour(const OutputOptions& output_options) {
  const char* const terminal = std::getenv("TERM");
  return !output_options.is_launched && isatty(STDOUT_FILENO) != 0 &&
         std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

int run_doctor(const OutputOptions& output_options) {
  const auto snapshot = tool::take_snapshot();
  if (!snapshot.ok()) {
    print_error(program_name, snapshot.status().message());
    return exit_failed;
  }
  if (!snapshot->is_reporter) {
    return 0;
  }
  const auto lines = tool::join(*snapshot, tool::examine(*snapshot));
  const int delivered =
      print_or_write_json(output_options, tool::table_json(*snapshot, lines),
                          tool::table_text(*snapshot, lines, has_colour(output_options)));
  return tool::worst_of(lines) == tool::State::red ? exit_failed : delivered;
}

int run_info(const OutputOptions& output_options) {
  std::vector<std::string> warnings;
  const auto settings = tool::read_settings(warnings);
  for (const std::string& warning : warnings) {
    print_error(program_name, warning);
  }
  const auto info = tool::describe(settings);
  const int delivered = print_or_write_json(output_options, info,
                                            output_options.is_for_settings
                                                ? tool::settings_text(info["settings"], false)
                                                : tool::info_text(info));
  // The table printed above lists the valid values.
  if (!settings.ok()) {
    print_error(program_name, settings.status().message());
    return exit_failed;
  }
  return delivered;
}

struct TimelineFiles {
  std::string trace;
  std::string page = "-";
};

int run_timeline(const TimelineFiles& files) {
  std::ifstream trace(files.trace);
  if (!trace) {
    print_error(program_name, fmt::format("cannot read '{}': {}", files.trace,
                                          std::generic_category().message(errno)));
    return exit_usage;
  }
  const rma::Status is_other = tessera::apps::check_not_overwritten(files.page, {files.trace});
  if (!is_other.ok()) {
    print_error(program_name, is_other.message());
    return exit_usage;
  }
  const auto page =
      tool::timeline_page(trace, std::filesystem::path(files.trace).filename().string());
  if (!page.ok()) {
    print_error(program_name, page.status().message());
    return exit_failed;
  }
  if (tessera::apps::goes_to_output(files.page)) {
    tessera::apps::print_text(*page);
    return 0;
  }
  const rma::Status written = tessera::apps::write_output_file(files.page, *page);
  if (!written.ok()) {
    print_error(program_name, written.message());
    return exit_usage;
  }
  return 0;
}

std::string subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// CLI11 does not report the word in place of a subcommand.
std::string explain(const CLI::App* app, const CLI::Error& error) {
  const std::vector<std::string> words = app->remaining();
  const std::string mistake =
      words.empty() ? tessera::apps::format_usage_error(app, error)
                    : fmt::format("{}: '{}' is not a valid {}\n", program_name, words.front(),
                                  words.front().starts_with('-') ? "option" : "subcommand");
  return mistake + fmt::format("The subcommands are: {}\n", subcommand_names(*app));
}

int run_program(int argc, char** argv) {
  CLI::App app{"Information about Tessera and this machine."};
  const std::string version(rma::version());
  app.set_version_flag("--version", version);
  app.require_subcommand(1);
  OutputOptions output_options;
  CLI::App* const info = app.add_subcommand("info", "Version, build, transports and settings");
  CLI::App* const doctor = app.add_subcommand(
      "doctor", "Finds problems for jobs here, with remedies (exit code 1 if jobs would fail)");
  CLI::App* const timeline = app.add_subcommand(
      "timeline",
      "Makes a web page of the waits that TESSERA_PROFILE=trace recorded; needs no network");
  TimelineFiles files;
  timeline->set_version_flag("--version", version);
  timeline->add_option("FILE", files.trace, "The recorded file, usually tessera-trace.json")
      ->required()
      ->check(tessera::apps::check_file_name);
  timeline->add_option("--output", files.page, "Write the page to this file; -: standard output")
      ->check(tessera::apps::check_file_name)
      ->capture_default_str();
  for (CLI::App* const each : {info, doctor}) {
    each->set_version_flag("--version", version);
    each->add_option("--json", output_options.json_file,
                     "Write JSON to this file; -: to standard output, instead of text")
        ->check(tessera::apps::check_file_name);
    each->add_flag("--quiet", output_options.is_quiet, "Print nothing");
  }
  info->add_flag("--settings", output_options.is_for_settings,
                 "Print only the settings for users (docs/tuning.md)");
  const rma::LauncherInfo launcher = rma::detect_launcher();
  output_options.is_launched = !launcher.launcher.empty();
  if (const auto code = tessera::apps::parse_command_line(app, argc, argv, explain)) {
    return *code;
  }
  if (doctor->parsed()) {
    return run_doctor(output_options);
  }
  if (launcher.rank > 0) {
    return 0;  // one rank prints for all
  }
  return timeline->parsed() ? run_timeline(files) : run_info(output_options);
}

}  // namespace

int main(int argc, char** argv) {
  tessera::apps::ignore_file_size_signal();
  return tessera::apps::finish_output(program_name, run_program(argc, argv));
}
