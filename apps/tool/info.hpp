// SPDX-License-Identifier: BSD-3-Clause
//
// `tessera info`: the version, how it was built, transports, and every setting.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "rma/base/result.hpp"
#include "rma/tuning.hpp"

namespace tessera::tool {

/// Version, build, launcher, memory, MPI, transports and settings, as JSON values. If a job would
/// refuse the settings, contains the reason and the defaults. Takes about 10 ms.
nlohmann::ordered_json describe(const rma::Result<rma::Settings>& settings);

/// A table of the settings in describe(): those for users, or for experiments.
std::string settings_text(const nlohmann::ordered_json& settings, bool is_experimental);

/// The result of describe() as text.
std::string info_text(const nlohmann::ordered_json& info);

}  // namespace tessera::tool
