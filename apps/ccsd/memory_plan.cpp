// SPDX-License-Identifier: BSD-3-Clause
#include "apps/ccsd/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/multiply_rate.hpp"
#include "apps/ccsd/solver.hpp"
#include "apps/ccsd/triples.hpp"
#include "rma/memory.hpp"

namespace tessera::apps::ccsd {
namespace {

using rma::human_bytes;
using rma::Status;

constexpr std::int64_t element_bytes = sizeof(double);

std::int64_t sum(const std::vector<PlannedMemory>& parts) {
  return std::accumulate(
      parts.begin(), parts.end(), std::int64_t{0},
      [](std::int64_t total, const PlannedMemory& part) { return total + part.bytes_per_rank; });
}

std::string human(std::int64_t bytes) {
  return human_bytes(static_cast<std::uint64_t>(bytes));
}

}  // namespace

MemoryPlan MemoryPlan::create(const OrbitalSpace& space, std::int64_t ranks,
                              const PlanOptions& options) {
  const std::int64_t o = space.occupied;
  const std::int64_t v = space.virtuals;
  MemoryPlan plan;
  const auto add = [&](const Shape& shape, std::int64_t count) {
    const std::int64_t rows = (shape.rows + ranks - 1) / ranks;
    plan.arrays.push_back({shape.name, count * rows * shape.columns * element_bytes});
  };
  for (const Shape& shape : integral_shapes(space)) {
    add(shape, 1);
  }
  for (const Shape& shape : Workspace::shapes(space)) {
    add(shape, 1);
  }
  add({"amplitudes", o * v, o * v}, 2);
  add({"diis", o * v, o * v}, 2 * static_cast<std::int64_t>(diis_depth));
  std::stable_sort(plan.arrays.begin(), plan.arrays.end(),
                   [](const PlannedMemory& a, const PlannedMemory& b) {
                     return a.bytes_per_rank > b.bytes_per_rank;
                   });
  plan.buffers.push_back({"tiles", ContractionEngine::buffer_bytes(options.tile)});
  // Rows of one occupied index, of amplitudes twice; the quantities that are on all ranks.
  plan.buffers.push_back(
      {"rows", (2 * o * v * v + o * o * v + 64 * o * v + 6 * v * v + 4 * o * o) * element_bytes});
  if (options.measures_rate) {
    plan.buffers.push_back(
        {"multiply_rate", 3 * multiply_rate_order * multiply_rate_order * element_bytes});
  }
  if (options.has_triples) {
    plan.buffers.push_back({"triples", triples_buffer_bytes(space)});
  }
  return plan;
}

std::int64_t MemoryPlan::array_bytes_per_rank() const noexcept {
  return sum(arrays);
}

std::int64_t MemoryPlan::buffer_bytes_per_rank() const noexcept {
  return sum(buffers);
}

Status MemoryPlan::check(const rma::Job& job) const {
  const auto ranks = static_cast<std::int64_t>(job.node_ranks().size());
  const std::int64_t needed = ranks * (array_bytes_per_rank() + buffer_bytes_per_rank());
  const auto available = static_cast<std::int64_t>(rma::available_memory_bytes());
  // A tenth is left to the rest of the machine, which would otherwise be swept out by our pages.
  if (needed <= available / 10 * 9) {
    return {};
  }
  return Status::error(
             rma::Code::no_memory,
             fmt::format("{} ranks on this node need {}, of which {} a rank are for {}; {} are "
                         "available, of which 90 % may be used",
                         ranks, human(needed), human(arrays.front().bytes_per_rank),
                         arrays.front().name, human(available)))
      .hint("use more nodes, or a smaller basis set");
}

}  // namespace tessera::apps::ccsd
