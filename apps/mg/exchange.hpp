// SPDX-License-Identifier: BSD-3-Clause
//
// The communication of ranks during a cycle: ghost cells, and the whole coarse residual. Only this
// differs between parallel versions of the benchmark: OneSidedExchange uses Tessera, bench/apps has
// a version with messages.
#pragma once

#include <memory>

#include "apps/mg/grid.hpp"
#include "arrays/array.hpp"
#include "arrays/halo.hpp"
#include "rma/base/result.hpp"
#include "rma/job.hpp"

namespace tessera::apps::mg {

Index3 to_index3(const arrays::Index& index);
Box to_box(const arrays::Box& box);

/// The box of a rank; empty if it has none.
Box box_of(const arrays::Distribution& distribution, std::int32_t rank);

/// An exchange of ghost cells that is repeated.
class GhostExchange {
 public:
  virtual ~GhostExchange() = default;

  /// Local. From here to the end of the next finish() this rank does not touch the ghost cells that
  /// the exchange writes; it may touch those left out of the exchange.
  virtual rma::Status post() { return {}; }
  /// Collective. From here to the end of finish() no rank touches its ghost cells or changes its
  /// own points. At return, ghost cells of dimensions that are neither split nor left out are
  /// updated, except corners with other dimensions.
  virtual rma::Status start() = 0;
  /// Collective. At return all ghost cells are updated.
  virtual rma::Status finish() = 0;
};

/// Gathers a level on every rank; repeated.
class Gathering {
 public:
  virtual ~Gathering() = default;

  /// Collective. Sends this rank's own box of the level, which it has set; finish() may send it
  /// instead.
  virtual rma::Status start() { return {}; }
  /// Collective. At return all points are updated.
  virtual rma::Status finish() = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Collective. Plans the exchange of the ghost cells of `array`, which must not move, with the
  /// options of arrays::Halo.
  virtual rma::Result<std::unique_ptr<GhostExchange>> plan(arrays::Array<double>& array,
                                                           const arrays::HaloOptions& options) = 0;
  /// Collective. Plans the gathering of a level that each rank holds whole, and of which it sets
  /// the box given by `distribution`. `whole` must not move.
  virtual rma::Result<std::unique_ptr<Gathering>> plan_gathering(
      const rma::Job& job, const arrays::Distribution& distribution, const Grid& whole) = 0;
};

/// Puts into the neighbours' ghost cells, and into every rank's memory for gathered levels.
class OneSidedExchange : public Exchange {
 public:
  rma::Result<std::unique_ptr<GhostExchange>> plan(arrays::Array<double>& array,
                                                   const arrays::HaloOptions& options) override;
  rma::Result<std::unique_ptr<Gathering>> plan_gathering(const rma::Job& job,
                                                         const arrays::Distribution& distribution,
                                                         const Grid& whole) override;
};

/// Copies `box` of `grid`, row by row, to or from consecutive doubles.
void pack(const Grid& grid, const Box& box, double* to);
void unpack(const Grid& grid, const Box& box, const double* from);

}  // namespace tessera::apps::mg
