// SPDX-License-Identifier: BSD-3-Clause
//
// How OpenSHMEM ends. This header includes nothing of it.
#pragma once

namespace tessera::bench {

/// Collective. Ends OpenSHMEM, and MPI with it. False where OpenSHMEM wasn't started, and all is as
/// before.
bool end_shmem_and_mpi();

}  // namespace tessera::bench
