// SPDX-License-Identifier: BSD-3-Clause
//
// Several ranks on one target. The baseline is a plain loop of all ranks at once, which loses
// updates: it shows what the memory itself does when several processors write to it.
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/counter.hpp"
#include "bench/baselines/kernels.hpp"
#include "bench/parts.hpp"
#include "bench/rma/memories.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/support/clock.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

/// Which ranks act: rank 0 alone, or all.
enum class Actors { one, all };

Candidate cooperative(const std::string& name, Session& session, Actors actors, std::size_t bytes,
                      std::function<void()> once) {
  const bool acts = actors == Actors::all || session.is_leader();
  Candidate candidate;
  candidate.name = name;
  candidate.cooperative = true;
  candidate.bytes =
      bytes *
      (actors == Actors::all ? static_cast<std::size_t>(session.group().size()) : std::size_t{1});
  candidate.run = [acts, once = std::move(once)](std::int64_t repetitions) {
    for (std::int64_t i = 0; acts && i < repetitions; ++i) {
      once();
    }
  };
  return candidate;
}

/// The rate of all ranks divided by the rate of one, which did the same work per rank.
Ratio rate_ratio(const Measured& one, const Measured& all) {
  const Ratio times = ratio_of_medians(one.samples_ns, all.samples_ns);
  const double factor = static_cast<double>(all.bytes) / static_cast<double>(one.bytes);
  return times.scaled(factor);
}

void add_plainly(std::byte* to, const std::byte* from, std::size_t bytes) {
  kernels::axpy(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from), 1.0,
                bytes / sizeof(double));
}

/// Collective. The target's slice if all ranks can load and store it, otherwise null: all ranks
/// must have the same baselines.
std::byte* shared_slice(Session& session, TesseraCandidate& own) {
  std::byte* const there =
      session.compares_with(Peer::memory) ? own.region().direct(own.target()) : nullptr;
  return session.group().maximum(there == nullptr ? 1 : 0) == 0 ? there : nullptr;
}

/// Where on the target the ranks accumulate.
enum class SameOrDisjoint {
  same,   ///< all on the same bytes; their cache lines then move from core to core
  apart,  ///< each on its own bytes
};

/// The candidates for ranks that accumulate `bytes` each on one target: plain loops, which lose
/// updates, and Tessera, each by one rank and by all. The last one is Tessera by all ranks.
std::vector<Candidate> accumulate_candidates(Session& session, TesseraCandidate& own,
                                             SameOrDisjoint places, std::size_t bytes) {
  const auto checked = [&session, &own, places, bytes](Candidate candidate, Actors actors) {
    const Sums sums{own.region(),
                    own.target(),
                    own.local().data(),
                    bytes,
                    places == SameOrDisjoint::apart,
                    actors == Actors::all ? session.group().size() : 1};
    candidate.verify = [&session, sums, run = candidate.run] {
      return verify_sums(session.group(), session.job(), sums, [&run] { run(1); });
    };
    return candidate;
  };
  const auto rank = static_cast<std::size_t>(session.group().rank());
  const auto ranks = static_cast<std::size_t>(session.group().size());
  const std::size_t offset = places == SameOrDisjoint::apart ? rank * bytes : 0;
  std::byte* const there = shared_slice(session, own);
  std::byte* const here = own.local().data();
  std::vector<Candidate> candidates;
  if (there != nullptr) {
    // On the same bytes, each rank starts at a different offset: in step they would compete for
    // every cache line.
    const std::size_t turn = places == SameOrDisjoint::same ? rank * (bytes / ranks / 64 * 64) : 0;
    const auto plain = [=, to = there + offset] {
      add_plainly(to + turn, here + turn, bytes - turn);
      add_plainly(to, here, turn);
    };
    candidates.push_back(
        checked(cooperative("one axpy", session, Actors::one, bytes, plain), Actors::one));
    Candidate all = cooperative("all axpy", session, Actors::all, bytes, plain);
    const bool loses_updates = places == SameOrDisjoint::same;
    candidates.push_back(loses_updates ? all : checked(all, Actors::all));
  }
  const auto ours = [=, &job = session.job(), to = own.region().at(own.target(), offset)] {
    rma::require(rma::accumulate(job, to, here, bytes, rma::Scale::of(1.0)));
    rma::require(job.fence(to.rank));  // otherwise operations that are still under way would count
  };
  candidates.push_back(
      checked(cooperative("one rank", session, Actors::one, bytes, ours), Actors::one));
  candidates.push_back(
      checked(cooperative("all ranks", session, Actors::all, bytes, ours), Actors::all));
  return candidates;
}

