// SPDX-License-Identifier: BSD-3-Clause
//
// y = A x as MPI programs write it. Each rank sends its neighbours once the list of elements of x
// that it needs. A product sends these elements by MPI_Isend, continues with rows that need none,
// and finishes with the others. This header does not include <mpi.h>.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/support/rank_group.hpp"
#include "linalg/local_csr.hpp"

namespace tessera::bench {

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
