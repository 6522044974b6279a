// SPDX-License-Identifier: BSD-3-Clause
#include "apps/tool/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "apps/tool/advice.hpp"
#include "apps/tool/build_table.hpp"
#include "apps/tool/settings.hpp"
#include "rma/base/control_group.hpp"
#include "rma/base/memory.hpp"
#include "rma/base/processors.hpp"
#include "rma/base/version.hpp"
#include "rma/bootstrap.hpp"
#include "rma/job.hpp"
#include "rma/layer_settings.hpp"
#include "rma/reachability.hpp"

namespace tessera::tool {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view refusal = "not used: ";

// These transports use nothing of the machine; describe what they do.
std::string text_of(const std::string& name, const rma::Settings& settings) {
  if (name == "shm") {
    return "between ranks of one node";
  }
  if (name == "loopback") {
    return "between ranks that are threads of one process";
  }
  for (const rma::TransportDescription& each : rma::describe_transports(settings)) {
    if (each.name == name) {
      return each.text;
    }
  }
  const auto address = rma::address_for_other_machines(settings);
  return address.ok() ? fmt::format("between nodes; this machine's address is {}", *address)
                      : std::string(refusal) + address.status().message();
}

ordered_json transports_json(const rma::Settings& settings) {
  auto rows = ordered_json::array();
  for (const std::string& name : rma::transport_names()) {
    const Advice advice = split_hint(text_of(name, settings));
    const std::string text =
        advice.remedy.empty() ? advice.message : advice.message + "; " + advice.remedy;
    rows.push_back({{"name", name},
                    {"available", !text.starts_with(refusal)},
                    {"chosen", rma::names_transport(settings.transport, name)},
                    {"text", text}});
  }
  return rows;
}

// How an agent on this machine would wait; jobs of several nodes have agents.
std::string agent_text(const rma::Settings& settings) {
  if (settings.server != "adaptive") {
    return fmt::format("{} (TESSERA_SERVER={})",
                       settings.server == "poll" ? "always polls" : "sleeps between requests",
                       settings.server);
  }
  const auto usable = static_cast<std::int64_t>(rma::own_processors().count());
  const double quota = rma::read_processor_quota("").processors;
  const std::int64_t whole =
      quota > 0 ? std::min(usable, static_cast<std::int64_t>(quota)) : usable;
  const std::string of_quota =
      quota > 0 ? fmt::format(", {:.3g} by a control group's quota", quota) : std::string();
  const std::int64_t for_ranks = whole - settings.agent_threads;
  if (for_ranks < 1) {
    return fmt::format("polls for 50 us after a request: {}{} leave none for it",
                       plural(usable, "processor"), of_quota);
  }
  return fmt::format(
      "polls for 1 s after a request if ranks use at most {} of {}{}, otherwise for 50 us",
      for_ranks, plural(usable, "processor"), of_quota);
}

ordered_json tcp_json(const rma::Settings& settings) {
  ordered_json result;
  const auto found = rma::describe_tcp_packing(settings);
  if (!found.ok()) {
    result["error"] = found.status().message();
    return result;
  }
  result["times"] = found->times;
  result["times_from"] = found->source;
  result["direct_row"] = found->direct_row;
  result["pipeline"] = found->pipeline;
  result["parts"] = ordered_json::array();
  for (const rma::TcpPacking::PartsOf& each : found->parts) {
    result["parts"].push_back({{"bytes", each.bytes}, {"first", each.first}, {"each", each.each}});
  }
  return result;
}

// `tune` is the text of TESSERA_TUNE.
bool is_in_environment(const rma::SettingInfo& row, const std::string& tune) {
  if (!row.is_experimental()) {
    return std::getenv(std::string(row.name).c_str()) != nullptr;
  }
  return fmt::format(",{}", tune).find(fmt::format(",{}=", row.name)) != std::string::npos;
}

// `is_environment`: they are the values of the variables that are set.
ordered_json settings_json(const rma::Settings& settings, bool is_environment) {
  auto rows = ordered_json::array();
  const rma::Settings defaults;
  for (const rma::SettingInfo& row : rma::setting_table()) {
    const bool is_set = is_environment && is_in_environment(row, settings.tune);
    rows.push_back({{"name", row.name},
                    {"experimental", row.is_experimental()},
                    {"value", rma::value_text(settings, row)},
                    {"from", is_set ? "environment" : "default"},
                    {"default", rma::value_text(defaults, row)},
                    {"unit", row.unit},
                    {"range", row.range},
                    {"meaning", row.meaning}});
  }
  for (const rma::LayerSetting& row : rma::layer_settings()) {
    const auto value = rma::read_layer_setting(row);
    const bool is_set = value.ok() && std::getenv(std::string(row.name).c_str()) != nullptr;
    rows.push_back({{"name", row.name},
                    {"experimental", false},
                    {"value", value.ok() ? *value : row.default_word()},
                    {"from", is_set ? "environment" : "default"},
                    {"default", row.default_word()},
                    {"unit", "name"},
                    {"range", row.words},
                    {"meaning", row.meaning}});
  }
  return rows;
}

ordered_json build_json() {
  const Build used = build();
  ordered_json result;
  result["compiler"] = used.compiler;
  result["type"] = used.type;
  result["processor"] = used.processor;
  result["sanitizers"] = used.sanitizers.empty() ? "none" : used.sanitizers;
  result["features"] = ordered_json::array();
  for (const Feature& each : used.features) {
    result["features"].push_back(
        {{"name", each.name}, {"found", each.is_found}, {"detail", each.detail}});
  }
  return result;
}

std::string text(const ordered_json& row, const char* column) {
  return row[column].get<std::string>();
}

// The measured times on which packed transfers by tcp depend, one line each.
std::string tcp_text(const ordered_json& tcp) {
  if (tcp.contains("error")) {
    return fmt::format("tcp_times: {}\n", text(tcp, "error"));
  }
  std::string lines =
      fmt::format("tcp_times: {} ns ({})\n", text(tcp, "times"), text(tcp, "times_from"));
  lines += fmt::format("tcp_direct_row: {} B\n", tcp["direct_row"].get<std::size_t>());
  lines += fmt::format("tcp_pipeline: {} B\n", tcp["pipeline"].get<std::size_t>());
  lines += "tcp_parts:";
  for (const ordered_json& each : tcp["parts"]) {
    const auto bytes = each["bytes"].get<std::size_t>();
    const auto first = each["first"].get<std::size_t>();
    if (first < bytes) {
      lines += fmt::format(" {}:{}+{}", bytes, first, each["each"].get<std::size_t>());
    }
  }
  return lines + "\n";
}

}  // namespace

