// SPDX-License-Identifier: BSD-3-Clause
//
// How many threads a rank's BLAS uses.
//
// BLAS starts with a thread for each core, and ranks share cores: unless the user decides, each
// rank gets its share, max(1, cores that the node's ranks may run on / ranks of the node), and one
// where ranks are threads of one process. Emulated nodes share the cores of their machine. The user
// decides by TESSERA_BLAS_THREADS, or by OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, which are left to
// the library underneath.
//
// Operations of this layer call limit_blas_threads() first. The number belongs to the process, as
// the library's threads do: of two jobs in one process the one that computes last is right.
#pragma once

#include <string>

#include "rma/job.hpp"

namespace tessera::linalg {

/// Local. The number of threads that a rank of `job` should use, 0 where the user's own variables
/// for BLAS are to stand.
int blas_threads(const rma::Job& job);

/// Local. Makes BLAS use that many. Cost: nothing where it does already.
void limit_blas_threads(const rma::Job& job);

/// Local. The library underneath, as it describes itself: its name, version and kernels.
std::string blas_description();

}  // namespace tessera::linalg
