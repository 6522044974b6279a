// SPDX-License-Identifier: BSD-3-Clause
//
// start_beside(): a job of the same ranks as another one, with settings of its own.
//
// What a setting chooses, it chooses for a whole job. So each choice that is to be compared gets a
// job, and all of them stand in the same rounds. Their threads sleep while it isn't their turn.
#pragma once

#include "rma/job.hpp"
#include "rma/tuning.hpp"

namespace tessera::bench {

/// Collective over the ranks of `first`, which outlives the new job. Throws rma::Error where it
/// can't start.
rma::Job start_beside(rma::Job& first, const rma::Settings& settings);

}  // namespace tessera::bench
