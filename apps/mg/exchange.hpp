// SPDX-License-Identifier: BSD-3-Clause
//
// What ranks tell each other during a cycle: ghost cells, and the whole coarse residual. How it is
// done is all that tells one parallel version of the benchmark from another: OneSidedExchange is
// ours, bench/apps has one of messages.
#pragma once

#include <memory>

#include "apps/mg/grid.hpp"
#include "arrays/array.hpp"
#include "arrays/halo.hpp"
#include "rma/job.hpp"
#include "rma/result.hpp"

namespace tessera::apps::mg {

Index3 to_index3(const arrays::Index& index);
Box to_box(const arrays::Box& box);

/// The box of a rank; empty where it has none.
Box box_of(const arrays::Distribution& distribution, std::int32_t rank);

/// An exchange of ghost cells that is done again and again.
class GhostExchange {
 public:
  virtual ~GhostExchange() = default;

  /// Local. From here to the end of the next finish() this rank doesn't touch the ghost cells that
  /// the exchange brings: those that are left out of it, it may.
  virtual rma::Status post() { return {}; }
  /// Collective. From here to the end of finish() no rank touches its ghost cells or changes its
  /// own points. At return, ghost cells of dimensions that aren't cut, and aren't left out, are
  /// new, but for corners with other dimensions.
  virtual rma::Status start() = 0;
  /// Collective. All ghost cells are new at return.
  virtual rma::Status finish() = 0;
};

/// Brings a level together on every rank, again and again.
class Gathering {
 public:
  virtual ~Gathering() = default;

  /// Collective. Each rank has set its own box of the level, and sends it; it may be left to
  /// finish().
  virtual rma::Status start() { return {}; }
  /// Collective. All points are new at return.
  virtual rma::Status finish() = 0;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  /// Collective. Exchanges the ghost cells of `array`, which stays where it is, as arrays::Halo
  /// does with these options.
  virtual rma::Result<std::unique_ptr<GhostExchange>> plan(arrays::Array<double>& array,
                                                           const arrays::HaloOptions& options) = 0;
  /// Collective. Gathers a level of which each rank holds all, and sets what `distribution` says.
  /// `whole` stays where it is.
  virtual rma::Result<std::unique_ptr<Gathering>> plan_gathering(
      const rma::Job& job, const arrays::Distribution& distribution, const Grid& whole) = 0;
};

/// Puts into the neighbours' ghost cells, and into memory of every rank for what is gathered.
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
