// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/job_crew.hpp"

namespace tessera::bench {

void JobCrew::barrier() {
  rma::require(job_.world().barrier());
}

void JobCrew::broadcast(std::span<std::byte> bytes, int root) {
  rma::require(job_.world().broadcast(bytes, rma::TeamRank{root}));
}

double JobCrew::maximum(double value) {
  return job_.world().allreduce(value, rma::Reduction::max).value();
}

}  // namespace tessera::bench
