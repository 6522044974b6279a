// SPDX-License-Identifier: BSD-3-Clause
//
// The operators of MG, one at a time, on any box of a level.
//
// They are for work that the fused sweep (sweep.hpp) does not cover: the coarsest levels,
// boundaries processed separately from interiors, tests. All boxes are in global indices of the
// level that the comment names. They may reach into the ghost layers of what is written if what is
// read reaches further. Every call writes only its box and reads what its comment says. So it can
// be split into sub-boxes in any way and order, but smooth() and prolongate_add() must visit each
// point once.
//
// Threads: calls on disjoint boxes may run concurrently.
#pragma once

#include "apps/mg/grid.hpp"

namespace tessera::apps::mg {

/// The terms of the 2-norm and the maximum norm. For several boxes, add the sums of squares and
/// take the maximum of the other.
struct Norms {
  double sum_squares = 0.0;
  double max_abs = 0.0;  ///< largest absolute value
};

/// r = v - A u on `box`. Reads `v` on the box and `u` one layer around it. `r` may be `v`.
/// Cost: 32 bytes of memory traffic for each point (u, v, r and the fetch of r before it is
/// written).
void residual(const Grid& r, const Grid& v, const Grid& u, const Stencil& a, const Box& box);

/// u += S r on `box`. Reads `r` one layer around it.
void smooth(const Grid& u, const Grid& r, const Stencil& s, const Box& box);

/// u += P coarse on the fine `box`. Reads `coarse` on [(lo - 1) / 2, (hi - 1) / 2 + 1) of it,
/// rounded down: one layer below if the box begins at an even index, one above if it ends at an odd
/// one.
void prolongate_add(const Grid& u, const Grid& coarse, const Box& box);

/// The sum of squares and the largest absolute value of `r` on `box`.
[[nodiscard]] Norms norms(const Grid& r, const Box& box);

/// Sets `box` of `u` to zero.
void zero(const Grid& u, const Box& box);

/// The dimensions in which a box spans the whole level, so that its ghosts are its own points.
struct Wrap {
  bool z = false;
  bool y = false;
  bool x = false;
};

/// Full weighting: sets `coarse` on the box `coarse_box` of the coarse level. Reads `fine` on [2
/// lo, 2 hi + 1) of it. For the coarsened box of a fine one that is one layer below if the fine box
/// begins at an odd index, and one above if it ends at an even one. In the dimensions y and x of
/// `wrap`, in which `coarse_box` must span the level, it also sets `wrap_width` ghost layers,
/// except corners with a dimension that is not wrapped.
void restrict_to(const Grid& coarse, const Grid& fine, const Box& coarse_box, const Wrap& wrap = {},
                 std::int64_t wrap_width = 0);

/// The points of `coarse_box` whose restriction reads no ghosts of the fine box except those of the
/// dimensions of `wrap`.
Box restricted_alone(const Box& coarse_box, const Box& fine_box, const Wrap& wrap);

/// Sets the ghost layers of `u` of the given width to the periodic images of its own points, in the
/// dimensions of `wrap`: x first, then y with the ghosts of x, then z with those of both. In the
/// other dimensions, ghosts of that width are included and must have been allocated, so that edges
/// and corners are right if those dimensions were exchanged before.
void fill_periodic(const Grid& u, std::int64_t width, Wrap wrap);

}  // namespace tessera::apps::mg
