// SPDX-License-Identifier: BSD-3-Clause
//
// The distributed matrix product, compared with simultaneous local products, one on each rank, and
// with ScaLAPACK's.
#include "bench/parts.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/linalg/scalapack.hpp"
#include "linalg/blas.hpp"
#include "linalg/blas_threads.hpp"
#include "linalg/gemm.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using arrays::BlockMap;
using arrays::BlockPartition1D;
using arrays::Box;
using arrays::Distribution;
using arrays::Extents;
using arrays::Index;
using arrays::MemoryOrder;
using arrays::Storage;

constexpr const char* at_once = "dgemm at once";
constexpr const char* scalapack = "pdgemm";
constexpr const char* local_matrix = "local matrix";
constexpr const char* regular = "regular";
constexpr const char* one_node_target = "gemm, n >= 4000: speed / dgemm at once";
constexpr const char* nodes_target = "gemm over nodes, n >= 4000: speed / dgemm at once";
constexpr const char* scalapack_target = "gemm of local matrices, n >= 4000: speed / pdgemm";
constexpr std::int64_t min_edge = 4000;  // the smallest size that the design has a limit for
constexpr std::int64_t block = 64;

/// The elements of A and B: small integers, so that products are exact.
double element(std::int64_t row, std::int64_t column, int of) {
  return static_cast<double>((row * 7 + column * 3 + of) % 11 - 5);
}

double element_of_product(std::int64_t n, std::int64_t row, std::int64_t column) {
  double sum = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    sum += element(row, k, 0) * element(k, column, 1);
  }
  return sum;
}

/// Each rank's own product, as large as its share of C, in its own memory.
Candidate baseline_candidate(Session& session, std::int64_t n) {
  const Distribution shares = Distribution::regular({n, n}, session.job().size()).value();
  const Box own = shares.box_of(session.job().world().rank());
  struct Matrices {
    std::vector<double> a, b, c;
  };
  const std::int64_t rows = own.extent(0);
  const std::int64_t columns = own.extent(1);
  const auto memory = std::make_shared<Matrices>();
  memory->a.assign(static_cast<std::size_t>(rows * n), 1.5);
  memory->b.assign(static_cast<std::size_t>(n * columns), 2.5);
  memory->c.assign(static_cast<std::size_t>(rows * columns), 0);
  linalg::limit_blas_threads(session.job());
  Candidate candidate;
  candidate.name = at_once;
  candidate.cooperative = true;
  candidate.run = [=](std::int64_t repetitions) {
    const linalg::LocalMatrix<const double> a{memory->a.data(), rows, n, n, 1};
    const linalg::LocalMatrix<const double> b{memory->b.data(), n, columns, columns, 1};
    const linalg::LocalMatrix<double> c{memory->c.data(), rows, columns, columns, 1};
    for (std::int64_t i = 0; i < repetitions; ++i) {
      rma::require(linalg::blas::gemm<double>(1, {a}, {b}, 0, c));
    }
  };
  return candidate;
}

/// Three matrices of one distribution.
struct Product {
  Array<double> a;
  Array<double> b;
  Array<double> c;

  Product(rma::Job& job, const Distribution& distribution)
      : a(Array<double>::create(job, distribution, {.name = "A"}).value()),
        b(Array<double>::create(job, distribution, {.name = "B"}).value()),
        c(Array<double>::create(job, distribution, {.name = "C"}).value()) {
    fill(a, 0);
    fill(b, 1);
  }

 private:
  static void fill(Array<double>& array, int of) {
    std::vector<double> values;
    for (const arrays::Patch& own : array.distribution().blocks(array.team().rank())) {
      values.clear();
      for (std::int64_t i = own.box.lo(0); i < own.box.hi(0); ++i) {
        for (std::int64_t j = own.box.lo(1); j < own.box.hi(1); ++j) {
          values.push_back(element(i, j, of));
        }
      }
      rma::require(array.put(own.box, values));
    }
    rma::require(array.sync());
  }
};

std::string verify_product(const Product& product, std::int64_t n) {
  for (std::int64_t i = 0; i < 16; ++i) {
    const Index index{i * i * 131 % n, i * 977 % n};
    const double expected = element_of_product(n, index[0], index[1]);
    const double found = product.c.get_element(index).value();
    if (found != expected) {
      return fmt::format("C{} is {}, not {}", to_string(index), found, expected);
    }
  }
  return "";
}

Candidate gemm_candidate(Session& session, std::string name, const Distribution& distribution) {
  const std::int64_t n = distribution.extents()[0];
  const auto product = std::make_shared<Product>(session.job(), distribution);
  Candidate candidate = by_all(std::move(name), [product] {
    rma::require(linalg::gemm(product->a, product->b, product->c));
  });
  candidate.verify = [product, n, run = candidate.run] {
    run(1);
    std::string wrong = verify_product(*product, n);
    rma::require(product->c.sync());
    return wrong;
  };
  return candidate;
}

Distribution cyclic(std::int64_t n, std::int64_t ranks, Storage storage, MemoryOrder order) {
  const std::vector<BlockPartition1D> cuts(2, BlockPartition1D::by_size(n, block).value());
  const BlockMap deal =
      BlockMap::cyclic_grid({cuts[0].blocks(), cuts[1].blocks()}, square_grid(ranks), ranks, order)
          .value();
  return Distribution::create(cuts, deal, {.storage = storage, .order = order}).value();
}

