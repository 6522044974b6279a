// SPDX-License-Identifier: BSD-3-Clause
//
// The benchmark in one process with the fast kernels: CoarseCycle, the part of a V-cycle below some
// level on whole periodic cubes, and run_serial(), which adds the finest level and the timing.
//
// Distributed programs also use CoarseCycle: below a level with small boxes, every rank holds the
// whole level and does the rest of the cycle alone, which is faster than exchanging layers of a few
// points.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "apps/mg/buffers.hpp"
#include "apps/mg/grid.hpp"
#include "apps/mg/kernels.hpp"
#include "apps/mg/problem.hpp"
#include "apps/mg/sweep.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::mg {

/// Memory for a box with `ghosts` layers on all sides, set to zero. Rows are padded so that the
/// interior of each begins on a cache line.
class OwnedGrid {
 public:
  /// Errors: no_memory.
  static rma::Result<OwnedGrid> create(const Box& box, std::int64_t ghosts);

  [[nodiscard]] const Grid& view() const { return view_; }

 private:
  OwnedGrid(LineBuffer buffer, const Grid& view) : buffer_(std::move(buffer)), view_(view) {}

  LineBuffer buffer_;
  Grid view_;
};

/// The cycle on levels of edge 2 … `edge`, each a whole periodic cube: restricts r to all levels
/// below, smooths on the coarsest and corrects on the way up.
class CoarseCycle {
 public:
  /// Errors: no_memory. Cost: allocates r and u of all levels, 2.3 times 8 edge³ bytes and ghosts.
  static rma::Result<CoarseCycle> create(std::int64_t edge, const Stencil& smoother);

  /// r of the top level; the caller sets its box before run(), which sets its ghosts.
  [[nodiscard]] const Grid& residual() const { return levels_.back().r.view(); }

  /// The correction u of the top level, after run() with sweep_coarse_ghosts periodic layers.
  [[nodiscard]] const Grid& correction() const { return levels_.back().u.view(); }

  /// Errors: no_memory, if `buffers` must grow.
  rma::Status run(SweepBuffers& buffers);

 private:
  struct Level {
    OwnedGrid r;
    OwnedGrid u;
  };

  explicit CoarseCycle(const Stencil& smoother) : smoother_(smoother) {}

  Stencil smoother_;
  std::vector<Level> levels_;  ///< coarsest first
};

/// The result of a run.
struct SerialResult {
  double norm = 0.0;     ///< L2 norm of the last residual
  double max_abs = 0.0;  ///< its largest absolute value
  double seconds = 0.0;  ///< of NPB's timed part: the first residual and all cycles
};

/// Runs `cycles` V-cycles of `problem` in this process. Errors: no_memory.
[[nodiscard]] rma::Result<SerialResult> run_serial(const Problem& problem, std::int64_t cycles);

}  // namespace tessera::apps::mg
