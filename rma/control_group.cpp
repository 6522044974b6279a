// SPDX-License-Identifier: BSD-3-Clause
#include "rma/control_group.hpp"

#include <fmt/format.h>

#include <fstream>

namespace tessera::rma {
namespace {

// Whether a list "cpu,cpuacct" names `controller`; the unified hierarchy's is empty.
bool names(std::string_view list, std::string_view controller) {
  return fmt::format(",{},", list).find(fmt::format(",{},", controller)) != std::string::npos;
}

// Lines are "0::/batch/step", or "4:cpu,cpuacct:/batch/step" in an old hierarchy.
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

}  // namespace

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

}  // namespace tessera::rma
