// SPDX-License-Identifier: BSD-3-Clause
//
// Which congestion control a job's connections have.
//
// BBR, the choice of many systems for the wide area, sends at the rate that it estimates instead of
// as fast as the window allows. Between processes of one machine or one cluster nothing is gained
// by that, and long writes take up to twice as long (docs/tuning.md). Linux has reno always, and
// lets everybody choose it.
#pragma once

#include <string>
#include <string_view>

#include "rma/result.hpp"

namespace tessera::rma::server {

/// Gives `socket`, and those that it accepts, the congestion control `name` as the kernel calls it;
/// `system` leaves the kernel's choice; `auto` does so too unless that is BBR, and then takes
/// cubic, or reno where cubic may not be taken. Errors: invalid_argument for a name that the kernel
/// doesn't have or doesn't let this user choose, with those that it does.
Status choose_congestion(int socket, std::string_view name);

/// The congestion control of `socket`; empty where the kernel doesn't say.
std::string congestion_of(int socket);

}  // namespace tessera::rma::server
