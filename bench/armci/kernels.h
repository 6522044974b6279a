// SPDX-License-Identifier: BSD-3-Clause
//
// The loops of the memory baselines, in a file of their own, so that compilers can't optimise
// across calls.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct rows {
  char* to;
  const char* from;
  long count;
  long bytes;
  long stride;
};
void copy_rows(const struct rows* rows);
void add_rows(const struct rows* rows);

void copy_words(double* const* to, double* const* from, long count);
void add_words(double* const* to, double* const* from, long count);

#ifdef __cplusplus
}
#endif
