// SPDX-License-Identifier: BSD-3-Clause
//
// The fused sweep: all operations of MG on a level between two uses of the level below, in one pass
// over memory.
//
// NPB's loops pass five times over a level in each cycle: prolongate (u), residual (u, v, r),
// smooth (r, u), residual (u, v, r), restrict (r), 112 bytes for each point. Here they pass through
// the level together as five stages, two planes deep, each one plane and one row after the one
// before. The residuals exist only in rings of four planes, which the cache holds. Memory sees u
// read and written and v read once, 24 bytes for each point. If planes are too large for that, the
// pipeline runs over all planes of one strip of rows, then of the next. The last two rows of each
// ring are kept in between, so that nothing is computed twice.
//
//     z →    stage 1        stage 2         stage 3        stage 4         stage 5
//            u1 = u + P c   r1 = v - A u1   u  = u1 + S r1 r2 = v - A u    coarse r = R r2
//   planes   2t, 2t+1       2t-1, 2t        2t-2, 2t-1     2t-3, 2t-2      centre 2t-3
//   rows     j              j-1             j-2            j-3             centre j-4
//
// Stages 1–3 are the correction, stages 4–5 the restriction; a task may have either or both:
//
//   - finest level, before the first cycle: restriction alone (16 bytes for each point);
//   - levels between: correction alone, with `from_zero` (u is not read: NPB's zero3 is fused);
//   - finest level, in every cycle: both. The residual for the next cycle then costs nothing;
//   - finest level, last cycle: correction and norm, without a coarse grid.
//
// Ghost layers. A stage needs its input one layer further out than its output. Instead of an
// exchange between stages the sweep computes earlier stages on a larger box: redundant work on a
// few layers for a single exchange on each level and cycle. Widths for a rank's own box [lo, hi)
// (in each dimension; "even" if lo and hi are even; needed() returns the boxes exactly):
//
//   task                      reads u      reads v      reads coarse u    leaves valid in u
//                             even / any   even / any   even / any
//   restriction               1,2 / 2      1  / 1       –                 (u is unchanged);
//   correction                2   / 2      1  / 1       2,1 / 2           the requested box
//   correction, from zero     –            1  / 1       2,1 / 2           the requested box
//   both                      3,4 / 4      2,3 / 3      2,2 / 3           box and 1,2 / 2 layers
//   correction and norm       3   / 3      2  / 2       2,2 / 2           box and 1   / 1 layers
//
// ("a,b": a layers below lo, b above hi.) v of the finest level never changes: its ghosts are
// exchanged once for all cycles. Of the coarse r that a restriction writes, only the requested
// ghosts are valid. In the dimensions of `wrap`, u then has wrap_width valid ghost layers, except
// corners with a dimension that is not wrapped, which its exchange sets.
//
// A distributed cycle still needs one exchange of u on the finest level (width 4), which is not
// used until the sweep of the next cycle, so the whole coarse cycle hides it. Each other level
// needs one of r (width 1) on the way down and one of u (width 2, or 3 on the level next to the
// finest) on the way up. The latter can be saved, too: with r exchanged w + 1 wide, a correction
// for `grown(box, w)` makes w valid ghost layers itself. A level's u that is valid 3 wide gives the
// next finer one 3 wide, so r with 4 layers on every level replaces all exchanges of u below the
// finest.
//
// A dimension that is not split needs no exchange: with wrap.x and wrap.y the sweep writes the
// ghosts of u there itself, while rows are in cache. With wrap.x, stages compute rows from end to
// end and copy what they read beyond. Then u and v need no ghosts in x on entry (a restriction
// alone: one layer of u), and the coarse u needs one below. The caller copies along z.
//
// In place: u is overwritten. Rows that stage 3 has passed are new, all others old; so a task with
// a correction is done for the whole box of a rank at once. Tasks with a restriction alone, and
// corrections from zero, may be split into sub-boxes of the coarse box in any way, for example to
// start on the interior while ghosts are in flight.
//
// Threads: a SweepBuffers serves one sweep at a time.
//
// See also: Wellein et al., "Efficient temporal blocking for stencil computations by
// multicore-aware wavefront parallelization" (COMPSAC 2009), for wavefronts in z; the row lag is
// new.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/mg/buffers.hpp"
#include "apps/mg/grid.hpp"
#include "apps/mg/kernels.hpp"
#include "rma/base/result.hpp"

