// SPDX-License-Identifier: BSD-3-Clause
//
// tessera: tells about the library and this machine.
//
//     tessera info            version, transports, and every setting with its value here
//     tessera info --json -   the same as JSON
//     tessera doctor          what stands in the way of jobs here, or makes them slow, and what to
//     do
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "apps/tool/doctor.hpp"
#include "rma/bootstrap.hpp"
#include "rma/job.hpp"
#include "rma/memory.hpp"
#include "rma/tuning.hpp"
#include "rma/version.hpp"

namespace {

namespace rma = tessera::rma;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

nlohmann::ordered_json settings_json(const rma::Settings& settings) {
  auto rows = nlohmann::ordered_json::array();
  const rma::Settings defaults;
  for (const rma::SettingInfo& row : rma::setting_table()) {
    rows.push_back({{"name", row.name},
                    {"value", rma::value_text(settings, row)},
                    {"default", rma::value_text(defaults, row)},
                    {"unit", row.unit},
                    {"range", row.range},
                    {"meaning", row.meaning}});
  }
  return rows;
}

nlohmann::ordered_json describe(const rma::Settings& settings) {
  const rma::LauncherTrace trace = rma::detect_launcher();
  nlohmann::ordered_json info;
  info["version"] = rma::version();
  info["launcher"] = trace.launcher.empty() ? "none" : trace.launcher;
  info["memory"] = rma::human_bytes(rma::total_memory_bytes());
  info["memory_available"] = rma::human_bytes(rma::available_memory_bytes());
  info["transports"] = rma::transport_names();
  for (const rma::TransportDescription& each : rma::describe_transports(settings)) {
    info[each.name] = each.text;
  }
  info["settings"] = settings_json(settings);
  return info;
}

void print(const nlohmann::ordered_json& info) {
  for (const auto& [name, value] : info.items()) {
    if (value.is_string()) {
      fmt::print("{}: {}\n", name, value.get<std::string>());
    }
  }
  std::string names;
  for (const auto& name : info["transports"]) {
    names += " " + name.get<std::string>();
  }
  fmt::print("transports:{}\n\n", names);
  constexpr auto line = "{:<26} {:<10} {:<10} {:<10} {:<28} {}\n";
  fmt::print(line, "setting", "value", "default", "unit", "range", "meaning");
  const auto text = [](const nlohmann::ordered_json& row, const char* column) {
    return row[column].get<std::string>();
  };
  for (const auto& row : info["settings"]) {
    fmt::print(line, text(row, "name"), text(row, "value"), text(row, "default"), text(row, "unit"),
               text(row, "range"), text(row, "meaning"));
  }
}

// As Job::start does, which has a transport at hand for each name.
rma::Status check_transports(const std::string& names) {
  const std::vector<std::string> known = rma::transport_names();
  std::istringstream list(names);
  bool is_empty = true;
  for (std::string name; std::getline(list, name, ',');) {
    if (name.empty()) {
      continue;
    }
    is_empty = false;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return rma::Status::error(
          rma::Code::invalid_argument,
          fmt::format("TESSERA_TRANSPORT names '{}'; there are {}", name, fmt::join(known, ", ")));
    }
  }
  return is_empty ? rma::Status::error(rma::Code::invalid_argument,
                                       "TESSERA_TRANSPORT names no transport")
                  : rma::Status();
}

// The settings that a job would start with.
rma::Result<rma::Settings> read_settings(std::vector<std::string>& warnings) {
  std::vector<std::string> lines;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    lines.emplace_back(*entry);
  }
  TESSERA_ASSIGN_OR_RETURN(auto settings, rma::Settings::from(lines, &warnings));
  TESSERA_RETURN_IF_ERROR(check_transports(settings.transport));
  return settings;
}

// What is told, as JSON where that is asked for; returns the exit code.
int deliver(const nlohmann::ordered_json& told, const std::string& json_file, bool quiet,
            void (*print_it)(const nlohmann::ordered_json&)) {
  if (json_file == "-") {
    fmt::print("{}\n", told.dump(2));
    return 0;
  }
  if (!quiet) {
    print_it(told);
  }
  if (!json_file.empty()) {
    std::ofstream file(json_file);
    file << told.dump(2) << '\n';
    if (!file.good()) {
      fmt::print(stderr, "tessera: cannot write {}\n", json_file);
      return exit_failed;
    }
  }
  return 0;
}

constexpr std::array health_names = {"good", "note", "bad"};

void print_findings(const nlohmann::ordered_json& findings) {
  for (const auto& each : findings) {
    fmt::print("{:<5} {}: {}\n", each["health"].get<std::string>(),
               each["subject"].get<std::string>(), each["text"].get<std::string>());
    if (each.contains("fix")) {
      fmt::print("      fix: {}\n", each["fix"].get<std::string>());
    }
  }
}

int run_doctor(const std::string& json_file, bool quiet) {
  std::vector<std::string> warnings;
  const auto settings = read_settings(warnings);
  auto told = nlohmann::ordered_json::array();
  bool is_well = true;
  for (const tessera::tool::Finding& each : tessera::tool::examine(settings, warnings)) {
    is_well = is_well && each.health != tessera::tool::Health::bad;
    told.push_back({{"health", health_names[static_cast<std::size_t>(each.health)]},
                    {"subject", each.subject},
                    {"text", each.text}});
    if (!each.fix.empty()) {
      told.back()["fix"] = each.fix;
    }
  }
  const int delivered = deliver(told, json_file, quiet, print_findings);
  return is_well ? delivered : exit_failed;
}

int run_info(const std::string& json_file, bool quiet) {
  std::vector<std::string> warnings;
  const auto settings = read_settings(warnings);
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "tessera: {}\n", warning);
  }
  if (!settings.ok()) {
    fmt::print(stderr, "tessera: {}\n", settings.status().message());
    return exit_failed;
  }
  return deliver(describe(*settings), json_file, quiet, print);
}

std::string subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Tells about Tessera and this machine."};
  app.set_version_flag("--version", std::string(rma::version()));
  app.require_subcommand(1);
  std::string json_file;
  bool quiet = false;
  CLI::App* const info = app.add_subcommand("info", "Version, transports and settings");
  CLI::App* const doctor =
      app.add_subcommand("doctor", "What stands in the way of jobs here, and what to do");
  for (CLI::App* const each : {info, doctor}) {
    each->add_option("--json", json_file, "Write JSON to this file; - for standard output");
    each->add_flag("--quiet", quiet, "Print nothing");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) {
      return 0;
    }
    fmt::print(stderr, "The subcommands are: {}\n", subcommand_names(app));
    return exit_usage;
  }
  return doctor->parsed() ? run_doctor(json_file, quiet) : run_info(json_file, quiet);
}
