// SPDX-License-Identifier: BSD-3-Clause
//
// What all cases share: the job, the options, the memory, and how a result is reported.
//
// Rank 0 is the origin: it alone runs cases. Rank 1 is the target: it waits in a receive for
// commands (target.h). Further ranks wait for the end.
#pragma once

#include "bench/armci/job.h"
#include "bench/armci/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { origin_rank = 0, target_rank = 1 };
enum { largest_bytes = 4 << 20, page_bytes = 4096, name_length = 64 };

struct options {
  const char* cases;  ///< glob patterns of what is measured, separated by commas
  struct method method;
  double busy_ns;  ///< how long a target computes that makes no calls
  bool pins;
  bool lists;  ///< only print the names
};

/// Memory of one rank. All parts begin at a page, so that no implementation suffers from how its
/// memory happens to lie beside the other's (bench/README.md, "Alignment").
struct memory {
  char* local;         ///< largest_bytes, of the library: what is transferred
  char* scratch;       ///< the same, to fill and to look at the target's memory
  char* remote;        ///< the target's largest_bytes, as the origin addresses them
  char* words;         ///< a page of the target's, for atomics
  char* model_local;   ///< largest_bytes: what `local` must be
  char* model_remote;  ///< largest_bytes: what `remote` must be
  void* own_segment;
  void* local_block;
  void* scratch_block;
};

struct bench {
  struct job job;
  struct options options;
  struct memory memory;
  bool is_wrong;  ///< whether any case brought wrong data
};

/// What a case tells.
struct result {
  const char* name;
  long bytes;         ///< that one call moves
  const char* unit;   ///< "ns", a call; or "fraction"
  const char* state;  ///< "ok", "wrong", "no progress" or "skipped"
  const char* note;   ///< why, or an empty string
  struct samples samples;
};

/// Collective. Allocates the memory, and has each part touched by its owner.
void allocate_memory(struct bench* bench);
/// Collective.
void free_memory(struct bench* bench);

/// Prints a line of JSON. Remembers wrong data.
void report(struct bench* bench, struct result* result);
/// Prints the line that says what ran.
void report_start(const struct bench* bench);
/// Prints the line by which a reader sees that nothing is missing.
void report_end(void);

#ifdef __cplusplus
}
#endif
