// SPDX-License-Identifier: BSD-3-Clause
//
// Rank 0 leaves the job while it holds locks; the others get them one after another.
#include <cstdio>

#include "rma/job.hpp"
#include "rma/lock.hpp"

using namespace tessera::rma;

int main() {
  Job job = Job::start().value();
  LockSet locks = LockSet::create(job.world(), 2).value();
  const TeamRank last{job.size() - 1};
  if (job.rank().value == 0) {
    require(locks.lock(TeamRank{0}, 1));
    require(locks.lock(last, 0));
  }
  require(job.barrier());
  if (job.rank().value != 0) {
    require(locks.lock(TeamRank{0}, 1));
    require(locks.lock(last, 0));
    require(locks.unlock(last, 0));
    require(locks.unlock(TeamRank{0}, 1));
    std::puts("has had both locks");
  }
  require(job.stop());
  return 0;
}
