// SPDX-License-Identifier: BSD-3-Clause
//
// Where the kernel keeps the limits of this process's control groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rma/base/cxx20.hpp"

namespace tessera::rma {

/// The number in a file of the kernel; none if it cannot be read or is "max".
std::optional<std::uint64_t> number_in(const std::string& path);

/// The folders of this process's control group and of its parents, its own first; in a container
/// some may not exist. `controller` is a controller of cgroup v1, "memory" or "cpu", or empty for
/// v2. Paths are below `root`, which is "" except in tests.
std::vector<std::string> control_group_folders(const std::string& root,
                                               std::string_view controller);

/// The processor time that a control group may use, independent of affinity.
struct ProcessorQuota {
  double processors = 0;    ///< processor seconds per second; 0: no limit
  std::uint64_t group = 0;  ///< the same number in all processes of the group that has the quota
};

/// Local. The smallest quota of this process's control group and its parents. Paths are below
/// `root`, which is "" except in tests. Cost: reads some files of /sys.
ProcessorQuota read_processor_quota(const std::string& root);

}  // namespace tessera::rma
