// SPDX-License-Identifier: BSD-3-Clause
//
// Starts an application's ranks, as threads or processes, and determines its exit code.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "rma/base/result.hpp"
#include "rma/job.hpp"

namespace tessera::apps {

/// How a run ended on one rank.
struct Outcome {
  rma::Status status = {};
  int exit_code = 0;  ///< from exit_codes.hpp, also for an error
};

/// The outcome of a run that returned its exit code, or an error. Errors of arguments and of
/// memory, which users can correct, and those with the codes in `also` mean exit_usage; other
/// errors of the job mean exit_failed.
Outcome outcome_of(rma::Result<int> exit_code, std::initializer_list<rma::Code> also = {});

/// The program of each rank; collective over all of them.
using RankProgram = std::function<Outcome(rma::Job&)>;

/// Runs `body` on `threads` ranks of this process; with 0, on this process as one rank of its
/// launcher's job. Prints an error on standard error once for all ranks. A rank that cannot
/// allocate memory prints that itself, as other ranks do not know it. Returns the exit code: that
/// of rank 0, exit_usage for a lack of memory, and never 0 after an error.
int run_ranks(std::string_view program, std::int32_t threads, const RankProgram& body);

}  // namespace tessera::apps
