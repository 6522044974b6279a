// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the ARMCI-MPI baseline in a build without it.
#include "bench/baselines/baseline.hpp"

namespace tessera::bench {

std::unique_ptr<Baseline> make_armci_baseline(RankGroup&, const BaselineOptions&,
                                              std::string& missing) {
  missing = "armci-mpi: this build has no ARMCI-MPI (Debian: libarmci-mpi-dev)";
  return nullptr;
}

}  // namespace tessera::bench
