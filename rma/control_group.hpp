// SPDX-License-Identifier: BSD-3-Clause
//
// Where the kernel keeps what this process's control groups may use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rma/cxx20.hpp"

namespace tessera::rma {

/// The folders of this process's control group and of those above it, its own first; in a container
/// some may not be there. `controller` is that of an old hierarchy, "memory" or "cpu", or empty for
/// the unified one. Paths are below `root`, which is "" but in tests.
std::vector<std::string> control_group_folders(const std::string& root,
                                               std::string_view controller);

/// How much processor time a control group may use, whatever its processes are bound to.
struct ProcessorQuota {
  double processors = 0;    ///< so many processors' worth; 0: as much as there is
  std::uint64_t group = 0;  ///< the same number in all processes of the group that has the quota
};

/// Local. The least quota of this process's control group and those above it. Paths are below
/// `root`, which is "" but in tests. Cost: reads some files of /sys.
ProcessorQuota read_processor_quota(const std::string& root);

}  // namespace tessera::rma
