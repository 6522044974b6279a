// SPDX-License-Identifier: BSD-3-Clause
//
// y = A x with a sparse matrix over the ranks, compared with the loop that each rank would run on
// its rows if it had all of x, and with STREAM's triad.
#include "bench/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/array.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "linalg/spmv.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using linalg::LocalCsr;
using linalg::SparseMatrix;
using linalg::SpmvMode;
using linalg::SpmvPlan;

constexpr const char* baseline_name = "serial loop";
constexpr const char* local_target =
    "sparse matrix-vector product on one node: speed / serial loop";

/// A matrix by its rows: stencils of grids, and columns at random.
struct Problem {
  std::string name;
  std::int64_t rows = 0;
  std::vector<std::int64_t> (*columns)(std::int64_t row) = nullptr;  ///< ascending
};

constexpr const char* rated = "27-point";  // as HPCG's
constexpr std::int64_t plane_edge = 1000;
constexpr std::int64_t cube_edge = 64;
constexpr std::int64_t random_rows = 200000;

std::vector<std::int64_t> five_point(std::int64_t row) {
  const std::int64_t i = row / plane_edge;
  const std::int64_t j = row % plane_edge;
  std::vector<std::int64_t> columns;
  if (i > 0) {
    columns.push_back(row - plane_edge);
  }
  for (std::int64_t column = std::max<std::int64_t>(j - 1, 0);
       column <= std::min(j + 1, plane_edge - 1); ++column) {
    columns.push_back(i * plane_edge + column);
  }
  if (i + 1 < plane_edge) {
    columns.push_back(row + plane_edge);
  }
  return columns;
}

std::vector<std::int64_t> twenty_seven_point(std::int64_t row) {
  const auto range = [](std::int64_t at) {
    return std::pair{std::max<std::int64_t>(at - 1, 0), std::min(at + 1, cube_edge - 1)};
  };
  const auto [i_lo, i_hi] = range(row / cube_edge / cube_edge);
  const auto [j_lo, j_hi] = range(row / cube_edge % cube_edge);
  const auto [k_lo, k_hi] = range(row % cube_edge);
  std::vector<std::int64_t> columns;
  for (std::int64_t i = i_lo; i <= i_hi; ++i) {
    for (std::int64_t j = j_lo; j <= j_hi; ++j) {
      for (std::int64_t k = k_lo; k <= k_hi; ++k) {
        columns.push_back((i * cube_edge + j) * cube_edge + k);
      }
    }
  }
  return columns;
}

std::vector<std::int64_t> at_random(std::int64_t row) {
  std::vector<std::int64_t> columns;
  auto state = static_cast<std::uint64_t>(row) + 1;
  for (int entry = 0; entry < 16; ++entry) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    columns.push_back(static_cast<std::int64_t>((state >> 33U) % random_rows));
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

/// Few rows have entries, so that single elements of x are read.
std::vector<std::int64_t> scattered(std::int64_t row) {
  return row % 32 == 0 ? at_random(row) : std::vector<std::int64_t>();
}

std::vector<Problem> problems(bool has_nodes) {
  std::vector<Problem> all{{"5-point", plane_edge * plane_edge, five_point},
                           {rated, cube_edge * cube_edge * cube_edge, twenty_seven_point},
                           {"random", random_rows, at_random}};
  if (has_nodes) {
    all.push_back({"scattered", random_rows, scattered});
  }
  return all;
}

double x_at(std::int64_t i) {
  return 1.0 + static_cast<double>(i % 17) / 16.0;
}

/// This rank's rows in private memory, as a serial program has them, with all of x.
struct SerialRows {
  std::vector<std::int64_t> row_starts;
  std::vector<std::int32_t> column;
  std::vector<double> value;
  std::vector<double> x;
  std::vector<double> y;
};

/// A user's hand-written loop.
[[gnu::noinline]] void serial_product(SerialRows& rows) {
  for (std::size_t i = 0; i + 1 < rows.row_starts.size(); ++i) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(rows.row_starts[i]);
         k < static_cast<std::size_t>(rows.row_starts[i + 1]); ++k) {
      sum += rows.value[k] * rows.x[static_cast<std::size_t>(rows.column[k])];
    }
    rows.y[i] = sum;
  }
}

LocalCsr<double> own_rows(const Problem& problem, std::int64_t lo, std::int64_t hi) {
  LocalCsr<double> rows;
  rows.rows = hi - lo;
  rows.columns = problem.rows;
  for (std::int64_t row = lo; row < hi; ++row) {
    for (const std::int64_t column : problem.columns(row)) {
      rows.column.push_back(column);
      rows.value.push_back(1.0 / static_cast<double>(1 + (row + column) % 7));
    }
    rows.row_starts.push_back(rows.entries());
  }
  return rows;
}

SerialRows serial_rows(const LocalCsr<double>& rows) {
  SerialRows serial{.row_starts = rows.row_starts,
                    .column = {rows.column.begin(), rows.column.end()},
                    .value = rows.value,
                    .x = {},
                    .y = std::vector<double>(static_cast<std::size_t>(rows.rows))};
  for (std::int64_t i = 0; i < rows.columns; ++i) {
    serial.x.push_back(x_at(i));
  }
  return serial;
}

