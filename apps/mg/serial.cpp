// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/serial.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>

#include "apps/mg/initial.hpp"

namespace tessera::apps::mg {

using rma::Result;
using rma::Status;

namespace {

constexpr Wrap all_wrap{true, true, true};
constexpr Wrap only_z{true, false, false};
// For levels whose ghosts of y and x the sweep has set itself.
constexpr Wrap rows_wrap{false, true, true};

constexpr std::int64_t line = 8;  // doubles in a cache line
constexpr std::int64_t page = 512;

std::int64_t padded_row(std::int64_t nx, std::int64_t ghosts) {
  const std::int64_t front = (ghosts + line - 1) / line * line;
  const std::int64_t row = front + (nx + ghosts + line - 1) / line * line;
  // Rows at a distance of a multiple of a page would use the same sets of the first-level cache.
  return row % page == 0 ? row + line : row;
}

}  // namespace

Result<OwnedGrid> OwnedGrid::create(const Box& box, std::int64_t ghosts) {
  const Index3 n = box.extents();
  const std::int64_t row = padded_row(n.x, ghosts);
  const std::int64_t plane = (n.y + 2 * ghosts) * row;
  TESSERA_ASSIGN_OR_RETURN(LineBuffer buffer, LineBuffer::create((n.z + 2 * ghosts) * plane));
  const std::int64_t front = (ghosts + line - 1) / line * line;
  const Grid view{buffer.data() + ghosts * (plane + row) + front, box, plane, row};
  return OwnedGrid(std::move(buffer), view);
}

Result<CoarseCycle> CoarseCycle::create(std::int64_t edge, const Stencil& smoother) {
  CoarseCycle cycle(smoother);
  for (std::int64_t n = 2; n <= edge; n *= 2) {
    TESSERA_ASSIGN_OR_RETURN(OwnedGrid r, OwnedGrid::create(whole_box(n), 1));
    TESSERA_ASSIGN_OR_RETURN(OwnedGrid u, OwnedGrid::create(whole_box(n), sweep_coarse_ghosts));
    cycle.levels_.push_back({std::move(r), std::move(u)});
  }
  return cycle;
}

Status CoarseCycle::run(SweepBuffers& buffers) {
  for (std::size_t k = levels_.size() - 1; k > 0; --k) {
    const Grid& r = levels_[k].r.view();
    const Grid& coarse = levels_[k - 1].r.view();
    fill_periodic(r, 1, all_wrap);
    restrict_to(coarse, r, coarse.box);
  }
  const Grid& coarsest = levels_.front().u.view();
  fill_periodic(levels_.front().r.view(), 1, all_wrap);
  zero(coarsest, coarsest.box);
  smooth(coarsest, levels_.front().r.view(), smoother_, coarsest.box);
  fill_periodic(coarsest, sweep_coarse_ghosts, all_wrap);
  for (std::size_t k = 1; k < levels_.size(); ++k) {
    const Grid& u = levels_[k].u.view();
    SweepTask task;
    task.u = u;
    task.v = levels_[k].r.view();
    task.correction = Correction{levels_[k - 1].u.view(), smoother_, u.box, true};
    task.wrap = rows_wrap;
    task.wrap_width = sweep_coarse_ghosts;
    TESSERA_RETURN_IF_ERROR(sweep(task, buffers).status());
    fill_periodic(u, sweep_coarse_ghosts, only_z);
  }
  return {};
}

Result<SerialResult> run_serial(const Problem& problem, std::int64_t cycles) {
  const std::int64_t n = problem.edge;
  const Box box = whole_box(n);
  TESSERA_ASSIGN_OR_RETURN(const OwnedGrid u, OwnedGrid::create(box, sweep_u_ghosts));
  TESSERA_ASSIGN_OR_RETURN(const OwnedGrid v, OwnedGrid::create(box, sweep_v_ghosts));
  TESSERA_ASSIGN_OR_RETURN(CoarseCycle coarse, CoarseCycle::create(n / 2, problem.smoother));
  SweepBuffers buffers;
  set_right_hand_side(v.view(), n, find_extremes(n, box));
  fill_periodic(v.view(), sweep_v_ghosts, all_wrap);

  const auto start = std::chrono::steady_clock::now();
  const Restriction restriction{coarse.residual(), coarse.residual().box};
  SweepTask first{.u = u.view(),
                  .v = v.view(),
                  .correction = {},
                  .restriction = restriction,
                  .norm_box = box,
                  .wrap = rows_wrap,
                  .wrap_width = sweep_u_ghosts};
  TESSERA_ASSIGN_OR_RETURN(Norms norms, sweep(first, buffers));
  for (std::int64_t i = 0; i < cycles; ++i) {
    const bool is_last = i + 1 == cycles;
    TESSERA_RETURN_IF_ERROR(coarse.run(buffers));
    SweepTask task = first;
    task.correction = Correction{coarse.correction(), problem.smoother, box, false};
    task.restriction = is_last ? std::nullopt : std::optional(restriction);
    task.norm_box = is_last ? box : Box{};
    TESSERA_ASSIGN_OR_RETURN(norms, sweep(task, buffers));
    if (!is_last) {
      fill_periodic(u.view(), sweep_u_ghosts, only_z);
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  SerialResult result;
  result.norm = std::sqrt(norms.sum_squares / static_cast<double>(box.points()));
  result.max_abs = norms.max_abs;
  result.seconds = elapsed.count();
  return result;
}

}  // namespace tessera::apps::mg
