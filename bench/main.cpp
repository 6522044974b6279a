// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-bench: measures Tessera and, in the same run, the alternatives that its users have today.
//
//     tessera-bench rma                      one process: compared with memory only
//     tessera-run -n 2 tessera-bench rma     two processes
//     mpirun -n 2 tessera-bench rma          also: MPI and ARMCI-MPI
//     tessera-bench rma --threads 2          two threads of one process
//     tessera-bench rma.strided mg           one part of a suite, and another suite
//
// bench/report.py makes a page of the results that --json wrote; bench/repeat starts several
// launches.
//
// Exit code: 0 all data were right; 1 some data were wrong, or a rank failed; 2 wrong usage, or a
// file can't be written; 77 nothing could be measured here, for example without a device. A missed
// target does not change the exit code.
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/common/command_line.hpp"
#include "apps/common/exit_codes.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "apps/common/whole_number.hpp"
#include "bench/baselines/mpi.hpp"
#include "bench/parts.hpp"
#include "bench/result_writer.hpp"
#include "bench/session.hpp"
#include "bench/support/job_group.hpp"
#include "bench/support/machine.hpp"
#include "linalg/blas_threads.hpp"
#include "rma/bootstrap.hpp"
#include "rma/tuning.hpp"

namespace tessera::bench {
namespace {

constexpr std::int64_t min_gups_bytes = 8192;

struct Chosen {
  const Suite* suite = nullptr;
  const SuitePart* part = nullptr;
};

/// The parts that `name` names, "rma" or "rma.strided"; empty if no suite or part has that name.
std::vector<Chosen> find_parts(const std::string& name) {
  std::vector<Chosen> found;
  for (const Suite& suite : suites()) {
    for (const SuitePart& part : suite.parts) {
      if (name == suite.name || name == suite.name + "." + part.name) {
        found.push_back({&suite, &part});
      }
    }
  }
  return found;
}

/// An error message for wrong names of suites; empty if all are right. Called after all options are
/// parsed: otherwise the value of an unknown option would be taken for a suite.
std::string problem_of(const std::vector<std::string>& suites) {
  for (const std::string& name : suites) {
    if (find_parts(name).empty()) {
      return fmt::format("'{}' is not a suite; --list prints the suites", name);
    }
  }
  return suites.empty() ? "name at least one suite; --list prints the suites" : "";
}

void list_suites() {
  for (const Suite& suite : suites()) {
    fmt::print("{:<20} {}\n", suite.name, suite.description);
    for (const SuitePart& part : suite.parts) {
      fmt::print("  {}.{}\n", suite.name, part.name);
    }
  }
}

std::string check_folder(const std::string& path) {
  // access() is not enough: root may write everywhere, but not in /proc.
  const rma::Status usable =
      apps::try_output_file(path + "/tessera-bench." + std::to_string(getpid()));
  return usable.ok() ? "" : std::string(usable.message());
}

/// Prints, as HPCG does, what each application reached in one number, and whether its results were
/// right.
void print_ratings(const Report& report, bool is_checked) {
  bool is_valid = true;
  const auto reasons =
      report.ratings().empty() ? std::vector<std::string>() : objections(report.run());
  for (const std::string& reason : reasons) {
    fmt::print("# ratings are not headlines: {}\n", reason);
  }
  for (const Rating& rating : report.ratings()) {
    fmt::print("rating {}: {:.6g} {}{}\n", rating.name, rating.value, rating.unit,
               rating.valid ? "" : " INVALID");
    is_valid = is_valid && rating.valid;
  }
  if (!report.ratings().empty()) {
    fmt::print("VERIFICATION {}\n", !is_valid ? "FAILED" : is_checked ? "SUCCESSFUL" : "LEFT OUT");
    std::cout.flush();
  }
}

bool writes_to_standard_output(const BenchOptions& options) {
  return options.json == standard_output;
}

/// Collective. Runs the chosen parts, each once.
void run_parts(Session& session, const BenchOptions& options, Targets& targets) {
  std::vector<const Suite*> seen_suites;
  std::vector<const SuitePart*> seen_parts;
  for (const std::string& name : options.suites) {
    for (const Chosen& chosen : find_parts(name)) {
      if (std::find(seen_suites.begin(), seen_suites.end(), chosen.suite) == seen_suites.end()) {
        seen_suites.push_back(chosen.suite);
        targets.add(chosen.suite->targets);
      }
      if (std::find(seen_parts.begin(), seen_parts.end(), chosen.part) == seen_parts.end()) {
        seen_parts.push_back(chosen.part);
        chosen.part->run(session);
      }
    }
  }
}

/// Prints what follows the tables. Returns rank 0's exit code.
int finish_run(const Report& report, const BenchOptions& options, bool has_files) {
  for (const std::string& each : report.recorded_twice()) {
    std::cerr << "tessera-bench: " << each << " was recorded twice; pages show only the first\n";
  }
  if (!writes_to_standard_output(options)) {
    print_ratings(report, options.check);
  }
  if (!report.is_valid()) {
    std::cerr << "tessera-bench: some data were wrong; see the lines marked INVALID\n";
    return EXIT_FAILURE;
  }
  if (!has_files) {
    return apps::exit_usage;
  }
  if (report.records().empty()) {
    std::cerr << "tessera-bench: nothing could be measured here; see the remarks in the tables for "
                 "the reasons\n";
    return exit_skipped;
  }
  return EXIT_SUCCESS;
}

/// Collective. Runs the chosen parts and returns the exit code. If a signal or an exception ends
/// the run early, the results so far are written.
int run_suites(rma::Job& job, RankGroup& group, const BenchOptions& options, RunInfo run) {
  Report report(std::move(run));
  ResultWriter writer(report);
  if (!writer.open(group, options.json)) {
    return apps::exit_usage;
  }
  std::optional<TerminationSignals> signals;
  if (group.rank() == 0) {
    signals.emplace([&writer](int number) {
      writer.write_unfinished(fmt::format("signal {} ({})", number, strsignal(number)));
    });
  }
  Targets targets;
  try {
    Session session(job, group, options, report, targets);
    run_parts(session, options, targets);
  } catch (const std::exception& error) {
    writer.write_unfinished(error.what());
    throw;
  }
  if (group.rank() != 0) {
    return EXIT_SUCCESS;
  }
  report.set_targets(targets.results());
  if (!options.quiet) {
    targets.print(std::cout);
  }
  const bool has_files = writer.write();
  return finish_run(report, options, has_files);
}

int run_job(rma::Job& job, RankGroup& group, const BenchOptions& options, int argc,
            const char* const* argv, const std::string& mpi) {
  RunInfo run = describe_run(group, argc, argv);
  run.launch.nodes = job.node_count();
  run.launch.options = options.distinguishing();
  run.host.mpi = mpi;
  run.host.blas = linalg::blas_description();
  run.host.blas_threads = linalg::blas_threads(job);
  if (options.cache_bytes > 0) {
    run.host.llc_bytes = options.cache_bytes;
  }
  try {
    return run_suites(job, group, options, std::move(run));
  } catch (const BadInput& error) {
    if (group.rank() == 0) {
      std::cerr << "tessera-bench: " << error.what() << '\n';
    }
    return apps::exit_usage;
  }
}

/// The job itself reports wrong settings.
MpiCallers callers_of_mpi() {
  std::vector<std::string> warnings;
  const auto settings = rma::Settings::from_environment(&warnings);
  const bool are_several =
      settings.ok() && rma::mpi_threads_of(*settings) == rma::MpiThreads::several;
  return are_several ? MpiCallers::all_threads : MpiCallers::one_thread;
}

int run_in_processes(const BenchOptions& options, int argc, const char* const* argv) {
  // MPI first: Tessera joins it, and baselines need it until the end.
  const std::unique_ptr<MpiSession> mpi = start_mpi(callers_of_mpi());
  auto job = rma::Job::start();
  if (!job.ok()) {
    std::cerr << "tessera-bench: " << job.status().message() << '\n';
    return EXIT_FAILURE;
  }
  try {
    JobRankGroup job_group(*job);
    RankGroup& group = mpi ? mpi->group() : job_group;
    const int code = run_job(*job, group, options, argc, argv, mpi ? mpi->version() : "");
    rma::require(job->stop());
    return code;
  } catch (const std::exception& error) {
    // The other ranks wait for this one in collective calls, and this one would wait for them in
    // MPI_Finalize.
    std::cerr << "tessera-bench: " << error.what() << '\n';
    rma::end_job(EXIT_FAILURE);
  }
}

// Suites throw; an exception that leaves a thread's body would end the process.
template <typename Body>
rma::Status without_exceptions(const Body& body) {
  try {
    body();
  } catch (const rma::Error& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return rma::Status::error(rma::Code::no_memory, "the system is out of memory");
  } catch (const std::exception& error) {
    return rma::Status::error(rma::Code::internal, error.what());
  }
  return {};
}

int run_in_threads(const BenchOptions& options, int argc, const char* const* argv) {
  int code = EXIT_FAILURE;
  rma::require(rma::run_on_threads(options.threads, [&](rma::Job& job) {
    return without_exceptions([&] {
      JobRankGroup group(job);
      const int mine = run_job(job, group, options, argc, argv, "");
      if (group.rank() == 0) {
        code = mine;
      }
    });
  }));
  return code;
}

// Options that all suites have.
void add_run_options(CLI::App& app, BenchOptions& options) {
  add_options(app, options);
  app.add_option("suites", options.suites, "suites, or parts of suites (see --list)")
      ->type_name("SUITE");
  app.add_option("--threads", options.threads, "run this many ranks as threads of one process")
      ->transform(apps::whole_number());
  app.add_option("--compare,--compare-to", options.peers,
                 "what to compare with: memory, mpi, armci, ga, tcp, scalapack, shmem; all (except "
                 "shmem); none")
      ->check(check_peers)
      ->type_name("NAME,NAME,…")
      ->capture_default_str();
}

// Options of single suites.
void add_suite_options(CLI::App& app, BenchOptions& options) {
  app.add_option("--classes", options.mg_classes,
                 "problem classes of suite mg; memory.applications uses the first")
      ->check(check_mg_classes)
      ->type_name("A,B,…")
      ->capture_default_str();
  app.add_option("--matrix", options.matrix,
                 "matrix of part spmv.cg: stencil27:N, fe2d:N or a file")
      ->check(check_matrix)
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--table",
         [&options](const std::string& text) {
           options.gups_bytes = parse_size(text, "--table");
           if (options.gups_bytes < min_gups_bytes) {
             throw CLI::ValidationError(
                 "--table",
                 fmt::format("a table of {} B on each rank is too small; give at least {} B",
                             options.gups_bytes, min_gups_bytes));
           }
         },
         "suite gups: size of each rank's part of the table, at least 8K")
      ->type_name("SIZE")
      ->default_str("32M");
  app.add_option("--folder", options.folder, "folder for the files of suite checkpoint")
      ->check(check_folder)
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--edges", [&options](const std::string& text) { options.gemm_edges = parse_edges(text); },
         "numbers of rows and columns of the matrices of suites gemm, layouts and memory")
      ->type_name("N,N,…")
      ->default_str(fmt::format("{}", fmt::join(options.gemm_edges, ",")));
}

