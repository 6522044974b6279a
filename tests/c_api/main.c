/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: test_c_api [--cases PATTERN] [--limit SECONDS] [--start HOW]
 *
 * Runs the cases whose names (SUITE.CASE) match the shell pattern, on all ranks of the job. --start
 * mpi begins with a communicator of the program's, whose ranks are turned around.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TESSERA_TESTS_HAVE_MPI
#include <mpi.h>
#endif

#include "tests/c_api/cases.h"

static const Suite suites[] = {{"job", job_cases, 0},
                               {"team", team_cases, 0},
                               {"lock", lock_cases, 1},
                               {"distribution", distribution_cases, 0},
                               {"array", array_cases, 1},
                               {"transfer", transfer_cases, 1},
                               {"flag", flag_cases, 1},
                               {"access", access_cases, 1},
                               {"element", element_cases, 1},
                               {"mirrored", mirrored_cases, 1},
                               {"reduction", reduction_cases, 1},
                               {"matrix", matrix_cases, 1},
                               {"scan", scan_cases, 1},
                               {"transform", transform_cases, 1},
                               {"print", print_cases, 1},
                               {"linalg", linalg_cases, 1},
                               {"solve", solve_cases, 1},
                               {"sparse", sparse_cases, 1},
                               {"checkpoint", checkpoint_cases, 1},
                               {"error", error_cases, 1},
                               {NULL, NULL, 0}};

typedef struct {
  const char* cases;
  const char* limit;
  const char* start;
} Options;

static Options options_of(int argc, char** argv) {
  Options options = {"*", "100", ""};
  for (int number = 1; number + 1 < argc; number += 2) {
    const char* const name = argv[number];
    const char** const option = strcmp(name, "--cases") == 0   ? &options.cases
                                : strcmp(name, "--limit") == 0 ? &options.limit
                                : strcmp(name, "--start") == 0 ? &options.start
                                                               : NULL;
    if (option == NULL) {
      fprintf(stderr, "test_c_api: there is no option %s\n", name);
      exit(2);
    }
    *option = argv[number + 1];
  }
  return options;
}

#ifdef TESSERA_TESTS_HAVE_MPI
static int start_on_communicator(void) {
  int rank = 0;
  int size = 0;
  int64_t own = -1;
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  /* As MPI_Comm_split returns to processes outside. */
  if (tessera_job_start_mpi(MPI_Comm_c2f(MPI_COMM_NULL), &job) != TESSERA_INVALID_ARGUMENT ||
      strstr(tessera_last_error(), "is not the handle of a communicator") == NULL) {
    return 1;
  }
  const int code = tessera_job_start_mpi(MPI_Comm_c2f(reversed), &job);
  MPI_Comm_free(&reversed);
  return code != 0 || tessera_job_rank(job, &own) != 0 || own != size - 1 - rank;
}
#endif

static int start(const char* how) {
#ifdef TESSERA_TESTS_HAVE_MPI
  if (strcmp(how, "mpi") == 0) {
    return start_on_communicator();
  }
#endif
  return strcmp(how, "") != 0 || tessera_job_start(&job) != 0;
}

/* Handles that the program does not free end with the job. */
static void leave_things_behind(void) {
  const int64_t extents[2] = {8, 8};
  const int64_t ghosts[2] = {1, 1};
  tessera_array_options options;
  tessera_array* array = NULL;
  tessera_halo* halo = NULL;
  tessera_access* access = NULL;
  tessera_local_block block;
  tessera_locks* locks = NULL;
  tessera_counter* counter = NULL;
  tessera_mirrored* mirrored = NULL;
  tessera_team* world = NULL;
  tessera_array_options_init(&options);
  options.ghosts = ghosts;
  if (tessera_array_create(job, TESSERA_F64, 2, extents, &options, &array) != 0 ||
      tessera_halo_create(array, NULL, &halo) != 0 || tessera_halo_start(halo) != 0 ||
      tessera_access_begin(array, 0, &block, &access) != 0 ||
      tessera_team_world(job, &world) != 0 || tessera_locks_create(world, 1, &locks) != 0 ||
      tessera_counter_create(world, 0, &counter) != 0 ||
      tessera_mirrored_create(job, TESSERA_F64, 2, extents, &options, &mirrored) != 0) {
    fprintf(stderr, "test_c_api: before the end: %s\n", tessera_last_error());
    exit(1);
  }
}

static int stop(const char* how) {
  const int code = tessera_job_free(&job);
  if (code != 0 || job != NULL) {
    fprintf(stderr, "test_c_api: tessera_job_free fails: %s\n", tessera_last_error());
  }
#ifdef TESSERA_TESTS_HAVE_MPI
  if (strcmp(how, "mpi") == 0) {
    MPI_Finalize();
  }
#endif
  (void)how;
  return code != 0 || job != NULL;
}

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  if (start(options.start) != 0) {
    fprintf(stderr, "test_c_api: --start %s fails: %s\n", options.start, tessera_last_error());
    return 1;
  }
  const int failed = run_suites(suites, options.cases, (unsigned)strtoul(options.limit, NULL, 10));
  leave_things_behind();
  return stop(options.start) + failed != 0;
}
