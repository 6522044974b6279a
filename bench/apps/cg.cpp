// SPDX-License-Identifier: BSD-3-Clause
//
// Part "spmv.cg": conjugate gradients for a symmetric positive definite matrix, as in HPCG but
// without its preconditioner. They alternate with simultaneous local solutions: each rank's for the
// rows and columns that it owns, by plain loops without communication.
#include "bench/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/spmv/generate.hpp"
#include "apps/spmv/matrix_file.hpp"
#include "apps/spmv/solve.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/reductions.hpp"
#include "linalg/sparse_builder.hpp"
#include "linalg/spmv.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using linalg::LocalCsr;
using linalg::SparseMatrix;
using linalg::SpmvPlan;
namespace spmv = apps::spmv;

constexpr const char* cg_at_once = "cg at once";
constexpr const char* distributed = "conjugate gradients";
constexpr std::int64_t iterations_of_solution = 50;  // of a solution, as HPCG's
constexpr double sharp = 1e-10;                      // residual of the solution that is checked
constexpr std::int64_t max_iterations = 10'000;

template <class Give>
SparseMatrix<double> assemble(rma::Job& job, const std::string& name, std::int64_t rows,
                              Give&& give) {
  auto builder = linalg::SparseBuilder<double>::create(job, rows, rows, {.name = name}).value();
  give([&builder](std::int64_t row, std::int64_t column, double value) {
    rma::require(builder.add(row, column, value));
  });
  return builder.assemble().value();
}

/// Why conjugate gradients can't solve a file's matrix; empty if they can.
std::string problem_of(const spmv::MatrixHeader& header) {
  if (header.field == spmv::Field::complex) {
    return "is complex: these conjugate gradients need a real matrix";
  }
  return header.rows == header.columns && header.symmetry == spmv::Symmetry::symmetric
             ? ""
             : fmt::format("is {} and {} x {}: conjugate gradients need a symmetric matrix",
                           to_string(header.symmetry), header.rows, header.columns);
}

/// Collective. A file's matrix, of which each rank reads its part; or a generated one, of which
/// each makes its rows.
SparseMatrix<double> matrix_of(rma::Job& job, const std::string& name) {
  if (const auto generator = spmv::parse_generator(name); generator.ok()) {
    const arrays::Box own = arrays::Distribution::regular({generator->rows()}, job.size())
                                .value()
                                .box_of(job.world().rank());
    return assemble(job, name, generator->rows(), [&](const spmv::EntrySink<double>& sink) {
      for (std::int64_t row = own.lo(0); row < own.hi(0); ++row) {
        generator->give_row(row, sink);
      }
    });
  }
  auto file = spmv::MatrixFile::open(job, name);
  if (!file.ok()) {
    throw BadInput(file.status().message());
  }
  const spmv::MatrixHeader header = file->header();
  if (const std::string problem = problem_of(header); !problem.empty()) {
    throw BadInput(fmt::format("{} {}", name, problem));
  }
  return assemble(job, name, header.rows, [&](const spmv::EntrySink<double>& sink) {
    if (const rma::Status read = file->read<double>(sink); !read.ok()) {
      throw BadInput(read.message());
    }
  });
}

/// A system whose solution is all ones.
struct System {
  SparseMatrix<double> matrix;
  Array<double> ones;
  Array<double> b;
  Array<double> x;
  SpmvPlan<double> plan;

  spmv::SolveResult solve(double tolerance, std::int64_t most) {
    rma::require(arrays::fill(x, 0.0));
    return spmv::solve(matrix, plan, b, x, {.tolerance = tolerance, .max_iterations = most})
        .value();
  }
};

System prepare(rma::Job& job, const std::string& name) {
  SparseMatrix<double> matrix = matrix_of(job, name);
  const auto vector = [&](const char* of) {
    return Array<double>::create(job, matrix.row_distribution(), {.name = of}).value();
  };
  auto ones = vector("ones");
  auto b = vector("b");
  auto x = vector("x");
  rma::require(arrays::fill(ones, 1.0));
  auto plan = SpmvPlan<double>::create(matrix, x, b).value();
  rma::require(plan.multiply(matrix, ones, b));
  return {std::move(matrix), std::move(ones), std::move(b), std::move(x), std::move(plan)};
}

/// The rows and columns of one rank as a separate system, in private memory.
struct LocalSystem {
  LocalCsr<double> rows;
  std::vector<double> b, x, r, p, q;
};

