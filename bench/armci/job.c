// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "bench/armci/job.h"

#include <armci.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef ARMCI_BENCH_MESSAGE_H
#include <message.h>
#endif
#ifdef ARMCI_BENCH_MPI
#include <mpi.h>
#ifndef ARMCI_BENCH_THREADS
#define ARMCI_BENCH_THREADS MPI_THREAD_SINGLE
#endif
#endif

enum { message_tag = 11, exit_broken = 3 };

void fail(const char* what) {
  const int error = errno;
  fprintf(stderr, "armci_bench: %s%s%s\n", what, error != 0 ? ": " : "",
          error != 0 ? strerror(error) : "");
  exit(exit_broken);
}

// The rank that a launcher announces, or -1: Open MPI, MPICH and Slurm, PMIx, tessera-run
// ("descriptor:rank:ranks").
static int announced_rank(void) {
  static const char* const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                          "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; ++i) {
    const char* value = getenv(variables[i]);
    if (value != NULL) {
      return atoi(value);
    }
  }
  const char* launch = getenv("TESSERA_LAUNCH");
  const char* rank = launch != NULL ? strchr(launch, ':') : NULL;
  return rank != NULL ? atoi(rank + 1) : -1;
}

// The nth core of a set, counted cyclically.
static int nth_core(const cpu_set_t* cores, int n) {
  int left = n % CPU_COUNT(cores);
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, cores) && left-- == 0) {
      return (int)core;
    }
  }
  return -1;
}

int pin_to_core(void) {
  const int rank = announced_rank();
  cpu_set_t cores;
  if (rank < 0 || sched_getaffinity(0, sizeof cores, &cores) != 0) {
    return -1;
  }
  const int core = nth_core(&cores, rank);
  CPU_ZERO(&cores);
  CPU_SET((unsigned)core, &cores);
  return sched_setaffinity(0, sizeof cores, &cores) == 0 ? core : -1;
}

void start_job(int* argc, char*** argv, struct job* job) {
#ifdef ARMCI_BENCH_MPI
  // ARMCI_Init may request MPI_THREAD_MULTIPLE, with which Open MPI 4.1 can't create windows over
  // TCP.
  int provided = 0;
  MPI_Init_thread(argc, argv, ARMCI_BENCH_THREADS, &provided);
#else
  armci_msg_init(argc, argv);
#endif
  if (ARMCI_Init() != 0) {
    fail("ARMCI_Init failed");
  }
  job->rank = armci_msg_me();
  job->ranks = armci_msg_nproc();
}

void end_job(void) {
  ARMCI_Finalize();
#ifdef ARMCI_BENCH_MPI
  MPI_Finalize();
#else
  armci_msg_finalize();
#endif
}

void wait_for_all(void) {
  armci_msg_barrier();
}

void send_message(void* bytes, int count, int to) {
  armci_msg_snd(message_tag, bytes, count, to);
}

void receive_message(void* bytes, int count, int from) {
  int received = 0;
  armci_msg_rcv(message_tag, bytes, count, &received, from);
}
