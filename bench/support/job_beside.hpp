// SPDX-License-Identifier: BSD-3-Clause
//
// start_job_on_same_ranks(): a second job with the same ranks and its own settings.
//
// A setting applies to a whole job. So each choice to compare gets its own job, and all of them
// take part in the same rounds. The threads of idle jobs sleep.
#pragma once

#include "rma/job.hpp"
#include "rma/tuning.hpp"

namespace tessera::bench {

/// Collective over the ranks of `first`, which must outlive the new job. Throws rma::Error if the
/// job can't start.
rma::Job start_job_on_same_ranks(rma::Job& first, const rma::Settings& settings);

}  // namespace tessera::bench
