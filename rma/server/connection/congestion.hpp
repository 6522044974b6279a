// SPDX-License-Identifier: BSD-3-Clause
//
// Selects the TCP congestion control of a job's connections.
//
// BBR, the default of many systems for wide-area networks, sends at an estimated rate instead of as
// fast as the window allows. Within one machine or cluster this gains nothing, and long writes take
// up to twice as long (docs/tuning.md). Linux always has reno and lets every user choose it.
#pragma once

#include <string>
#include <string_view>

#include "rma/result.hpp"

namespace tessera::rma::server {

/// Sets the congestion control `name` (the kernel's name) on `socket` and on the connections that
/// it accepts. `system` keeps the kernel's choice. `auto` keeps it too, except that it replaces BBR
/// by cubic, or by reno if cubic is not allowed. Errors: invalid_argument if the kernel does not
/// have that algorithm or does not allow this user to choose it; the message lists the allowed
/// ones.
Status choose_congestion(int socket, std::string_view name);

/// The congestion control of `socket`; empty if the kernel does not report it.
std::string congestion_of(int socket);

}  // namespace tessera::rma::server
