// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-run: starts a program as several ranks on this machine, without MPI.
//
//     tessera-run -n 4 ./program arguments…
//
// A rank that dies does not take the others with it: they learn of it from their own operations.
// One that ends the job (rma::end_job, ARMCI_Error) does. Exit code: that of the first rank (lowest
// number) that failed by itself, 128 + signal for one that was killed, 2 for bad usage, 127 when
// the program can't be started.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "apps/common/command_line.hpp"
#include "apps/common/whole_number.hpp"
#include "rma/launch.hpp"
#include "rma/version.hpp"

namespace {

using tessera::apps::exit_usage;

constexpr int signal_exit_base = 128;

// Says on standard error which ranks failed, and returns the exit code for the whole run.
int report(const std::vector<tessera::rma::RankExit>& exits, bool quiet) {
  int code = 0;
  for (const tessera::rma::RankExit& each : exits) {
    if (each.was_told) {
      continue;  // the one that ended the job has said why
    }
    if (each.signal != 0 && !quiet) {
      fmt::print(stderr, "tessera-run: rank {} was ended by signal {} ({})\n", each.rank,
                 each.signal, strsignal(each.signal));
    } else if (each.exit_code != 0 && !quiet) {
      fmt::print(stderr, "tessera-run: rank {} exited with code {}\n", each.rank, each.exit_code);
    }
    if (code == 0) {
      code = each.signal != 0 ? signal_exit_base + each.signal : each.exit_code;
    }
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Starts a program as several ranks on this machine."};
  tessera::rma::LaunchOptions options;
  options.whole_lines = true;
  bool quiet = false;
  app.set_version_flag("--version", std::string(tessera::rma::version()));
  app.add_option("-n,--ranks", options.ranks, "Number of ranks")
      ->check(tessera::apps::whole_number());
  app.add_option("--nodes", options.nodes, "Split the ranks over this many emulated nodes")
      ->check(tessera::apps::whole_number(0));
  app.add_flag("--quiet", quiet, "Do not say which ranks failed");
  app.footer("PROGRAM ARGUMENTS…\n  What is started; all that follows it is its own.");
  app.prefix_command();
  if (const auto code = tessera::apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  const std::vector<std::string> program = app.remaining();
  if (program.empty() || program.front().starts_with('-')) {
    fmt::print(
        stderr, "tessera-run: {}; see tessera-run --help\n",
        program.empty() ? "there is no program to start" : "there is no option " + program.front());
    return exit_usage;
  }
  const auto exits = tessera::rma::launch(program, options);
  if (!exits.ok()) {
    fmt::print(stderr, "tessera-run: {}\n", exits.status().message());
    return exit_usage;
  }
  return report(*exits, quiet);
}
