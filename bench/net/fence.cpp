// SPDX-License-Identifier: BSD-3-Clause
//
// fence_all when some ranks were changed and others were not, called by rank 0 alone and by all
// ranks at once ([CLUSTERS02], figure 12). Beside it the same ranks are fenced one after the other.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/parts.hpp"
#include "bench/net/wire.hpp"
#include "bench/support/peers.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

enum class Callers { one, all };
enum class Fencing { each, together };

/// Puts a word to each of the ranks `changed`, and fences them.
void put_and_fence(rma::Job& job, rma::Region& region, const std::vector<std::int32_t>& changed,
                   Fencing fencing) {
  const std::int64_t word = 1;
  for (const std::int32_t rank : changed) {
    rma::require(rma::put(job, region.at(rma::TeamRank{rank}), &word, sizeof word));
  }
  if (fencing == Fencing::together) {
    rma::require(job.fence_all());
    return;
  }
  for (const std::int32_t rank : changed) {
    rma::require(job.fence(rma::WorldRank{rank}));
  }
}

void clear_own_word(rma::Job& job, rma::Region& region) {
  const std::int64_t nothing = 0;
  rma::require(rma::put(job, region.at(region.team().rank()), &nothing, sizeof nothing));
  rma::require(job.fence_all());
}

/// Which of the ranks `changed` doesn't have its word; empty where all have.
std::string unchanged(rma::Job& job, rma::Region& region,
                      const std::vector<std::int32_t>& changed) {
  for (const std::int32_t rank : changed) {
    std::int64_t found = 0;
    rma::require(rma::get(job, region.at(rma::TeamRank{rank}), &found, sizeof found));
    if (found != 1) {
      return fmt::format("rank {} has {} behind a fence, not 1", rank, found);
    }
  }
  return "";
}

/// The `count` ranks behind this one change, of rank 0 alone or of every rank; in rank order.
Candidate fence_candidate(Wire& wire, std::int32_t count, Callers callers, Fencing fencing) {
  const std::vector<std::int32_t> changed =
      ranks_behind(wire.session().crew().rank(), count, wire.session().crew().size());
  Candidate candidate;
  candidate.name = fencing == Fencing::together ? "fence_all" : "fence each";
  candidate.cooperative = callers == Callers::all;
  rma::Job& job = wire.session().job();
  rma::Region& region = wire.own().region();
  candidate.run = [&job, &region, changed, fencing](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      put_and_fence(job, region, changed, fencing);
    }
  };
  const bool acts = callers == Callers::all || job.rank().value == 0;
  candidate.verify = [&crew = wire.session().crew(), &job, &region, changed, fencing, acts] {
    clear_own_word(job, region);
    crew.barrier();
    std::string problem;
    if (acts) {
      put_and_fence(job, region, changed, fencing);
      problem = unchanged(job, region, changed);
    }
    crew.barrier();
    return problem;
  };
  return candidate;
}

void measure(Wire& wire, Callers callers) {
  const bool is_one = callers == Callers::one;
  Topic topic{is_one ? "Puts of a Word and fence_all Latency"
                     : "Puts of a Word and fence_all, by All Ranks, Latency",
              is_one ? "fence_all" : "fence_all_by_all", Quantity::latency, "Changed"};
  const std::int32_t others = wire.session().job().size() - 1;
  for (std::int32_t count = 0; count <= others; ++count) {
    std::vector<Candidate> candidates;
    if (count == 1 && is_one) {
      candidates = wire.tcp_floors(Case::contiguous(Operation::put, sizeof(std::int64_t)));
    }
    if (count > 0) {
      candidates.push_back(fence_candidate(wire, count, callers, Fencing::each));
    }
    candidates.push_back(fence_candidate(wire, count, callers, Fencing::together));
    wire.measure(topic, fmt::format("ranks changed: {}", count),
                 count * static_cast<std::int64_t>(sizeof(std::int64_t)), count, candidates);
  }
}

}  // namespace

void measure_net_fence(Session& session) {
  Wire wire(session);
  measure(wire, Callers::one);
  measure(wire, Callers::all);
}

}  // namespace tessera::bench
