// SPDX-License-Identifier: BSD-3-Clause
//
// How OpenSHMEM ends. This header includes nothing of it.
#pragma once

namespace tessera::bench {

/// Collective. Ends OpenSHMEM where it was started; Open MPI's ends MPI, too.
void end_shmem();

}  // namespace tessera::bench
