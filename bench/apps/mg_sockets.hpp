// SPDX-License-Identifier: BSD-3-Clause
//
// MG's exchange over a bare TCP socket: the limit of the network and two processors. The kernels
// are those of apps/mg.
#pragma once

#include <memory>
#include <string>

#include "apps/mg/distributed.hpp"
#include "apps/mg/exchange.hpp"
#include "bench/support/rank_group.hpp"

namespace tessera::bench {

/// Collective. Null, with the reason in `missing`, if the number of ranks isn't two, or if they
/// can't connect.
std::unique_ptr<apps::mg::Exchange> make_socket_exchange(RankGroup& group, std::string& missing);

// MG's exchange as MPI programs write it: packed faces by MPI_Isend and MPI_Irecv, one dimension
// after the other. The kernels are those of apps/mg. This header does not include <mpi.h>.

/// Null if MPI doesn't run with these ranks. Without `overlaps`, starting an exchange completes it,
/// as in NPB. The exchange fails (unsupported, on all ranks) if a block is thinner than its ghost
/// layers: the neighbours' neighbours would have to send, too.
std::unique_ptr<apps::mg::Exchange> make_mpi_exchange(const RankGroup& group, bool overlaps);

}  // namespace tessera::bench