// Whether these options go together; prints an error if they don't.
bool check_combination(const BenchOptions& options) {
  if (const auto kept = apps::check_not_overwritten(options.json, {options.matrix}); !kept.ok()) {
    std::cerr << "tessera-bench: " << kept.message() << '\n';
    return false;
  }
  if (const std::string problem = problem_of(options.suites); !problem.empty()) {
    std::cerr << "tessera-bench: " << problem << '\n';
    return false;
  }
  return true;
}

int run(const BenchOptions& options, int argc, const char* const* argv) {
  if (const auto code = apps::refuse_threads("tessera-bench", options.threads)) {
    return *code;
  }
  return options.threads > 0 ? run_in_threads(options, argc, argv)
                             : run_in_processes(options, argc, argv);
}

int run_program(int argc, const char* const* argv) {
  BenchOptions options;
  CLI::App app{
      "Measures Tessera and compares it with MPI, ARMCI-MPI, Global Arrays and other baselines."};
  app.footer("bench/report.py FILE... -o PAGE makes a page of the results that --json wrote.");
  add_run_options(app, options);
  add_suite_options(app, options);
  bool lists = false;
  app.add_flag("--list", lists, "print the suites and their parts");
  if (const auto code = apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  if (lists) {
    list_suites();
    return EXIT_SUCCESS;
  }
  options.quiet = options.quiet || writes_to_standard_output(options);
  return check_combination(options) ? run(options, argc, argv) : apps::exit_usage;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  constexpr const char* name = "tessera-bench";
  int code = EXIT_FAILURE;
  tessera::apps::ignore_file_size_signal();
  try {
    code = tessera::bench::run_program(argc, argv);
  } catch (const std::exception& error) {
    tessera::apps::print_error(name, error.what());
  }
  return tessera::apps::finish_output(name, code);
}
