// SPDX-License-Identifier: BSD-3-Clause
//
// CCSD and (T) on MPI's windows, compared with the native transports ([ARMCIMPI12], figure 6). Each
// transport has a job of the same ranks, so all of them take part in the same rounds.
#include <string>
#include <vector>

#include "bench/apps/ccsd.hpp"
#include "bench/mpi/parts.hpp"
#include "bench/support/job_beside.hpp"

namespace tessera::bench {
namespace {

rma::Job start_on(rma::Job& first, const char* transport, std::int64_t ranks_per_node) {
  rma::Settings settings = first.settings();
  settings.transport = transport;
  settings.ranks_per_node = ranks_per_node;
  return start_job_on_same_ranks(first, settings);
}

}  // namespace

void measure_windows_ccsd(Session& session) {
  // One node with all ranks, and one node for each rank.
  rma::Job shm = start_on(session.job(), "shm", session.job().size());
  rma::Job tcp = start_on(session.job(), "shm,tcp", 1);
  measure_ccsd_by_jobs(session, "mpi",
                       {{"native shm", &shm}, {"native tcp", &tcp}, {"tessera", &session.job()}});
}

}  // namespace tessera::bench