void measure_accumulate(Session& session, const std::string& bench, TesseraCandidate& own,
                        SameOrDisjoint places) {
  const std::string where = places == SameOrDisjoint::same ? "same bytes" : "bytes apart";
  std::optional<Table> table;
  for (const std::size_t bytes : {64U << 10, 256U << 10, 4U << 20}) {
    const auto candidates = accumulate_candidates(session, own, places, bytes);
    if (!table) {
      table.emplace(session.table("Accumulate and Fence on One Target, " + where + ", Bandwidth",
                                  candidates.size() - 1, Quantity::bandwidth));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    const Subject subject{bench, "accumulate_contended", where, size};
    const auto measured = session.measure(*table, subject, size, candidates,
                                          concurrent(session.options().measure_options()));
    measure_fairness(session, subject, candidates.back().name, [&] { candidates.back().run(1); });
    if (!session.is_leader()) {
      continue;
    }
    const Ratio scaling = rate_ratio(measured[measured.size() - 2], measured.back());
    session.remark(fmt::format("{}: rate of all ranks / one: {:.3f} [{:.3f},{:.3f}]", size,
                               scaling.value, scaling.ci95.lo, scaling.ci95.hi));
    if (measured.size() == 4) {
      session.remark(fmt::format("{}: the same for plain loops: {:.3f}", size,
                                 rate_ratio(measured[0], measured[1]).value));
    }
    if (session.group().size() == 2 && session.job().node_count() == 1) {
      session.targets().observe(contention_target(where), fmt::format("{} B", size), scaling);
    }
  }
}

/// A word of the target on another cache line than the spin lock.
rma::RemoteAddress counted_under_lock(TesseraCandidate& own) {
  constexpr std::size_t a_page = 4096;
  return own.region().at(own.target(), a_page);
}

/// A spin lock in the word at `place`, which all ranks share.
Candidate spin_lock(Session& session, TesseraCandidate& own, std::byte* place) {
  const auto lock = [place] {
    const std::atomic_ref<std::int64_t> word(*reinterpret_cast<std::int64_t*>(place));
    while (word.exchange(1, std::memory_order_acquire) != 0) {
    }
  };
  const auto unlock = [place] {
    std::atomic_ref<std::int64_t>(*reinterpret_cast<std::int64_t*>(place))
        .store(0, std::memory_order_release);
  };
  Candidate candidate = cooperative("spin lock", session, Actors::all, 0, [lock, unlock] {
    lock();
    unlock();
  });
  candidate.prepare = [&session, unlock, acts = session.is_leader()] {
    if (acts) {
      unlock();  // whatever value it had
    }
    session.group().barrier();
  };
  candidate.verify = [&session, lock, unlock, word = counted_under_lock(own)] {
    return verify_lock(session.group(), session.job(), word, lock, unlock);
  };
  return candidate;
}

/// All ranks lock and unlock one lock as fast as they can.
void measure_lock(Session& session, const std::string& bench, TesseraCandidate& own) {
  if (!own.lock_problem().ok()) {
    session.remark("no locks: " + own.lock_problem().message());
    return;
  }
  std::vector<Candidate> candidates;
  if (std::byte* const there = shared_slice(session, own)) {
    candidates.push_back(spin_lock(session, own, there));
  }
  Candidate ours = own.lock_unlock(own.target(), true);
  ours.verify = [&session, &own] {
    return verify_lock(
        session.group(), session.job(), counted_under_lock(own), [&own] { own.lock(own.target()); },
        [&own] { own.unlock(own.target()); });
  };
  candidates.push_back(std::move(ours));
  Table table = session.table("Contended Lock and Unlock Latency", candidates.size() - 1,
                              Quantity::latency, "Ranks");
  const Subject subject{bench, "lock_unlock_contended", "", 8};
  session.measure(table, subject, session.group().size(), candidates,
                  concurrent(session.options().measure_options()));
  measure_fairness(session, subject, candidates.back().name, [&] { candidates.back().run(1); });
}

/// All ranks draw from one counter.
void measure_counter(Session& session, const std::string& bench, TesseraCandidate& own) {
  auto counter =
      arrays::Counter::create(session.job(), session.job().world(), own.target()).value();
  const auto drawing = [&session](const char* name, const std::function<std::int64_t()>& draw) {
    Candidate candidate = cooperative(name, session, Actors::all, 0, [draw] { (void)draw(); });
    candidate.verify = [&session, draw] { return verify_draws(session.group(), draw); };
    return candidate;
  };
  std::vector<Candidate> candidates;
  if (std::byte* const there = shared_slice(session, own)) {
    candidates.push_back(drawing("lock xadd", [there] {
      return kernels::fetch_add(*reinterpret_cast<std::int64_t*>(there), 1);
    }));
  }
  candidates.push_back(drawing("counter", [&counter] { return counter.next().value(); }));
  Table table = session.table("Counter Drawn From by All Ranks Latency", candidates.size() - 1,
                              Quantity::latency, "Ranks");
  session.measure(table, {bench, "counter_contended", "", 8}, session.group().size(), candidates,
                  concurrent(session.options().measure_options()));
}

}  // namespace

