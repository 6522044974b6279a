// SPDX-License-Identifier: BSD-3-Clause
//
// What a job's transfers by tcp go by: settings where they are given, else the model with measured
// times (packing_model.hpp). One rank measures for all. Agents need not know: each end of a
// conversation takes whatever the other chose.
#pragma once

#include <string_view>

#include "rma/result.hpp"
#include "rma/server/packing_model.hpp"
#include "rma/server/parts.hpp"
#include "rma/server/tcp_times.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::server {

/// Where times come from. `none`: settings give all that they are for.
enum class TimesFrom : std::uint8_t { none, fixed, settings, measurement };
std::string_view to_string(TimesFrom source) noexcept;

struct ChosenTimes {
  TimesFrom from = TimesFrom::fixed;
  TcpTimes times{};
};

/// Local. As `settings` say; measures where they say so, and takes fixed times where that fails.
/// `network`: of this process's node, if there are other machines. Errors: invalid_argument.
Result<ChosenTimes> choose_times(const Settings& settings, TcpAddress network, bool is_one_machine);

struct Packing {
  PackingLimits limits{};
  PartSizes parts{};
};

/// Local. The constants for fixed times; else the model's choice; and settings before both.
Packing choose_packing(const Settings& settings, const ChosenTimes& chosen) noexcept;

}  // namespace tessera::rma::server
