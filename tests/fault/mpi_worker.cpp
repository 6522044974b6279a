// SPDX-License-Identifier: BSD-3-Clause
//
// mpi_fault_worker: a rank that an MPI launcher starts, for mpi_test.cpp.
//
//     mpi_fault_worker SCENARIO
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "rma/bootstrap.hpp"
#include "rma/job.hpp"

namespace {

using tessera::rma::Job;
using tessera::rma::Status;

int fail(const Status& status) {
  std::printf("%s\n", status.describe().c_str());
  return 1;
}

bool is_mpi_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

// The library starts MPI and ends it with the job.
int work_and_stop() {
  auto job = Job::start();
  if (!job.ok()) {
    return fail(job.status());
  }
  if (const Status status = job->barrier(); !status.ok()) {
    return fail(status);
  }
  if (const Status status = job->stop(); !status.ok()) {
    return fail(status);
  }
  std::printf("%s, finalized %d\n", "stopped", is_mpi_finalized() ? 1 : 0);
  return 0;
}

// MPI can start only once, and the first job has ended it.
int start_twice() {
  if (const int wrong = work_and_stop(); wrong != 0) {
    return wrong;
  }
  const auto again = Job::start();
  std::printf("again: %s\n", again.ok() ? "ok" : again.status().describe().c_str());
  return 0;
}

// MPI belongs to the program; its launcher may be another one than MPI's.
int start_after_mpi(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  const auto job = Job::start();
  std::printf("after MPI_Init: %s\n", job.ok() ? "ok" : job.status().describe().c_str());
  MPI_Finalize();
  return 0;
}

// MPI belongs to the program: jobs start and stop, also over a part of the processes, and MPI
// continues.
int work_within_a_users_mpi(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 2; ++round) {
    auto job = Job::start();
    if (!job.ok()) {
      return fail(job.status());
    }
    if (const Status status = job->barrier(); !status.ok()) {
      return fail(status);
    }
  }
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    auto bootstrap = tessera::rma::mpi_bootstrap(MPI_Comm_c2f(half));
    if (!bootstrap.ok()) {
      return fail(bootstrap.status());
    }
    auto job =
        Job::start({.bootstrap = std::move(bootstrap).take(), .settings = {}, .transports = {}});
    if (!job.ok() || !job->barrier().ok()) {
      return fail(job.status());
    }
  }
  MPI_Comm_free(&half);
  const int world = MPI_Comm_c2f(MPI_COMM_WORLD);
  const bool still_running = !is_mpi_finalized();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  std::printf("MPI stayed %d\n", still_running ? 1 : 0);
  const auto late = tessera::rma::mpi_bootstrap(world);
  std::printf("%s\n", late.status().message().c_str());
  return 0;
}

int die_in_the_middle() {
  auto job = Job::start();
  if (!job.ok()) {
    return fail(job.status());
  }
  if (job->rank().value == 1) {
    kill(getpid(), SIGKILL);
  }
  while (job->barrier().ok()) {
  }
  std::printf("survivor got an error\n");
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view scenario = argc > 1 ? argv[1] : "";
  if (scenario == "users_mpi") {
    return work_within_a_users_mpi(&argc, &argv);
  }
  if (scenario == "after_mpi") {
    return start_after_mpi(&argc, &argv);
  }
  if (scenario == "twice") {
    return start_twice();
  }
  return scenario == "die" ? die_in_the_middle() : work_and_stop();
}
