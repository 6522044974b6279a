// SPDX-License-Identifier: BSD-3-Clause
//
// MG's exchange over a bare TCP socket: the limit of the network and two processors. The kernels
// are those of apps/mg.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/mg/distributed.hpp"
#include "apps/mg/exchange.hpp"
#include "bench/support/measure.hpp"
#include "linalg/local_csr.hpp"

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

// y = A x as MPI programs write it. Each rank sends its neighbours once the list of elements of x
// that it needs. A product sends these elements by MPI_Isend, continues with rows that need none,
// and finishes with the others. This header does not include <mpi.h>.

class NeighbourProduct {
 public:
  virtual ~NeighbourProduct() = default;
  /// Collective. One product.
  virtual void run() = 0;
  /// The total time of this rank's products for messages, in seconds: packing, starting, waiting.
  [[nodiscard]] virtual double communication_seconds() const = 0;
  /// This rank's elements; set x before a product.
  [[nodiscard]] virtual std::span<double> x() = 0;
  [[nodiscard]] virtual std::span<const double> y() const = 0;
};

/// Collective. For the rows of this rank; rank i has those from row_starts[i] to row_starts[i + 1],
/// and the same elements of x. Null if MPI doesn't run with these ranks.
std::unique_ptr<NeighbourProduct> make_neighbour_product(
    const RankGroup& group, const linalg::LocalCsr<double>& rows,
    const std::vector<std::int64_t>& row_starts);

}  // namespace tessera::bench