LocalSystem local_part(System& system) {
  LocalSystem local;
  const auto own = system.matrix.local().value();
  const std::int64_t first = own.first_row();
  local.rows.rows = local.rows.columns = own.rows();
  for (std::int64_t i = 0; i < own.rows(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < own.columns_of(i).size(); ++k) {
      const std::int64_t column = own.columns_of(i)[k] - first;
      if (column >= 0 && column < own.rows()) {
        local.rows.column.push_back(column);
        local.rows.value.push_back(own.values_of(i)[k]);
        sum += own.values_of(i)[k];
      }
    }
    local.rows.row_starts.push_back(local.rows.entries());
    local.b.push_back(sum);  // its solution is all ones, too
  }
  for (auto* const vector : {&local.x, &local.r, &local.p, &local.q}) {
    vector->resize(local.b.size());
  }
  return local;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// to = alpha a + b
void add(double alpha, const std::vector<double>& a, const std::vector<double>& b,
         std::vector<double>& to) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    to[i] = alpha * a[i] + b[i];
  }
}

void multiply(const LocalCsr<double>& rows, const std::vector<double>& x, std::vector<double>& y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(rows.row_starts[i]);
         k < static_cast<std::size_t>(rows.row_starts[i + 1]); ++k) {
      sum += rows.value[k] * x[static_cast<std::size_t>(rows.column[k])];
    }
    y[i] = sum;
  }
}

/// A user's hand-written loop.
[[gnu::noinline]] void solve_locally(LocalSystem& system) {
  auto& [rows, b, x, r, p, q] = system;
  std::fill(x.begin(), x.end(), 0.0);
  r = b;
  p = b;
  double rho = dot(r, r);
  for (std::int64_t i = 0; i < iterations_of_solution && rho > 0; ++i) {
    multiply(rows, p, q);
    const double alpha = rho / dot(p, q);
    add(alpha, p, x, x);
    add(-alpha, q, r, r);
    const double next_rho = dot(r, r);
    add(next_rho / rho, p, r, p);
    rho = next_rho;
  }
}

Candidate local_candidate(System& system) {
  return by_all(cg_at_once, [local = std::make_shared<LocalSystem>(local_part(system))] {
    solve_locally(*local);
  });
}

std::string differs(System& system) {
  const spmv::SolveResult result = system.solve(sharp, max_iterations);
  if (!result.has_converged || !(result.true_residual <= 10 * sharp)) {
    return fmt::format("residual {:.1e} after {} iterations {}", result.true_residual,
                       result.iterations, result.failure);
  }
  rma::require(arrays::add(1.0, system.x, -1.0, system.ones, system.x));
  const double error = arrays::norm_max(system.x).value();
  // the residual's limit times a condition number that rounding allows
  constexpr double max_error = 1e-5;
  return error <= max_error ? "" : fmt::format("an element of the solution is off by {}", error);
}

Candidate distributed_candidate(System& system) {
  Candidate candidate = by_all(distributed, [&system] { system.solve(0, iterations_of_solution); });
  candidate.verify = [&system] { return differs(system); };
  return candidate;
}

/// Of one solution: a product, three dot products and three sums of vectors per iteration.
double operations_of(const SparseMatrix<double>& matrix) {
  constexpr double of_entry = 2;
  constexpr double of_row = 12;
  return static_cast<double>(iterations_of_solution) *
         (of_entry * static_cast<double>(matrix.entries()) +
          of_row * static_cast<double>(matrix.rows()));
}

void report(Session& session, const std::string& name, const System& system,
            const std::vector<Measured>& measured) {
  const Measured& own = measured.back();
  const Ratio ratio = ratio_of_medians(measured.front().samples_ns, own.samples_ns);
  const double rate = operations_of(system.matrix) / own.stats_ns.median;
  session.remark(fmt::format("{}: {} rows, {} entries: {:.2f} Gop/s, speed / {}", name,
                             system.matrix.rows(), system.matrix.entries(), rate, cg_at_once),
                 ratio);
  session.rate({"cg " + name, rate, "Gflop/s", own.valid});
}

}  // namespace

std::string check_matrix(const std::string& name) {
  const auto generator = spmv::parse_generator(name);
  if (generator.ok()) {
    return generator->is_symmetric() ? "" : "conjugate gradients need a symmetric matrix";
  }
  return std::filesystem::exists(name)
             ? ""
             : fmt::format("{}; and no file has that name", generator.status().message());
}

void measure_cg(Session& session) {
  const std::string& name = session.options().matrix;
  System system = prepare(session.job(), name);
  Topic topic{"cg", "cg", "Conjugate Gradients Time", Quantity::latency, "Rows"};
  MeasureOptions options = together(session.options().measure_options());
  options.prime = false;  // each solution loads its own data into the caches
  const std::int64_t rows = system.matrix.rows();
  const auto measured =
      session.measure(topic, {rows, fmt::format("{0} x {0}", rows), system.matrix.entries() * 12},
                      {local_candidate(system), distributed_candidate(system)}, options);
  if (session.is_leader()) {
    report(session, name, system, measured);
  }
}

}  // namespace tessera::bench
