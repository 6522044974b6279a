/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/c_api/check.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { max_printed = 5, max_ranks = 64 };

tessera_job* job;
tessera_team* team;
int64_t member;
int64_t members;

/* Of the case that runs in this process. */
static char case_name[100];
static char timeout_text[200];
static int64_t world_rank;
static int64_t world_size;
static int failures;

static void on_alarm(int signal_number) {
  (void)signal_number;
  if (write(STDERR_FILENO, timeout_text, strlen(timeout_text)) < 0) {
    _exit(2);
  }
  _exit(1);
}

/* True if the failure should be printed. */
static int note_failure(const char* file, int line) {
  ++failures;
  if (failures > max_printed) {
    return 0;
  }
  fprintf(stderr, "%s:%d: [%d] %s: ", file, line, (int)world_rank, case_name);
  return 1;
}

int check_true(int holds, const char* what, const char* file, int line) {
  if (!holds && note_failure(file, line)) {
    fprintf(stderr, "%s does not hold\n", what);
  }
  return holds;
}

int check_equal(long long actual, long long expected, const char* what, const char* file,
                int line) {
  if (actual != expected && note_failure(file, line)) {
    fprintf(stderr, "%s is %lld, not %lld\n", what, actual, expected);
  }
  return actual == expected;
}

int check_real(double actual, double expected, const char* what, const char* file, int line) {
  const int same = actual == expected;
  if (!same && note_failure(file, line)) {
    fprintf(stderr, "%s is %.17g, not %.17g\n", what, actual, expected);
  }
  return same;
}

int check_text(const char* actual, const char* expected, const char* what, const char* file,
               int line) {
  const int same = strcmp(actual, expected) == 0;
  if (!same && note_failure(file, line)) {
    fprintf(stderr, "%s is '%s', not '%s'\n", what, actual, expected);
  }
  return same;
}

int check_has(const char* text, const char* words, const char* what, const char* file, int line) {
  const int holds = strstr(text, words) != NULL;
  if (!holds && note_failure(file, line)) {
    fprintf(stderr, "%s is '%s', without '%s'\n", what, text, words);
  }
  return holds;
}

int check_ok(int code, const char* what, const char* file, int line) {
  if (code != 0 && note_failure(file, line)) {
    fprintf(stderr, "%s: %s: %s\n", what, tessera_error_name(code), tessera_last_error());
  }
  return code == 0;
}

int check_error(int code, int expected, const char* words, const char* what, const char* file,
                int line) {
  const int holds = code == expected && strstr(tessera_last_error(), words) != NULL;
  if (!holds && note_failure(file, line)) {
    fprintf(stderr, "%s is %s '%s', not %s with '%s'\n", what, tessera_error_name(code),
            code == 0 ? "" : tessera_last_error(), tessera_error_name(expected), words);
  }
  return holds;
}

/* --- teams ------------------------------------------------------------------------------------ */

/* The ranks of the team of this number, or 0 if there is no such team. */
static int64_t ranks_of_team(int number, int64_t ranks[]) {
  static const int64_t scattered[] = {0, 2, 3};
  const int64_t size = number < 2 ? world_size : number == 2 ? 2 : 3;
  if (world_size < 2 && number > 0) {
    return 0;
  }
  if ((number == 2 && world_size < 3) || (number == 3 && world_size < 4)) {
    return 0;
  }
  for (int64_t i = 0; i < size; ++i) {
    ranks[i] = number == 0   ? i
               : number == 1 ? size - 1 - i
               : number == 2 ? world_size - 2 + i
                             : scattered[i];
  }
  return size;
}

/* Whether this rank is in the team, on which cases then run. */
static int join(int number) {
  int64_t ranks[max_ranks];
  const int64_t size = ranks_of_team(number, ranks);
  int is_in = 0;
  for (int64_t i = 0; i < size; ++i) {
    is_in = is_in || ranks[i] == world_rank;
  }
  if (is_in) {
    CHECK_OK(tessera_team_create(job, size, ranks, &team));
    CHECK_OK(tessera_team_rank(team, &member));
    CHECK_OK(tessera_team_size(team, &members));
  }
  return is_in;
}

/* --- running ---------------------------------------------------------------------------------- */

static void begin_case(const char* suite, const Case* one, unsigned seconds) {
  snprintf(case_name, sizeof case_name, "%s.%s", suite, one->name);
  snprintf(timeout_text, sizeof timeout_text, "[%d] %s: not finished after %u s\n", (int)world_rank,
           case_name, seconds);
  failures = 0;
  signal(SIGALRM, on_alarm);
  alarm(seconds);
}

/* Whether the case failed on any rank. */
static int end_case(tessera_team* world) {
  int32_t failed = failures > 0;
  if (tessera_team_allreduce(world, &failed, 1, TESSERA_I32, TESSERA_MAX) != 0 ||
      tessera_job_barrier(job) != 0) {
    fprintf(stderr, "[%d] after %s: %s\n", (int)world_rank, case_name, tessera_last_error());
    exit(1);
  }
  alarm(0);
  if (world_rank == 0) {
    printf("%s %s\n", failed ? "FAILED " : "passed ", case_name);
    fflush(stdout);
  }
  return failed;
}

static void run_on_teams(const Case* one, int for_each_team) {
  for (int number = 0; number < (for_each_team ? 4 : 1); ++number) {
    if (join(number)) {
      one->run();
      CHECK_OK(tessera_team_free(&team));
    }
  }
}

static int is_wanted(const char* suite, const char* name, const char* pattern) {
  char whole[100];
  snprintf(whole, sizeof whole, "%s.%s", suite, name);
  return fnmatch(pattern, whole, 0) == 0;
}

int run_suites(const Suite* suites, const char* pattern, unsigned seconds) {
  tessera_team* world = NULL;
  int count = 0;
  int failed = 0;
  if (tessera_job_rank(job, &world_rank) != 0 || tessera_job_size(job, &world_size) != 0 ||
      tessera_team_world(job, &world) != 0) {
    return 1;
  }
  for (const Suite* suite = suites; suite->name != NULL; ++suite) {
    for (const Case* one = suite->cases; one->name != NULL; ++one) {
      if (is_wanted(suite->name, one->name, pattern)) {
        begin_case(suite->name, one, seconds);
        run_on_teams(one, suite->for_each_team);
        failed += end_case(world);
        ++count;
      }
    }
  }
  if (world_rank == 0) {
    printf("%d cases, %d failed, on %d ranks\n", count, failed, (int)world_size);
    fflush(stdout);
  }
  tessera_team_free(&world);
  return failed + (count == 0);
}
