// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a run fits the memory of its machines, asked before it takes any.
#pragma once

#include <string>

#include "rma/job.hpp"

namespace tessera::apps {

struct MemoryNeed {
  double bytes_per_rank = 0.0;  ///< of this rank
  std::string what;             ///< what needs them, as a sentence begins: "class D"
  std::string hint;             ///< what may be done where it is too much
};

/// Collective over all ranks. Adds up what the ranks of each machine need, whatever nodes these
/// are on. Errors, on all ranks: no_memory when that is more than 90 % of what a machine has left.
rma::Status check_memory(rma::Job& job, const MemoryNeed& need);

}  // namespace tessera::apps
