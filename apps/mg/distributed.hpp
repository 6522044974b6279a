// SPDX-License-Identifier: BSD-3-Clause
//
// The benchmark on any number of ranks, over Tessera arrays.
//
// The finest levels are arrays with ghost cells, all distributed alike: a level's bounds are those
// of the next finer one, halved. A level is one fused sweep (sweep.hpp) and one exchange of ghost
// cells, which the neighbours write one-sidedly (arrays/halo.hpp). From some edge downwards, levels
// are so small that every rank holds them whole and processes them alone (CoarseCycle). So no level
// has fewer points than ranks. Ranks without a part of the finest level (process_grid() in
// problem.hpp) hold empty boxes and only take part in collectives.
//
//     finest       u 4 ghosts, v 3      one sweep: correct, residual, restrict
//     between      r 4 ghosts, u own    restrict down; correct from zero, 3 layers further, up
//     replicated   r gathered           CoarseCycle on the whole cube
//
// Ghost cells in dimensions that are not split are a rank's own points: the code that writes a row
// also writes those beside it, and they are not exchanged.
//
// The exchange of the finest level starts at the bottom of the cycle, after all others, and
// finishes at its top: the way up hides it. Meanwhile the levels between restrict points that need
// no ghost cells.
//
// Corrections are computed three layers beyond a rank's box, from r that is valid four layers
// beyond, so u below the finest level is never exchanged.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "apps/mg/exchange.hpp"
#include "apps/mg/problem.hpp"
#include "apps/mg/serial.hpp"
#include "arrays/array.hpp"
#include "rma/job.hpp"

namespace tessera::apps::mg {

/// The result of a run; the same on all ranks.
struct RunResult {
  double norm = 0.0;          ///< L2 norm of the last residual
  double seconds = 0.0;       ///< of NPB's timed part: the first residual and all cycles
  double halo_seconds = 0.0;  ///< exchange and gather time of the rank that spent most on them
  /// The same for the rank that spent least. It computed longest, so it did not wait for other
  /// ranks' computation: this is what the exchange adds to a run.
  double exposed_seconds = 0.0;
};

using CycleProgress = std::function<void(std::int64_t done)>;

class DistributedRun {
 public:
  /// Collective. Allocates all levels and sets the official right-hand side. Ranks exchange through
  /// `exchange`, of the same kind on all of them. Errors: no_memory, with the sizes; those of the
  /// exchange.
  static rma::Result<DistributedRun> create(
      const rma::Job& job, const Problem& problem,
      std::unique_ptr<Exchange> exchange = std::make_unique<OneSidedExchange>());

  DistributedRun(DistributedRun&&) noexcept = default;

  /// Collective. Runs `cycles` V-cycles from u = 0; calls `progress` on each rank with the number
  /// done.
  rma::Result<RunResult> run(std::int64_t cycles, const CycleProgress& progress = {});

 private:
  using Ghosts = std::unique_ptr<GhostExchange>;

  /// At a fixed address: exchanges refer to their arrays.
  struct Finest {
    arrays::Array<double> u;
    arrays::Array<double> v;
    Ghosts ghosts_of_u = nullptr;
  };
  /// A level between the finest and the replicated ones.
  struct MiddleLevel {
    arrays::Array<double> r;
    OwnedGrid u;
    Ghosts ghosts_of_r = nullptr;
  };

  DistributedRun(const rma::Job& job, const Problem& problem, std::unique_ptr<Exchange> exchange,
                 std::unique_ptr<Finest> finest);
  /// Returns the distribution of the first replicated level before it is gathered.
  rma::Result<arrays::Distribution> make_levels();
  rma::Status make_middle_level(const arrays::Distribution& distribution);
  rma::Status plan_exchanges(const arrays::Distribution& replicated);
  rma::Status set_problem();
  rma::Status zero_finest();

  rma::Result<Norms> cycle(bool is_first, bool is_last);
  rma::Status go_down(bool posts_u);
  rma::Status restrict_middle(std::size_t middle, bool posts_u);
  rma::Status go_up();
  rma::Status gather_replicated(bool posts_u);
  rma::Result<Norms> finest_sweep(bool corrects, bool restricts);
  rma::Status post_middle();
  rma::Status post_u_if(bool posts_u);
  rma::Status start(Ghosts& ghosts, bool posts_u = false);
  rma::Status finish(Ghosts& ghosts);
  /// Whether this rank has no part of the finest level, and so of no level.
  [[nodiscard]] bool is_idle() const { return finest_->u.own_box().is_empty(); }
  [[nodiscard]] Grid coarse_correction() const;
  [[nodiscard]] Grid own_part_of_replicated() const;
  Grid residual_below(std::size_t middle);
  [[nodiscard]] std::int64_t wrapped_below(std::size_t middle) const;

  rma::Job job_;
  Problem problem_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Finest> finest_;
  std::vector<MiddleLevel> middle_;       ///< finest first
  std::unique_ptr<Gathering> gathering_;  ///< of r of the largest replicated level
  std::optional<CoarseCycle> coarse_;
  SweepBuffers buffers_;
  double halo_seconds_ = 0.0;
};

}  // namespace tessera::apps::mg
