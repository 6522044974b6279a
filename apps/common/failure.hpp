// SPDX-License-Identifier: BSD-3-Clause
//
// How a program of several ranks says once what went wrong on all of them.
#pragma once

#include <string_view>

#include "rma/job.hpp"

namespace tessera::apps {

/// Collective, of an error that all ranks have: prints "PROGRAM: message" to standard error on
/// rank 0. Of a loss, which ranks notice each for itself, local: prints it where it should be said,
/// on the rank that `status` names and on the lowest rank that is still there, which need not be
/// rank 0. The latter then stays for a moment, for as long as others are there: a rank that decides
/// later must not take it for dead and say it again.
void print_failure(std::string_view program, const rma::Job& job, const rma::Status& status);

}  // namespace tessera::apps
