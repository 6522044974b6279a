// SPDX-License-Identifier: BSD-3-Clause
//
// Part "spmv.modes": products with sparse matrices between nodes. Elements of other ranks are read
// one by one, by aggregates, and by the library's default way. They alternate with the same product
// by MPI's messages, if MPI runs. The part also records each rank's communication time.
#include "bench/parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/spmv/check.hpp"
#include "apps/spmv/generate.hpp"
#include "apps/spmv/products.hpp"
#include "bench/apps/communication_log.hpp"
#include "bench/apps/others.hpp"
#include "linalg/spmv.hpp"

namespace tessera::bench {
namespace {

using arrays::Array;
using linalg::LocalCsr;
using linalg::SparseMatrix;
using linalg::SpmvPlan;
namespace spmv = apps::spmv;

constexpr std::int64_t bytes_of_entry = 12;  // a value and a column
constexpr std::int64_t pattern_edge = 64;    // at most this number of cells per edge of a picture

constexpr const char* messages = "mpi neighbours";
constexpr const char* aggregate_target = "sparse product between nodes: speed of aggregate / plain";
constexpr const char* message_target = "sparse product between nodes: speed / MPI neighbours";

/// This rank's rows of an even division; entries at the same position are summed.
LocalCsr<double> own_rows(const spmv::Generator& generator, std::int64_t lo, std::int64_t hi) {
  LocalCsr<double> rows;
  rows.rows = hi - lo;
  rows.columns = generator.rows();
  std::vector<std::pair<std::int64_t, double>> entries;
  for (std::int64_t row = lo; row < hi; ++row) {
    entries.clear();
    generator.give_row(row, [&](std::int64_t, std::int64_t column, double value) {
      entries.emplace_back(column, value);
    });
    std::sort(entries.begin(), entries.end());
    for (const auto& [column, value] : entries) {
      if (rows.entries() > rows.row_starts.back() && rows.column.back() == column) {
        rows.value.back() += value;
      } else {
        rows.column.push_back(column);
        rows.value.push_back(value);
      }
    }
    rows.row_starts.push_back(rows.entries());
  }
  return rows;
}

/// Collective. Where the matrix has entries; this rank has the rows from `first` on.
MatrixPattern pattern_of(rma::Job& job, const std::string& name, const LocalCsr<double>& rows,
                         std::int64_t first) {
  const std::int64_t edge = std::min(pattern_edge, rows.columns);  // the same number of rows
  std::vector<std::int64_t> counts(static_cast<std::size_t>(edge * edge));
  for (const auto& [row, column, value] : linalg::to_triplets(rows, first)) {
    const std::int64_t line = row * edge / rows.columns;
    ++counts[static_cast<std::size_t>(line * edge + column * edge / rows.columns)];
  }
  rma::require(job.world().allreduce(std::span(counts), rma::Reduction::sum));
  MatrixPattern pattern{name, rows.columns, rows.columns, 0, {}};
  pattern.entries = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (auto line = counts.begin(); line != counts.end(); line += edge) {
    pattern.cells.emplace_back(line, line + edge);
  }
  return pattern;
}

/// Matrix and vectors, the expected y, and everything that multiplies.
struct PreparedProblem {
  SparseMatrix<double> matrix;
  Array<double> x;
  Array<double> y;
  std::vector<double> expected;  ///< of this rank's rows
  std::vector<std::pair<std::string, SpmvPlan<double>>> plans;
  std::unique_ptr<NeighbourProduct> by_messages;
};

std::vector<double> product_of(const LocalCsr<double>& rows) {
  std::vector<double> y(static_cast<std::size_t>(rows.rows));
  for (const auto& [row, column, value] : linalg::to_triplets(rows)) {
    y[static_cast<std::size_t>(row)] += value * spmv::trial_element<double>(column);
  }
  return y;
}

PreparedProblem prepare(Session& session, const std::string& name) {
  rma::Job& job = session.job();
  const spmv::Generator generator = spmv::parse_generator(name).value();
  const auto even = arrays::Distribution::regular({generator.rows()}, job.size()).value();
  const arrays::Box own = even.box_of(job.world().rank());
  LocalCsr<double> rows = own_rows(generator, own.lo(0), own.hi(0));
  std::vector<std::int64_t> starts;
  for (rma::TeamRank rank{0}; rank.value < job.size(); ++rank.value) {
    starts.push_back(even.box_of(rank).lo(0));
  }
  starts.push_back(generator.rows());
  auto by_messages = session.compares_with(Peer::mpi)
                         ? make_neighbour_product(session.group(), rows, starts)
                         : nullptr;
  session.record(pattern_of(job, name, rows, own.lo(0)));
  std::vector<double> expected = product_of(rows);
  auto matrix = SparseMatrix<double>::create(job, std::move(rows), {.name = name}).value();
  auto x = Array<double>::create(job, matrix.row_distribution(), {.name = "x"}).value();
  auto y = x.duplicate("y").value();
  auto* const slice = reinterpret_cast<double*>(x.region().local());
  for (std::int64_t i = own.lo(0); i < own.hi(0); ++i) {
    slice[i - own.lo(0)] = spmv::trial_element<double>(i);
  }
  if (by_messages) {
    std::copy_n(slice, own.volume(), by_messages->x().begin());
  }
  rma::require(x.sync());
  PreparedProblem problem{std::move(matrix),   std::move(x), std::move(y),
                          std::move(expected), {},           std::move(by_messages)};
  for (const spmv::Mode& mode :
       spmv::parse_modes("vector,plain,aggregate,default,neighbours").value()) {
    problem.plans.emplace_back(
        mode.name,
        SpmvPlan<double>::create(problem.matrix, problem.x, problem.y, mode.options).value());
  }
  return problem;
}

std::string differs(const PreparedProblem& problem, const double* y) {
  for (std::size_t i = 0; i < problem.expected.size(); ++i) {
    if (!(std::abs(y[i] - problem.expected[i]) <= 1e-12 * (1 + std::abs(problem.expected[i])))) {
      return fmt::format("row {} of this rank is {}, not {}", i, y[i], problem.expected[i]);
    }
  }
  return "";
}

/// A way to multiply, and the time that its products spend on elements of other ranks.
struct LoggedCandidate {
  Candidate candidate;
  std::shared_ptr<CommunicationLog> log;
};

LoggedCandidate make_way(std::string name, std::function<void()> multiply,
                         std::function<double()> communication_seconds,
                         std::function<std::string()> what_is_wrong) {
  auto log = std::make_shared<CommunicationLog>(std::move(communication_seconds));
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.cooperative = true;
  candidate.run = [log, multiply = std::move(multiply)](std::int64_t repetitions) {
    log->call(repetitions, multiply);
  };
  candidate.verify = [run = candidate.run, what_is_wrong = std::move(what_is_wrong)] {
    run(1);
    return what_is_wrong();
  };
  return {std::move(candidate), std::move(log)};
}

LoggedCandidate way_by_messages(PreparedProblem& problem) {
  return make_way(
      messages, [&problem] { problem.by_messages->run(); },
      [&problem] { return problem.by_messages->communication_seconds(); },
      [&problem] { return differs(problem, problem.by_messages->y().data()); });
}

LoggedCandidate way_by_plan(PreparedProblem& problem, std::size_t number) {
  auto& [name, plan] = problem.plans[number];
  return make_way(
      name,
      [&problem, &plan = plan] {
        rma::require(plan.multiply(problem.matrix, problem.x, problem.y));
      },
      [&plan = plan] { return plan.communication_seconds(); },
      [&problem] {
        return differs(problem, reinterpret_cast<const double*>(problem.y.region().local()));
      });
}

/// MPI's messages first, if MPI runs; then all plans.
std::vector<LoggedCandidate> ways_of(PreparedProblem& problem) {
  std::vector<LoggedCandidate> ways;
  if (problem.by_messages) {
    ways.push_back(way_by_messages(problem));
  }
  for (std::size_t number = 0; number < problem.plans.size(); ++number) {
    ways.push_back(way_by_plan(problem, number));
  }
  return ways;
}

void compare(Session& session, const std::string& name, const PreparedProblem& problem,
             const std::vector<Measured>& measured) {
  if (!session.is_leader()) {
    return;
  }
  const auto say = [&](const char* what, const Ratio& ratio) {
    session.remark(fmt::format("{}: {} elements from others on rank 0: {}", name,
                               problem.plans[0].second.elements_from_others(), what),
                   ratio);
    return ratio;
  };
  const auto speed = [](const Measured& reference, const Measured& subject) {
    return ratio_of_medians(reference.samples_ns, subject.samples_ns);
  };
  const std::size_t plain = measured.size() - 4;
  session.targets().observe(
      aggregate_target, name,
      say("speed of aggregate / plain", speed(measured[plain], measured[plain + 1])));
  if (problem.by_messages) {
    say("speed of default / MPI neighbours", speed(measured[0], measured[plain + 2]));
    // As with MPI's messages, only neighbours synchronise.
    session.observe_ratio_to(
        messages, message_target, name,
        say("speed of neighbours / MPI neighbours", speed(measured[0], measured.back())));
  }
}

/// Collective. The communication time of each rank in the measured products of `way`, as a separate
/// result: the slowest rank's of each product, as in all results, and each rank's median.
void record_communication(Session& session, const Subject& subject, const LoggedCandidate& way,
                          const Measured& measured, bool is_primed) {
  RankGroup& group = session.group();
  const std::int64_t samples = group.share(std::ssize(measured.samples_ns));
  std::vector<double> products = way.log->of_last(samples, is_primed);
  const Stats own = summarise(products);
  Record record;
  record.bench = subject.bench;
  record.backend = measured.name;
  record.op = "communication";
  record.shape = subject.op;
  record.size = subject.size;
  for (int rank = 0; rank < group.size(); ++rank) {
    record.by_rank.push_back(group.share(own.median, rank));
    record.by_rank_ci95.push_back(group.share(own.ci95_median, rank));
  }
  rma::require(session.job().world().allreduce(std::span(products), rma::Reduction::max));
  record.stats = summarise(products);
  record.valid = measured.valid;
  record.notes = measured.notes;
  record.notes.push_back(fmt::format(
      "time of the slowest rank in each of {} measured products; by_rank has each rank's median",
      products.size()));
  session.record(std::move(record));
}

}  // namespace

void measure_spmv_modes(Session& session) {
  Topic topic{"spmv", "", "Sparse Product Time Between Nodes", Quantity::latency, "Rows"};
  for (const char* const name : {"fe2d:200", "stencil27:24", "random:10000,9"}) {
    PreparedProblem problem = prepare(session, name);
    const std::vector<LoggedCandidate> ways = ways_of(problem);
    std::vector<Candidate> candidates;
    std::transform(ways.begin(), ways.end(), std::back_inserter(candidates),
                   [](const LoggedCandidate& way) { return way.candidate; });
    topic.op = name;
    const std::int64_t bytes = problem.matrix.entries() * bytes_of_entry;
    const MeasureOptions options = concurrent(session.options().measure_options());
    const auto measured =
        session.measure(topic, {problem.matrix.rows(), "", bytes}, candidates, options);
    compare(session, name, problem, measured);
    for (std::size_t i = 0; i < ways.size(); ++i) {
      record_communication(session, {"spmv", name, "", bytes}, ways[i], measured[i], options.prime);
    }
  }
}

std::vector<Target> spmv_mode_targets() {
  return {{aggregate_target, "plain", Target::Sense::speed_at_least, 5},
          {message_target, messages, Target::Sense::speed_at_least, 1}};
}

}  // namespace tessera::bench
