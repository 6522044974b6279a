// SPDX-License-Identifier: BSD-3-Clause
//
// y = A x as MPI programs write it: each rank tells its neighbours once which elements of x it
// needs; a product sends them by MPI_Isend, goes on with rows that need none, and finishes with the
// others. This header includes no <mpi.h>.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/support/crew.hpp"
#include "linalg/local_csr.hpp"

namespace tessera::bench {

class NeighbourProduct {
 public:
  virtual ~NeighbourProduct() = default;
  /// Collective. One product.
  virtual void run() = 0;
  /// What this rank's products spent so far on messages, in seconds: packing, starting, waiting.
  [[nodiscard]] virtual double communication_seconds() const = 0;
  /// This rank's elements; x is set before products.
  [[nodiscard]] virtual std::span<double> x() = 0;
  [[nodiscard]] virtual std::span<const double> y() const = 0;
};

/// Collective. For the rows of this rank; rank i has those from row_starts[i] to the next number,
/// and elements of x likewise. Null where MPI doesn't run with these ranks.
std::unique_ptr<NeighbourProduct> make_neighbour_product(
    const Crew& crew, const linalg::LocalCsr<double>& rows,
    const std::vector<std::int64_t>& row_starts);

}  // namespace tessera::bench