std::string settings_text(const ordered_json& settings, bool is_experimental) {
  constexpr auto line = "{:<26} {:<14} {:<12} {:<14} {:<10} {:<28} {}\n";
  std::string lines = fmt::format(line, is_experimental ? "name" : "setting", "value", "from",
                                  "default", "unit", "range", "meaning");
  for (const ordered_json& row : settings) {
    if (row["experimental"].get<bool>() == is_experimental) {
      lines += fmt::format(line, text(row, "name"), text(row, "value"), text(row, "from"),
                           text(row, "default"), text(row, "unit"), text(row, "range"),
                           text(row, "meaning"));
    }
  }
  return lines;
}

ordered_json describe(const rma::Result<rma::Settings>& read) {
  const rma::Settings settings = read.ok() ? *read : rma::Settings();
  const rma::LauncherInfo launcher = rma::detect_launcher();
  const rma::MpiLibrary mpi = rma::mpi_library();
  ordered_json info;
  info["schema"] = "tessera-info/1";
  info["version"] = rma::version();
  info["build"] = build_json();
  info["mpi"] = mpi.is_built_in ? mpi.version : "not built in";
  info["launcher"] = launcher.launcher.empty() ? "none" : launcher.launcher;
  info["memory"] = rma::human_bytes(rma::total_memory_bytes());
  info["memory_available"] = rma::human_bytes(rma::available_memory_bytes());
  info["transports"] = transports_json(settings);
  info["agent"] = agent_text(settings);
  info["tcp"] = tcp_json(settings);
  info["settings"] = settings_json(settings, read.ok());
  if (!read.ok()) {
    info["settings_error"] = read.status().message();
  }
  return info;
}

std::string info_text(const ordered_json& info) {
  std::string lines;
  for (const char* name : {"version", "mpi", "launcher", "memory", "memory_available"}) {
    lines += fmt::format("{}: {}\n", name, text(info, name));
  }
  const ordered_json& built = info["build"];
  for (const char* name : {"compiler", "type", "processor", "sanitizers"}) {
    lines += fmt::format("build_{}: {}\n", name, text(built, name));
  }
  constexpr auto of_feature = "{:<28} {:<6} {}\n";
  lines.push_back('\n');
  lines += fmt::format(of_feature, "feature", "found", "details, or why not");
  for (const ordered_json& each : built["features"]) {
    lines += fmt::format(of_feature, text(each, "name"), each["found"].get<bool>() ? "yes" : "no",
                         text(each, "detail"));
  }
  // Lines of the form `name: text`, so that `tessera info | grep ^verbs` finds one.
  lines.push_back('\n');
  for (const ordered_json& each : info["transports"]) {
    lines += fmt::format("{}: {}{}\n", text(each, "name"), text(each, "text"),
                         each["chosen"].get<bool>() ? "" : " (not in TESSERA_TRANSPORT)");
  }
  lines += fmt::format("agent: {}\n", text(info, "agent"));
  lines += tcp_text(info["tcp"]);
  lines.push_back('\n');
  lines += settings_text(info["settings"], false);
  lines += "\nFor experiments: TESSERA_TUNE=name=value,...\n";
  lines += settings_text(info["settings"], true);
  return lines;
}

}  // namespace tessera::tool
