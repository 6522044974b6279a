// SPDX-License-Identifier: BSD-3-Clause
//
// armci_bench: measures calls of the ARMCI interface in one implementation of it. The driver,
// bench/armci/run, compiles it with each implementation and compares the results; see
// bench/README.md.
//
//     cc -std=c11 -O2 -I ROOT bench/armci/*.c -larmci…      job.h lists the -D options
//     LAUNCHER -n 2 armci_bench [--cases put/*,floor.*] [--samples N] …
//
// Uses only names that the headers of GA, ComEx and ARMCI-MPI have in common, and members of
// structures by name. Prints a line of JSON per case. Exit code: 0 all data right, 1 wrong data, 2
// wrong usage, 3 another error, which is printed to standard error.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/armci/bench.h"
#include "bench/armci/cases.h"
#include "bench/armci/target.h"

enum { exit_wrong = 1, exit_usage = 2 };

static const double ns_in_us = 1e3;
static const double ns_in_ms = 1e6;

static const struct options defaults = {
    .cases = "*",
    .method = {.samples = 15, .sample_ns = 300e3, .warm_up_ns = 5e6, .limit_ns = 300e6},
    .busy_ns = 2e9,
};

static const char usage[] =
    "Usage: armci_bench [OPTION…], on at least two ranks\n"
    "  --cases GLOBS   patterns of the cases to measure, separated by commas (all)\n"
    "  --samples N     samples of each case; fewer if the time limit comes first (15)\n"
    "  --sample-us N   approximate duration of a sample (300)\n"
    "  --warm-up-ms N  warm-up before the samples of a case (5)\n"
    "  --limit-ms N    time limit for the samples of a case; at least 3 are taken (300)\n"
    "  --busy-ms N     how long a target computes without a call (2000)\n"
    "  --pin           pin all threads of a rank to one core; each rank to another one\n"
    "  --list          print the names of the cases\n";

static int exit_with_usage(const char* argument) {
  fprintf(stderr, "armci_bench: bad argument '%s'\n%s", argument, usage);
  return exit_usage;
}

// Takes one option with a value; false if no option has this name, or the value is not a number.
static bool take_value(struct options* options, const char* name, const char* value) {
  char* end = NULL;
  const double number = strtod(value, &end);
  const bool is_number = end != value && *end == '\0' && number >= 0;
  if (strcmp(name, "--cases") == 0) {
    options->cases = value;
  } else if (strcmp(name, "--samples") == 0 && number >= 1 && number <= max_samples) {
    options->method.samples = (int)number;
  } else if (strcmp(name, "--sample-us") == 0) {
    options->method.sample_ns = number * ns_in_us;
  } else if (strcmp(name, "--warm-up-ms") == 0) {
    options->method.warm_up_ns = number * ns_in_ms;
  } else if (strcmp(name, "--limit-ms") == 0) {
    options->method.limit_ns = number * ns_in_ms;
  } else if (strcmp(name, "--busy-ms") == 0 && number >= 1) {
    options->busy_ns = number * ns_in_ms;
  } else {
    return false;
  }
  return is_number || strcmp(name, "--cases") == 0;
}

// Returns the first wrong argument, or null.
static const char* parse(int argc, char** argv, struct options* options) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--pin") == 0) {
      options->pins = true;
    } else if (strcmp(argv[i], "--list") == 0) {
      options->lists = true;
    } else if (i + 1 < argc && take_value(options, argv[i], argv[i + 1])) {
      ++i;
    } else {
      return argv[i];
    }
  }
  return NULL;
}

static void run_ranks(struct bench* bench) {
  allocate_memory(bench);
  if (bench->job.rank == origin_rank) {
    report_start(bench);
    run_cases(bench);
    command_target(command_end, 0);
    report_end();
  } else if (bench->job.rank == target_rank) {
    execute_commands();
  }
  wait_for_all();
  free_memory(bench);
}

int main(int argc, char** argv) {
  struct bench bench = {.options = defaults};
  const char* wrong = parse(argc, argv, &bench.options);
  if (wrong != NULL) {
    return exit_with_usage(wrong);
  }
  if (bench.options.lists) {
    run_cases(&bench);
    return 0;
  }
  const int core = bench.options.pins ? pin_to_core() : -1;
  start_job(&argc, &argv, &bench.job);
  bench.job.core = core;
  int code = 0;
  if (bench.job.ranks < 2) {
    fprintf(stderr, "armci_bench: needs at least two ranks\n");
    code = exit_usage;
  } else {
    run_ranks(&bench);
    code = bench.is_wrong ? exit_wrong : 0;
  }
  end_job();
  return code;
}
