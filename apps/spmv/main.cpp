// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-spmv: sparse matrix-vector products on Tessera's distributed matrices.
//
//     tessera-spmv --matrix arc130.rua                            alone
//     tessera-run -n 4 --nodes 2 tessera-spmv --generate fe2d:500 --mode plain,aggregate
//     mpirun -n 4 tessera-spmv --matrix A.mtx.gz --solve bicgstab --precondition jacobi
//
// Reads a matrix, or generates one, multiplies it by a vector in one or several modes, shows how
// much time each rank spent on communication, and checks the product. Exit code: 0 verified, 1 not
// verified, 2 bad usage or a file that cannot be used.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "apps/common/command_line.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "apps/common/run_ranks.hpp"
#include "apps/common/whole_number.hpp"
#include "apps/spmv/run.hpp"
#include "rma/base/version.hpp"
#include "rma/job.hpp"

namespace {

using tessera::apps::exit_usage;
using tessera::apps::print_error_once;
using tessera::rma::Job;
using tessera::rma::Result;
using tessera::rma::Status;
namespace spmv = tessera::apps::spmv;

constexpr const char* program_name = "tessera-spmv";

// The command line as typed.
struct Arguments {
  std::string file;
  std::string generate;
  std::string modes = "default";
  std::int64_t iterations = 20;
  std::string solve;
  double tolerance = 1e-8;
  std::int64_t steps = 10'000;
  std::string precondition = "none";
  std::string partition = "entries";
  std::int32_t threads = 0;  // 0: ranks are processes
  std::string json_file;
  bool quiet = false;
};

Result<spmv::Order> parse_options(const Arguments& arguments) {
  using tessera::rma::Code;
  spmv::Order order;
  if (arguments.file.empty() == arguments.generate.empty()) {
    return Status::error(Code::invalid_argument,
                         arguments.file.empty()
                             ? "one of --matrix FILE and --generate KIND:NUMBERS is needed"
                             : "give either --matrix or --generate, not both");
  }
  order.file = arguments.file.empty() ? arguments.generate : arguments.file;
  if (!arguments.generate.empty()) {
    TESSERA_ASSIGN_OR_RETURN(order.generator, spmv::parse_generator(arguments.generate));
  }
  TESSERA_ASSIGN_OR_RETURN(order.modes, spmv::parse_modes(arguments.modes));
  TESSERA_ASSIGN_OR_RETURN(order.partition, spmv::parse_partition(arguments.partition));
  if (!arguments.solve.empty()) {
    order.method = arguments.solve == "cg" ? spmv::Method::cg : spmv::Method::bicgstab;
  }
  // A tolerance of 1 or more would be satisfied without a step.
  if (!(arguments.tolerance > 0) || !(arguments.tolerance < 1)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("--tolerance {}: must be more than 0 and less than 1", arguments.tolerance));
  }
  order.iterations = arguments.iterations;
  order.max_steps = arguments.steps;
  order.tolerance = arguments.tolerance;
  order.jacobi = arguments.precondition == "jacobi";
  order.json_file = arguments.json_file;
  order.quiet = arguments.quiet || tessera::apps::goes_to_output(arguments.json_file);
  return order;
}

void add_options(CLI::App& app, Arguments& arguments) {
  using tessera::apps::check_file_name;
  using tessera::apps::whole_number;
  app.add_option("--matrix", arguments.file,
                 "Matrix file: Matrix Market, Harwell-Boeing or Rutherford-Boeing, also .gz")
      ->check(check_file_name);
  app.add_option("--generate", arguments.generate,
                 "Generate a matrix: fe2d:N, stencil27:N, convection:N[,P] or random:N[,K[,SEED]]");
  app.add_option(
         "--mode", arguments.modes,
         "How to get elements of other ranks: default, neighbours (only they synchronise), "
         "plain (one by one), runs, vector, aggregate, push (by their owners); several modes "
         "separated by commas run alternately and are compared")
      ->capture_default_str();
  app.add_option("--iterations", arguments.iterations, "Products of each mode")
      ->transform(whole_number())
      ->capture_default_str();
  auto* const solve =
      app.add_option("--solve", arguments.solve, "Also solve A x = b: cg or bicgstab")
          ->check(CLI::IsMember({"cg", "bicgstab"}));
  app.add_option("--tolerance", arguments.tolerance, "Tolerance of the residual, relative to b")
      ->needs(solve)
      ->capture_default_str();
  app.add_option("--steps", arguments.steps, "Maximum number of steps of the solver")
      ->transform(whole_number())
      ->needs(solve)
      ->capture_default_str();
  app.add_option("--precondition", arguments.precondition,
                 "Preconditioner: none or jacobi (the diagonal)")
      ->check(CLI::IsMember({"none", "jacobi"}))
      ->needs(solve)
      ->capture_default_str();
  app.add_option("--partition", arguments.partition,
                 "How to distribute rows: rows (equal numbers), entries (equal entries), metis, "
                 "scotch")
      ->capture_default_str();
  app.add_option("--threads,--ranks", arguments.threads,
                 "Run this many ranks as threads of one process")
      ->transform(whole_number());
  app.add_option("--json", arguments.json_file,
                 "Write the results as JSON to this file; -: to standard output, instead of text")
      ->check(check_file_name);
  app.add_flag("--quiet", arguments.quiet, "Print nothing; only set the exit code");
}

int run_program(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Sparse matrix-vector products on Tessera's distributed matrices."};
  app.set_version_flag("--version", std::string(tessera::rma::version()));
  add_options(app, arguments);
  if (const auto code = tessera::apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  if (const auto code = tessera::apps::refuse_threads(program_name, arguments.threads)) {
    return *code;
  }
  const auto order = parse_options(arguments);
  if (!order.ok()) {
    print_error_once(program_name, order.status().message());
    return exit_usage;
  }
  return tessera::apps::run_ranks(program_name, arguments.threads,
                                  [&](Job& job) { return spmv::run(*order, job); });
}

}  // namespace

int main(int argc, char** argv) {
  tessera::apps::ignore_file_size_signal();
  return tessera::apps::finish_output(program_name, run_program(argc, argv));
}
