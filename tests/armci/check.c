/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/armci/check.h"

#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rma/armci/armcix.h"
#include "rma/armci/message.h"

/* The case that runs in this process. */
static char case_name[100];
static char timeout_text[200];
static int failures;
static const char* skip_reason;
static double begun;

static const int max_printed = 5;

static void on_alarm(int signal_number) {
  (void)signal_number;
  if (write(STDERR_FILENO, timeout_text, strlen(timeout_text)) < 0) {
    _exit(2);
  }
  _exit(1);
}

/* Whether to print the failure. */
static int record_failure(const char* file, int line) {
  ++failures;
  if (failures > max_printed) {
    return 0;
  }
  fprintf(stderr, "%s:%d: [%d] %s: ", file, line, armci_msg_me(), case_name);
  return 1;
}

int check_true(int holds, const char* what, const char* file, int line) {
  if (!holds && record_failure(file, line)) {
    fprintf(stderr, "%s does not hold\n", what);
  }
  return holds;
}

int check_equal(long long actual, long long expected, const char* what, const char* file,
                int line) {
  if (actual != expected && record_failure(file, line)) {
    fprintf(stderr, "%s is %lld, not %lld%s%s\n", what, actual, expected,
            ARMCIX_Error_code() == 0 ? "" : "; ", ARMCIX_Error_message());
  }
  return actual == expected;
}

int check_real(double actual, double expected, const char* what, const char* file, int line) {
  const int same = actual == expected;
  if (!same && record_failure(file, line)) {
    fprintf(stderr, "%s is %.17g, not %.17g\n", what, actual, expected);
  }
  return same;
}

int check_pointer(const void* actual, const void* expected, const char* what, const char* file,
                  int line) {
  if (actual != expected && record_failure(file, line)) {
    fprintf(stderr, "%s is %p, not %p\n", what, actual, expected);
  }
  return actual == expected;
}

int check_bytes(const void* actual, const void* expected, size_t bytes, const char* what,
                const char* file, int line) {
  const unsigned char* const is = actual;
  const unsigned char* const wanted = expected;
  size_t at = 0;
  while (at < bytes && is[at] == wanted[at]) {
    ++at;
  }
  if (at < bytes && record_failure(file, line)) {
    fprintf(stderr, "byte %zu of %zu of %s is 0x%02x, not 0x%02x\n", at, bytes, what, is[at],
            wanted[at]);
  }
  return at == bytes;
}

int check_error(int code, const char* words, const char* file, int line) {
  const char* const message = ARMCIX_Error_message();
  const int holds = ARMCIX_Error_code() == code && strstr(message, words) != NULL;
  if (!holds && record_failure(file, line)) {
    fprintf(stderr, "the error is %d '%s', not %d with '%s'\n", ARMCIX_Error_code(), message, code,
            words);
  }
  ARMCIX_Error_clear();
  return holds;
}

void skip(const char* reason) {
  skip_reason = reason;
}

int has_failed(void) {
  return failures > 0;
}

static void begin_case(const char* suite, const Case* one, unsigned seconds) {
  snprintf(case_name, sizeof case_name, "%s.%s", suite, one->name);
  snprintf(timeout_text, sizeof timeout_text, "[%d] %s: not finished after %u s\n", armci_msg_me(),
           case_name, seconds);
  failures = 0;
  skip_reason = NULL;
  begun = armci_timer();
  signal(SIGALRM, on_alarm);
  alarm(seconds);
}

/* Whether the case failed on any process. */
static int end_case(void) {
  ARMCI_Group group = -1;
  int failed = 0;
  ARMCI_Group_get_default(&group);
  CHECK_EQUAL(group, 0);
  CHECK_OK(ARMCIX_Error_code());
  ARMCIX_Error_clear();
  failed = failures > 0;
  armci_msg_igop(&failed, 1, "max");
  ARMCI_Barrier();
  alarm(0);
  return failed;
}

static void print_end(int failed) {
  const double ms = 1000 * (armci_timer() - begun);
  if (armci_msg_me() != 0) {
    return;
  }
  if (failed) {
    printf("FAILED  %s (%.0f ms)\n", case_name, ms);
  } else if (skip_reason != NULL) {
    printf("skipped %s: %s\n", case_name, skip_reason);
  } else {
    printf("passed  %s (%.0f ms)\n", case_name, ms);
  }
  fflush(stdout);
}

static int is_wanted(const char* suite, const char* name, const char* pattern) {
  char whole[100];
  snprintf(whole, sizeof whole, "%s.%s", suite, name);
  return fnmatch(pattern, whole, 0) == 0;
}

int run_suites(const Suite* suites, const char* pattern, unsigned seconds) {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  for (const Suite* suite = suites; suite->name != NULL; ++suite) {
    for (const Case* one = suite->cases; one->name != NULL; ++one) {
      if (!is_wanted(suite->name, one->name, pattern)) {
        continue;
      }
      begin_case(suite->name, one, seconds);
      one->run();
      const int case_failed = end_case();
      print_end(case_failed);
      failed += case_failed;
      skipped += !case_failed && skip_reason != NULL;
      passed += !case_failed && skip_reason == NULL;
    }
  }
  if (armci_msg_me() == 0) {
    printf("%d passed, %d failed, %d skipped, on %d processes\n", passed, failed, skipped,
           armci_msg_nproc());
    fflush(stdout);
  }
  return failed + (passed + skipped + failed == 0);
}
