// SPDX-License-Identifier: BSD-3-Clause
#include "apps/spmv/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <utility>

#include "apps/common/clock.hpp"
#include "apps/common/memory_check.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/report.hpp"
#include "apps/spmv/check.hpp"
#include "apps/spmv/matrix_entries.hpp"
#include "apps/spmv/matrix_file.hpp"
#include "arrays/elementwise.hpp"
#include "arrays/reductions.hpp"
#include "linalg/sparse_builder.hpp"
#include "linalg/sparse_convert.hpp"

namespace tessera::apps::spmv {
namespace {

using arrays::Array;
using linalg::SparseBuilder;
using linalg::SparseMatrix;
using linalg::SpmvPlan;
using rma::Job;
using rma::Result;
using rma::Status;

// The source of entries: a file or a generator.
struct Source {
  std::optional<MatrixFile> file;
  std::optional<Generator> generator;

  [[nodiscard]] std::int64_t rows() const { return file ? file->header().rows : generator->rows(); }
  [[nodiscard]] std::int64_t columns() const {
    return file ? file->header().columns : generator->rows();
  }
  // An upper limit; a real number, which does not overflow.
  [[nodiscard]] double max_entries() const {
    if (generator) {
      return static_cast<double>(generator->rows()) * static_cast<double>(generator->most_in_row());
    }
    const MatrixHeader& header = file->header();
    return static_cast<double>(header.entries) * (header.symmetry == Symmetry::general ? 1 : 2);
  }
};

// Whether a graph of the pattern surely has one edge for each entry; otherwise it may have two.
bool has_symmetric_pattern(const Source& source) {
  return source.file ? source.file->header().symmetry != Symmetry::general
                     : source.generator->kind != GeneratorKind::random;
}

bool needs_graph(const Order& order) {
  return order.partition == Partition::metis || order.partition == Partition::scotch;
}

// While a matrix is assembled, an entry is in an added triplet, in a received one, and in
// compressed rows. Rows have their start, x, y and the vectors of a solver. Rank 0 also holds the
// graph of the whole pattern and a partitioner's own graphs, if needed: partition.hpp has the
// measurements.
MemoryNeed need_of(const Order& order, const Source& source, const Job& job) {
  const double bytes_of_graph_entry = has_symmetric_pattern(source) ? 50 : 170;
  constexpr double bytes_of_entry = 100;
  constexpr double own_bytes_of_entry = 60;  // the first of these, in a list that grows
  constexpr double bytes_of_row = 100;
  const double needed = bytes_of_entry * source.max_entries() +
                        bytes_of_row * static_cast<double>(source.rows()) +
                        bytes_of_row * static_cast<double>(source.columns());
  const bool has_graph = needs_graph(order) && job.rank().value == 0;
  const double graph = has_graph ? bytes_of_graph_entry * source.max_entries() : 0;
  return {.bytes_per_rank = needed / job.size() + graph,
          .what = fmt::format("the matrix of {} x {} with {:.3g} entries", source.rows(),
                              source.columns(), source.max_entries()),
          .hint = needs_graph(order)
                      ? "use a smaller matrix, or --partition entries: a graph partitioner needs "
                        "the whole pattern on rank 0"
                      : "use a smaller matrix, or more machines",
          .own_bytes = own_bytes_of_entry * source.max_entries() / job.size() + graph,
          .multiplies = false};
}

bool is_skew_symmetric(const Source& source) {
  return source.file && source.file->header().symmetry == Symmetry::skew_symmetric;
}

bool is_complex(const Source& source) {
  return source.file && source.file->header().field == Field::complex;
}

// Whether it is a complex matrix that is symmetric, not Hermitian.
bool is_complex_symmetric(const Source& source) {
  return is_complex(source) && source.file->header().symmetry == Symmetry::symmetric;
}

std::string cg_requirement(const Source& source) {
  return fmt::format("conjugate gradients need a {} matrix",
                     is_complex(source) ? "Hermitian" : "symmetric");
}

// Refuses files whose kind excludes symmetry; a general matrix may nevertheless be symmetric.
Status check_symmetry(const Order& order, const Source& source) {
  const bool may_be = source.file ? !is_skew_symmetric(source) && !is_complex_symmetric(source)
                                  : source.generator->is_symmetric();
  if (order.method != Method::cg || may_be) {
    return {};
  }
  return Status::error(rma::Code::invalid_argument,
                       fmt::format("{}: {}", order.file, cg_requirement(source)))
      .hint(is_skew_symmetric(source)
                ? "only products of a skew-symmetric matrix are supported: bicgstab also "
                  "breaks down on it"
                : "use --solve bicgstab, which takes matrices of any symmetry");
}

// Whether the kind guarantees that A equals its conjugate transpose, as conjugate gradients need.
bool is_surely_symmetric(const Source& source) {
  if (!source.file) {
    return source.generator->is_symmetric();
  }
  const MatrixHeader& header = source.file->header();
  return header.symmetry == Symmetry::hermitian ||
         (header.symmetry == Symmetry::symmetric && !is_complex(source));
}

// Refuses options that need a square matrix for other matrices.
Status check_shape(const Order& order, const Source& source) {
  if ((!order.method && !needs_graph(order)) || source.rows() == source.columns()) {
    return {};
  }
  return Status::error(
      rma::Code::invalid_argument,
      fmt::format("{} is {} x {}: {} needs a square matrix", order.file, source.rows(),
                  source.columns(), order.method ? "--solve" : "--partition by a graph"));
}

template <class T>
struct Problem {
  SparseMatrix<T> matrix;
  ProductCheck<T> check;
  std::vector<std::int64_t> old_rows = {};
  std::int64_t given = 0;  // entries, of all ranks
};

// Local, except for files. Each rank makes the rows that it would have in an even distribution.
template <class T>
Status write_entries(Source& source, const Job& job, const EntrySink<T>& sink) {
  if (source.file) {
    return source.file->template read<T>(sink);
  }
  if constexpr (!rma::ComplexElement<T>) {
    const std::int64_t rows = source.rows();
    const auto first_row = [&](std::int64_t rank) {
      return rows / job.size() * rank + rows % job.size() * rank / job.size();
    };
    for (std::int64_t row = first_row(job.rank().value); row < first_row(job.rank().value + 1);
         ++row) {
      source.generator->give_row(row, sink);
    }
  }
  return {};
}

template <class T>
Result<Problem<T>> assemble(const Order& order, Source& source, Job& job) {
  const linalg::RowBalance balance =
      order.partition == Partition::rows ? linalg::RowBalance::rows : linalg::RowBalance::entries;
  TESSERA_ASSIGN_OR_RETURN(auto builder,
                           SparseBuilder<T>::create(job, source.rows(), source.columns(),
                                                    {.name = "A", .balance = balance}));
  ProductCheck<T> check(source.rows());
  Status added;
  const Status given =
      write_entries<T>(source, job, [&](std::int64_t row, std::int64_t column, T value) {
        if (added.ok()) {
          added = builder.add(row, column, value);
          check.add(row, column, value);
        }
      });
  TESSERA_RETURN_IF_ERROR(given);
  rma::Team team = job.world();
  TESSERA_RETURN_IF_ERROR(team.agree(added));
  TESSERA_RETURN_IF_ERROR(check.agree(team));
  TESSERA_ASSIGN_OR_RETURN(const std::int64_t count,
                           team.allreduce(builder.added(), rma::Reduction::sum));
  TESSERA_ASSIGN_OR_RETURN(auto matrix, builder.assemble());
  return Problem<T>{std::move(matrix), std::move(check), {}, count};
}

template <class T>
Status distribute_rows(const Order& order, Problem<T>& problem) {
  if (!needs_graph(order)) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const auto parts, part_rows(problem.matrix, order.partition));
  TESSERA_ASSIGN_OR_RETURN(auto renumbered, renumber(problem.matrix, parts));
  problem.matrix = std::move(renumbered.matrix);
  problem.old_rows = std::move(renumbered.old_rows);
  return {};
}

// The trial vector x. It is distributed as the rows of a square matrix, else as the columns.
template <class T>
Result<Array<T>> trial_vector(Job& job, const Problem<T>& problem) {
  const SparseMatrix<T>& matrix = problem.matrix;
  const bool is_square = matrix.rows() == matrix.columns();
  TESSERA_ASSIGN_OR_RETURN(
      auto x,
      Array<T>::create(job, is_square ? matrix.row_distribution() : matrix.column_distribution(),
                       {.name = "x"}));
  TESSERA_ASSIGN_OR_RETURN(auto access, x.local());
  const auto view = access.view();
  for (std::int64_t i = access.own().lo(0); i < access.own().hi(0); ++i) {
    view(i) = trial_element<T>(
        problem.old_rows.empty() ? i : problem.old_rows[static_cast<std::size_t>(i)]);
  }
  TESSERA_RETURN_IF_ERROR(access.end());
  TESSERA_RETURN_IF_ERROR(x.sync());
  return x;
}

void describe_source(Report& report, const Order& order, const Source& source) {
  report.add("benchmark", "sparse matrix-vector product");
  report.add("matrix", order.file);
  if (source.file) {
    const MatrixHeader& header = source.file->header();
    report.add("format", fmt::format("{} {} {}", to_string(header.layout), to_string(header.field),
                                     to_string(header.symmetry)));
  } else {
    report.add("format", "generated");
  }
}

template <class T>
Status describe_matrix(Report& report, Problem<T>& problem, linalg::SparseSummary& summary) {
  TESSERA_ASSIGN_OR_RETURN(summary, linalg::summarise(problem.matrix));
  report.add("rows", problem.matrix.rows());
  report.add("columns", problem.matrix.columns());
  report.add("entries", problem.matrix.entries());
  if (problem.given > problem.matrix.entries()) {
    report.add("entries_summed", problem.given - problem.matrix.entries());
  }
  report.add("longest_row", summary.most_in_row);
  report.add("entries_of_ranks",
             fmt::format("{} to {}", summary.fewest_on_rank, summary.most_on_rank),
             {{"min_entries_of_rank", summary.fewest_on_rank},
              {"max_entries_of_rank", summary.most_on_rank}});
  return {};
}

constexpr double micro = 1e6;

void report_modes(Report& report, const std::vector<ModeResult>& results) {
  const auto mean = [](const ModeResult& result) {
    return std::accumulate(result.communication.begin(), result.communication.end(), 0.0) /
           static_cast<double>(result.communication.size());
  };
  report.add("elements_read", results[0].elements_read);
  for (const ModeResult& result : results) {
    std::vector<double> each = result.communication;
    std::transform(each.begin(), each.end(), each.begin(), [](double s) { return s * micro; });
    report.add("seconds_" + result.name, result.seconds, "s");
    report.add("rate_" + result.name, result.gflops, "Gflop/s");
    report.add("communication_" + result.name, each, "us", 4);
  }
  report.add("rate", results[0].gflops * 1000, "Mflop/s");
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (mean(results[i]) > 0) {
      report.add(fmt::format("communication_{}_over_{}", results[0].name, results[i].name),
                 mean(results[0]) / mean(results[i]), "", 4);
    }
  }
  report.note("\nCommunication time of each rank, for each product:\n" + bars_of(results) + "\n");
}

