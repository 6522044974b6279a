// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The number after the prefix of a name such as "node12", or −1.
int number_after(std::string_view name, std::string_view prefix) {
  int number = -1;
  if (name.starts_with(prefix)) {
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + prefix.size(), end, number);
    return error == std::errc() && last == end ? number : -1;
  }
  return -1;
}

/// The entries of a folder whose names are the prefix and a number, in the order of the numbers.
std::vector<fs::path> numbered(const fs::path& folder, std::string_view prefix) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const int number = number_after(entry.path().filename().string(), prefix);
    if (number >= 0) {
      found.emplace_back(number, entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& [number, path] : found) {
    paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

Processors parse_processors(std::string_view list) {
  Processors found;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view range = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    const std::size_t dash = std::min(range.find('-'), range.size());
    const int first = number_after(range.substr(0, dash), "");
    const int last = dash < range.size() ? number_after(range.substr(dash + 1), "") : first;
    for (int at = first; at >= 0 && at <= last && at < static_cast<int>(found.size()); ++at) {
      found.set(static_cast<std::size_t>(at));
    }
  }
  return found;
}

std::vector<Processors> numa_nodes(const fs::path& sys) {
  std::vector<Processors> nodes;
  for (const fs::path& node : numbered(sys / "devices/system/node", "node")) {
    const Processors processors = parse_processors(first_line(node / "cpulist"));
    if (processors.any()) {  // others have memory, but no processors
      nodes.push_back(processors);
    }
  }
  return nodes;
}

int numa_node_of(const Processors& processors, const std::vector<Processors>& nodes) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Processors& node) {
    return processors.any() && (processors & ~node).none();
  });
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

Processors own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  Processors found;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (std::size_t cpu = 0; cpu < std::min<std::size_t>(found.size(), CPU_SETSIZE); ++cpu) {
      found[cpu] = CPU_ISSET(cpu, &mask) != 0;
    }
  }
  return found;
}

std::string describe_topology(const fs::path& sys) {
  std::set<std::string> packages;
  std::set<std::pair<std::string, std::string>> cores;
  std::size_t processors = 0;
  for (const fs::path& cpu : numbered(sys / "devices/system/cpu", "cpu")) {
    const std::string package = first_line(cpu / "topology/physical_package_id");
    if (!package.empty()) {  // the others are not online
      packages.insert(package);
      cores.emplace(package, first_line(cpu / "topology/core_id"));
      ++processors;
    }
  }
  return fmt::format("{}, {}, {}, {}", counted(packages.size(), "package"),
                     counted(numa_nodes(sys).size(), "NUMA node"), counted(cores.size(), "core"),
                     counted(processors, "processor"));
}

std::vector<std::string> adapters(const fs::path& sys) {
  std::vector<std::string> found;
  for (const fs::path& device : entries(sys / "class/net")) {
    if (device.filename() != "lo" && first_line(device / "operstate") == "up") {
      const std::string speed = first_line(device / "speed");
      const bool is_known = !speed.empty() && speed.front() != '-';
      found.push_back(device.filename().string() + (is_known ? " " + speed + " Mbit/s" : ""));
    }
  }
  for (const fs::path& device : entries(sys / "class/infiniband")) {
    found.push_back(device.filename().string() + " " + first_line(device / "ports/1/rate"));
  }
  return found;
}

}  // namespace tessera::bench
