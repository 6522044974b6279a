// SPDX-License-Identifier: BSD-3-Clause
//
// What all cases share: the job, the options, the memory, and how to report a result.
//
// Rank 0 is the origin: it alone runs cases. Rank 1 is the target: it waits for commands in a
// receive (target.h). Further ranks wait for the end.
#pragma once

#include "bench/armci/job.h"
#include "bench/armci/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { origin_rank = 0, target_rank = 1 };
enum { max_bytes = 4 << 20, page_bytes = 4096, name_length = 64 };

struct options {
  const char* cases;  ///< glob patterns of the cases to measure, separated by commas
  struct method method;
  double busy_ns;  ///< how long a target computes without calls
  bool pins;
  bool lists;  ///< only print the names
};

/// Memory of one rank. All parts begin at a page, so that the relative alignment of buffers doesn't
/// put an implementation at a disadvantage (bench/README.md, "Alignment").
struct memory {
  char* local;         ///< max_bytes, allocated by the library: the data to transfer
  char* scratch;       ///< the same, to fill and to check the target's memory
  char* remote;        ///< the target's max_bytes, as the origin addresses them
  char* words;         ///< a page of the target's, for atomics
  char* model_local;   ///< max_bytes: the expected contents of `local`
  char* model_remote;  ///< max_bytes: the expected contents of `remote`
  void* own_segment;
  void* local_block;
  void* scratch_block;
};

struct bench {
  struct job job;
  struct options options;
  struct memory memory;
  bool is_wrong;  ///< whether some case had wrong data
};

/// The result of a case.
struct result {
  const char* name;
  long bytes;         ///< moved by one call
  const char* unit;   ///< "ns", for a call; or "fraction"
  const char* state;  ///< "ok", "wrong", "no progress" or "skipped"
  const char* note;   ///< the reason, or an empty string
  struct samples samples;
};

/// Collective. Allocates the memory; each part is touched by its owner.
void allocate_memory(struct bench* bench);
/// Collective.
void free_memory(struct bench* bench);

/// Prints a line of JSON. Records wrong data.
void report(struct bench* bench, struct result* result);
/// Prints the line that describes the run.
void report_start(const struct bench* bench);
/// Prints the last line, by which a reader knows that the output is complete.
void report_end(void);

#ifdef __cplusplus
}
#endif
