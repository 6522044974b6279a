// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/distributed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "apps/mg/initial.hpp"
#include "apps/mg/kernels.hpp"

namespace tessera::apps::mg {

using arrays::Array;
using arrays::AxisCut;
using arrays::Deal;
using arrays::Distribution;
using arrays::Extents;
using arrays::Halo;
using arrays::HaloOptions;
using arrays::LocalView;
using arrays::PeriodicDims;
using rma::Result;
using rma::Status;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t middle_r_ghosts = sweep_coarse_ghosts + 1;
constexpr int dims = 3;

Index3 to_index3(const arrays::Index& index) {
  return {index[0], index[1], index[2]};
}
Box to_box(const arrays::Box& box) {
  return {to_index3(box.lo()), to_index3(box.hi())};
}

PeriodicDims all_periodic() {
  return PeriodicDims().set();
}

/// The dimensions in which this rank's box spans the level: its ghosts there are its own points.
Wrap unsplit(const Distribution& distribution) {
  return {distribution.cut(0).blocks() == 1, distribution.cut(1).blocks() == 1,
          distribution.cut(2).blocks() == 1};
}

// Even blocks for the ranks of process_grid(); ranks beyond it get none.
Result<Distribution> finest(std::int64_t edge, std::int64_t ranks, std::int64_t ghosts) {
  const Index3 grid = process_grid(edge, ranks);
  std::vector<AxisCut> cuts;
  for (const std::int64_t blocks : {grid.z, grid.y, grid.x}) {
    TESSERA_ASSIGN_OR_RETURN(AxisCut cut, AxisCut::even(edge, blocks));
    cuts.push_back(std::move(cut));
  }
  TESSERA_ASSIGN_OR_RETURN(const Deal deal, Deal::grid({grid.z, grid.y, grid.x}, ranks));
  return Distribution::create(cuts, deal, {.ghosts = Extents::filled(dims, ghosts)});
}

// The cut of the level below: each bound halved, as coarsened() does with boxes.
Result<Distribution> coarser(const Distribution& fine, std::int64_t ghosts) {
  std::vector<AxisCut> cuts;
  for (int dim = 0; dim < dims; ++dim) {
    const AxisCut& cut = fine.cut(dim);
    std::vector<std::int64_t> starts;
    for (std::int64_t block = 0; block < cut.blocks(); ++block) {
      starts.push_back(cut.lo(block) / 2);
    }
    TESSERA_ASSIGN_OR_RETURN(AxisCut coarse, AxisCut::at_bounds(cut.extent() / 2, starts));
    cuts.push_back(std::move(coarse));
  }
  return Distribution::create(cuts, fine.deal(), {.ghosts = Extents::filled(dims, ghosts)});
}

// An array's own box and ghosts as the kernels see them. The memory does not move, and nobody but
// this rank writes it between the exchanges.
Grid grid_of(Array<double>& array) {
  const Box box = to_box(array.own_box());
  if (box.is_empty()) {
    return {nullptr, box, 0, 0};
  }
  const arrays::Extents local = array.distribution().local_extents(array.team().rank());
  const Extents& ghosts = array.distribution().ghosts();
  const std::int64_t row = local[2];
  const std::int64_t plane = local[1] * row;
  auto* const slice = reinterpret_cast<double*>(array.region().local());
  return {slice + ghosts[0] * plane + ghosts[1] * row + ghosts[2], box, plane, row};
}

}  // namespace

Status OneSidedExchange::update(Array<double>& array, const HaloOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(Halo halo, Halo::create(array, options));
  return halo.update();
}

Status OneSidedExchange::gather(Array<double>& array, const LocalView<double>& whole) {
  TESSERA_RETURN_IF_ERROR(array.sync());
  Status status = array.get(array.box(), whole);
  // Nobody changes its part before all have read it.
  Status met = array.team().barrier();
  return status.ok() ? std::move(met) : std::move(status);
}

DistributedRun::DistributedRun(const rma::Job& job, const Problem& problem,
                               std::unique_ptr<Exchange> exchange, Array<double> u, Array<double> v)
    : job_(job),
      problem_(problem),
      exchange_(std::move(exchange)),
      u_(std::move(u)),
      v_(std::move(v)) {}

