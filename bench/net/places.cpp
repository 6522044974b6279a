// SPDX-License-Identifier: BSD-3-Clause
//
// Small operations side by side on rank 0's own node and on another one (seed 000, table 1; seed
// 001, table 2).
//
// Lock and unlock are timed each for itself, though neither can be repeated without the other: a
// PausableClock stands still during the other one, and while a get waits until the agent has done
// with it. On one node, where each takes less than reading the clock, so many locks are taken one
// after the other, and then released, that the clock doesn't count. Between nodes it is one lock,
// since the messages of several would go together. There the time of unlock is what it takes the
// caller: it is a message that nobody waits for.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/net/parts.hpp"
#include "bench/net/wire.hpp"
#include "bench/rma/own_side.hpp"
#include "bench/support/clock.hpp"
#include "bench/support/peers.hpp"
#include "rma/lock.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

/// Of each rank, as many as make two readings of the clock short beside them.
constexpr std::int64_t locks_each = 64;

enum class Half { lock, unlock };

/// One target, and what is done with it.
class Place {
 public:
  /// Collective.
  Place(std::string name, rma::Job& job, rma::TeamRank target, rma::Result<rma::LockSet>& locks)
      : name_(std::move(name)),
        job_(job),
        own_(job, {.capacity_bytes = a_page}, target),
        locks_(locks),
        batch_(job.shares_node(job.world().world_rank(target)) ? locks_each : 1) {}

  [[nodiscard]] Candidate transfer(Operation operation, Completes completes = Completes::here) {
    return renamed(*own_.candidate(Case::contiguous(operation, sizeof(std::int64_t)), completes),
                   name_);
  }

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

  /// A get is answered when what was asked for before it is done.
  void wait_for_agent() {
    std::int64_t word = 0;
    rma::require(rma::get(job_, own_.region().at(own_.target()), &word, sizeof word));
  }

  std::string name_;
  rma::Job& job_;
  OwnSide own_;
  rma::Result<rma::LockSet>& locks_;
  std::int64_t batch_;
};

/// The table, and both places.
class Comparison {
 public:
  /// Collective.
  Comparison(Session& session, const NearAndFar& ranks)
      : session_(session),
        locks_(rma::LockSet::create(session.job().world(), locks_each)),
        near_("same node", session.job(), rma::TeamRank{ranks.near}, locks_),
        far_("across nodes", session.job(), rma::TeamRank{ranks.far}, locks_),
        table_(session.table("Same Node and Across Nodes, 8 B, Latency", 1, Quantity::latency,
                             "Op")) {}

  void transfer(const std::string& line, Operation operation,
                Completes completes = Completes::here) {
    measure(line, {near_.transfer(operation, completes), far_.transfer(operation, completes)},
            now_ns);
  }

  void half_of_lock(const std::string& line, Half half) {
    if (!locks_.ok()) {
      session_.remark(line + ": " + locks_.status().message());
      return;
    }
    PausableClock clock;
    measure(line, {near_.half_of_lock(half, clock), far_.half_of_lock(half, clock)}, clock.clock());
  }

 private:
  void measure(const std::string& line, const std::vector<Candidate>& candidates, Clock clock) {
    MeasureOptions options = side_by_side(session_.options().measure_options());
    options.clock = std::move(clock);
    const auto measured = measure_interleaved(session_.sleeping_crew(), candidates, options);
    session_.add(table_, {"net", "place_" + line, "", sizeof(std::int64_t)}, line, measured);
  }

  Session& session_;
  rma::Result<rma::LockSet> locks_;
  Place near_;
  Place far_;
  Table table_;
};

}  // namespace

void measure_net_places(Session& session) {
  const rma::Job& job = session.job();
  std::vector<std::int32_t> nodes;
  for (std::int32_t rank = 0; rank < job.size(); ++rank) {
    nodes.push_back(job.node_of(rma::WorldRank{rank}).value);
  }
  const auto ranks = near_and_far(nodes);
  if (!ranks) {
    session.remark(
        "net.places: rank 0 needs another rank on its node and one on another node; 4 ranks with "
        "TESSERA_RANKS_PER_NODE=2 have both");
    return;
  }
  Comparison compare(session, *ranks);
  compare.transfer("get", Operation::get);
  compare.transfer("put_here", Operation::put);
  compare.transfer("put_fence", Operation::put, Completes::at_target);
  compare.half_of_lock("lock", Half::lock);
  compare.half_of_lock("unlock", Half::unlock);
  compare.transfer("fetch_add", Operation::fetch_add);
  compare.transfer("swap", Operation::swap);
}

}  // namespace tessera::bench
