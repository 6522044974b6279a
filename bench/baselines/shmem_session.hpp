// SPDX-License-Identifier: BSD-3-Clause
//
// The end of OpenSHMEM. This header includes none of its headers.
#pragma once

namespace tessera::bench {

/// Collective. Ends OpenSHMEM if it was started; Open MPI's then also ends MPI.
void end_shmem();

}  // namespace tessera::bench
