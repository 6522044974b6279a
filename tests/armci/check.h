/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.h: cases for the ARMCI interface, in C as its users write. All processes run the same cases
 * in the same order; a case fails on all of them if a check fails on one.
 *
 * Errors of ARMCI are returned (TESSERA_ARMCI_ERRORS=return). A case fails if an error remains at
 * its end: so functions that return nothing are checked, too.
 */
#ifndef TESSERA_TESTS_ARMCI_CHECK_H
#define TESSERA_TESTS_ARMCI_CHECK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  void (*run)(void);
} Case;

/* The cases of a suite; the suite's name precedes the dot. A case without a name ends the list. */
typedef struct {
  const char* name;
  const Case* cases;
} Suite;

/* Runs the cases whose names, SUITE.CASE, match the shell pattern, each for at most `seconds`.
 * Returns how many failed. Collective. */
int run_suites(const Suite* suites, const char* pattern, unsigned seconds);
/* Skips a case and prints the reason. The case must then return; all processes do the same. */
void skip(const char* reason);
/* Whether a check failed in this process's case. */
int has_failed(void);

/* Each returns whether the check holds. */
#define CHECK(condition) check_true((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(actual, expected) \
  check_equal((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)
#define CHECK_REAL(actual, expected) check_real((actual), (expected), #actual, __FILE__, __LINE__)
#define CHECK_POINTER(actual, expected) \
  check_pointer((actual), (expected), #actual, __FILE__, __LINE__)
#define CHECK_BYTES(actual, expected, bytes) \
  check_bytes((actual), (expected), (size_t)(bytes), #actual, __FILE__, __LINE__)
/* Checks that a function that returns 0 on success does so. */
#define CHECK_OK(call) check_equal((call), 0, #call, __FILE__, __LINE__)
/* Checks that a call failed with this code and a message that contains these words; clears the
 * error. */
#define CHECK_ERROR(code, words) check_error((code), (words), __FILE__, __LINE__)

int check_true(int holds, const char* what, const char* file, int line);
int check_equal(long long actual, long long expected, const char* what, const char* file, int line);
int check_real(double actual, double expected, const char* what, const char* file, int line);
int check_pointer(const void* actual, const void* expected, const char* what, const char* file,
                  int line);
int check_bytes(const void* actual, const void* expected, size_t bytes, const char* what,
                const char* file, int line);
int check_error(int code, const char* words, const char* file, int line);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESTS_ARMCI_CHECK_H */
