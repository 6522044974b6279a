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
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/net_suite.hpp"
#include "bench/parts.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/support/job_group.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/statistics.hpp"
#include "rma/job.hpp"
#include "rma/lock.hpp"
#include "rma/region.hpp"
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
    session_.add(table_, {bench_, "place_" + line, "", sizeof(std::int64_t)}, line,
                 measure_interleaved(session_.sleeping_group(), candidates, options));
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

// fence_all after puts to some of the ranks, called by rank 0 alone and by all ranks at once
// ([CLUSTERS02], figure 12). It is compared with fences of the same ranks one after the other, and
// with fence_all with at most 3, 5 and 7 outstanding fences. Each of these is a setting of a job,
// so it has its own job (bench/support/job_group.hpp).

namespace {

enum class Callers { one, all };
enum class FenceCalls { each, together };

/// Puts a word to each of the ranks `changed`, and fences them.
void put_and_fence(rma::Job& job, rma::Region& region, const std::vector<std::int32_t>& changed,
                   FenceCalls fencing) {
  const std::int64_t word = 1;
  for (const std::int32_t rank : changed) {
    rma::require(rma::put(job, region.at(rma::TeamRank{rank}), &word, sizeof word));
  }
  if (fencing == FenceCalls::together) {
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
  FenceCalls fencing;
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
    return {fmt::format("fence_all of {}", outstanding_), FenceCalls::together, &job_, &region_,
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
  Candidate candidate{.name = side.name,
                      .run = repeat([side, changed] {
                        put_and_fence(*side.job, *side.region, changed, side.fencing);
                      }),
                      .cooperative = callers == Callers::all};
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

void measure(NetSuite& suite, const std::vector<Side>& sides, Callers callers) {
  const bool is_one = callers == Callers::one;
  Topic topic = net_topic(is_one ? "fence_all" : "fence_all_by_all",
                          is_one ? "Puts of a Word and fence_all Latency"
                                 : "Puts of a Word and fence_all, by All Ranks, Latency",
                          Quantity::latency, "Changed");
  RankGroup& group = suite.session().group();
  for (std::int32_t count = 0; count < group.size(); ++count) {
    std::vector<Candidate> candidates;
    if (count == 1 && is_one) {
      candidates = suite.tcp_baselines(Case::contiguous(Operation::put, sizeof(std::int64_t)));
    }
    for (const Side& side : sides) {
      if (side.max_outstanding <= count) {
        candidates.push_back(fence_candidate(group, side, count, callers));
      }
    }
    suite.measure(topic,
                  {count, fmt::format("ranks changed: {}", count),
                   count * static_cast<std::int64_t>(sizeof(std::int64_t))},
                  candidates);
  }
}

}  // namespace

void measure_net_fence(Session& session) {
  constexpr std::array windows = {3, 5, 7};  // the paper's numbers
  NetSuite suite(session);
  rma::Job& job = session.job();
  rma::Region& region = suite.own().region();
  std::vector<std::unique_ptr<Windowed>> windowed;
  std::vector<Side> sides{{"fence each", FenceCalls::each, &job, &region}};
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
  sides.push_back({"fence_all", FenceCalls::together, &job, &region, 0});
  measure(suite, sides, Callers::one);
  measure(suite, sides, Callers::all);
}

// The time of small operations that arrive from time to time at a rank that computes: its node's
// agent must get a processor first. They are compared with bare sockets, where a thread at the
// target sleeps until a request comes. MPI's windows are not a baseline here: a target that doesn't
// call MPI need not answer.

namespace {

/// Random moments within a time slice of the operating system, which lasts some milliseconds.
class Moments {
 public:
  void wait() { std::this_thread::sleep_for(std::chrono::microseconds(pause_us_(random_))); }

 private:
  std::minstd_rand random_;
  std::uniform_int_distribution<int> pause_us_{200, 3000};
};

/// The same operation at unpredictable moments; the wait before each is not timed.
Candidate now_and_then(Candidate candidate, Moments& moments, PausableClock& clock) {
  candidate.run = repeat([run = std::move(candidate.run), &moments, &clock] {
    clock.pause([&] { moments.wait(); });
    run(1);
  });
  return candidate;
}

/// A median doesn't show that a few operations wait long.
void remark_on_late(const Session& session, const char* operation,
                    const std::vector<Measured>& measured) {
  constexpr double us_per_ns = 1e-3;
  for (const Measured& each : measured) {
    const Stats us = each.stats_ns.scaled(us_per_ns);
    session.remark(
        fmt::format("{}, {}: 95 % within {:.1f} us, 99 % within {:.1f}, all within {:.1f}",
                    operation, each.name, us.p95, us.p99, us.max));
  }
}

void measure(NetSuite& suite, Operation operation, const char* name) {
  Session& session = suite.session();
  const Case c = Case::contiguous(operation, 8);
  std::vector<Candidate> candidates;
  if (TcpBaseline* const tcp = suite.tcp(Waiting::blocking)) {
    add(candidates, tcp->candidate(c));
  }
  add(candidates, suite.own().candidate(c));
  Moments moments;
  PausableClock clock;
  for (Candidate& each : candidates) {
    each = now_and_then(std::move(each), moments, clock);
  }
  MeasureOptions options = session.options().measure_options();
  options.clock = clock.clock();
  options.repetitions = 1;
  options.prime = false;  // after a recent request, the agent may still be awake
  Topic topic = net_topic("progress_" + c.name(),
                          fmt::format("{} Latency at Random Times, target computing", name));
  topic.limit = std::chrono::seconds(5);
  const auto measured = session.measure(topic, 8, candidates, options);
  if (session.is_leader()) {
    remark_on_late(session, name, measured);
  }
}

}  // namespace

void measure_net_progress(Session& session) {
  NetSuite suite(session);
  std::optional<BackgroundComputation> busy;
  if (session.group().rank() == 1) {
    busy.emplace();
  }
  measure(suite, Operation::get, "Get");
  measure(suite, Operation::put, "Put and Fence");
  measure(suite, Operation::fetch_add, "Fetch-and-Add");
}

// The processor time of the library's threads while a job communicates nothing.

namespace {

using std::chrono::milliseconds;

/// The part of a core that the threads with that name take on this rank while nothing happens.
double part_of_core(const char* thread) {
  const auto before = processor_time_of(thread);
  const std::int64_t start = now_ns();
  std::this_thread::sleep_for(milliseconds(1000));
  const auto after = processor_time_of(thread);
  const auto elapsed = static_cast<double>(now_ns() - start);
  // Ranks without such a thread take nothing.
  return before && after ? static_cast<double>((*after - *before).count()) / elapsed : 0;
}

/// Collective. One window, of the worst rank. Agents and connections are awake at its beginning.
double idle_window(Session& session, const char* thread) {
  auto region = rma::Region::allocate(session.job().world(), sizeof(std::int64_t)).value();
  const std::int64_t word = 0;
  rma::require(rma::put(session.job(), region.at(rma::TeamRank{1}), &word, sizeof word));
  rma::require(session.job().barrier());
  // Wait for the last of the barrier's messages, and for the longest time that the agent stays
  // awake after them.
  std::this_thread::sleep_for(milliseconds(1300));
  return session.group().maximum(part_of_core(thread));
}

}  // namespace

void measure_net_idle(Session& session) {
  const std::string& server = session.job().settings().server;
  for (const char* const thread : {"tessera-agent", "tessera-comm"}) {
    constexpr int windows = 3;
    std::vector<double> parts;
    for (int i = 0; i < windows; ++i) {
      parts.push_back(idle_window(session, thread));
    }
    const Stats stats = summarise(parts);
    session.remark(fmt::format("idle {}, server {}: {:.5f} of a core, at most {:.5f}", thread,
                               server, stats.median, stats.max));
    session.record({"net", "idle", "", 0}, thread, "cores", stats);
    // An agent that polls by its setting is never idle.
    if (session.is_leader() && server != "poll" && thread == std::string("tessera-agent")) {
      session.targets().observe(net_target::idle_agent, "server " + server,
                                {stats.max, {stats.min, stats.max}});
    }
  }
}

}  // namespace tessera::bench
