// SPDX-License-Identifier: BSD-3-Clause
#define _POSIX_C_SOURCE 200809L
#include "bench/armci/timing.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static const double ns_in_second = 1e9;

double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * ns_in_second + (double)time.tv_nsec;
}

void sleep_ns(double ns) {
  struct timespec left;
  left.tv_sec = (time_t)(ns / ns_in_second);
  left.tv_nsec = (long)(ns - (double)left.tv_sec * ns_in_second);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

double time_batch(const struct subject* subject, long repetitions) {
  if (subject->prepare != NULL) {
    subject->prepare(subject->context, repetitions);
  }
  const double start = now_ns();
  subject->run(subject->context, repetitions);
  return (now_ns() - start) / (double)repetitions;
}

static bool is_over(const struct method* method, double end) {
  const double now = now_ns();
  return now >= end || (method->deadline_ns > 0 && now >= method->deadline_ns);
}

// The repetitions of a batch that lasts long enough; grows in steps, since the first is slow.
static long batch_size(const struct method* method, const struct subject* subject) {
  long repetitions = 1;
  const double end = now_ns() + method->limit_ns;
  while (!is_over(method, end)) {
    const double each = time_batch(subject, repetitions);
    if (each * (double)repetitions >= method->sample_ns) {
      break;
    }
    const double wanted =
        each > 0 ? method->sample_ns / each * 1.1 + 1 : 10.0 * (double)repetitions;
    repetitions = wanted > 10.0 * (double)repetitions ? 10 * repetitions : (long)wanted;
  }
  return repetitions;
}

void take_samples(const struct method* method, const struct subject* subject,
                  struct samples* samples) {
  const long repetitions = batch_size(method, subject);
  const double warm = now_ns() + method->warm_up_ns;
  while (!is_over(method, warm)) {
    time_batch(subject, repetitions);
  }
  const double end = now_ns() + method->limit_ns;
  samples->count = 0;
  while (samples->count < method->samples) {
    const bool has_enough =
        samples->count >= min_samples || (method->deadline_ns > 0 && samples->count > 0);
    if (has_enough && is_over(method, end)) {
      break;
    }
    samples->value[samples->count++] = time_batch(subject, repetitions);
  }
}

static int compare(const void* left, const void* right) {
  const double a = *(const double*)left;
  const double b = *(const double*)right;
  return (a > b) - (a < b);
}

double median_of(struct samples* samples) {
  const int n = samples->count;
  if (n == 0) {
    return 0;
  }
  qsort(samples->value, (size_t)n, sizeof samples->value[0], compare);
  return n % 2 == 1 ? samples->value[n / 2]
                    : (samples->value[n / 2 - 1] + samples->value[n / 2]) / 2;
}
