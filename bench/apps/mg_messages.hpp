// SPDX-License-Identifier: BSD-3-Clause
//
// MG's exchange as MPI programs write it: packed faces by MPI_Isend and MPI_Irecv, dimension by
// dimension. The kernels are those of apps/mg. This header includes no <mpi.h>.
#pragma once

#include <memory>

#include "apps/mg/distributed.hpp"
#include "bench/support/crew.hpp"

namespace tessera::bench {

/// Null where MPI doesn't run with these ranks. Without `overlaps`, starting an exchange does all
/// of it, as in NPB. The exchange fails (unsupported, on all ranks) where a block is thinner than
/// its ghost layers: neighbours' neighbours would have to send, too.
std::unique_ptr<apps::mg::Exchange> make_mpi_exchange(const Crew& crew, bool overlaps);

}  // namespace tessera::bench
