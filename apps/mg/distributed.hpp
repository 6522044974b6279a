// SPDX-License-Identifier: BSD-3-Clause
//
// The benchmark on any number of ranks, over Tessera arrays.
//
// The finest levels are arrays with ghost cells, all cut at the same places: a level's bounds are
// those of the next finer one, halved. A level is one fused sweep (sweep.hpp) and one exchange of
// ghost cells, written by the neighbours one-sidedly (arrays/halo.hpp). The levels from some edge
// down are small enough that every rank holds them whole and does them alone (CoarseCycle): that
// also disposes of levels with fewer points than ranks. Ranks for whom the finest level has no part
// (process_grid() in problem.hpp) hold empty boxes and meet the others in collectives only.
//
//     finest       u 4 ghosts, v 3      one sweep: correct, residual, restrict
//     between      r 4 ghosts, u own    restrict down; correct from zero, 3 layers further, up
//     replicated   r gathered           CoarseCycle on the whole cube
//
// Ghost cells in dimensions that aren't cut are a rank's own points: who writes a row writes those
// beside it, too, and none of them are exchanged.
//
// That of the finest level is started at the bottom of the cycle, behind all others, and finished
// at its top: the way up hides it. Those between restrict the points that need no ghost cells
// meanwhile.
//
// Corrections are computed three layers beyond a rank's box from r that is valid four layers
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

/// What a run gave; the same on all ranks.
struct RunResult {
  double norm = 0.0;          ///< L2 norm of the last residual
  double seconds = 0.0;       ///< of NPB's timed part: the first residual and all cycles
  double halo_seconds = 0.0;  ///< what the rank that exchanged and gathered longest spent on that
  /// The same of the rank that did so least. It computed longest, so it waited for no other's
  /// computation: this is what the exchange adds to a run.
  double exposed_seconds = 0.0;
};

using CycleProgress = std::function<void(std::int64_t done)>;

class DistributedRun {
 public:
  /// Collective. Allocates all levels and sets the official right-hand side. Ranks exchange
  /// through `exchange`, the same kind on all of them.
  /// Errors: no_memory, with the sizes; what the exchange finds.
  static rma::Result<DistributedRun> create(
      const rma::Job& job, const Problem& problem,
      std::unique_ptr<Exchange> exchange = std::make_unique<OneSidedExchange>());

  DistributedRun(DistributedRun&&) noexcept = default;

  /// Collective. Runs `cycles` V-cycles from u = 0; each rank is told how many are done.
  rma::Result<RunResult> run(std::int64_t cycles, const CycleProgress& progress = {});

 private:
  using Ghosts = std::unique_ptr<GhostExchange>;

  /// At one place for good: exchanges refer to their arrays.
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
  /// Returns how the first replicated level is cut before it is gathered.
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
  /// Whether no part of the finest level, and so of none, is this rank's.
  [[nodiscard]] bool is_idle() const { return finest_->u.own_box().is_empty(); }
  [[nodiscard]] Grid coarse_correction() const;
  [[nodiscard]] Grid own_part_of_replicated() const;
  Grid residual_below(std::size_t middle);
  [[nodiscard]] std::int64_t wrapped_below(std::size_t middle) const;

  rma::Job job_;
  Problem problem_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Finest> finest_;
  std::vector<MiddleLevel> middle_;       ///< finest of them first
  std::unique_ptr<Gathering> gathering_;  ///< of r of the largest replicated level
  std::optional<CoarseCycle> coarse_;
  SweepBuffers buffers_;
  double halo_seconds_ = 0.0;
};

}  // namespace tessera::apps::mg
