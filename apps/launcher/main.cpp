// SPDX-License-Identifier: BSD-3-Clause
//
// tessera-run: starts a program as several ranks on this machine, without MPI.
//
//     tessera-run -n 4 ./program arguments…
//
// A rank that dies does not end the others: they get errors from their own operations. A rank that
// ends the job (rma::end_job, ARMCI_Error) ends all of them. Exit code: that of the lowest rank
// that failed by itself, 128 + signal if a signal killed it; 2 for bad usage and for a file that
// cannot be written; 127 if the program cannot be started.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/clock.hpp"
#include "apps/common/command_line.hpp"
#include "apps/common/output.hpp"
#include "apps/common/output_file.hpp"
#include "apps/common/whole_number.hpp"
#include "apps/launcher/run_report.hpp"
#include "rma/base/version.hpp"
#include "rma/launch.hpp"

namespace {

using tessera::apps::exit_failed;
using tessera::apps::exit_usage;
using tessera::apps::print_error;
using tessera::rma::LaunchOptions;
using tessera::rma::Status;

constexpr const char* program_name = "tessera-run";

constexpr int signal_exit_base = 128;

// Prints on standard error which ranks failed, and returns the exit code for the whole run.
int report(const std::vector<tessera::rma::RankExit>& exits, bool quiet) {
  int code = 0;
  for (const tessera::rma::RankExit& each : exits) {
    if (each.was_signalled) {
      continue;  // the rank that ended the job has printed the reason
    }
    if (each.signal != 0 && !quiet) {
      print_error(program_name, fmt::format("rank {} was ended by signal {} ({})", each.rank,
                                            each.signal, strsignal(each.signal)));
    } else if (each.exit_code != 0 && !quiet) {
      print_error(program_name,
                  fmt::format("rank {} exited with code {}", each.rank, each.exit_code));
    }
    if (code == 0) {
      code = each.signal != 0 ? signal_exit_base + each.signal : each.exit_code;
    }
  }
  return code;
}

struct Arguments {
  LaunchOptions options;
  std::string json_file;
  bool is_quiet = false;
};

/// Whether standard error can be written without blocking. A launcher ended by a signal must not
/// wait for a reader that had already blocked it.
bool is_stderr_writable() {
  pollfd room{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&room, 1, 0) > 0;
}

int refuse(const Status& status, int code) {
  print_error(program_name, status.message());
  return code;
}

int run(const Arguments& arguments, const std::vector<std::string>& program) {
  if (tessera::apps::goes_to_output(arguments.json_file)) {
    return refuse(Status::error(tessera::rma::Code::invalid_argument,
                                "--json -: the program uses standard output; give a file name"),
                  exit_usage);
  }
  const bool writes = !arguments.json_file.empty();
  const Status usable = writes ? tessera::apps::try_output_file(arguments.json_file) : Status();
  if (!usable.ok()) {
    return refuse(usable, exit_usage);
  }
  LaunchOptions options = arguments.options;
  bool is_unread = false;
  options.on_lost_output = [&](int error) {
    is_unread = error == EINTR && !is_stderr_writable();
    if (!is_unread) {
      tessera::apps::record_output_error(error);
    }
  };
  const auto start = tessera::apps::Clock::now();
  const auto exits = tessera::rma::launch(program, options);
  if (!exits.ok()) {
    return refuse(exits.status(), exit_usage);
  }
  const double seconds = tessera::apps::seconds_since(start);
  tessera::apps::ignore_file_size_signal();  // not earlier: the ranks would inherit it
  const int ranks_code = report(*exits, arguments.is_quiet || is_unread);
  const int code = is_unread && ranks_code == 0 ? exit_failed : ranks_code;
  if (!writes) {
    return code;
  }
  const std::string text =
      tessera::apps::describe_run({program, *exits, seconds, code}, arguments.options);
  const Status written = tessera::apps::write_output_file(arguments.json_file, text);
  if (!written.ok()) {
    return refuse(written, code != 0 ? code : exit_usage);
  }
  return code;
}

/// Users of mpirun may type -np. As short options it would mean -n with p ranks.
bool uses_np_option(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "-np";
}

/// For the usage line: CLI11 does not know that a program follows the options.
class Formatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return fmt::format("Usage: {} [OPTIONS] PROGRAM [ARGUMENTS…]\n", program_name);
  }
};

/// Separates the program from the options, and reports errors.
int run_rest(const Arguments& arguments, std::vector<std::string> program) {
  const bool has_mark = !program.empty() && program.front() == "--";
  if (has_mark) {
    program.erase(program.begin());
  }
  if (program.empty() || (!has_mark && program.front().starts_with('-'))) {
    print_error(program_name, (program.empty() ? "there is no program to start"
                                               : "there is no option " + program.front()) +
                                  "; see tessera-run --help");
    return exit_usage;
  }
  return run(arguments, program);
}

int run_program(int argc, char** argv) {
  if (uses_np_option(argc, argv)) {
    print_error(program_name, "there is no option -np; give the number of ranks with -n N");
    return exit_usage;
  }
  CLI::App app{"Starts a program as several ranks on this machine."};
  Arguments arguments;
  LaunchOptions& options = arguments.options;
  options.whole_lines = true;
  app.set_version_flag("--version", std::string(tessera::rma::version()));
  app.formatter(std::make_shared<Formatter>());
  app.add_option("-n,--ranks", options.ranks, "Number of ranks")
      ->transform(tessera::apps::whole_number())
      ->capture_default_str();
  app.add_option("--nodes", options.nodes, "Split the ranks over this many emulated nodes")
      ->transform(tessera::apps::whole_number(0));
  app.add_flag("--tag", options.tagged_lines,
               "Begin each line of output with its rank, as in '[3] line'");
  app.add_option("--json", arguments.json_file, "Write a report on the run to this JSON file")
      ->check(tessera::apps::check_file_name);
  app.add_flag("--quiet", arguments.is_quiet, "Do not print which ranks failed");
  app.footer("Everything after PROGRAM is passed to it. PROGRAM may follow --.");
  app.prefix_command();
  if (const auto code = tessera::apps::parse_command_line(app, argc, argv)) {
    return *code;
  }
  return run_rest(arguments, app.remaining());
}

}  // namespace

int main(int argc, char** argv) {
  return tessera::apps::finish_output(program_name, run_program(argc, argv));
}
