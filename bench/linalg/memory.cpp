// SPDX-License-Identifier: BSD-3-Clause
#include "bench/linalg/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/gather.hpp"
#include "arrays/matrix.hpp"
#include "arrays/random.hpp"
#include "arrays/reductions.hpp"
#include "bench/peak.hpp"
#include "linalg/factor.hpp"
#include "linalg/gemm.hpp"
#include "linalg/permute.hpp"
#include "linalg/solve.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::Distribution;

/// The matrices of an operation, of n × n random numbers with a large diagonal.
using Matrices = std::vector<Array<double>>;

struct Work {
  std::string name;
  int matrices = 1;
  // bytes per rank that the operation takes in addition, according to its documentation
  std::int64_t buffers = 0;
  std::function<void(Matrices&)> run;
  bool has_whole_columns = false;  ///< the layout in which Tessera's factorisations compute
};

Distribution distribution_of(const Work& work, std::int64_t n, std::int64_t ranks, int number) {
  if (work.has_whole_columns) {
    return Distribution::scalapack({n, n}, {n, 128}, {1, ranks}, ranks).value();
  }
  // The second operand has another distribution than the first.
  return number % 2 == 0 ? Distribution::regular({n, n}, ranks).value()
                         : Distribution::block_cyclic({n, n}, {64, 64}, ranks).value();
}

Matrices make_matrices(rma::Job& job, const Work& work, std::int64_t n) {
  Matrices made;
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

std::vector<Work> works_of(const rma::Job& job, std::int64_t n) {
  const std::int64_t buffer = job.settings().linalg_buffer_mib << 20U;
  constexpr std::int64_t block = 256;
  const std::int64_t panels = 2 * n * block * 8;
  const std::int64_t listed = n * n / 16 / job.size();
  constexpr std::int64_t bytes_of_listed = sizeof(arrays::Index) + 8;  // the caller's own lists
  return {
      {"redistribution", 2, 0, [](Matrices& m) { rma::require(copy(m[0], m[1])); }},
      {"dot", 2, 0, [](Matrices& m) { rma::require(dot(m[0], m[1]).status()); }},
      {"transpose", 2, buffer, [](Matrices& m) { rma::require(linalg::transpose(m[0], m[1])); }},
      {"gather", 1, listed * bytes_of_listed, [listed](Matrices& m) { gather_many(m[0], listed); }},
      {"gemm", 3, buffer, [](Matrices& m) { rma::require(linalg::gemm(m[0], m[1], m[2])); }},
      {"cholesky", 1, panels,
       [](Matrices& m) {
         rma::require(linalg::cholesky(m[0], {.how = {.method = linalg::Method::own}}));
       }},
      {"lu", 1, panels,
       [](Matrices& m) {
         rma::require(linalg::lu(m[0], {.method = linalg::Method::own}).status());
       }},
      {"solve", 2, panels,
       [](Matrices& m) {
         rma::require(linalg::solve(m[0], m[1], {.method = linalg::Method::own}));
       }},
      {"lu in place", 1, panels,
       [](Matrices& m) {
         rma::require(linalg::lu(m[0], {.method = linalg::Method::own}).status());
       },
       true},
      {"solve in place", 2, panels,
       [](Matrices& m) {
         const auto pivots = linalg::lu(m[0], {.method = linalg::Method::own}).value();
         rma::require(
             linalg::solve_lu(m[0], pivots, m[1], {.how = {.method = linalg::Method::own}}));
       },
       true},
  };
}

PeakWork peak_work(rma::Job& job, const Work& work, std::int64_t n) {
  return {.name = work.name,
          .size = fmt::format("n = {}", n),
          .data = work.matrices * n * n * 8 / job.size(),
          .buffers = work.buffers,
          .run = [&job, &work, n] {
            Matrices matrices = make_matrices(job, work, n);
            work.run(matrices);
            rma::require(job.barrier());
          }};
}

}  // namespace

void measure_memory(Session& session) {
  const auto& edges = session.options().gemm_edges;
  const std::int64_t n = *std::max_element(edges.begin(), edges.end());
  for (const Work& work : works_of(session.job(), n)) {
    measure_peak(session, peak_work(session.job(), work, n));
  }
}

}  // namespace tessera::bench
