// SPDX-License-Identifier: BSD-3-Clause
//
// Many live allocations: what it costs to find out where a remote address belongs, as their number
// grows.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The allocations that were made for these cases; none at first.
struct live {
  int rank;  ///< the caller's
  char** own;
  char** theirs;  ///< the target's, as the origin addresses them
  long count;
};

/// Collective over both ranks. Allocates until there are `count`, or frees all for 0. In each the
/// target writes its number, as a double.
void make_live(struct live* live, long count);

/// Gets of 8 bytes while `count` allocations are live: from one of them again and again (`one`),
/// and from all in turn (`each`); what has no name is not measured. Skipped where more than two
/// ranks would have to allocate, and where allocating takes too long.
void measure_live(struct bench* bench, const char* one, const char* each, long count);

/// 8 bytes from each of `count` places that lie as far apart as allocations do, by loads.
void measure_live_floor(struct bench* bench, const char* name, long count);

#ifdef __cplusplus
}
#endif