template <class T>
Result<bool> multiply(const Order& order, Report& report, Problem<T>& problem, Array<T>& x,
                      const MatrixCounts& counts) {
  TESSERA_ASSIGN_OR_RETURN(
      auto y,
      Array<T>::create(problem.matrix.job(), problem.matrix.row_distribution(), {.name = "y"}));
  report.add("iterations", order.iterations);
  TESSERA_ASSIGN_OR_RETURN(const auto results,
                           run_products(problem.matrix, x, y, order.modes, order.iterations));
  report_modes(report, results);
  TESSERA_ASSIGN_OR_RETURN(const double norm, arrays::norm2(y, {.reproducible = true}));
  report.add("norm_of_y", norm, "", 14);
  TESSERA_ASSIGN_OR_RETURN(const CheckResult check,
                           problem.check.compare(y, problem.old_rows, counts));
  report.add("check", check.how);
  report.add("largest_error", check.error, "");
  report.add("allowed_error", check.allowed, "");
  return check.is_good();
}

// Solves A x = b with b = A exact, so that the error of the solution is known, too.
template <class T>
Result<bool> solve_system(const Order& order, Report& report, const Source& source,
                          Problem<T>& problem, Array<T>& exact) {
  SparseMatrix<T>& matrix = problem.matrix;
  TESSERA_ASSIGN_OR_RETURN(auto b, exact.duplicate("b"));
  TESSERA_ASSIGN_OR_RETURN(auto x, exact.duplicate("solution"));
  TESSERA_ASSIGN_OR_RETURN(auto plan,
                           SpmvPlan<T>::create(matrix, exact, b, order.modes[0].options));
  TESSERA_RETURN_IF_ERROR(plan.multiply(matrix, exact, b));
  const auto start = Clock::now();
  Progress progress(shows_progress(matrix.job(), order.quiet));
  SolveOptions options{*order.method, order.tolerance, order.max_steps, order.jacobi};
  options.progress = [&](std::int64_t iteration, double residual) {
    if (progress.is_due()) {
      progress.print(fmt::format("iteration {}: residual {:.2e}", iteration, residual));
    }
  };
  auto solved = solve(matrix, plan, b, x, options);
  TESSERA_RETURN_IF_ERROR(Status(solved.status()).context(order.file));
  const SolveResult& result = *solved;
  const double seconds = seconds_since(start);
  TESSERA_RETURN_IF_ERROR(arrays::add(T{1}, x, T{-1}, exact, b));
  TESSERA_ASSIGN_OR_RETURN(const double error, arrays::norm2(b));
  TESSERA_ASSIGN_OR_RETURN(const double norm, arrays::norm2(exact));
  report.add("solver", *order.method == Method::cg ? "cg" : "bicgstab");
  report.add("preconditioner", order.jacobi ? "jacobi" : "none");
  report.add("solver_iterations", result.iterations);
  if (result.restarts > 0) {
    report.add("solver_restarts", std::int64_t{result.restarts});
  }
  report.add("solver_seconds", seconds, "s");
  report.add("carried_residual", result.carried_residual, "", 14);
  report.add("residual_norm", result.true_residual, "", 14);
  report.add("tolerance", order.tolerance, "");
  report.add("solution_error", norm > 0 ? error / norm : error, "", 14);
  if (!result.failure.empty()) {
    const bool may_be_the_matrix =
        *order.method == Method::cg && !result.has_converged && !is_surely_symmetric(source);
    report.add("solver_failure",
               result.failure + (may_be_the_matrix ? "; " + cg_requirement(source) : ""));
  }
  return result.has_converged && is_accurate(result, order.tolerance);
}

