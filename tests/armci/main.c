/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: test_armci [--cases PATTERN] [--limit SECONDS] [--start HOW] [--end HOW]
 *
 * Runs the cases whose names (SUITE.CASE) match the shell pattern, on all processes of the job.
 * --start names the function that starts ARMCI: msg (the default), init, args, thread, mpi_comm,
 * thread_comm. --end names one that ends the job with an error: error, abort, assertion, failure,
 * die.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"
#include "tests/armci/cases.h"
#include "tests/armci/check.h"

static const Suite suites[] = {{"start", start_cases},           {"transfer", transfer_cases},
                               {"strided", strided_cases},       {"vector", vector_cases},
                               {"accumulate", accumulate_cases}, {"handle", handle_cases},
                               {"aggregate", aggregate_cases},   {"atomic", atomic_cases},
                               {"mutex", mutex_cases},           {"flag", flag_cases},
                               {"completion", completion_cases}, {"group", group_cases},
                               {"locality", locality_cases},     {"memory", memory_cases},
                               {"message", message_cases},       {"reduction", reduction_cases},
                               {"random", random_cases},         {"thread", thread_cases},
                               {"error", error_cases},           {NULL, NULL}};

typedef struct {
  const char* cases;
  const char* limit;
  const char* start;
  const char* end;
} Options;

static int is_same(const char* left, const char* right) {
  return strcmp(left, right) == 0;
}

static Options options_of(int argc, char** argv) {
  Options options = {"*", "100", "msg", ""};
  for (int number = 1; number + 1 < argc; number += 2) {
    const char** const option = is_same(argv[number], "--cases")   ? &options.cases
                                : is_same(argv[number], "--limit") ? &options.limit
                                : is_same(argv[number], "--start") ? &options.start
                                : is_same(argv[number], "--end")   ? &options.end
                                                                   : NULL;
    if (option == NULL) {
      fprintf(stderr, "test_armci: there is no option %s\n", argv[number]);
      exit(2);
    }
    *option = argv[number + 1];
  }
  return options;
}

#ifdef TESSERA_ARMCI_HAS_MPI
/* A communicator of the test's own, with the ranks reversed. */
static int start_on_communicator(int* argc, char*** argv, int is_thread) {
  int rank = 0;
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  const int code = is_thread ? ARMCI_Init_thread_comm(MPI_THREAD_MULTIPLE, reversed)
                             : ARMCI_Init_mpi_comm(reversed);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (armci_msg_me() != size - 1 - rank) {
    ARMCI_Error("processes are not numbered as in the communicator", 1);
  }
  MPI_Comm_free(&reversed);
  return code;
}
#endif

/* Whether ARMCI is running. */
static int start(const char* how, int* argc, char*** argv) {
  if (is_same(how, "msg")) {
    armci_msg_init(argc, argv);
    return !ARMCI_Initialized() && ARMCI_Init() == 0;
  }
  if (is_same(how, "args")) {
    return ARMCI_Init_args(argc, argv) == 0;
  }
  if (is_same(how, "thread")) {
    return ARMCI_Init_thread(3) == 0;
  }
#ifdef TESSERA_ARMCI_HAS_MPI
  if (is_same(how, "mpi_comm") || is_same(how, "thread_comm")) {
    return start_on_communicator(argc, argv, is_same(how, "thread_comm")) == 0;
  }
#endif
  return is_same(how, "init") && ARMCI_Init() == 0;
}

/* Does not return if `how` is one of them. */
static void end_with_error(const char* how) {
  const int seven = 7;
  if (is_same(how, "error")) {
    ARMCI_Error("ended on purpose", seven);
  } else if (is_same(how, "abort")) {
    armci_msg_abort(seven);
  } else if (is_same(how, "assertion")) {
    dassertc(1, seven == 8, ("%d is not eight; ", seven), seven);
  } else if (is_same(how, "failure")) {
    derr_printf("%s %d; ", "failed on purpose", seven);
    dassertp_fail("a condition", __FILE__, __func__, __LINE__, seven);
  } else if (is_same(how, "die")) {
    armci_die("died on purpose", seven);
    armci_die2("died on purpose", seven, 2);
  }
}

static int stop(int failed) {
  if (ARMCI_Finalize() != 0 || ARMCI_Initialized() != 0) {
    fprintf(stderr, "test_armci: ARMCI_Finalize fails: %s\n", ARMCIX_Error_message());
    failed = 1;
  }
  armci_msg_finalize();
  if (ARMCI_Finalize() != 0 || ARMCI_WaitAll() != FAIL3) {
    fprintf(stderr, "test_armci: ARMCI_Finalize has not ended everything\n");
    failed = 1;
  }
  return failed != 0;
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  setenv("TESSERA_ARMCI_ERRORS", "return", 1);
  if (ARMCI_Initialized() != 0 || !start(options.start, &argc, &argv)) {
    fprintf(stderr, "test_armci: --start %s fails: %s\n", options.start, ARMCIX_Error_message());
    return 1;
  }
  end_with_error(options.end);
  const int failed = run_suites(suites, options.cases, (unsigned)strtoul(options.limit, NULL, 10));
  return stop(failed);
}