Result<DistributedRun> DistributedRun::create(const rma::Job& job, const Problem& problem,
                                              std::unique_ptr<Exchange> exchange) {
  TESSERA_ASSIGN_OR_RETURN(const Distribution cut_for_u,
                           finest(problem.edge, job.size(), sweep_u_ghosts));
  TESSERA_ASSIGN_OR_RETURN(const Distribution cut_for_v,
                           finest(problem.edge, job.size(), sweep_v_ghosts));
  TESSERA_ASSIGN_OR_RETURN(auto u, Array<double>::create(job, cut_for_u, {.name = "u"}));
  TESSERA_ASSIGN_OR_RETURN(auto v, Array<double>::create(job, cut_for_v, {.name = "v"}));
  DistributedRun run(job, problem, std::move(exchange), std::move(u), std::move(v));
  TESSERA_RETURN_IF_ERROR(run.make_levels());
  TESSERA_RETURN_IF_ERROR(run.set_problem());
  return run;
}

Status DistributedRun::make_levels() {
  const std::int64_t whole = replicated_edge(problem_.edge, job_.size());
  auto coarse = CoarseCycle::create(whole, problem_.smoother);
  TESSERA_RETURN_IF_ERROR(job_.world().agree(coarse.status()));
  coarse_.emplace(std::move(coarse).take());
  TESSERA_ASSIGN_OR_RETURN(Distribution level, coarser(u_.distribution(), middle_r_ghosts));
  for (std::int64_t edge = problem_.edge / 2; edge > whole; edge /= 2) {
    TESSERA_RETURN_IF_ERROR(make_middle_level(level));
    TESSERA_ASSIGN_OR_RETURN(level, coarser(level, middle_r_ghosts));
  }
  if (job_.size() > 1) {
    TESSERA_ASSIGN_OR_RETURN(auto r, Array<double>::create(job_, level, {.name = "replicated r"}));
    replicated_.emplace(std::move(r));
  }
  return {};
}

Status DistributedRun::make_middle_level(const Distribution& distribution) {
  TESSERA_ASSIGN_OR_RETURN(auto r, Array<double>::create(job_, distribution, {.name = "r"}));
  const Box box = to_box(r.own_box());
  // All members have the array or none; what each adds for itself they must agree upon.
  auto u = OwnedGrid::create(box, sweep_coarse_ghosts);
  TESSERA_RETURN_IF_ERROR(job_.world().agree(u.status()));
  middle_.push_back({std::move(r), std::move(u).take()});
  return {};
}

// Each rank looks through its own box; the ten extremes of the whole are among theirs.
Status DistributedRun::set_problem() {
  const Extremes mine = find_extremes(problem_.edge, to_box(u_.own_box()));
  TESSERA_ASSIGN_OR_RETURN(const std::vector<Extremes> all, job_.world().allgather_value(mine));
  Extremes extremes = all.front();
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    extremes = merge(extremes, all[rank]);
  }
  set_right_hand_side(grid_of(v_), problem_.edge, extremes);
  return update(v_, {.periodic = all_periodic()});
}

Status DistributedRun::zero_finest() {
  const Grid u = grid_of(u_);
  if (!u.box.is_empty()) {
    zero(u, grown(u.box, sweep_u_ghosts));
  }
  return u_.sync();
}

Status DistributedRun::update(Array<double>& array, const HaloOptions& options) {
  const auto start = Clock::now();
  Status status = exchange_->update(array, options);
  halo_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  return std::move(status).context("exchanging ghost cells");
}

Grid DistributedRun::coarse_correction() const {
  return middle_.empty() ? coarse_->correction() : middle_.front().u.view();
}

// Where the restriction of the finest level goes.
Grid DistributedRun::next_residual() {
  if (!middle_.empty()) {
    return grid_of(middle_.front().r);
  }
  return replicated_ ? grid_of(*replicated_) : coarse_->residual();
}

