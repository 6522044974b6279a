// SPDX-License-Identifier: BSD-3-Clause
//
// The job, as the library sees it: start, ranks, messages, end. Only job.c calls armci_msg_… and
// MPI, which GA declares in a different header than ARMCI-MPI.
//
//     -DARMCI_BENCH_MPI         the program starts MPI itself, as ARMCI-MPI and ComEx need it
//     -DARMCI_BENCH_THREADS=…   with this level of threads (default: MPI_THREAD_SINGLE)
//     -DARMCI_BENCH_MESSAGE_H   armci_msg_… are declared in <message.h>, as in GA
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct job {
  int rank;
  int ranks;
  int core;  ///< all threads of this process stay on it; -1: not pinned
};

/// Pins this process, and the threads that the library will start in it, to a core of its own. Call
/// it before start_job(). It reads the rank from the launcher's environment. Returns the core, or
/// -1 if the rank is unknown.
int pin_to_core(void);

/// Starts the message layer, and ARMCI.
void start_job(int* argc, char*** argv, struct job* job);
void end_job(void);
/// Waits for all ranks, in the message layer.
void wait_for_all(void);

void send_message(void* bytes, int count, int to);
void receive_message(void* bytes, int count, int from);

/// Prints an error and ends the process.
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void fail(const char* what);

#ifdef __cplusplus
}
#endif
