// SPDX-License-Identifier: BSD-3-Clause
#include "bench/parts.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/ccsd/contraction.hpp"
#include "apps/ccsd/memory_plan.hpp"
#include "apps/ccsd/molecule.hpp"
#include "apps/ccsd/solver.hpp"
#include "apps/mg/distributed.hpp"
#include "apps/mg/problem.hpp"
#include "apps/spmv/generate.hpp"
#include "arrays/array.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/gather.hpp"
#include "arrays/matrix.hpp"
#include "arrays/random.hpp"
#include "arrays/reductions.hpp"
#include "bench/support/machine.hpp"
#include "linalg/buffers.hpp"
#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/permute.hpp"
#include "linalg/solve.hpp"
#include "linalg/sparse_builder.hpp"
#include "linalg/spmv.hpp"

namespace tessera::bench {
namespace {

// Limit for a rank: this multiple of its data, and its stated buffers (docs/tuning.md).
constexpr double of_data = 1.3;
constexpr std::string_view memory_target = "peak memory / (1.3 x data of a rank + stated buffers)";
constexpr double mebi = 0x1p20;

struct PeakWork {
  std::string name;
  std::string size;       ///< printed: "n = 2000"
  std::int64_t data = 0;  ///< bytes of a rank's share; of the rank with the largest share
  // bytes per rank that the work takes in addition, according to its documentation
  std::int64_t buffers = 0;
  std::function<void()> run;  ///< collective; allocates the data and frees them
};

/// How much more a rank took than before; it counts an equal part of the node's shared memory.
double more_than(const MemoryUse& before, const MemoryUse& most, std::size_t ranks_on_node) {
  return static_cast<double>(std::max<std::int64_t>(most.own - before.own, 0)) +
         static_cast<double>(most.shared - before.shared) / static_cast<double>(ranks_on_node);
}

/// Collective. In bytes.
double peak_of(Session& session, const PeakWork& work) {
  rma::Job& job = session.job();
  // Buffers that earlier work left would serve this work without being counted.
  linalg::release_buffers();
  malloc_trim(0);
  rma::require(job.barrier());
  const MemoryUse before = memory_in_use();
  rma::require(job.barrier());
  MemoryWatch watch;
  work.run();
  rma::require(job.barrier());
  return session.group().maximum(more_than(before, watch.stop(), job.node_ranks().size()));
}

/// Measures the peak of the rank with the highest one: its own pages, and its share of the shared
/// memory of its node. Divided by the limit, 1.3 × data + buffers, it is one case of
/// peak_targets().
void measure_peak(Session& session, const PeakWork& work) {
  require_memory(session, {.bytes_per_rank = static_cast<double>(work.data),
                           .what = fmt::format("memory: {}, {}", work.name, work.size),
                           .hint = "choose smaller matrices with --edges, or a smaller class"});
  const double peak = peak_of(session, work);
  const auto data = static_cast<double>(work.data);
  const double ratio = peak / (of_data * data + static_cast<double>(work.buffers));
  session.remark(
      fmt::format("{:14} {}: data / ranks {:8.1f} MiB, stated buffers {:6.1f} MiB, peak "
                  "{:8.1f} MiB: {:.3f} of the limit",
                  work.name, work.size, data / mebi, static_cast<double>(work.buffers) / mebi,
                  peak / mebi, ratio));
  session.record({"memory", work.name, "", work.data * session.job().size()}, "tessera", "bytes",
                 summarise(std::array{peak}));
  if (session.is_leader()) {
    session.targets().observe(memory_target, work.name, {ratio, {ratio, ratio}});
  }
}

}  // namespace

std::vector<Target> peak_targets() {
  return {{.name = std::string(memory_target),
           .reference = "what is allowed",
           .sense = Target::Sense::time_at_most,
           .limit = 1}};
}

// Part "memory.applications": the peak memory of the applications, compared with their data: NAS
// MG, a sparse matrix that is built and multiplied by, coupled cluster.

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

// The peak memory of operations on whole arrays, compared with their data.

namespace {

using arrays::Array;
using arrays::Distribution;

/// The matrices of an operation, of n × n random numbers with a large diagonal.
using OperandMatrices = std::vector<Array<double>>;

struct MatrixOperation {
  std::string name;
  int matrices = 1;
  // bytes per rank that the operation takes in addition, according to its documentation
  std::int64_t buffers = 0;
  std::function<void(OperandMatrices&)> run;
  bool has_whole_columns = false;  ///< the layout in which Tessera's factorisations compute
};

Distribution distribution_of(const MatrixOperation& work, std::int64_t n, std::int64_t ranks,
                             int number) {
  if (work.has_whole_columns) {
    return Distribution::scalapack({n, n}, {n, 128}, {1, ranks}, ranks).value();
  }
  // The second operand has another distribution than the first.
  return number % 2 == 0 ? Distribution::regular({n, n}, ranks).value()
                         : Distribution::block_cyclic({n, n}, {64, 64}, ranks).value();
}

OperandMatrices make_matrices(rma::Job& job, const MatrixOperation& work, std::int64_t n) {
  OperandMatrices made;
  for (int i = 0; i < work.matrices; ++i) {
    made.push_back(Array<double>::create(job, distribution_of(work, n, job.size(), i), {}).value());
    rma::require(fill_random(made.back(), 7));
    rma::require(shift_diagonal(made.back(), static_cast<double>(n)));
  }
  return made;
}

void gather_many(const Array<double>& array, std::int64_t count) {
  const auto n = array.extents()[0];
  std::vector<arrays::Index> places;
  places.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    places.push_back({i * 7919 % n, i * 104'729 % n});
  }
  std::vector<double> values(static_cast<std::size_t>(count));
  rma::require(arrays::gather(array, places, values));
}

std::vector<MatrixOperation> works_of(const rma::Job& job, std::int64_t n) {
  const std::int64_t buffer = job.settings().linalg_buffer_mib << 20U;
  constexpr std::int64_t block = 256;
  const std::int64_t panels = 2 * n * block * 8;
  const std::int64_t listed = n * n / 16 / job.size();
  constexpr std::int64_t bytes_of_listed = sizeof(arrays::Index) + 8;  // the caller's own lists
  return {
      {"redistribution", 2, 0, [](OperandMatrices& m) { rma::require(copy(m[0], m[1])); }},
      {"dot", 2, 0, [](OperandMatrices& m) { rma::require(dot(m[0], m[1]).status()); }},
      {"transpose", 2, buffer,
       [](OperandMatrices& m) { rma::require(linalg::transpose(m[0], m[1])); }},
      {"gather", 1, listed * bytes_of_listed,
       [listed](OperandMatrices& m) { gather_many(m[0], listed); }},
      {"gemm", 3, buffer, [](OperandMatrices& m) { rma::require(linalg::gemm(m[0], m[1], m[2])); }},
      {"cholesky", 1, panels,
       [](OperandMatrices& m) {
         rma::require(linalg::cholesky(m[0], {.how = {.method = linalg::Method::own}}));
       }},
      {"lu", 1, panels,
       [](OperandMatrices& m) {
         rma::require(linalg::lu(m[0], {.method = linalg::Method::own}).status());
       }},
      {"solve", 2, panels,
       [](OperandMatrices& m) {
         rma::require(linalg::solve(m[0], m[1], {.method = linalg::Method::own}));
       }},
      {"lu in place", 1, panels,
       [](OperandMatrices& m) {
         rma::require(linalg::lu(m[0], {.method = linalg::Method::own}).status());
       },
       true},
      {"solve in place", 2, panels,
       [](OperandMatrices& m) {
         const auto pivots = linalg::lu(m[0], {.method = linalg::Method::own}).value();
         rma::require(
             linalg::solve_lu(m[0], pivots, m[1], {.how = {.method = linalg::Method::own}}));
       },
       true},
  };
}

PeakWork peak_work(rma::Job& job, const MatrixOperation& work, std::int64_t n) {
  return {.name = work.name,
          .size = fmt::format("n = {}", n),
          .data = work.matrices * n * n * 8 / job.size(),
          .buffers = work.buffers,
          .run = [&job, &work, n] {
            OperandMatrices matrices = make_matrices(job, work, n);
            work.run(matrices);
            rma::require(job.barrier());
          }};
}

}  // namespace

void measure_memory(Session& session) {
  const auto& edges = session.options().gemm_edges;
  const std::int64_t n = *std::max_element(edges.begin(), edges.end());
  for (const MatrixOperation& work : works_of(session.job(), n)) {
    measure_peak(session, peak_work(session.job(), work, n));
  }
}

}  // namespace tessera::bench
