// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/triples.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "apps/ccsd/triples_fetch.hpp"
#include "apps/ccsd/triples_task.hpp"
#include "arrays/counter.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::Result;

// Larger tiles need fewer fetches and leave fewer tasks; beyond this size the gain is small.
constexpr std::int64_t largest_tile = 8;
constexpr std::int64_t max_buffer_bytes = std::int64_t{64} << 20;

std::int64_t buffer_elements(const OrbitalSpace& space, std::int64_t tile) {
  return TriplesFetch::elements(space, tile) + TriplesTask::elements(space, tile);
}

std::int64_t tile_length(const OrbitalSpace& space) {
  std::int64_t tile = std::min(largest_tile, std::max<std::int64_t>(space.virtuals, 1));
  while (tile > 1 &&
         buffer_elements(space, tile) * std::int64_t{sizeof(double)} > max_buffer_bytes) {
    --tile;
  }
  return tile;
}

std::int64_t triple_count(std::int64_t n) {
  return n * (n + 1) * (n + 2) / 6;
}

/// The triple A ≥ B ≥ C with a number, in the order of A, B, C.
std::array<std::int64_t, 3> triple_at(std::int64_t number) {
  std::int64_t a = 0;
  while (triple_count(a + 1) <= number) {
    ++a;
  }
  const auto [b, c] = pair_at(number - triple_count(a));
  return {a, b, c};
}

/// How virtual orbitals are divided into tiles, and triples of tiles are numbered.
struct Tiling {
  std::int64_t virtuals = 0;
  std::int64_t tile = 0;

  [[nodiscard]] std::int64_t task_count() const {
    return triple_count((virtuals + tile - 1) / tile);
  }
  [[nodiscard]] TripleRanges ranges_of(std::int64_t task) const {
    const std::array<std::int64_t, 3> tiles = triple_at(task);
    TripleRanges ranges;
    for (std::size_t slot = 0; slot < ranges.size(); ++slot) {
      ranges[slot] = {tiles[slot] * tile, std::min((tiles[slot] + 1) * tile, virtuals)};
    }
    return ranges;
  }
};

/// Draws tasks until none is left; returns this rank's part of the energy. Fetches the next task's
/// data while it computes a task.
Result<double> run_tasks(const arrays::Counter& counter, TriplesFetch& fetch, TriplesTask& task,
                         const Tiling& tiling, const TriplesProgress& progress) {
  const std::int64_t tasks = tiling.task_count();
  double energy = 0.0;
  TESSERA_ASSIGN_OR_RETURN(std::int64_t number, counter.next());
  if (number < tasks) {
    fetch.start(tiling.ranges_of(number));
  }
  while (number < tasks) {
    TESSERA_RETURN_IF_ERROR(fetch.wait());
    task.assemble(fetch);
    TESSERA_ASSIGN_OR_RETURN(number, counter.next());
    if (number < tasks) {
      fetch.start(tiling.ranges_of(number));
    }
    if (progress) {
      progress(static_cast<double>(std::min(number, tasks)) / static_cast<double>(tasks));
    }
    TESSERA_ASSIGN_OR_RETURN(const double part, task.energy());
    energy += part;
  }
  return energy;
}

}  // namespace

std::int64_t triples_buffer_bytes(const OrbitalSpace& space) {
  return buffer_elements(space, tile_length(space)) * std::int64_t{sizeof(double)};
}

double triples_operations(const OrbitalSpace& space) {
  const auto o = static_cast<double>(space.occupied);
  const auto v = static_cast<double>(space.virtuals);
  return 2.0 * o * o * o * v * v * v * (o + v);
}

Result<double> triples_energy(rma::Job& job, const Model& model, Integrals& integrals,
                              Amplitudes& amplitudes, const TriplesProgress& progress) {
  TESSERA_ASSIGN_OR_RETURN(const auto counter, arrays::Counter::create(job, job.world()));
  const std::int64_t tile = tile_length(model.space);
  TriplesFetch fetch(model.space, integrals, amplitudes, tile);
  TriplesTask task(model, amplitudes.t1, tile);
  auto own = run_tasks(counter, fetch, task, {model.space.virtuals, tile}, progress);
  TESSERA_RETURN_IF_ERROR(job.world().agree(own.status()).context("the triples of 't2'"));
  return job.world().allreduce(*own, rma::Reduction::sum);
}

}  // namespace tessera::apps::ccsd
