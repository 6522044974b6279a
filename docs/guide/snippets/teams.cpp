// SPDX-License-Identifier: BSD-3-Clause
// The code of docs/guide/08-teams-counters-locks.md.
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <tessera/arrays/array.hpp>
#include <tessera/arrays/counter.hpp>
#include <tessera/arrays/flags.hpp>
#include <tessera/arrays/reductions.hpp>
#include <tessera/rma/collectives.hpp>
#include <tessera/rma/lock.hpp>
#include "docs/guide/snippets/expect.hpp"

using namespace tessera::arrays;
using guide::expect;
using tessera::rma::Job;
using tessera::rma::LockSet;
using tessera::rma::Reduction;
using tessera::rma::require;
using tessera::rma::Team;
using tessera::rma::TeamRank;
using tessera::rma::WorldRank;

namespace {

void make_teams(Job& job) {
  // [split]
  // Ranks 0, 2, 4, … and ranks 1, 3, 5, …; each half is ordered by rank.
  Team half = job.world().split(job.rank().value % 2, job.rank().value).value();
  auto a = Array<double>::create(job, {100}, {.name = "A", .team = half}).value();
  require(fill(a, 1.0));                // collective over `half` only
  const double total = sum(a).value();  // 100, in each half
  // [/split]
  expect(total == 100, "each half has an array of its own");
  // [list]
  if (job.rank().value > 0) {
    std::vector<WorldRank> others;  // all except rank 0
    for (int rank = 1; rank < job.size(); ++rank) {
      others.push_back({rank});
    }
    Team workers = Team::create(job, others).value();
    require(workers.barrier());
  }
  // [/list]
}

void meet(Job& job) {
  // [collectives]
  Team& world = job.world();
  const int mine = job.rank().value + 1;
  const int most = world.allreduce(mine, Reduction::max).value();
  const std::vector<int> all = world.allgather_value(mine).value();
  double step = job.rank().value == 0 ? 0.125 : 0;
  require(world.broadcast_value(step, {0}));  // from rank 0 to all
  require(job.barrier());                     // a fence of everything, then all meet
  // [/collectives]
  expect(most == job.size() && all.back() == most && step == 0.125, "all have the same");
}

struct Particle {
  double position = 0;
};

void move_particles(Job& job) {
  const auto ranks = static_cast<std::size_t>(job.size());
  std::vector<std::int64_t> leaving(ranks, 2);
  std::vector<Particle> sorted(2 * ranks, {1.0 * job.rank().value});
  // [blocks]
  // Particles, sorted by the ranks to which they move: leaving[r] of them go to rank r.
  Team& world = job.world();
  std::vector<std::int64_t> arriving(leaving.size());
  require(alltoall(world, leaving, arriving));
  std::vector<Particle> mine(std::accumulate(arriving.begin(), arriving.end(), std::size_t{0}));
  require(alltoallv(world, sorted, {.counts = leaving}, mine, {.counts = arriving}));
  double energy = 1;  // … of mine …
  auto sum = allreduce_async(world, std::span(&energy, 1), Reduction::sum);
  // … other work …
  require(sum.wait());
  // [/blocks]
  expect(mine.size() == 2 * ranks && mine.back().position == job.size() - 1, "all have arrived");
  expect(energy == job.size(), "the sum is complete");
}

void draw_tasks(Job& job) {
  std::int64_t done = 0;
  // [counter]
  auto counter = Counter::create(job, job.world()).value();
  constexpr std::int64_t tasks = 1000;
  constexpr std::int64_t bunch = 10;  // drawn at a time
  for (auto first = counter.next(bunch).value(); first < tasks;
       first = counter.next(bunch).value()) {
    for (std::int64_t task = first; task < first + bunch; ++task) {
      ++done;  // … work on the task …
    }
  }
  // [/counter]
  expect(job.world().allreduce(done, Reduction::sum).value() == tasks, "each task was done once");
}

void guard(Job& job) {
  // [locks]
  auto totals = Array<double>::create(job, {2}, {.name = "totals"}).value();
  auto locks = LockSet::create(job.world(), 1).value();  // each rank brings one lock
  require(locks.lock({0}, 0));                           // the lock of rank 0
  std::vector<double> both(2);
  require(totals.get(totals.box(), both));
  both[0] += 1;
  both[1] += both[0];
  require(totals.put(totals.box(), both));
  require(totals.fence());  // before others can take the lock
  require(locks.unlock({0}, 0));
  // [/locks]
  require(totals.sync());
  expect(totals.get_element({1}).value() == job.size() * (job.size() + 1) / 2, "one at a time");
}

void tell_a_neighbour(Job& job) {
  // [flags]
  const int ranks = job.size();
  const int me = job.rank().value;
  const int next = (me + 1) % ranks;
  const TeamRank before{(me + ranks - 1) % ranks};
  auto edges = Array<double>::create(job, {ranks, 100}, {.process_grid = {ranks, 1}}).value();
  auto flags = Array<std::int32_t>::create(job, {ranks}, {.name = "flags"}).value();
  std::vector<double> edge(100, me);
  const Box row({next, 0}, {next + 1, 100});
  require(put_with_flag(edges, row, std::span<const double>(edge), {flags, {next}}, 1));
  require(wait_for_flag({flags, {me}}, 1, before));  // sleeps until the flag is raised
  require(edges.get(Box({me, 0}, {me + 1, 100}), edge));
  // [/flags]
  expect(edge == std::vector<double>(100, before.value), "what the rank before has put");
}

}  // namespace

int main() {
  auto job = Job::start().value();
  make_teams(job);
  meet(job);
  move_particles(job);
  draw_tasks(job);
  guard(job);
  tell_a_neighbour(job);
}
