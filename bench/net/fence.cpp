// SPDX-License-Identifier: BSD-3-Clause
//
// fence_all when some ranks were changed and others were not (seed 001, figure 12).
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/net/parts.hpp"
#include "bench/net/wire.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

/// Puts a word to ranks 1 to `dirty`, and fences them: all at once, or one by one.
Candidate put_and_fence(Wire& wire, std::int32_t dirty, bool at_once) {
  Candidate candidate;
  candidate.name = at_once ? "fence_all" : "fence each";
  candidate.run = [&job = wire.session().job(), &region = wire.own().region(), dirty,
                   at_once](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      for (std::int32_t rank = 1; rank <= dirty; ++rank) {
        rma::require(rma::put(job, region.at(rma::TeamRank{rank}), &i, sizeof i));
      }
      if (at_once) {
        rma::require(job.fence_all());
      }
      for (std::int32_t rank = 1; !at_once && rank <= dirty; ++rank) {
        rma::require(job.fence(rma::WorldRank{rank}));
      }
    }
  };
  return candidate;
}

}  // namespace

void measure_net_fence(Session& session) {
  Wire wire(session);
  Topic topic{"Puts of a Word and fence_all Latency", "fence_all", Quantity::latency, "Changed"};
  const std::int32_t others = session.job().size() - 1;
  for (std::int32_t dirty = 0; dirty <= others; ++dirty) {
    std::vector<Candidate> candidates;
    if (dirty == 1) {
      candidates = wire.tcp_floors(Case::contiguous(Operation::put, sizeof(std::int64_t)));
    }
    if (dirty > 0) {
      candidates.push_back(put_and_fence(wire, dirty, false));
    }
    candidates.push_back(put_and_fence(wire, dirty, true));
    wire.measure(topic, "", dirty * static_cast<std::int64_t>(sizeof(std::int64_t)), dirty,
                 candidates);
  }
}

}  // namespace tessera::bench
