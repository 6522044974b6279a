// SPDX-License-Identifier: BSD-3-Clause
//
// The job as the library sees it: start, ranks, messages, end. The only file that calls
// armci_msg_… and MPI, which GA declares in another header than ARMCI-MPI does.
//
//     -DARMCI_BENCH_MPI         the program starts MPI itself, as ARMCI-MPI and ComEx want it
//     -DARMCI_BENCH_THREADS=…   with that level of threads (MPI_THREAD_SINGLE)
//     -DARMCI_BENCH_MESSAGE_H   armci_msg_… are declared in <message.h>, as in GA
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct job {
  int rank;
  int ranks;
  int core;  ///< which all threads of this process keep to, or -1
};

/// Pins this process and what the library will start in it to a core of its own: call it before
/// start_job(). Which rank this will be is known from the launcher's environment; -1 if it isn't.
int pin_to_core(void);

/// Starts what carries messages, and ARMCI.
void start_job(int* argc, char*** argv, struct job* job);
void end_job(void);
/// Waits for all ranks, in the message layer.
void wait_for_all(void);

void send_message(void* bytes, int count, int to);
void receive_message(void* bytes, int count, int from);

/// Says what is wrong and ends the process: a benchmark that can't go on.
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void fail(const char* what);

#ifdef __cplusplus
}
#endif
