// SPDX-License-Identifier: BSD-3-Clause
//
// The output of tessera-run --json: what was started, where, for how long, and how each rank ended.
#pragma once

#include <string>
#include <vector>

#include "rma/launch.hpp"

namespace tessera::apps {

struct FinishedRun {
  std::vector<std::string> program;  ///< and its arguments
  std::vector<rma::RankExit> exits;
  double seconds = 0.0;  ///< from the start of the first rank to the end of the last
  int exit_code = 0;     ///< of tessera-run
};

/// Local. One JSON object; apps/launcher/README.md describes its members.
std::string describe_run(const FinishedRun& run, const rma::LaunchOptions& options);

}  // namespace tessera::apps
