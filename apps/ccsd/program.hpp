// SPDX-License-Identifier: BSD-3-Clause
//
// The program tessera-ccsd, after its command line is parsed: reads the input, checks that memory
// suffices, iterates to convergence, and prints the report.
#pragma once

#include <cstdint>
#include <string>

#include "apps/common/run_ranks.hpp"
#include "rma/job.hpp"

namespace tessera::apps::ccsd {

struct Arguments {
  std::string fcidump_file;      ///< empty: artificial integrals
  std::int64_t occupied = 0;     ///< orbitals, for artificial integrals only
  std::int64_t virtuals = 0;     ///< the same
  std::int64_t frozen_core = 0;  ///< number of lowest orbitals that are not correlated
  bool triples = false;
  std::int64_t max_iterations = 60;
  std::string checkpoint_file;  ///< amplitudes are written here; empty: nowhere
  std::string restart_file;     ///< amplitudes are read from here; empty: start from zero
  std::int64_t tile = 512;      ///< rows and columns of a task's tiles
  std::string json_file;        ///< empty: no JSON; -: to standard output, instead of text
  bool quiet = false;           ///< print nothing
};

/// Collective over all ranks; rank 0 prints. Exit codes: 0 converged; 1 not converged, or failed;
/// 2 a file cannot be read, used or written, or memory does not suffice.
Outcome run(const Arguments& arguments, rma::Job& job);

}  // namespace tessera::apps::ccsd