/// The bytes that all ranks' products must read and write, whatever the cache does: value and
/// column of each entry, and for each row its start, x and y.
std::size_t min_bytes(const SparseMatrix<double>& matrix) {
  return static_cast<std::size_t>(matrix.entries()) * (sizeof(double) + sizeof(std::int32_t)) +
         static_cast<std::size_t>(matrix.rows()) * 3 * sizeof(double);
}

/// A matrix, vectors and plans of all modes.
struct Products {
  SparseMatrix<double> matrix;
  Array<double> x;
  Array<double> y;
  SerialRows serial;
  std::vector<std::pair<std::string, SpmvPlan<double>>> plans;
};

Products prepare(Session& session, const Problem& problem) {
  const rma::Job& job = session.job();
  auto x = Array<double>::create(job, {problem.rows}, {.name = "x"}).value();
  auto y = Array<double>::create(job, {problem.rows}, {.name = "y"}).value();
  const arrays::Box own = x.own_box();
  LocalCsr<double> rows = own_rows(problem, own.lo(0), own.hi(0));
  SerialRows serial = serial_rows(rows);
  auto matrix = SparseMatrix<double>::create(job, std::move(rows), {.name = problem.name}).value();
  for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
    *(reinterpret_cast<double*>(x.region().local()) + (i - own.lo(0))) = x_at(i);
  }
  rma::require(x.sync());
  Products products{std::move(matrix), std::move(x), std::move(y), std::move(serial), {}};
  for (const auto& [name, mode] : {std::pair{"plain", SpmvMode::plain},
                                   {"aggregate", SpmvMode::aggregate},
                                   {"vector", SpmvMode::vector}}) {
    products.plans.emplace_back(
        name,
        SpmvPlan<double>::create(products.matrix, products.x, products.y, {.mode = mode}).value());
  }
  return products;
}

Candidate serial_candidate(Products& products) {
  return by_all(baseline_name, [&products] { serial_product(products.serial); });
}

std::string differs(Products& products) {
  const auto* const y = reinterpret_cast<const double*>(products.y.region().local());
  serial_product(products.serial);
  for (std::size_t i = 0; i < products.serial.y.size(); ++i) {
    if (!(std::abs(y[i] - products.serial.y[i]) <= 1e-12 * std::abs(products.serial.y[i]))) {
      return fmt::format("row {} of this rank is {}, not {}", i, y[i], products.serial.y[i]);
    }
  }
  return "";
}

Candidate plan_candidate(Products& products, std::size_t number) {
  auto& [name, plan] = products.plans[number];
  Candidate own = by_all(name, [&products, &plan = plan] {
    rma::require(plan.multiply(products.matrix, products.x, products.y));
  });
  own.verify = [&products, run = own.run]() {
    // Otherwise the result of another plan could pass as right.
    std::fill_n(reinterpret_cast<double*>(products.y.region().local()), products.serial.y.size(),
                std::numeric_limits<double>::quiet_NaN());
    run(1);
    return differs(products);
  };
  return own;
}

void compare(Session& session, const Problem& problem, const Products& products,
             const std::vector<Measured>& measured) {
  if (!session.is_leader()) {
    return;
  }
  const Measured& triad = measured[1];
  const Measured& own = measured.back();
  const Ratio ratio = ratio_of_medians(measured[0].samples_ns, own.samples_ns);
  const double rate =
      static_cast<double>(min_bytes(products.matrix)) / own.stats_ns.median;  // GB/s
  session.remark(fmt::format(
      "{}: {} entries, {} elements of x from others on rank 0: speed / serial loop: {:.3f} "
      "[{:.3f},{:.3f}], {:.2f} GB/s if each byte is moved once, triad {:.2f} GB/s",
      problem.name, products.matrix.entries(), products.plans.back().second.elements_from_others(),
      ratio.value, ratio.ci95.lo, ratio.ci95.hi, rate, triad.bytes_per_s() * 1e-9));
  if (problem.name == rated) {
    session.rate({"spmv " + problem.name,
                  2 * static_cast<double>(products.matrix.entries()) / own.stats_ns.median,
                  "Gflop/s", own.valid});
  }
  if (session.group().size() <= 2 && session.job().node_count() == 1) {
    session.targets().observe(local_target, problem.name, ratio);
  }
}

void measure(Session& session, const Problem& problem, Topic& topic) {
  Products products = prepare(session, problem);
  const auto ranks = static_cast<std::size_t>(session.group().size());
  std::vector<Candidate> candidates = {
      serial_candidate(products),
      triad_candidate(session.group(), session.options().cold_bytes() / sizeof(double) / ranks)};
  for (std::size_t number = 0; number < products.plans.size(); ++number) {
    candidates.push_back(plan_candidate(products, number));
  }
  topic.op = problem.name;
  MeasureOptions options = together(session.options().measure_options());
  options.prime = false;  // larger than the caches
  const auto measured = session.measure(
      topic, {problem.rows, "", static_cast<std::int64_t>(min_bytes(products.matrix))}, candidates,
      options);
  compare(session, problem, products, measured);
}

}  // namespace

void measure_spmv(Session& session) {
  Topic topic{"spmv", "", "Sparse Product Time", Quantity::latency, "Rows"};
  for (const Problem& problem : problems(session.job().node_count() > 1)) {
    measure(session, problem, topic);
  }
}

std::vector<Target> spmv_targets() {
  return {{local_target, baseline_name, Target::Sense::speed_at_least, 0.95}};
}

}  // namespace tessera::bench
