// SPDX-License-Identifier: BSD-3-Clause
//
// Prints an error of a program with several ranks only once.
#pragma once

#include <string_view>

#include "rma/job.hpp"

namespace tessera::apps {

/// Collective, for an error that all ranks have: rank 0 prints "PROGRAM: message" to standard
/// error. For a lost rank, which each rank notices by itself, local: the rank that `status` names
/// and the lowest rank still present print it; that need not be rank 0. The latter then stays for a
/// moment while others are present. Otherwise a rank that decides later would report it as dead and
/// print again.
void print_failure(std::string_view program, const rma::Job& job, const rma::Status& status);

}  // namespace tessera::apps
