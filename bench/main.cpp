// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-bench: measures Tessera beside what its users have today.
//
//     tessera-bench rma                      alone: beside memory only
//     tessera-run -n 2 tessera-bench rma     two processes
//     mpirun -n 2 tessera-bench rma          beside MPI and ARMCI-MPI, too
//     tessera-bench rma --threads 2          two threads of one process
//     tessera-bench rma.strided mg           a part of a suite, and another suite
//     tessera-bench report a.json -o r.html  a page of what --json wrote
//
// Exit code: 0 all data was right, 1 it was not or a rank failed, 2 bad usage or a file that can't
// be written, 77 nothing could be measured here, as without a device. Targets that were missed
// don't make it fail: that is for whoever looks at the numbers.
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
#include "bench/apps/cg.hpp"
#include "bench/apps/mg.hpp"
#include "bench/floors/mpi_session.hpp"
#include "bench/keeper.hpp"
#include "bench/relaunch.hpp"
#include "bench/report/command.hpp"
#include "bench/session.hpp"
#include "bench/support/ending_signals.hpp"
#include "bench/support/job_crew.hpp"
#include "bench/support/machine.hpp"
#include "linalg/blas_threads.hpp"
#include "rma/bootstrap.hpp"
#include "rma/tuning.hpp"

namespace tessera::bench {
namespace {

constexpr std::int64_t least_gups_bytes = 8192;

struct Chosen {
  const Suite* suite = nullptr;
  const SuitePart* part = nullptr;
};

/// The parts that `name` stands for, "rma" or "rma.strided"; none when there is no such.
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

/// What is wrong with names of suites; empty when nothing is. Looked at when all options are known:
/// the value of one that there is not would be taken for a suite.
std::string problem_of(const std::vector<std::string>& suites) {
  for (const std::string& name : suites) {
    if (find_parts(name).empty()) {
      return fmt::format("'{}' is no suite; --list prints them", name);
    }
  }
  return suites.empty() ? "name a suite; --list prints them" : "";
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
  // Rights don't tell: root has all of them in /proc, too.
  const rma::Status usable =
      apps::try_output_file(path + "/tessera-bench." + std::to_string(getpid()));
  return usable.ok() ? "" : std::string(usable.message());
}

/// As HPCG ends: what each application reached, in one number, and whether its results were right.
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
  return options.json == standard_output || options.csv == standard_output ||
         options.report == standard_output;
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

/// Rank 0's exit code, and what stands at the end of all.
int conclude(const Report& report, const BenchOptions& options, bool has_files) {
  for (const std::string& each : report.recorded_twice()) {
    std::cerr << "tessera-bench: " << each << " was recorded twice; pages show the first only\n";
  }
  if (!writes_to_standard_output(options)) {
    print_ratings(report, options.check);
  }
  if (!report.is_valid()) {
    std::cerr << "tessera-bench: some data was wrong; see the lines with INVALID\n";
    return EXIT_FAILURE;
  }
  if (!has_files) {
    return apps::exit_usage;
  }
  if (report.records().empty()) {
    std::cerr << "tessera-bench: nothing could be measured here; remarks in the tables say why\n";
    return exit_skipped;
  }
  return EXIT_SUCCESS;
}

/// Collective. Runs the chosen parts; returns the exit code. What ends the run before its end, a
/// signal or an exception, doesn't take with it what was measured.
int run_suites(rma::Job& job, Crew& crew, const BenchOptions& options, RunInfo run) {
  Report report(std::move(run));
  Keeper keeper(report);
  if (!keeper.open(crew, options, options.report)) {
    return apps::exit_usage;
  }
  std::optional<EndingSignals> signals;
  if (crew.rank() == 0) {
    signals.emplace([&keeper](int number) {
      keeper.write_unfinished(fmt::format("signal {} ({})", number, strsignal(number)));
    });
  }
  Targets targets;
  try {
    Session session(job, crew, options, report, targets);
    run_parts(session, options, targets);
  } catch (const std::exception& error) {
    keeper.write_unfinished(error.what());
    throw;
  }
  if (crew.rank() != 0) {
    return EXIT_SUCCESS;
  }
  report.set_targets(targets.results());
  if (!options.quiet) {
    targets.print(std::cout);
  }
  const bool has_files = keeper.write();
  return conclude(report, options, has_files);
}

int run_job(rma::Job& job, Crew& crew, const BenchOptions& options, int argc,
            const char* const* argv, const std::string& mpi) {
  RunInfo run = describe_run(crew, argc, argv);
  run.launch.nodes = job.node_count();
  run.launch.options = options.distinguishing();
  run.host.mpi = mpi;
  run.host.blas = linalg::blas_description();
  run.host.blas_threads = linalg::blas_threads(job);
  if (options.cache_bytes > 0) {
    run.host.llc_bytes = options.cache_bytes;
  }
  try {
    return run_suites(job, crew, options, std::move(run));
  } catch (const BadInput& error) {
    if (crew.rank() == 0) {
      std::cerr << "tessera-bench: " << error.what() << '\n';
    }
    return apps::exit_usage;
  }
}

/// Settings that are wrong are reported by the job.
MpiCallers callers_of_mpi() {
  std::vector<std::string> warnings;
  const auto settings = rma::Settings::from_environment(&warnings);
  const bool are_several =
      settings.ok() && rma::mpi_threads_of(*settings) == rma::MpiThreads::several;
  return are_several ? MpiCallers::all_threads : MpiCallers::one_thread;
}

int run_in_processes(const BenchOptions& options, int argc, const char* const* argv) {
  // MPI first: Tessera joins it, and floors need it until the very end.
  const std::unique_ptr<MpiSession> mpi = start_mpi(callers_of_mpi());
  auto job = rma::Job::start();
  if (!job.ok()) {
    std::cerr << "tessera-bench: " << job.status().message() << '\n';
    return EXIT_FAILURE;
  }
  try {
    JobCrew job_crew(*job);
    Crew& crew = mpi ? mpi->crew() : job_crew;
    const int code = run_job(*job, crew, options, argc, argv, mpi ? mpi->version() : "");
    rma::require(job->stop());
    return code;
  } catch (const std::exception& error) {
    // The others wait for this rank in what it leaves, and so would it for them in leaving MPI.
    std::cerr << "tessera-bench: " << error.what() << '\n';
    rma::end_job(EXIT_FAILURE);
  }
}

// Suites throw; what leaves a thread's body would end the process.
template <typename Body>
rma::Status without_exceptions(const Body& body) {
  try {
    body();
  } catch (const rma::Error& error) {
    return error.status();
  } catch (const std::bad_alloc&) {
    return rma::Status::error(rma::Code::no_memory, "the system gives no more memory");
  } catch (const std::exception& error) {
    return rma::Status::error(rma::Code::internal, error.what());
  }
  return {};
}

int run_in_threads(const BenchOptions& options, int argc, const char* const* argv) {
  int code = EXIT_FAILURE;
  rma::require(rma::run_on_threads(options.threads, [&](rma::Job& job) {
    return without_exceptions([&] {
      JobCrew crew(job);
      const int mine = run_job(job, crew, options, argc, argv, "");
      if (crew.rank() == 0) {
        code = mine;
      }
    });
  }));
  return code;
}

// What all suites have in common.
void add_run_options(CLI::App& app, BenchOptions& options, Relaunch& again) {
  add_options(app, options);
  app.add_option("suites", options.suites, "suites, or parts of suites (see --list)")
      ->type_name("SUITE");
  app.add_option("--report", options.report, "write the results as a page (HTML)")
      ->check(apps::check_file_name)
      ->type_name("FILE");
  app.add_option("--threads", options.threads, "run this many ranks as threads of one process")
      ->transform(apps::whole_number());
  app.add_option("--compare,--compare-to", options.peers,
                 "what to measure beside: memory, mpi, armci, ga, tcp, scalapack, shmem; all (but "
                 "shmem); none")
      ->check(check_peers)
      ->type_name("NAME,NAME,…")
      ->capture_default_str();
  app.add_option("--repeat-launch", again.launches,
                 "start the run so many times, and say what all of them show")
      ->transform(apps::whole_number(1, 1000))
      ->type_name("N");
  app.add_option("--launcher", again.launcher, "what starts each launch of --repeat-launch")
      ->type_name("'mpirun -n 2'");
}

// What single suites have.
void add_suite_options(CLI::App& app, BenchOptions& options) {
  app.add_option("--classes", options.mg_classes,
                 "problem classes of suite mg; memory.applications takes the first")
      ->check(check_mg_classes)
      ->type_name("A,B,…")
      ->capture_default_str();
  app.add_option("--matrix", options.matrix, "of part spmv.cg: stencil27:N, fe2d:N or a file")
      ->check(check_matrix)
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--table",
         [&options](const std::string& text) {
           options.gups_bytes = parse_size(text, "--table");
           if (options.gups_bytes < least_gups_bytes) {
             throw CLI::ValidationError(
                 "--table", fmt::format("a table of {} B on each rank: at least {} B make sense",
                                        options.gups_bytes, least_gups_bytes));
           }
         },
         "of suite gups: each rank's part of the table, at least 8K")
      ->type_name("SIZE")
      ->default_str("32M");
  app.add_option("--folder", options.folder, "where suite checkpoint writes its files")
      ->check(check_folder)
      ->type_name("DIR");
  app.add_option_function<std::string>(
         "--edges", [&options](const std::string& text) { options.gemm_edges = parse_edges(text); },
         "rows and columns of matrices of suites gemm, layouts and memory")
      ->type_name("N,N,…")
      ->default_str(fmt::format("{}", fmt::join(options.gemm_edges, ",")));
}

// Says what is wrong with options that are good one by one.
bool go_together(const BenchOptions& options, const Relaunch& again) {
  if (again.launches == 0 && !again.launcher.empty()) {
    std::cerr << "tessera-bench: --launcher goes with --repeat-launch N\n";
    return false;
  }
  if (again.launches > 0 && !(options.csv.empty() && options.report.empty())) {
    std::cerr
        << "tessera-bench: each launch of --repeat-launch would write --csv and --report anew; "
           "give --json FILE, and tessera-bench report what it writes\n";
    return false;
  }
  if (again.launches > 0 && options.json == standard_output) {
    std::cerr << "tessera-bench: --repeat-launch writes a file for each launch, and not to "
                 "standard output\n";
    return false;
  }
  for (const rma::Status& kept :
       {apps::check_not_overwritten(options.json, {options.csv, options.report, options.matrix}),
        apps::check_not_overwritten(options.csv, {options.report, options.matrix}),
        apps::check_not_overwritten(options.report, {options.matrix})}) {
    if (!kept.ok()) {
      std::cerr << "tessera-bench: " << kept.message() << '\n';
      return false;
    }
  }
  if (const std::string problem = problem_of(options.suites); !problem.empty()) {
    std::cerr << "tessera-bench: " << problem << '\n';
    return false;
  }
  return true;
}

int run(const BenchOptions& options, Relaunch again, int argc, const char* const* argv) {
  if (const auto code = apps::refuse_threads("tessera-bench", options.threads)) {
    return *code;
  }
  if (again.launches > 0) {
    again.json = options.json;
    again.arguments = without_options(std::vector<std::string>(argv + 1, argv + argc),
                                      {"--repeat-launch", "--launcher", "--json"});
    return relaunch(again);
  }
  return options.threads > 0 ? run_in_threads(options, argc, argv)
                             : run_in_processes(options, argc, argv);
}

int run_program(int argc, const char* const* argv) {
  if (argc > 1 && argv[1] == std::string_view("report")) {
    return report::run_command(argc - 1, argv + 1);
  }
  BenchOptions options;
  Relaunch again;
  CLI::App app{"Measures Tessera beside what its users have today."};
  app.footer(
      "tessera-bench report FILE... -o FILE makes a page of what --json wrote; see its --help.");
  add_run_options(app, options, again);
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
  return go_together(options, again) ? run(options, again, argc, argv) : apps::exit_usage;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  constexpr const char* name = "tessera-bench";
  int code = EXIT_FAILURE;
  tessera::apps::report_file_size_limit();
  try {
    code = tessera::bench::run_program(argc, argv);
  } catch (const std::exception& error) {
    tessera::apps::complain(name, error.what());
  }
  return tessera::apps::finish_output(name, code);
}