Result<Norms> DistributedRun::finest_sweep(bool corrects, bool restricts) {
  const Grid u = grid_of(u_);
  SweepTask task{.u = u,
                 .v = grid_of(v_),
                 .correction = {},
                 .restriction = {},
                 .norm_box = {},
                 .wrap = unsplit(u_.distribution()),
                 .wrap_width = sweep_u_ghosts};
  task.wrap.z = false;
  if (corrects) {
    task.correction = Correction{coarse_correction(), problem_.smoother, u.box, false};
  }
  if (restricts) {
    const Grid coarse = next_residual();
    task.restriction = Restriction{coarse, coarse.box};
  } else {
    task.norm_box = u.box;
  }
  return sweep(task, buffers_);
}

Status DistributedRun::gather_replicated() {
  if (!replicated_) {
    return {};
  }
  const auto start = Clock::now();
  const Grid& whole = coarse_->residual();
  const Index3 n = whole.box.extents();
  const LocalView<double> view(whole.data, Extents{n.z, n.y, n.x},
                               arrays::Strides{whole.plane_stride, whole.row_stride, 1});
  Status status = exchange_->gather(*replicated_, view);
  halo_seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  return std::move(status).context("gathering the coarse residual");
}

Status DistributedRun::go_down() {
  for (std::size_t k = 0; k < middle_.size(); ++k) {
    TESSERA_RETURN_IF_ERROR(update(middle_[k].r, {.periodic = all_periodic()}));
    const Grid fine = grid_of(middle_[k].r);
    const Grid coarse = k + 1 < middle_.size() ? grid_of(middle_[k + 1].r) : grid_of(*replicated_);
    restrict_to(coarse, fine, coarse.box);
  }
  return gather_replicated();
}

Status DistributedRun::go_up() {
  TESSERA_RETURN_IF_ERROR(coarse_->run(buffers_));
  for (std::size_t k = is_idle() ? 0 : middle_.size(); k > 0; --k) {
    MiddleLevel& level = middle_[k - 1];
    SweepTask task;
    task.u = level.u.view();
    task.v = grid_of(level.r);
    const Grid below = k == middle_.size() ? coarse_->correction() : middle_[k].u.view();
    task.correction =
        Correction{below, problem_.smoother, grown(task.u.box, sweep_coarse_ghosts), true};
    TESSERA_RETURN_IF_ERROR(sweep(task, buffers_).status());
  }
  return {};
}

Result<Norms> DistributedRun::cycle(bool is_last) {
  TESSERA_RETURN_IF_ERROR(go_down());
  TESSERA_RETURN_IF_ERROR(go_up());
  TESSERA_ASSIGN_OR_RETURN(const Norms norms, finest_sweep(true, !is_last));
  if (!is_last) {
    const Wrap own = unsplit(u_.distribution());
    PeriodicDims by_sweep;
    by_sweep.set(1, own.y);
    by_sweep.set(2, own.x);
    TESSERA_RETURN_IF_ERROR(update(u_, {.periodic = all_periodic(), .left_out = by_sweep}));
  }
  return norms;
}

Result<RunResult> DistributedRun::run(std::int64_t cycles) {
  TESSERA_RETURN_IF_ERROR(zero_finest());
  halo_seconds_ = 0.0;
  TESSERA_RETURN_IF_ERROR(job_.barrier());
  const auto start = Clock::now();
  TESSERA_ASSIGN_OR_RETURN(Norms norms, finest_sweep(false, cycles > 0));
  for (std::int64_t number = 1; number <= cycles; ++number) {
    auto done = cycle(number == cycles);
    if (!done.ok()) {
      return std::move(done).status().context(fmt::format("cycle {} of {}", number, cycles));
    }
    norms = *done;
  }
  TESSERA_ASSIGN_OR_RETURN(const double sum,
                           job_.world().allreduce(norms.sum_squares, rma::Reduction::sum));
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  TESSERA_ASSIGN_OR_RETURN(const double greatest,
                           job_.world().allreduce(norms.greatest, rma::Reduction::max));
  TESSERA_ASSIGN_OR_RETURN(const double seconds,
                           job_.world().allreduce(elapsed.count(), rma::Reduction::max));
  const auto points = static_cast<double>(problem_.edge) * static_cast<double>(problem_.edge) *
                      static_cast<double>(problem_.edge);
  return RunResult{.norm = std::sqrt(sum / points),
                   .greatest = greatest,
                   .seconds = seconds,
                   .halo_seconds = halo_seconds_};
}

}  // namespace tessera::apps::mg
