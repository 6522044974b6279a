// SPDX-License-Identifier: BSD-3-Clause
//
// Replaces the exchange by messages in a build without MPI.
#include "bench/apps/mg_sockets.hpp"

namespace tessera::bench {

std::unique_ptr<apps::mg::Exchange> make_mpi_exchange(const RankGroup&, bool) {
  return nullptr;
}

}  // namespace tessera::bench
