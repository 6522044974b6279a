// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/job_group.hpp"

namespace tessera::bench {

void JobRankGroup::barrier() {
  rma::require(job_.world().barrier());
}

void JobRankGroup::broadcast(std::span<std::byte> bytes, int root) {
  rma::require(job_.world().broadcast(bytes, rma::TeamRank{root}));
}

double JobRankGroup::maximum(double value) {
  return job_.world().allreduce(value, rma::Reduction::max).value();
}

}  // namespace tessera::bench
