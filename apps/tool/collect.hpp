// SPDX-License-Identifier: BSD-3-Clause
//
// Collects the environment of this process.
#pragma once

#include <string>
#include <vector>

#include "apps/tool/environment.hpp"
#include "rma/base/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::tool {

/// Everything in Environment except what depends on other ranks: bootstrap, rank and ranks, the
/// time, and MPI's state. Call it before MPI and threads are started, because it forks. Cost: about
/// 10 ms, mostly for the process that loads OpenBLAS.
Environment gather(const rma::Result<rma::Settings>& settings,
                   const std::vector<std::string>& warnings);

}  // namespace tessera::tool
