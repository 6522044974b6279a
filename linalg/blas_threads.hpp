// SPDX-License-Identifier: BSD-3-Clause
//
// The number of threads that a rank's BLAS uses.
//
// BLAS starts with one thread for each core, but ranks share cores. By default each rank therefore
// gets max(1, cores available to the node's ranks / ranks on the node) threads, or one if ranks are
// threads of one process. Emulated nodes share the cores of their machine. The user can set
// TESSERA_BLAS_THREADS instead, or OPENBLAS_NUM_THREADS or OMP_NUM_THREADS, which the BLAS library
// itself reads.
//
// Operations of this layer call limit_blas_threads() first. The number belongs to the process, as
// the BLAS library's threads do: with two jobs in one process, the job that computed last has set
// it.
#pragma once

#include <string>

#include "rma/job.hpp"

namespace tessera::linalg {

/// Local. The number of threads that a rank of `job` should use; 0 if the user's own variables for
/// BLAS apply.
int blas_threads(const rma::Job& job);

/// Local. Sets this number of threads in BLAS. Cost: none if it is set already.
void limit_blas_threads(const rma::Job& job);

/// Local. The BLAS library's description of itself: its name, version and kernels.
std::string blas_description();

}  // namespace tessera::linalg
