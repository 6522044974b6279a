// SPDX-License-Identifier: BSD-3-Clause
//
// The settings that a job started here would use.
#pragma once

#include <string>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::tool {

/// Settings of the environment, or the reason why a job would refuse them; `warnings` lists names
/// that are not settings.
rma::Result<rma::Settings> read_settings(std::vector<std::string>& warnings);

}  // namespace tessera::tool
