// SPDX-License-Identifier: BSD-3-Clause
//
// How much of a machine's processors this process may use, whatever it is bound to.
#pragma once

#include <string>

namespace tessera::apps {

/// Processors' worth of time that this process's control group and those above it give; 0: as much
/// as there is. Paths are below `root`, which is "" but in tests.
double read_processor_quota(const std::string& root);

}  // namespace tessera::apps
