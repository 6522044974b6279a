// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-ccsd: coupled cluster with singles, doubles and perturbative triples, on Tessera arrays.
//
//     tessera-ccsd --fcidump h2o.fcidump --triples                       alone
//     tessera-run -n 4 tessera-ccsd --fcidump h2o.fcidump                four processes, no MPI
//     mpirun -n 4 tessera-ccsd --fcidump h2o.fcidump --frozen-core 1     under MPI's launcher
//     tessera-ccsd --occupied 16 --virtual 128 --max-iterations 3        artificial integrals
//
// Exit code: 0 converged; 1 not converged, or the run failed; 2 bad usage, a file that cannot be
// used or was not written, too little memory.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "apps/ccsd/orbital_space.hpp"
#include "apps/ccsd/program.hpp"
#include "apps/common/command_line.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "apps/common/run_ranks.hpp"
#include "apps/common/whole_number.hpp"
#include "rma/base/version.hpp"
#include "rma/job.hpp"

namespace {

using tessera::apps::exit_usage;
using tessera::apps::print_error_once;
using tessera::rma::Job;
namespace ccsd = tessera::apps::ccsd;

constexpr const char* program_name = "tessera-ccsd";

void add_options(CLI::App& app, ccsd::Arguments& arguments, std::int32_t& threads) {
  using tessera::apps::whole_number;
  app.set_version_flag("--version", std::string(tessera::rma::version()));
  auto* const file = app.add_option("--fcidump", arguments.fcidump_file,
                                    "File with the molecule's integrals, in FCIDUMP format")
                         ->check(tessera::apps::check_file_name);
  app.add_option("--frozen-core", arguments.frozen_core,
                 "Number of lowest orbitals that are not correlated")
      ->transform(whole_number(0));
  app.add_flag("--triples", arguments.triples, "Also compute the perturbative triples, (T)");
  auto* const occupied =
      app.add_option("--occupied", arguments.occupied,
                     "Artificial integrals with this many occupied orbitals, instead of a file")
          ->transform(whole_number(1, ccsd::max_orbitals));
  auto* const virtuals =
      app.add_option("--virtual", arguments.virtuals, "and this many virtual orbitals")
          ->transform(whole_number(1, ccsd::max_orbitals));
  occupied->needs(virtuals)->excludes(file);
  virtuals->needs(occupied)->excludes(file);
  app.add_option("--max-iterations", arguments.max_iterations, "Maximum number of iterations")
      ->transform(whole_number())
      ->capture_default_str();
  app.add_option("--checkpoint", arguments.checkpoint_file,
                 "Write the amplitudes to this file after each iteration")
      ->check(tessera::apps::check_file_name);
  app.add_option("--restart", arguments.restart_file, "Start from the amplitudes in this file")
      ->check(tessera::apps::check_file_name);
  app.add_option("--tile", arguments.tile, "Number of rows and columns of a task's tiles")
      ->transform(whole_number(1, std::int64_t{1} << 14))
      ->capture_default_str();
  app.add_option("--threads,--ranks", threads, "Run this many ranks as threads of one process")
      ->transform(whole_number());
  app.add_option("--json", arguments.json_file,
                 "Write the results as JSON to this file; -: to standard output, instead of text")
      ->check(tessera::apps::check_file_name);
  app.add_flag("--quiet", arguments.quiet, "Print nothing; only set the exit code");
}

int run_program(int argc, char** argv) {
  ccsd::Arguments arguments;
  std::int32_t threads = 0;  // 0: ranks are processes
  CLI::App app{"Closed-shell coupled cluster, CCSD and CCSD(T), on Tessera arrays."};
  add_options(app, arguments, threads);
  if (const auto code = tessera::apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  if (const auto code = tessera::apps::refuse_threads(program_name, threads)) {
    return *code;
  }
  if (arguments.fcidump_file.empty() && arguments.occupied == 0) {
    print_error_once(program_name, "--fcidump FILE is needed, or --occupied O --virtual V");
    return exit_usage;
  }
  if (arguments.fcidump_file.empty() && arguments.max_iterations == 1) {
    print_error_once(
        program_name,
        "--max-iterations 1: artificial integrals need at least two iterations, to check "
        "that the steps get smaller");
    return exit_usage;
  }
  arguments.quiet = arguments.quiet || tessera::apps::goes_to_output(arguments.json_file);
  return tessera::apps::run_ranks(program_name, threads,
                                  [&](Job& job) { return ccsd::run(arguments, job); });
}

}  // namespace

int main(int argc, char** argv) {
  tessera::apps::ignore_file_size_signal();
  return tessera::apps::finish_output(program_name, run_program(argc, argv));
}