// Whether all results are right.
template <class T>
Result<bool> run_with(const Order& order, Report& report, Source& source, Job& job) {
  const auto start = Clock::now();
  TESSERA_ASSIGN_OR_RETURN(auto problem, assemble<T>(order, source, job));
  report.add("read_seconds", seconds_since(start), "s");
  TESSERA_RETURN_IF_ERROR(distribute_rows(order, problem));
  linalg::SparseSummary summary;
  TESSERA_RETURN_IF_ERROR(describe_matrix(report, problem, summary));
  TESSERA_ASSIGN_OR_RETURN(auto x, trial_vector(job, problem));
  const MatrixCounts counts{summary.most_in_row, problem.matrix.entries()};
  TESSERA_ASSIGN_OR_RETURN(bool is_good, multiply(order, report, problem, x, counts));
  if (order.method) {
    TESSERA_ASSIGN_OR_RETURN(const bool is_solved, solve_system(order, report, source, problem, x));
    is_good = is_good && is_solved;
  }
  return is_good;
}

Result<int> run_and_report(const Order& order, Job& job) {
  TESSERA_ASSIGN_OR_RETURN(auto report,
                           Report::create(job, {"tessera-spmv",
                                                order.json_file,
                                                order.quiet,
                                                {order.generator ? std::string() : order.file}}));
  Source source{std::nullopt, order.generator};
  if (!order.generator) {
    TESSERA_ASSIGN_OR_RETURN(source.file, MatrixFile::open(job, order.file));
  }
  TESSERA_RETURN_IF_ERROR(check_shape(order, source));
  TESSERA_RETURN_IF_ERROR(check_symmetry(order, source));
  describe_source(report, order, source);
  TESSERA_RETURN_IF_ERROR(add_job(report, job));
  TESSERA_RETURN_IF_ERROR(check_memory(job, need_of(order, source, job)));
  TESSERA_ASSIGN_OR_RETURN(const bool is_good,
                           is_complex(source)
                               ? run_with<std::complex<double>>(order, report, source, job)
                               : run_with<double>(order, report, source, job));
  TESSERA_RETURN_IF_ERROR(add_traffic(report, job));
  return report.finish(is_good);
}

}  // namespace

Outcome run(const Order& order, Job& job) {
  // A kind of matrix that is not supported is the user's error.
  return outcome_of(run_and_report(order, job), {rma::Code::unsupported});
}

}  // namespace tessera::apps::spmv