void measure_contention(Session& session, const std::string& bench) {
  if (session.group().size() < 2) {
    session.remark("contention: skipped, it needs two ranks");
    return;
  }
  // Room for the largest accumulate of each rank.
  TesseraCandidate own(
      session.job(),
      {.capacity_bytes = (4U << 20) * static_cast<std::size_t>(session.group().size())});
  measure_accumulate(session, bench, own, SameOrDisjoint::apart);
  measure_accumulate(session, bench, own, SameOrDisjoint::same);
  measure_lock(session, bench, own);
  measure_counter(session, bench, own);
}

// How evenly ranks are served that want the same: how often each repeats an operation in the same
// time.

namespace {

/// The number of repetitions of `once` in the given time.
std::int64_t count_for(std::int64_t time_ns, const std::function<void()>& once) {
  std::int64_t count = 0;
  for (const std::int64_t end = now_ns() + time_ns; now_ns() < end; ++count) {
    once();
  }
  return count;
}

}  // namespace

void measure_fairness(Session& session, const Subject& subject, const std::string& backend,
                      const std::function<void()>& once) {
  constexpr std::int64_t time_ns = 10'000'000;
  constexpr int rounds = 11;
  RankGroup& group = session.group();
  if (group.size() < 2) {
    return;
  }
  std::vector<double> evenness;
  for (int round = 0; round < rounds; ++round) {
    group.barrier();
    const auto count = static_cast<double>(count_for(time_ns, once));
    const double most = group.maximum(count);
    const double fewest = -group.maximum(-count);
    evenness.push_back(fewest / most);
  }
  Record record;
  record.bench = subject.bench;
  record.backend = backend;
  record.op = subject.op;
  record.shape = subject.shape;
  record.size = subject.size;
  record.unit = "fewest/most";
  record.stats = summarise(evenness);
  session.remark(fmt::format("{} {}: fewest / most of the ranks: {:.3f} [{:.3f},{:.3f}]",
                             subject.size, backend, record.stats.median,
                             record.stats.ci95_median.lo, record.stats.ci95_median.hi));
  session.record(std::move(record));
}

}  // namespace tessera::bench
