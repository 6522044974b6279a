// SPDX-License-Identifier: BSD-3-Clause
//
// Many live allocations: the cost of finding the allocation of a remote address, as their number
// grows.
#pragma once

#include "bench/armci/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The allocations for these cases; none at first.
struct live {
  int rank;  ///< the caller's
  char** own;
  char** theirs;  ///< the target's, as the origin addresses them
  long count;
};

/// Collective over both ranks. Allocates until `count` allocations exist, or frees all for 0. The
/// target writes each allocation's number into it, as a double.
void set_live_count(struct live* live, long count);

/// Gets of 8 bytes while `count` allocations are live: from one of them repeatedly (`one`), and
/// from all, one after the other (`each`). A null name skips its measurement. Skipped if more than
/// two ranks would have to allocate, or if allocating takes too long.
void measure_live(struct bench* bench, const char* one, const char* each, long count);

/// 8 bytes from each of `count` addresses, as far apart as allocations, by loads.
void measure_live_baseline(struct bench* bench, const char* name, long count);

#ifdef __cplusplus
}
#endif
