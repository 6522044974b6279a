// SPDX-License-Identifier: BSD-3-Clause
//
// Time: a clock, and batches of repetitions that are long enough for it.
//
// A sample is a batch that lasts about `sample_ns`; its value is the time divided by the
// repetitions. Before the first sample, batches run untimed for `warm_up_ns`.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum { max_samples = 200, min_samples = 3 };

struct method {
  int samples;         ///< at most max_samples
  double sample_ns;    ///< approximate duration of a batch
  double warm_up_ns;   ///< duration of untimed batches
  double limit_ns;     ///< no further sample after this time, once there are min_samples
  double deadline_ns;  ///< no further batch after this time of now_ns(); 0: none
};

/// The operation to measure.
struct subject {
  void (*prepare)(void* context, long repetitions);  ///< before each batch, untimed; may be null
  void (*run)(void* context, long repetitions);
  void* context;
};

struct samples {
  int count;
  double value[max_samples];
};

/// Nanoseconds of a clock that never goes back, the same for all processes of a machine.
double now_ns(void);

/// Sleeps at least this long, without calling any library.
void sleep_ns(double ns);

/// The time of one batch, in nanoseconds per repetition.
double time_batch(const struct subject* subject, long repetitions);

/// Finds the size of a batch, warms up, and takes the samples.
void take_samples(const struct method* method, const struct subject* subject,
                  struct samples* samples);

/// The median value, or 0 if there are none. Sorts the values.
double median_of(struct samples* samples);

#ifdef __cplusplus
}
#endif
