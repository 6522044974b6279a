// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-mg: the NAS Parallel Benchmark MG on Tessera arrays.
//
//     tessera-mg --class A                        alone
//     tessera-run -n 4 tessera-mg --class A       four processes, no MPI
//     mpirun -n 4 tessera-mg --class A            under MPI's launcher
//     tessera-mg --class A --threads 4            four threads
//
// Solves ∇²u = v on a periodic cube by V-cycles (Bailey et al., RNR-94-007) and compares the norm
// of the residual with the published one. Exit code: 0 verified, or no norm is published for this
// number of cycles and the norm decreased; 1 not verified; 2 bad usage, a class that does not fit
// into memory, or a file that cannot be written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/common/command_line.hpp"
#include "apps/common/memory_check.hpp"
#include "apps/common/output.hpp"
#include "apps/common/progress.hpp"
#include "apps/common/report.hpp"
#include "apps/common/run_ranks.hpp"
#include "apps/common/whole_number.hpp"

#include "apps/mg/distributed.hpp"
#include "apps/mg/problem.hpp"
#include "rma/base/version.hpp"
#include "rma/job.hpp"

namespace {

using tessera::apps::exit_usage;
using tessera::apps::print_error_once;
using tessera::apps::Progress;
using tessera::apps::Report;
using tessera::rma::Job;
using tessera::rma::Result;
using tessera::rma::Status;
namespace mg = tessera::apps::mg;

constexpr const char* program_name = "tessera-mg";

constexpr int norm_digits = 14;

struct Arguments {
  std::string class_name = "S";
  std::int64_t iterations = 0;  // 0: the class's number
  std::int32_t threads = 0;     // 0: ranks are processes
  std::string json_file;
  bool quiet = false;
};

tessera::apps::MemoryNeed need_of(const mg::Problem& problem, std::int64_t ranks) {
  return {.bytes_per_rank =
              static_cast<double>(mg::memory_bytes(problem, ranks)) / static_cast<double>(ranks),
          .what = fmt::format("class {}", problem.name),
          .hint = "use a smaller class, or more machines"};
}

// Returns the exit code.
int finish(Report& report, const mg::Problem& problem, std::int64_t cycles, double norm) {
  if (cycles == problem.cycles) {
    return report.finish(mg::is_verified(problem, norm));
  }
  if (!mg::is_reduced(problem, norm)) {
    return report.finish(false);
  }
  return report.finish_unverified(fmt::format(
      "no norm is published for {} cycles of class {}; the norm decreased from the start", cycles,
      problem.name));
}

Status describe_run(Report& report, const mg::Problem& problem, std::int64_t cycles, Job& job) {
  report.add("benchmark", "NAS MG");
  report.add("class", std::string(1, problem.name));
  report.add("grid", fmt::format("{0} x {0} x {0}", problem.edge),
             {{"grid_edge_points", problem.edge}});
  report.add("iterations", cycles);
  return tessera::apps::add_job(report, job);
}

// Returns the exit code.
Result<int> run_and_report(const Arguments& arguments, const mg::Problem& problem, Job& job) {
  const std::int64_t cycles = arguments.iterations == 0 ? problem.cycles : arguments.iterations;
  TESSERA_ASSIGN_OR_RETURN(
      auto report, Report::create(job, {program_name, arguments.json_file, arguments.quiet}));
  TESSERA_RETURN_IF_ERROR(describe_run(report, problem, cycles, job));
  TESSERA_RETURN_IF_ERROR(check_memory(job, need_of(problem, job.size())));
  TESSERA_ASSIGN_OR_RETURN(auto solver, mg::DistributedRun::create(job, problem));
  // One untimed cycle touches all memory, as NPB's own warm-up does.
  TESSERA_ASSIGN_OR_RETURN(mg::RunResult result, solver.run(1));
  Progress progress(tessera::apps::shows_progress(job, arguments.quiet));
  TESSERA_ASSIGN_OR_RETURN(result, solver.run(cycles, [&](std::int64_t done) {
    if (progress.is_due()) {
      progress.print(fmt::format("cycle {} of {}", done, cycles));
    }
  }));

  report.add("seconds", result.seconds, "s");
  report.add("halo_seconds", result.halo_seconds, "s");
  report.add("exposed_seconds", result.exposed_seconds, "s");
  report.add("rate", mg::rate_mops(problem, cycles, result.seconds), "Mop/s");
  report.add("residual_norm", result.norm, "", norm_digits);
  report.add("initial_norm", mg::initial_norm(problem), "", norm_digits);
  if (cycles == problem.cycles) {
    report.add("published_norm", problem.verified_norm, "", norm_digits);
  }
  TESSERA_RETURN_IF_ERROR(tessera::apps::add_traffic(report, job));
  return finish(report, problem, cycles, result.norm);
}

int run_program(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"The NAS Parallel Benchmark MG on Tessera arrays."};
  app.set_version_flag("--version", std::string(tessera::rma::version()));
  app.add_option("--class", arguments.class_name, "Problem class: S, W, A, B, C or D")
      ->capture_default_str();
  app.add_option("--iterations", arguments.iterations, "V-cycles instead of the class's number")
      ->transform(tessera::apps::whole_number());
  app.add_option("--threads,--ranks", arguments.threads,
                 "Run this many ranks as threads of one process")
      ->transform(tessera::apps::whole_number());
  app.add_option("--json", arguments.json_file,
                 "Write the results as JSON to this file; -: to standard output, instead of text")
      ->check(tessera::apps::check_file_name);
  app.add_flag("--quiet", arguments.quiet, "Print nothing; only set the exit code");
  if (const auto code = tessera::apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  if (const auto code = tessera::apps::refuse_threads(program_name, arguments.threads)) {
    return *code;
  }
  arguments.quiet = arguments.quiet || tessera::apps::goes_to_output(arguments.json_file);
  const mg::ParsedClass parsed = mg::parse_class(arguments.class_name);
  if (!parsed.problem) {
    print_error_once(program_name, parsed.error);
    return exit_usage;
  }
  return tessera::apps::run_ranks(program_name, arguments.threads, [&](Job& job) {
    return tessera::apps::outcome_of(run_and_report(arguments, *parsed.problem, job));
  });
}

}  // namespace

int main(int argc, char** argv) {
  tessera::apps::ignore_file_size_signal();
  return tessera::apps::finish_output(program_name, run_program(argc, argv));
}
