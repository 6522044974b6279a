// SPDX-License-Identifier: BSD-3-Clause
//
// Where the kernel keeps what this process's control groups may use.
#pragma once

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

}  // namespace tessera::rma
