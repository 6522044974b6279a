// SPDX-License-Identifier: BSD-3-Clause
//
// Small operations on rank 0's own node and on another one ([ARMCI06], table 1; [CLUSTERS02], table
// 2). And the same on its NUMA node, on another NUMA node of its node, and on another node.
//
// Lock and unlock are timed separately, though neither can be repeated without the other. A
// PausableClock stops during the other one, and while a get waits until the agent has finished it.
// On one node each takes less than reading the clock. So a number of locks is acquired one after
// the other, and then released, that makes the clock's time negligible. Between nodes it is only
// one lock, since the messages of several would be sent together. There, the time of unlock is the
// caller's: it is a message without a wait.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/wire.hpp"
#include "bench/parts.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/support/clock.hpp"
#include "bench/support/peers.hpp"
#include "bench/support/topology.hpp"
#include "rma/lock.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

/// Per rank; this number makes two readings of the clock short in comparison.
constexpr std::int64_t locks_each = 64;

enum class Half { lock, unlock };

/// One target, and the operations on it.
class Place {
 public:
  /// Collective.
  Place(std::string name, rma::Job& job, rma::TeamRank target, rma::Result<rma::LockSet>& locks)
      : name_(std::move(name)),
        job_(job),
        own_(job, {.capacity_bytes = a_page}, target),
        locks_(locks),
        batch_(job.shares_node(job.world().world_rank(target)) ? locks_each : 1) {}

  [[nodiscard]] Candidate transfer(const Case& c) { return renamed(*own_.candidate(c), name_); }

  /// Requires: `clock` times it, and outlives it.
  [[nodiscard]] Candidate half_of_lock(Half half, PausableClock& clock) {
    Candidate candidate;
    candidate.name = name_;
    candidate.run = [this, half, &clock](std::int64_t repetitions) {
      for (std::int64_t done = 0; done < repetitions; done += batch_) {
        const std::int64_t count = std::min(batch_, repetitions - done);
        if (half == Half::lock) {
          lock(count);
          clock.pause([&] { unlock(count); });
        } else {
          clock.pause([&] { lock(count); });
          unlock(count);
        }
        clock.pause([&] { wait_for_agent(); });
      }
    };
    return candidate;
  }

 private:
  static constexpr std::size_t a_page = 4096;

  void lock(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      rma::require(locks_->lock(own_.target(), i));
    }
  }

  void unlock(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      rma::require(locks_->unlock(own_.target(), i));
    }
  }

  /// A get's reply comes after all earlier requests are done.
  void wait_for_agent() {
    std::int64_t word = 0;
    rma::require(rma::get(job_, own_.region().at(own_.target()), &word, sizeof word));
  }

  std::string name_;
  rma::Job& job_;
  TesseraCandidate own_;
  rma::Result<rma::LockSet>& locks_;
  std::int64_t batch_;
};

/// The table, and its locations.
class Comparison {
 public:
  struct NamedRank {
    std::string name;
    std::int32_t rank = 0;
  };

  /// Collective. `subject` is the location that the table is about.
  Comparison(Session& session, std::string bench, const std::string& title,
             const std::vector<NamedRank>& ranks, std::size_t subject)
      : session_(session),
        bench_(std::move(bench)),
        locks_(rma::LockSet::create(session.job().world(), locks_each)),
        table_(session.table(title, subject, Quantity::latency, "Op")) {
    for (const auto& [name, rank] : ranks) {
      places_.push_back(std::make_unique<Place>(name, session.job(), rma::TeamRank{rank}, locks_));
    }
  }

  void transfer(const std::string& line, Operation operation,
                Completes completes = Completes::at_target) {
    const Case c = Case::contiguous(operation, sizeof(std::int64_t)).completing(completes);
    std::vector<Candidate> candidates;
    for (const auto& place : places_) {
      candidates.push_back(place->transfer(c));
    }
    measure(line, candidates, now_ns);
  }

  void half_of_lock(const std::string& line, Half half) {
    if (!locks_.ok()) {
      session_.remark(line + ": " + locks_.status().message());
      return;
    }
    PausableClock clock;
    std::vector<Candidate> candidates;
    for (const auto& place : places_) {
      candidates.push_back(place->half_of_lock(half, clock));
    }
    measure(line, candidates, clock.clock());
  }

  /// Runs all comparisons.
  void run() {
    transfer("get", Operation::get);
    transfer("put_here", Operation::put, Completes::here);
    transfer("put_fence", Operation::put);
    transfer("acc_fence", Operation::accumulate);
    half_of_lock("lock", Half::lock);
    half_of_lock("unlock", Half::unlock);
    transfer("fetch_add", Operation::fetch_add);
    transfer("swap", Operation::swap);
    transfer("cas", Operation::compare_swap);
  }

 private:
  void measure(const std::string& line, const std::vector<Candidate>& candidates, Clock clock) {
    MeasureOptions options = concurrent(session_.options().measure_options());
    options.clock = std::move(clock);
    const auto measured = measure_interleaved(session_.sleeping_group(), candidates, options);
    session_.add(table_, {bench_, "place_" + line, "", sizeof(std::int64_t)}, line, measured);
  }

  Session& session_;
  std::string bench_;
  rma::Result<rma::LockSet> locks_;
  std::vector<std::unique_ptr<Place>> places_;
  Table table_;
};

/// Collective. The locations of all ranks.
std::vector<Whereabouts> rank_locations(Session& session) {
  const int numa = numa_node_of(own_processors(), numa_nodes("/sys"));
  std::vector<Whereabouts> all;
  for (std::int32_t rank = 0; rank < session.job().size(); ++rank) {
    all.push_back(
        {session.job().node_of(rma::WorldRank{rank}).value, session.group().share(numa, rank)});
  }
  return all;
}

}  // namespace

void measure_locations(Session& session) {
  const std::size_t numa_count = session.group().share(numa_nodes("/sys").size());
  std::vector<Comparison::NamedRank> ranks;
  for (const LocationCandidate& place : locations_around(rank_locations(session), numa_count)) {
    if (place.rank) {
      ranks.push_back({place.name, *place.rank});
    } else {
      session.remark(fmt::format("rma.places: {}: skipped: {}", place.name, place.missing));
    }
  }
  if (!ranks.empty()) {
    Comparison(session, "rma", "By Place, 8 B, Latency", ranks, 0).run();
  }
}

void measure_net_locations(Session& session) {
  const rma::Job& job = session.job();
  std::vector<std::int32_t> nodes;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    nodes.push_back(job.node_of(rma::WorldRank{rank}).value);
  }
  const auto ranks = near_and_far(nodes);
  if (!ranks) {
    session.remark(
        "net.places: skipped; rank 0 needs another rank on its node and one on another node, for "
        "example 4 ranks with TESSERA_RANKS_PER_NODE=2");
    return;
  }
  Comparison(session, "net", "Same Node and Across Nodes, 8 B, Latency",
             {{"same node", ranks->near}, {"across nodes", ranks->far}}, 1)
      .run();
}

}  // namespace tessera::bench
