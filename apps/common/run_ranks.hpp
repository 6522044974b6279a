// SPDX-License-Identifier: BSD-3-Clause
//
// How an application's ranks begin, as threads or as processes, and what its exit code is at the
// end.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "rma/job.hpp"
#include "rma/result.hpp"

namespace tessera::apps {

/// How a run ended, on one of its ranks.
struct Outcome {
  rma::Status status = {};
  int exit_code = 0;  ///< of exit_codes.hpp; that of an error, too
};

/// The outcome of a run that returned its exit code, or an error. Of errors, those of arguments and
/// of memory are the user's to correct, exit_usage, and those of the codes in `also`; what happened
/// to the job is exit_failed.
Outcome outcome_of(rma::Result<int> exit_code, std::initializer_list<rma::Code> also = {});

/// What each rank does; collective over all of them.
using RankProgram = std::function<Outcome(rma::Job&)>;

/// Runs `body` on `threads` ranks of this process; with 0, on this process as one rank of the job
/// that its launcher made. Says on standard error what went wrong, once for all ranks, and of
/// memory that a rank didn't get where the other ranks don't know of it. Returns the exit code:
/// that of rank 0, exit_usage where memory was lacking, and never 0 where there was an error.
int run_ranks(std::string_view program, std::int32_t threads, const RankProgram& body);

}  // namespace tessera::apps
