// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/memory.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/memory_plan.hpp"
#include "apps/ccsd/molecule.hpp"
#include "apps/ccsd/solver.hpp"
#include "apps/mg/distributed.hpp"
#include "apps/mg/problem.hpp"
#include "apps/spmv/generate.hpp"
#include "bench/peak.hpp"
#include "linalg/sparse_builder.hpp"
#include "linalg/spmv.hpp"

namespace tessera::bench {
namespace {

namespace ccsd = apps::ccsd;
namespace mg = apps::mg;
namespace spmv = apps::spmv;
using arrays::Array;

// On all levels u and its right-hand side: v on the finest, residuals below.
PeakWork grids(rma::Job& job, char class_name) {
  const mg::Problem problem = *mg::parse_class(std::string(1, class_name)).problem;
  std::int64_t points = 0;
  for (std::int64_t edge = problem.edge; edge >= 2; edge /= 2) {
    points += 2 * edge * edge * edge;
  }
  return {.name = "mg",
          .size = fmt::format("class {}", class_name),
          .data = points * static_cast<std::int64_t>(sizeof(double)) / job.size(),
          .run = [job, problem] {
            auto solver = mg::DistributedRun::create(job, problem).value();
            rma::require(solver.run(1).status());
          }};
}

void build_and_multiply(rma::Job& job, const spmv::Generator& generator, std::int64_t lo,
                        std::int64_t hi) {
  auto builder =
      linalg::SparseBuilder<double>::create(job, generator.rows(), generator.rows()).value();
  builder.reserve((hi - lo) * generator.most_in_row());
  for (std::int64_t row = lo; row < hi; ++row) {
    generator.give_row(row, [&](std::int64_t at, std::int64_t column, double value) {
      rma::require(builder.add(at, column, value));
    });
  }
  auto matrix = builder.assemble().value();
  auto x = Array<double>::create(job, matrix.row_distribution(), {.name = "x"}).value();
  auto y = x.duplicate("y").value();
  auto plan = linalg::SpmvPlan<double>::create(matrix, x, y).value();
  rma::require(plan.multiply(matrix, x, y));
}

// Entries are values and columns of 64 bits. sparse_builder.hpp states what building takes.
PeakWork sparse_matrix(rma::Job& job, const std::string& name) {
  constexpr std::int64_t bytes_of_entry = 16;
  constexpr std::int64_t bytes_of_row = std::int64_t{8} * 3;  // its start, x and y
  constexpr std::int64_t bytes_while_built = sizeof(linalg::Triplet<double>) + 40;
  const spmv::Generator generator = spmv::parse_generator(name).value();
  const auto even = arrays::Distribution::regular({generator.rows()}, job.size()).value();
  const arrays::Box own = even.box_of(job.world().rank());
  const std::int64_t entries = own.volume() * generator.most_in_row();
  return {.name = "spmv",
          .size = name,
          .data = entries * bytes_of_entry + own.volume() * bytes_of_row,
          .buffers = entries * (bytes_while_built - bytes_of_entry),
          .run = [job, generator, own]() mutable {
            build_and_multiply(job, generator, own.lo(0), own.hi(0));
          }};
}

void iterate(rma::Job& job, const ccsd::OrbitalSpace& space, std::int64_t tile) {
  auto molecule = ccsd::make_synthetic_molecule(job, space).value();
  auto workspace = ccsd::Workspace::create(job, space).value();
  auto engine = ccsd::ContractionEngine::create(job, tile).value();
  auto equations =
      ccsd::CcsdEquations::create(molecule.model, molecule.integrals, workspace, engine).value();
  auto amplitudes = ccsd::Amplitudes::create(job, space, "t2").value();
  rma::require(
      ccsd::solve(job, molecule.model, equations, amplitudes, {.max_iterations = 2}).status());
}

PeakWork coupled_cluster(rma::Job& job, const ccsd::OrbitalSpace& space) {
  constexpr std::int64_t tile = 512;
  const auto plan = ccsd::MemoryPlan::create(space, job.size(), {.tile = tile});
  return {.name = "ccsd",
          .size = fmt::format("O = {}, V = {}", space.occupied, space.virtuals),
          .data = plan.array_bytes_per_rank(),
          .buffers = plan.buffer_bytes_per_rank(),
          .run = [job, space]() mutable { iterate(job, space, tile); }};
}

}  // namespace

void measure_application_memory(Session& session) {
  rma::Job& job = session.job();
  const std::string& classes = session.options().mg_classes;
  measure_peak(session, grids(job, classes.at(classes.find_first_not_of(','))));
  measure_peak(session, sparse_matrix(job, "stencil27:48"));
  // The larger one takes a gibibyte and half a minute.
  constexpr std::int64_t large = std::int64_t{128} << 20U;
  const bool is_large = session.options().max_size >= large;
  measure_peak(session, coupled_cluster(job, {.frozen = 0,
                                              .occupied = is_large ? 16 : 8,
                                              .virtuals = is_large ? 128 : 64}));
}

}  // namespace tessera::bench
