// SPDX-License-Identifier: BSD-3-Clause
//
// Chooses the packing of a job's transfers by tcp: from settings if they are given, else from the
// model with measured times (packing_model.hpp). One rank measures for all. Agents need no such
// choice: each end of a connection accepts what the other sends.
#pragma once

#include <string_view>

#include "rma/base/result.hpp"
#include "rma/server/client/packing_model.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/transport/tcp/tcp_times.hpp"
#include "rma/tuning.hpp"

namespace tessera::rma::server {

/// Where the times come from. `none`: settings already determine everything that they are used for.
enum class TimesFrom : std::uint8_t { none, fixed, settings, measurement };
std::string_view to_string(TimesFrom source) noexcept;

struct ChosenTimes {
  TimesFrom from = TimesFrom::fixed;
  TcpTimes times{};
};

/// Local. Follows `settings`: measures if they ask for that, and uses fixed times if measuring
/// fails. `network`: the address of this process's node, if there are other machines. Errors:
/// invalid_argument.
Result<ChosenTimes> choose_times(const Settings& settings, TcpAddress network, bool is_one_machine);

struct Packing {
  PackingLimits limits{};
  PartSizes parts{};
};

/// Local. With fixed times the constants, otherwise the model's choice; settings override both.
Packing choose_packing(const Settings& settings, const ChosenTimes& chosen) noexcept;

}  // namespace tessera::rma::server
