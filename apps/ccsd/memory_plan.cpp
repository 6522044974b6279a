// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/memory_plan.hpp"

#include <algorithm>
#include <numeric>

#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/multiply_rate.hpp"
#include "apps/ccsd/solver.hpp"
#include "apps/ccsd/triples.hpp"
#include "rma/base/memory.hpp"

namespace tessera::apps::ccsd {
namespace {

constexpr std::int64_t element_bytes = sizeof(double);
// Larger needs are shown as this: more than any machine has, and sums still fit into 64 bits.
constexpr double max_bytes = 0x1p56;

std::int64_t sum(const std::vector<PlannedMemory>& parts) {
  return std::accumulate(
      parts.begin(), parts.end(), std::int64_t{0},
      [](std::int64_t total, const PlannedMemory& part) { return total + part.bytes_per_rank; });
}

}  // namespace

std::string human_memory(std::int64_t bytes) {
  const std::string text = rma::human_bytes(static_cast<std::uint64_t>(bytes));
  return static_cast<double>(bytes) < max_bytes ? text : "more than " + text;
}

MemoryPlan MemoryPlan::create(const OrbitalSpace& space, std::int64_t ranks,
                              const PlanOptions& options) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  MemoryPlan plan;
  std::int64_t largest_tile = 0;
  // Adds `count` arrays of that shape, distributed by rows.
  const auto add_arrays = [&](const Shape& shape, std::int64_t count) {
    largest_tile = std::max(
        largest_tile, std::min(options.tile, shape.rows) * std::min(options.tile, shape.columns));
    const std::int64_t rows = (shape.rows + ranks - 1) / ranks;
    const double bytes = static_cast<double>(count * element_bytes) * static_cast<double>(rows) *
                         static_cast<double>(shape.columns);
    plan.arrays.push_back({shape.name, static_cast<std::int64_t>(std::min(bytes, max_bytes))});
    plan.needed_bytes_per_rank += bytes;
  };
  for (const Shape& shape : integral_shapes(space)) {
    add_arrays(shape, 1);
  }
  for (const Shape& shape : Workspace::shapes(space)) {
    add_arrays(shape, 1);
  }
  add_arrays({"amplitudes", o * v, o * v}, 2);
  add_arrays({"diis", o * v, o * v}, 2 * static_cast<std::int64_t>(diis_depth));
  const std::int64_t tile_bytes = ContractionEngine::buffer_bytes(largest_tile);
  if (options.reads_file) {
    // The terms of the Fock matrix, by pairs of orbitals (reference_state.hpp).
    add_arrays({"fock", pair_count(space.orbitals()), 2 * space.doubly_occupied() + 1}, 1);
  }
  std::stable_sort(plan.arrays.begin(), plan.arrays.end(),
                   [](const PlannedMemory& a, const PlannedMemory& b) {
                     return a.bytes_per_rank > b.bytes_per_rank;
                   });
  plan.buffers.push_back({"tiles", tile_bytes});
  // The rows of one occupied index: O V² elements for each of two sets of amplitudes, and O² V. The
  // other terms are vectors and small matrices that every rank holds whole.
  plan.buffers.push_back(
      {"rows", (2 * o * v * v + o * o * v + 65 * o * v + 7 * v * v + 5 * o * o) * element_bytes});
  if (options.reads_file) {
    // A reordering of the orbitals needs a second copy.
    plan.buffers.push_back({"fock", 2 * pair_count(space.orbitals()) * element_bytes});
  }
  if (options.measures_rate) {
    plan.buffers.push_back(
        {"multiply_rate", 3 * multiply_rate_order * multiply_rate_order * element_bytes});
  }
  if (options.has_triples) {
    plan.buffers.push_back({"triples", triples_buffer_bytes(space)});
  }
  plan.needed_bytes_per_rank += static_cast<double>(plan.buffer_bytes_per_rank());
  return plan;
}

std::int64_t MemoryPlan::array_bytes_per_rank() const noexcept {
  return sum(arrays);
}

std::int64_t MemoryPlan::buffer_bytes_per_rank() const noexcept {
  return sum(buffers);
}

}  // namespace tessera::apps::ccsd
