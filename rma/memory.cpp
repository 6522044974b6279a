// SPDX-License-Identifier: BSD-3-Clause
#include "rma/memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>

namespace tessera::rma {
namespace {

// A line "Name:   123 kB" of /proc/meminfo.
std::optional<std::uint64_t> meminfo_bytes(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word == name) {
      std::uint64_t kib = 0;
      return file >> kib ? std::optional(kib * 1024) : std::nullopt;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

// A file that holds one number, or "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

// This process's control group in the unified hierarchy, as a path below /sys/fs/cgroup.
std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) {
      return line.substr(3);
    }
  }
  return "";
}

struct GroupLimit {
  std::uint64_t limit = 0;
  std::uint64_t used = 0;
};

// What of the group's memory the kernel would drop for the asking: pages of files not used lately.
std::uint64_t droppable_bytes(const std::string& statistics, std::string_view name) {
  std::ifstream file(statistics);
  std::string key;
  std::uint64_t bytes = 0;
  while (file >> key >> bytes) {
    if (key == name) {
      return bytes;
    }
  }
  return 0;
}

std::uint64_t used_bytes(const std::string& usage, const std::string& statistics,
                         std::string_view droppable) {
  const std::uint64_t used = number_in(usage).value_or(0);
  return used - std::min(used, droppable_bytes(statistics, droppable));
}

// The tightest memory limit of the group and those above it; version 2 first, else version 1.
std::optional<GroupLimit> group_limit() {
  std::optional<GroupLimit> tightest;
  std::string path = "/sys/fs/cgroup" + own_group();
  while (path.size() >= std::string("/sys/fs/cgroup").size()) {
    if (const auto limit = number_in(path + "/memory.max")) {
      const GroupLimit here{
          *limit, used_bytes(path + "/memory.current", path + "/memory.stat", "inactive_file")};
      if (!tightest || here.limit - std::min(here.limit, here.used) <
                           tightest->limit - std::min(tightest->limit, tightest->used)) {
        tightest = here;
      }
    }
    path.resize(path.find_last_of('/'));
  }
  if (!tightest) {
    const std::string v1 = "/sys/fs/cgroup/memory/";
    if (const auto limit = number_in(v1 + "memory.limit_in_bytes")) {
      tightest = GroupLimit{*limit, used_bytes(v1 + "memory.usage_in_bytes", v1 + "memory.stat",
                                               "total_inactive_file")};
    }
  }
  return tightest;
}

}  // namespace

std::uint64_t total_memory_bytes() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const std::uint64_t machine = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto group = group_limit();
  return group ? std::min(machine, group->limit) : machine;
}

std::uint64_t available_memory_bytes() {
  const std::uint64_t machine = meminfo_bytes("MemAvailable:").value_or(total_memory_bytes());
  const auto group = group_limit();
  if (!group) {
    return machine;
  }
  return std::min(machine, group->limit - std::min(group->limit, group->used));
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace tessera::rma
