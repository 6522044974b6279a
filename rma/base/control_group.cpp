// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/control_group.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>

namespace tessera::rma {
namespace {

// True if a list such as "cpu,cpuacct" contains `controller`; the list of cgroup v2 is empty.
bool names(std::string_view list, std::string_view controller) {
  return fmt::format(",{},", list).find(fmt::format(",{},", controller)) != std::string::npos;
}

// Lines are "0::/batch/step" (v2), or "4:cpu,cpuacct:/batch/step" (v1).
std::string own_group(const std::string& root, std::string_view controller) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (names(controllers, controller)) {
      return line.substr(second + 1);
    }
  }
  return "";
}

// The quota in processors: "150000 100000" or "max 100000", in microseconds; 0 if unlimited.
double quota_in(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period && period > 0 ? quota / period : 0;
}

// The same from the two files of cgroup v1, with -1 if unlimited.
double quota_in_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period
                                                                                 : 0;
}

std::uint64_t number_of(const std::string& folder) {
  struct stat facts {};
  return stat(folder.c_str(), &facts) == 0
             ? std::hash<std::string>{}(fmt::format("{} {}", facts.st_dev, facts.st_ino))
             : 0;
}

}  // namespace

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

std::vector<std::string> control_group_folders(const std::string& root,
                                               std::string_view controller) {
  std::string top = root + "/sys/fs/cgroup";
  if (!controller.empty()) {
    top.append("/").append(controller);
  }
  std::vector<std::string> folders;
  for (std::string folder = top + own_group(root, controller); folder.size() >= top.size();
       folder.resize(folder.find_last_of('/'))) {
    folders.push_back(folder);
  }
  return folders;
}

ProcessorQuota read_processor_quota(const std::string& root) {
  ProcessorQuota least;
  const auto take = [&](const std::string& folder, double quota) {
    if (quota > 0 && (least.processors == 0 || quota < least.processors)) {
      least = {quota, number_of(folder)};
    }
  };
  for (const std::string& folder : control_group_folders(root, "")) {
    take(folder, quota_in(folder));
  }
  for (const std::string& folder : control_group_folders(root, "cpu")) {
    take(folder, quota_in_v1(folder));
  }
  return least;
}

}  // namespace tessera::rma
