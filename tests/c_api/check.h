/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.h: cases for the C interface, in C as its users write. All ranks run the same cases in the
 * same order; a case fails on all of them if a check fails on one.
 *
 * A case of arrays runs for several teams, one after the other: all ranks, the same in reverse, the
 * last two, and the ranks 0, 2 and 3. Other ranks wait meanwhile.
 */
#ifndef TESSERA_TESTS_C_API_CHECK_H
#define TESSERA_TESTS_C_API_CHECK_H

#include "fortran/c/tessera.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* name;
  void (*run)(void);
} Case;

/* Cases; their names follow the suite's name and a dot. A case without a name ends the list. */
typedef struct {
  const char* name;
  const Case* cases;
  int for_each_team; /* 0: for all ranks only */
} Suite;

/* The objects of the running case. */
extern tessera_job* job;
extern tessera_team* team;
extern int64_t member;  /* this rank's number in `team` */
extern int64_t members; /* their number */

/* Runs the cases whose names, SUITE.CASE, match the shell pattern, each for at most `seconds`.
 * Returns the number of failures. Collective. */
int run_suites(const Suite* suites, const char* pattern, unsigned seconds);

/* Each returns whether the check holds. */
#define CHECK(condition) check_true((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(actual, expected) \
  check_equal((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)
#define CHECK_REAL(actual, expected) check_real((actual), (expected), #actual, __FILE__, __LINE__)
#define CHECK_TEXT(actual, expected) check_text((actual), (expected), #actual, __FILE__, __LINE__)
/* Checks that the text contains these words. */
#define CHECK_HAS(text, words) check_has((text), (words), #text, __FILE__, __LINE__)
/* Checks that a function of the C interface succeeds. */
#define CHECK_OK(call) check_ok((call), #call, __FILE__, __LINE__)
/* Checks that it fails with this code, and a message that contains these words. */
#define CHECK_ERROR(call, code, words) \
  check_error((call), (code), (words), #call, __FILE__, __LINE__)

int check_true(int holds, const char* what, const char* file, int line);
int check_equal(long long actual, long long expected, const char* what, const char* file, int line);
int check_real(double actual, double expected, const char* what, const char* file, int line);
int check_text(const char* actual, const char* expected, const char* what, const char* file,
               int line);
int check_has(const char* text, const char* words, const char* what, const char* file, int line);
int check_ok(int code, const char* what, const char* file, int line);
int check_error(int code, int expected, const char* words, const char* what, const char* file,
                int line);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESTS_C_API_CHECK_H */