Distribution round_robin(std::int64_t n, std::int64_t ranks) {
  const std::vector<BlockPartition1D> cuts(2, BlockPartition1D::by_size(n, block).value());
  return Distribution::create(
             cuts, BlockMap::round_robin({cuts[0].blocks(), cuts[1].blocks()}, ranks).value())
      .value();
}

/// Collective. Checks for three matrices of each distribution, three of ScaLAPACK's, and the
/// baseline's own.
void check_memory(Session& session, std::int64_t n) {
  constexpr double matrices = 3 * 4;
  const double of_library = session.compares_with(Peer::scalapack) ? 3 : 0;
  const Box share = Distribution::regular({n, n}, session.job().size())
                        .value()
                        .box_of(session.job().world().rank());
  const auto rows = static_cast<double>(share.extent(0));
  const auto columns = static_cast<double>(share.extent(1));
  const auto edge = static_cast<double>(n);
  const double elements = (matrices + of_library) * edge * edge / session.job().size() +
                          (rows + columns) * edge + rows * columns;
  require_memory(session, {.bytes_per_rank = elements * sizeof(double),
                           .what = fmt::format("gemm of {0} x {0} matrices", n),
                           .hint = "choose smaller matrices with --edges"});
}

std::vector<Candidate> candidates_of(Session& session, std::int64_t n) {
  check_memory(session, n);
  const std::int64_t ranks = session.job().size();
  std::vector<Candidate> candidates;
  candidates.push_back(baseline_candidate(session, n));
  candidates.push_back(
      gemm_candidate(session, regular, Distribution::regular({n, n}, ranks).value()));
  candidates.push_back(gemm_candidate(
      session, local_matrix, cyclic(n, ranks, Storage::local_matrix, MemoryOrder::column_major)));
  candidates.push_back(gemm_candidate(
      session, "tiled", cyclic(n, ranks, Storage::block_by_block, MemoryOrder::row_major)));
  candidates.push_back(gemm_candidate(session, "round robin", round_robin(n, ranks)));
  const Extents grid = square_grid(ranks);
  if (session.compares_with(Peer::scalapack)) {
    add(candidates, scalapack_candidate(session.group(), scalapack, {n, block, grid[0], grid[1]}));
  }
  return candidates;
}

/// Reports the rates to the design's targets for this size, on rank 0.
void report(Session& session, std::int64_t n, const std::vector<Measured>& measured) {
  const double operations = 2 * std::pow(static_cast<double>(n), 3) / session.job().size();
  const Measured& baseline = measured.front();
  for (const Measured& one : measured) {
    const Ratio ratio = ratio_of_medians(baseline.samples_ns, one.samples_ns);
    session.remark(fmt::format(
        "n = {}: {}: {:.1f} Gop/s a rank, speed / {}: {:.4f} [{:.4f},{:.4f}]", n, one.name,
        operations / one.stats_ns.median, at_once, ratio.value, ratio.ci95.lo, ratio.ci95.hi));
    if (n >= min_edge && &one != &baseline && one.name != scalapack) {
      const bool is_one_node = session.job().node_count() == 1;
      session.targets().observe(is_one_node ? one_node_target : nodes_target,
                                fmt::format("{} {}", one.name, n), ratio);
    }
  }
  if (const Measured* const own = find(measured, regular);
      n == session.options().gemm_edges.back()) {
    session.rate({fmt::format("gemm n = {}", n),
                  2 * std::pow(static_cast<double>(n), 3) / own->stats_ns.median, "Gflop/s",
                  own->valid});
  }
  const Measured* const library = find(measured, scalapack);
  if (library != nullptr && n >= min_edge) {
    session.observe_ratio_to(
        scalapack, scalapack_target, fmt::format("{} {}", local_matrix, n),
        ratio_of_medians(library->samples_ns, find(measured, local_matrix)->samples_ns));
  }
}

}  // namespace

void measure_gemm(Session& session) {
  session.remark(fmt::format(
      "BLAS threads per rank: {} (0: chosen by the BLAS library's own environment variables)",
      linalg::blas_threads(session.job())));
  Topic topic{"gemm", "gemm", "Matrix Product Latency", Quantity::latency, "Edge"};
  // About `regular`, not the last one.
  topic.table.emplace(session.table(topic.title, 1, topic.quantity, topic.size_name));
  for (const std::int64_t n : session.options().gemm_edges) {
    MeasureOptions options = together(session.options().measure_options());
    options.prime = n < 1000;  // longer ones load their own data into the caches
    const auto measured = session.measure(topic, {n, fmt::format("{0} x {0}", n), n * n * 8},
                                          candidates_of(session, n), options);
    if (session.is_leader()) {
      report(session, n, measured);
    }
  }
}

std::vector<Target> gemm_targets() {
  return {{.name = one_node_target, .reference = at_once, .limit = 0.95},
          {.name = nodes_target, .reference = at_once, .limit = 0.85},
          {.name = scalapack_target, .reference = scalapack}};
}

}  // namespace tessera::bench
