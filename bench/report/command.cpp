// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/common/command_line.hpp"
#include "apps/common/exit_codes.hpp"
#include "bench/report/dataset.hpp"
#include "bench/report/page.hpp"
#include "bench/report/run_file.hpp"
#include "bench/support/build_info.hpp"
#include "bench/support/options.hpp"
#include "bench/support/output_files.hpp"

namespace tessera::bench::report {
namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> baseline;
  std::string output;
  bool quiet = false;
};

int refuse(const std::string& reason) {
  std::cerr << "tessera-bench report: " << reason << '\n';
  return apps::exit_usage;
}

bool is_same(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

/// All files, the baseline's first, each once: a launch given twice would count twice.
std::string collect_files(const Options& options, std::vector<std::string>& all) {
  all = options.baseline;
  for (const std::string& file : options.files) {
    if (std::none_of(options.baseline.begin(), options.baseline.end(),
                     [&file](const std::string& each) { return is_same(each, file); })) {
      all.push_back(file);
    }
  }
  for (auto file = all.begin(); file != all.end(); ++file) {
    const auto same = [&file](const std::string& other) { return is_same(*file, other); };
    if (std::find_if(std::next(file), all.end(), same) != all.end()) {
      return fmt::format("{} is given twice; give each file once", *file);
    }
    if (same(options.output)) {
      return fmt::format("{} is both an input and the output; choose another name for the page",
                         *file);
    }
  }
  return "";
}

int write_page(const Options& options) {
  std::vector<std::string> files;
  if (const std::string problem = collect_files(options, files); !problem.empty()) {
    return refuse(problem);
  }
  std::vector<RunFile> runs;
  for (const std::string& file : files) {
    runs.push_back(read_run_file(file));
  }
  const Dataset dataset(std::move(runs), options.baseline);
  OutputFile out;
  if (!out.open(options.output)) {
    return apps::exit_usage;
  }
  out.stream() << page(dataset);
  if (!out.close()) {
    return apps::exit_usage;
  }
  if (!dataset.has_results()) {
    std::cerr << "tessera-bench report: the files have no results; the page says so\n";
  }
  if (!options.quiet) {
    fmt::print("{}: {} file{}\n", options.output, files.size(), files.size() == 1 ? "" : "s");
  }
  return EXIT_SUCCESS;
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  Options options;
  CLI::App app{"Makes one HTML page of the results that tessera-bench --json wrote.",
               "tessera-bench report"};
  app.set_version_flag("--version", std::string(suite_version()));
  app.add_option("files", options.files,
                 "files that --json wrote; several launches of a run are combined")
      ->required()
      ->type_name("FILE");
  app.add_option("-o,--output", options.output, "the page")
      ->required()
      ->check(apps::check_file_name)
      ->type_name("FILE");
  app.add_option("--baseline", options.baseline,
                 "files to compare the others with (default: those of the first file's version)")
      ->type_name("FILE");
  app.add_flag("--quiet", options.quiet, "print nothing");
  if (const auto code = apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  try {
    return write_page(options);
  } catch (const BadFile& error) {
    return refuse(error.what());
  }
}

std::string page_of(const Report& report) {
  std::vector<RunFile> runs;
  runs.push_back(to_run_file("this run", report.to_json()));
  return page(Dataset(std::move(runs)));
}

}  // namespace tessera::bench::report
