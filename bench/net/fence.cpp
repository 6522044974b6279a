// SPDX-License-Identifier: BSD-3-Clause
//
// fence_all after puts to some of the ranks, called by rank 0 alone and by all ranks at once
// ([CLUSTERS02], figure 12). It is compared with fences of the same ranks one after the other, and
// with fence_all with at most 3, 5 and 7 outstanding fences. Each of these is a setting of a job,
// so it has its own job (bench/support/job_beside.hpp).
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/wire.hpp"
#include "bench/parts.hpp"
#include "bench/support/job_group.hpp"
#include "bench/support/peers.hpp"
#include "rma/job.hpp"
#include "rma/region.hpp"
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

/// An error message if one of the ranks `changed` lacks its word; empty if all have it.
std::string unchanged(rma::Job& job, rma::Region& region,
                      const std::vector<std::int32_t>& changed) {
  for (const std::int32_t rank : changed) {
    std::int64_t found = 0;
    rma::require(rma::get(job, region.at(rma::TeamRank{rank}), &found, sizeof found));
    if (found != 1) {
      return fmt::format("rank {} has {} after a fence, not 1", rank, found);
    }
  }
  return "";
}

/// Fences of one kind, in their own job and region.
struct Side {
  std::string name;
  Fencing fencing;
  rma::Job* job;
  rma::Region* region;
  std::int32_t max_outstanding = 1;  ///< with fewer ranks changed, a larger limit has no effect
};

/// A job in which fence_all has at most this number of fences outstanding.
class Windowed {
 public:
  /// Collective.
  Windowed(rma::Job& first, std::int32_t outstanding)
      : outstanding_(outstanding),
        job_(start(first, outstanding)),
        region_(rma::Region::allocate(job_.world(), sizeof(std::int64_t)).value()) {}

  [[nodiscard]] Side side() {
    return {fmt::format("fence_all of {}", outstanding_), Fencing::together, &job_, &region_,
            outstanding_};
  }

 private:
  static rma::Job start(rma::Job& first, std::int32_t outstanding) {
    rma::Settings settings = first.settings();
    settings.fence_window = outstanding;
    return start_job_on_same_ranks(first, settings);
  }

  std::int32_t outstanding_;
  rma::Job job_;
  rma::Region region_;
};

/// Puts to the `count` ranks after this one, by rank 0 alone or by every rank; in rank order.
Candidate fence_candidate(RankGroup& group, const Side& side, std::int32_t count, Callers callers) {
  const std::vector<std::int32_t> changed = ranks_after(group.rank(), count, group.size());
  Candidate candidate;
  candidate.name = side.name;
  candidate.cooperative = callers == Callers::all;
  candidate.run = [side, changed](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      put_and_fence(*side.job, *side.region, changed, side.fencing);
    }
  };
  const bool acts = callers == Callers::all || group.rank() == 0;
  candidate.verify = [&group, side, changed, acts] {
    clear_own_word(*side.job, *side.region);
    group.barrier();
    std::string problem;
    if (acts) {
      put_and_fence(*side.job, *side.region, changed, side.fencing);
      problem = unchanged(*side.job, *side.region, changed);
    }
    group.barrier();
    return problem;
  };
  return candidate;
}

void measure(Wire& wire, const std::vector<Side>& sides, Callers callers) {
  const bool is_one = callers == Callers::one;
  Topic topic{is_one ? "Puts of a Word and fence_all Latency"
                     : "Puts of a Word and fence_all, by All Ranks, Latency",
              is_one ? "fence_all" : "fence_all_by_all", Quantity::latency, "Changed"};
  RankGroup& group = wire.session().group();
  for (std::int32_t count = 0; count < group.size(); ++count) {
    std::vector<Candidate> candidates;
    if (count == 1 && is_one) {
      candidates = wire.tcp_baselines(Case::contiguous(Operation::put, sizeof(std::int64_t)));
    }
    for (const Side& side : sides) {
      if (side.max_outstanding <= count) {
        candidates.push_back(fence_candidate(group, side, count, callers));
      }
    }
    wire.measure(topic, fmt::format("ranks changed: {}", count),
                 count * static_cast<std::int64_t>(sizeof(std::int64_t)), count, candidates);
  }
}

}  // namespace

void measure_net_fence(Session& session) {
  constexpr std::array windows = {3, 5, 7};  // the paper's numbers
  Wire wire(session);
  rma::Job& job = session.job();
  rma::Region& region = wire.own().region();
  std::vector<std::unique_ptr<Windowed>> windowed;
  std::vector<Side> sides{{"fence each", Fencing::each, &job, &region}};
  for (const std::int32_t outstanding : windows) {
    if (outstanding < job.size()) {
      windowed.push_back(std::make_unique<Windowed>(job, outstanding));
      sides.push_back(windowed.back()->side());
    }
  }
  if (windowed.size() < windows.size()) {
    session.remark(
        "fence_all of 3, 5 and 7: that number of outstanding fences; measured with 8 or more "
        "ranks");
  }
  sides.push_back({"fence_all", Fencing::together, &job, &region, 0});
  measure(wire, sides, Callers::one);
  measure(wire, sides, Callers::all);
}

}  // namespace tessera::bench
