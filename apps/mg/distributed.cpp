// SPDX-License-Identifier: BSD-3-Clause
#include "apps/mg/distributed.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "apps/mg/initial.hpp"
#include "apps/mg/kernels.hpp"
#include "rma/coalescing_scope.hpp"

namespace tessera::apps::mg {

using arrays::Array;
using arrays::BlockMap;
using arrays::BlockPartition1D;
using arrays::Distribution;
using arrays::Extents;
using arrays::PeriodicDims;
using rma::Result;
using rma::Status;

namespace {

using Clock = std::chrono::steady_clock;

/// Adds its lifetime to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

constexpr std::int64_t middle_r_ghosts = sweep_coarse_ghosts + 1;
// How many layers of r are read in dimensions that are not split.
constexpr std::int64_t middle_r_wrapped = 1;
constexpr int dims = 3;

PeriodicDims all_periodic() {
  return PeriodicDims().set();
}

/// The dimensions in which this rank's box spans the level: its ghosts there are its own points.
Wrap unsplit(const Distribution& distribution) {
  return {distribution.partition(0).blocks() == 1, distribution.partition(1).blocks() == 1,
          distribution.partition(2).blocks() == 1};
}

/// The same for the dimensions that sweeps and restrictions fill; the exchange fills z.
Wrap unsplit_rows(const Distribution& distribution) {
  Wrap wrap = unsplit(distribution);
  wrap.z = false;
  return wrap;
}

/// `box` with `width` more layers in the dimensions that do not wrap.
Box grown_where_split(const Box& box, std::int64_t width, const Wrap& wrap) {
  Box result = grown(box, width);
  if (wrap.y) {
    result.lo.y = box.lo.y;
    result.hi.y = box.hi.y;
  }
  if (wrap.x) {
    result.lo.x = box.lo.x;
    result.hi.x = box.hi.x;
  }
  return result;
}

// Even blocks for the ranks of process_grid(); other ranks get none.
Result<Distribution> finest(std::int64_t edge, std::int64_t ranks, std::int64_t ghosts) {
  const Index3 grid = process_grid(edge, ranks);
  std::vector<BlockPartition1D> partitions;
  for (const std::int64_t blocks : {grid.z, grid.y, grid.x}) {
    TESSERA_ASSIGN_OR_RETURN(BlockPartition1D partition, BlockPartition1D::even(edge, blocks));
    partitions.push_back(std::move(partition));
  }
  TESSERA_ASSIGN_OR_RETURN(const BlockMap blocks_of_ranks,
                           BlockMap::grid({grid.z, grid.y, grid.x}, ranks));
  return Distribution::create(partitions, blocks_of_ranks,
                              {.ghosts = Extents::filled(dims, ghosts)});
}

// The distribution of the level below: each bound halved, as coarsened() does with boxes.
Result<Distribution> coarser(const Distribution& fine, std::int64_t ghosts) {
  std::vector<BlockPartition1D> partitions;
  for (int dim = 0; dim < dims; ++dim) {
    const BlockPartition1D& partition = fine.partition(dim);
    std::vector<std::int64_t> starts;
    for (std::int64_t block = 0; block < partition.blocks(); ++block) {
      starts.push_back(partition.lo(block) / 2);
    }
    TESSERA_ASSIGN_OR_RETURN(BlockPartition1D coarse,
                             BlockPartition1D::at_bounds(partition.extent() / 2, starts));
    partitions.push_back(std::move(coarse));
  }
  return Distribution::create(partitions, fine.block_map(),
                              {.ghosts = Extents::filled(dims, ghosts)});
}

// An array's own box and ghosts for the kernels. The memory does not move, and only this rank
// writes it between exchanges.
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

DistributedRun::DistributedRun(const rma::Job& job, const Problem& problem,
                               std::unique_ptr<Exchange> exchange, std::unique_ptr<Finest> finest)
    : job_(job), problem_(problem), exchange_(std::move(exchange)), finest_(std::move(finest)) {}

Result<DistributedRun> DistributedRun::create(const rma::Job& job, const Problem& problem,
                                              std::unique_ptr<Exchange> exchange) {
  TESSERA_ASSIGN_OR_RETURN(const Distribution distribution_of_u,
                           finest(problem.edge, job.size(), sweep_u_ghosts));
  TESSERA_ASSIGN_OR_RETURN(const Distribution distribution_of_v,
                           finest(problem.edge, job.size(), sweep_v_ghosts));
  TESSERA_ASSIGN_OR_RETURN(auto u, Array<double>::create(job, distribution_of_u, {.name = "u"}));
  TESSERA_ASSIGN_OR_RETURN(auto v, Array<double>::create(job, distribution_of_v, {.name = "v"}));
  DistributedRun run(job, problem, std::move(exchange),
                     std::make_unique<Finest>(Finest{std::move(u), std::move(v)}));
  TESSERA_ASSIGN_OR_RETURN(const Distribution replicated, run.make_levels());
  TESSERA_RETURN_IF_ERROR(run.plan_exchanges(replicated));
  TESSERA_RETURN_IF_ERROR(run.set_problem());
  return run;
}

Result<Distribution> DistributedRun::make_levels() {
  const std::int64_t whole = replicated_edge(problem_.edge, job_.size());
  auto coarse = CoarseCycle::create(whole, problem_.smoother);
  TESSERA_RETURN_IF_ERROR(job_.world().agree(coarse.status()));
  coarse_.emplace(std::move(coarse).take());
  TESSERA_ASSIGN_OR_RETURN(Distribution level, coarser(finest_->u.distribution(), middle_r_ghosts));
  for (std::int64_t edge = problem_.edge / 2; edge > whole; edge /= 2) {
    TESSERA_RETURN_IF_ERROR(make_middle_level(level));
    TESSERA_ASSIGN_OR_RETURN(level, coarser(level, middle_r_ghosts));
  }
  return level;
}

Status DistributedRun::make_middle_level(const Distribution& distribution) {
  TESSERA_ASSIGN_OR_RETURN(auto r, Array<double>::create(job_, distribution, {.name = "r"}));
  const Box box = to_box(r.own_box());
  // All members have the array or none; here they agree on what each allocates by itself.
  auto u = OwnedGrid::create(box, sweep_coarse_ghosts);
  TESSERA_RETURN_IF_ERROR(job_.world().agree(u.status()));
  middle_.push_back({std::move(r), std::move(u).take()});
  return {};
}

Status DistributedRun::plan_exchanges(const Distribution& replicated) {
  const Wrap own = unsplit(finest_->u.distribution());
  PeriodicDims by_sweep;
  by_sweep.set(1, own.y);
  by_sweep.set(2, own.x);
  const arrays::HaloOptions options{.periodic = all_periodic(), .left_out = by_sweep};
  TESSERA_ASSIGN_OR_RETURN(finest_->ghosts_of_u, exchange_->plan(finest_->u, options));
  for (MiddleLevel& level : middle_) {
    TESSERA_ASSIGN_OR_RETURN(level.ghosts_of_r, exchange_->plan(level.r, options));
  }
  if (job_.size() > 1) {
    TESSERA_ASSIGN_OR_RETURN(gathering_,
                             exchange_->plan_gathering(job_, replicated, coarse_->residual()));
  }
  return {};
}

// Each rank searches its own box; the ten extremes of the whole are among theirs.
Status DistributedRun::set_problem() {
  const Extremes own = find_extremes(problem_.edge, to_box(finest_->u.own_box()));
  TESSERA_ASSIGN_OR_RETURN(const std::vector<Extremes> all, job_.world().allgather_value(own));
  Extremes extremes = all.front();
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    extremes = merge(extremes, all[rank]);
  }
  set_right_hand_side(grid_of(finest_->v), problem_.edge, extremes);
  TESSERA_ASSIGN_OR_RETURN(const Ghosts ghosts_of_v,
                           exchange_->plan(finest_->v, {.periodic = all_periodic()}));
  TESSERA_RETURN_IF_ERROR(ghosts_of_v->start());
  return ghosts_of_v->finish();
}

Status DistributedRun::zero_finest() {
  const Grid u = grid_of(finest_->u);
  if (!u.box.is_empty()) {
    zero(u, grown(u.box, sweep_u_ghosts));
  }
  return finest_->u.sync();
}

Status DistributedRun::post_middle() {
  const Stopwatch watch(halo_seconds_);
  const rma::CoalescingScope one_message(job_);
  for (MiddleLevel& level : middle_) {
    TESSERA_RETURN_IF_ERROR(level.ghosts_of_r->post().context("exchanging ghost cells"));
  }
  return {};
}

// Posted after the data that the neighbours need sooner. Requires: a stopwatch runs.
Status DistributedRun::post_u_if(bool posts_u) {
  return posts_u ? finest_->ghosts_of_u->post().context("exchanging ghost cells") : Status();
}

Status DistributedRun::start(Ghosts& ghosts, bool posts_u) {
  const Stopwatch watch(halo_seconds_);
  const rma::CoalescingScope one_message(job_);
  TESSERA_RETURN_IF_ERROR(ghosts->start().context("exchanging ghost cells"));
  return post_u_if(posts_u);
}

Status DistributedRun::finish(Ghosts& ghosts) {
  const Stopwatch watch(halo_seconds_);
  return ghosts->finish().context("exchanging ghost cells");
}

Grid DistributedRun::coarse_correction() const {
  return middle_.empty() ? coarse_->correction() : middle_.front().u.view();
}

// The part to which this rank restricts, before it has the others' parts.
Grid DistributedRun::own_part_of_replicated() const {
  const Grid& whole = coarse_->residual();
  Box box = to_box(finest_->u.own_box());
  for (std::size_t level = 0; level <= middle_.size(); ++level) {
    box = coarsened(box);
  }
  return {whole.at(box.lo.z, box.lo.y, box.lo.x), box, whole.plane_stride, whole.row_stride};
}

// The target of the restriction of a level: the first middle level for the finest one, and so on.
Grid DistributedRun::residual_below(std::size_t middle) {
  return middle < middle_.size() ? grid_of(middle_[middle].r) : own_part_of_replicated();
}

// How many ghost layers the restriction sets there. The replicated level sets its own.
std::int64_t DistributedRun::wrapped_below(std::size_t middle) const {
  return middle < middle_.size() ? middle_r_wrapped : 0;
}

Result<Norms> DistributedRun::finest_sweep(bool corrects, bool restricts) {
  const Grid u = grid_of(finest_->u);
  SweepTask task{.u = u,
                 .v = grid_of(finest_->v),
                 .correction = {},
                 .restriction = {},
                 .norm_box = {},
                 .wrap = unsplit_rows(finest_->u.distribution()),
                 .wrap_width = sweep_u_ghosts};
  if (corrects) {
    task.correction = Correction{coarse_correction(), problem_.smoother, u.box, false};
  }
  if (restricts) {
    const Grid coarse = residual_below(0);
    task.restriction = Restriction{coarse, coarse.box, wrapped_below(0)};
  } else {
    task.norm_box = u.box;
  }
  return sweep(task, buffers_);
}

Status DistributedRun::gather_replicated(bool posts_u) {
  const Stopwatch watch(halo_seconds_);
  const auto attempt = [](Status status) {
    return std::move(status).context("gathering the coarse residual");
  };
  {
    const rma::CoalescingScope one_message(job_);
    if (gathering_) {
      TESSERA_RETURN_IF_ERROR(attempt(gathering_->start()));
    }
    TESSERA_RETURN_IF_ERROR(post_u_if(posts_u));
  }
  return gathering_ ? attempt(gathering_->finish()) : Status();
}

// With `posts_u` the finest sweep has read the ghost cells of u that the next exchange writes.
Status DistributedRun::go_down(bool posts_u) {
  for (std::size_t k = 0; k < middle_.size(); ++k) {
    TESSERA_RETURN_IF_ERROR(restrict_middle(k, posts_u && k == 0));
  }
  return gather_replicated(posts_u && middle_.empty());
}

// First the points that need no ghost cells of other ranks, while those are moved.
Status DistributedRun::restrict_middle(std::size_t middle, bool posts_u) {
  MiddleLevel& level = middle_[middle];
  const Grid fine = grid_of(level.r);
  const Grid coarse = residual_below(middle + 1);
  const Wrap wrap = unsplit_rows(level.r.distribution());
  const std::int64_t wrapped = wrapped_below(middle + 1);
  const Box inner = restricted_alone(coarse.box, fine.box, wrap);
  TESSERA_RETURN_IF_ERROR(start(level.ghosts_of_r, posts_u));
  restrict_to(coarse, fine, inner, wrap, wrapped);
  TESSERA_RETURN_IF_ERROR(finish(level.ghosts_of_r));
  for (const Box& part : without(coarse.box, inner)) {
    restrict_to(coarse, fine, part, wrap, wrapped);
  }
  return {};
}

Status DistributedRun::go_up() {
  TESSERA_RETURN_IF_ERROR(coarse_->run(buffers_));
  for (std::size_t k = is_idle() ? 0 : middle_.size(); k > 0; --k) {
    MiddleLevel& level = middle_[k - 1];
    SweepTask task;
    task.u = level.u.view();
    task.v = grid_of(level.r);
    const Grid below = k == middle_.size() ? coarse_->correction() : middle_[k].u.view();
    task.wrap = unsplit_rows(level.r.distribution());
    task.wrap_width = sweep_coarse_ghosts;
    task.correction =
        Correction{below, problem_.smoother,
                   grown_where_split(task.u.box, sweep_coarse_ghosts, task.wrap), true};
    TESSERA_RETURN_IF_ERROR(sweep(task, buffers_).status());
  }
  return {};
}

Result<Norms> DistributedRun::cycle(bool is_first, bool is_last) {
  TESSERA_RETURN_IF_ERROR(go_down(!is_first));
  // After what the levels below need, and before most of their work. Before the first cycle u is
  // zero, ghost cells too.
  if (!is_first) {
    TESSERA_RETURN_IF_ERROR(start(finest_->ghosts_of_u));
  }
  TESSERA_RETURN_IF_ERROR(go_up());
  if (!is_first) {
    TESSERA_RETURN_IF_ERROR(finish(finest_->ghosts_of_u));
  }
  if (is_last) {
    return finest_sweep(true, false);
  }
  TESSERA_RETURN_IF_ERROR(post_middle());
  return finest_sweep(true, true);
}

Result<RunResult> DistributedRun::run(std::int64_t cycles, const CycleProgress& progress) {
  TESSERA_RETURN_IF_ERROR(zero_finest());
  halo_seconds_ = 0.0;
  TESSERA_RETURN_IF_ERROR(job_.barrier());
  const auto start = Clock::now();
  TESSERA_RETURN_IF_ERROR(post_middle());
  TESSERA_ASSIGN_OR_RETURN(Norms norms, finest_sweep(false, cycles > 0));
  for (std::int64_t number = 1; number <= cycles; ++number) {
    auto done = cycle(number == 1, number == cycles);
    if (!done.ok()) {
      return std::move(done).status().context(fmt::format("cycle {} of {}", number, cycles));
    }
    norms = *done;
    if (progress) {
      progress(number);
    }
  }
  TESSERA_ASSIGN_OR_RETURN(const double sum,
                           job_.world().allreduce(norms.sum_squares, rma::Reduction::sum));
  const std::chrono::duration<double> elapsed = Clock::now() - start;
  TESSERA_ASSIGN_OR_RETURN(const double seconds,
                           job_.world().allreduce(elapsed.count(), rma::Reduction::max));
  TESSERA_ASSIGN_OR_RETURN(const double halo_seconds,
                           job_.world().allreduce(halo_seconds_, rma::Reduction::max));
  TESSERA_ASSIGN_OR_RETURN(const double exposed_seconds,
                           job_.world().allreduce(halo_seconds_, rma::Reduction::min));
  const auto points = static_cast<double>(problem_.edge) * static_cast<double>(problem_.edge) *
                      static_cast<double>(problem_.edge);
  return RunResult{.norm = std::sqrt(sum / points),
                   .seconds = seconds,
                   .halo_seconds = halo_seconds,
                   .exposed_seconds = exposed_seconds};
}

}  // namespace tessera::apps::mg