namespace tessera::apps::mg {

/// The widest ghost layers that any task reads, for u, v and the coarse u.
inline constexpr std::int64_t sweep_u_ghosts = 4;
inline constexpr std::int64_t sweep_v_ghosts = 3;
inline constexpr std::int64_t sweep_coarse_ghosts = 3;

/// Stages 1–3: u += P coarse, then u += S (v - A u), on `box`.
struct Correction {
  Grid coarse;             ///< u of the level below
  Stencil smoother;        ///< S, whose corner weight must be zero as in all classes
  Box box;                 ///< the points whose corrected u is needed
  bool from_zero = false;  ///< u is zero before, and is not read
};

/// Stages 4–5: coarse = R (v - A u) on `box` of the coarse level.
struct Restriction {
  Grid coarse;  ///< r of the level below
  Box box;      ///< in coarse indices; normally coarsened(u.box)
  /// The number of ghost layers of it that are also set, in the dimensions of the task's wrap,
  /// which `box` must span then; except corners with a dimension that is not wrapped.
  std::int64_t wrap_width = 0;
};

/// One sweep of a level. A is the Laplacian of problem.hpp.
struct SweepTask {
  Grid u;
  Grid v;  ///< the right-hand side: v on the finest level, r below it
  std::optional<Correction> correction;
  std::optional<Restriction> restriction;
  /// The points for the norm of v - A u, with u as the sweep leaves it; empty for none.
  Box norm_box;
  /// The dimensions, of y and x, in which u.box spans the level and the sweep sets the ghost layers
  /// of u itself, wrap_width (at least 1) of them. `wrap.z` is ignored.
  Wrap wrap;
  std::int64_t wrap_width = 0;
};

/// The boxes that a task touches, in global indices of the level each grid belongs to.
struct SweepBoxes {
  Box u_read;  ///< empty if u is not read from memory
  Box v_read;
  Box coarse_read;  ///< of the correction's coarse u
  Box u_written;    ///< empty without a correction
};

/// The boxes that `task` reads and writes.
[[nodiscard]] SweepBoxes needed(const SweepTask& task);

/// The rings of a sweep. Grows to the largest level it has served; keep one for each rank.
class SweepBuffers {
 public:
  /// A strip of the four planes of each ring, and as many of u and v, should stay in a core's share
  /// of the last-level cache between steps. Strips for the second-level cache were tried: their
  /// saving is lost to short runs of rows, because memory prefetchers need long ones.
  static constexpr std::int64_t default_strip_bytes = std::int64_t{4} << 20;

  explicit SweepBuffers(std::int64_t strip_bytes = default_strip_bytes)
      : strip_bytes_(strip_bytes) {}

  /// How many bytes of rings and grids together should be in use between steps.
  [[nodiscard]] std::int64_t strip_bytes() const { return strip_bytes_; }

  /// At least `count` doubles with unspecified contents. Errors: no_memory.
  [[nodiscard]] rma::Result<double*> reserve(std::int64_t count);

 private:
  std::int64_t strip_bytes_;
  LineBuffer buffer_;
};

/// Runs `task` and returns the norms on its norm box (zeros without). Requires: valid values on
/// needed(task); u, v and the coarse grids are distinct memory. Errors: no_memory for the rings,
/// with nothing changed; never with buffers that have served a task of this size.
rma::Result<Norms> sweep(const SweepTask& task, SweepBuffers& buffers);

}  // namespace tessera::apps::mg
