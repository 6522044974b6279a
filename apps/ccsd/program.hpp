// SPDX-License-Identifier: BSD-3-Clause
//
// The program tessera-ccsd, from its arguments to its last line.
#pragma once

#include <cstdint>
#include <string>

#include "apps/common/run_ranks.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

struct Arguments {
  std::string fcidump_file;   ///< empty: artificial integrals
  std::int64_t occupied = 0;  ///< of artificial integrals
  std::int64_t virtuals = 0;
  std::int64_t frozen_core = 0;
  bool triples = false;
  std::int64_t max_iterations = 60;
  std::string checkpoint_file;
  std::string restart_file;
  std::int64_t tile = 512;
  std::string json_file;
  bool quiet = false;
};

/// Collective over all ranks. Prints on rank 0. Exit codes: 0 converged; 1 not converged or failed;
/// 2 for files that cannot be used or were not written, and for too little memory.
Outcome run(const Arguments& arguments, rma::Job& job);

}  // namespace tessera::apps::ccsd
