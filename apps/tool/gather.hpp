// SPDX-License-Identifier: BSD-3-Clause
//
// What this process finds around it.
#pragma once

#include <string>
#include <vector>

#include "apps/tool/surroundings.hpp"
#include "rma/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::tool {

/// All of Surroundings but what shows only together with others: bootstrap, rank and ranks, the
/// time, and how far MPI came. To be called before MPI and threads are started, since it forks.
/// Cost: some 10 ms, most of them for the process that asks OpenBLAS.
Surroundings gather(const rma::Result<rma::Settings>& settings,
                    const std::vector<std::string>& warnings);

}  // namespace tessera::tool
