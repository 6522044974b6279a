// SPDX-License-Identifier: BSD-3-Clause
//
// Several ranks on one target. What the memory itself does when several processors write to it is
// measured beside: the plain loop of all ranks at once, which loses updates.
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/counter.hpp"
#include "bench/floors/kernels.hpp"
#include "bench/rma/own_side.hpp"
#include "bench/rma/parts.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

/// How many ranks act: rank 0 alone, or all.
enum class Actors { one, all };

Candidate cooperative(const std::string& name, Session& session, Actors actors, std::size_t bytes,
                      std::function<void()> once) {
  const bool acts = actors == Actors::all || session.is_leader();
  Candidate candidate;
  candidate.name = name;
  candidate.cooperative = true;
  candidate.bytes = bytes * (actors == Actors::all ? static_cast<std::size_t>(session.crew().size())
                                                   : std::size_t{1});
  candidate.run = [acts, once = std::move(once)](std::int64_t repetitions) {
    for (std::int64_t i = 0; acts && i < repetitions; ++i) {
      once();
    }
  };
  return candidate;
}

/// The rate of all ranks divided by that of one, which did the same work each.
Ratio rate_ratio(const Measured& one, const Measured& all) {
  const Ratio times = ratio_of_medians(one.samples_ns, all.samples_ns);
  const double factor = static_cast<double>(all.bytes) / static_cast<double>(one.bytes);
  return {times.value * factor, {times.ci95.lo * factor, times.ci95.hi * factor}};
}

void add_plainly(std::byte* to, const std::byte* from, std::size_t bytes) {
  kernels::axpy(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from), 1.0,
                bytes / sizeof(double));
}

/// Collective. The target's slice, where all ranks can load and store it, else null: floors are the
/// same on all ranks.
std::byte* shared_slice(Session& session, OwnSide& own) {
  std::byte* const there =
      session.compares_with(Peer::memory) ? own.region().direct(own.target()) : nullptr;
  return session.crew().maximum(there == nullptr ? 1 : 0) == 0 ? there : nullptr;
}

/// Where on one target the ranks accumulate.
enum class Places {
  same,   ///< all on the same bytes, whose cache lines then go from core to core
  apart,  ///< each on bytes of its own
};

/// The candidates for ranks that accumulate `bytes` each on one target: what plain loops do, which
/// lose updates, and ours, by one rank and by all; the last is all of ours.
std::vector<Candidate> accumulate_candidates(Session& session, OwnSide& own, Places places,
                                             std::size_t bytes) {
  const auto rank = static_cast<std::size_t>(session.crew().rank());
  const auto ranks = static_cast<std::size_t>(session.crew().size());
  const std::size_t offset = places == Places::apart ? rank * bytes : 0;
  std::byte* const there = shared_slice(session, own);
  std::byte* const here = own.local().data();
  std::vector<Candidate> candidates;
  if (there != nullptr) {
    // On the same bytes each rank begins at a place of its own: in step they would fight for
    // every cache line.
    const std::size_t turn = places == Places::same ? rank * (bytes / ranks / 64 * 64) : 0;
    const auto plain = [=, to = there + offset] {
      add_plainly(to + turn, here + turn, bytes - turn);
      add_plainly(to, here, turn);
    };
    candidates.push_back(cooperative("one axpy", session, Actors::one, bytes, plain));
    candidates.push_back(cooperative("all axpy", session, Actors::all, bytes, plain));
  }
  const auto ours = [=, &job = session.job(), to = own.region().at(own.target(), offset)] {
    rma::require(rma::accumulate(job, to, here, bytes, rma::Scale::of(1.0)));
  };
  candidates.push_back(cooperative("one rank", session, Actors::one, bytes, ours));
  candidates.push_back(cooperative("all ranks", session, Actors::all, bytes, ours));
  return candidates;
}

void measure_accumulate(Session& session, const std::string& bench, OwnSide& own, Places places) {
  const std::string where = places == Places::same ? "same bytes" : "bytes apart";
  std::optional<Table> table;
  for (const std::size_t bytes : {64U << 10, 256U << 10, 4U << 20}) {
    const auto candidates = accumulate_candidates(session, own, places, bytes);
    if (!table) {
      table.emplace(session.table("Accumulate on One Target, " + where + ", Bandwidth",
                                  candidates.size() - 1, Quantity::bandwidth));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured =
        session.measure(*table, {bench, "accumulate_contended", where, size}, size, candidates,
                        side_by_side(session.options().measure_options()));
    if (!session.is_leader()) {
      continue;
    }
    const Ratio scaling = rate_ratio(measured[measured.size() - 2], measured.back());
    session.remark(fmt::format("{}: rate of all ranks / one: {:.3f} [{:.3f},{:.3f}]", size,
                               scaling.value, scaling.ci95.lo, scaling.ci95.hi));
    if (measured.size() == 4) {
      session.remark(fmt::format("{}: the same of plain loops: {:.3f}", size,
                                 rate_ratio(measured[0], measured[1]).value));
    }
    if (session.crew().size() == 2 && session.job().node_count() == 1) {
      session.targets().observe(contention_target(where), fmt::format("{} B", size), scaling);
    }
  }
}

/// All ranks lock and unlock one lock as fast as they can.
void measure_lock(Session& session, const std::string& bench, OwnSide& own) {
  if (!own.lock_problem().ok()) {
    session.remark("no locks: " + own.lock_problem().message());
    return;
  }
  std::byte* const there = shared_slice(session, own);
  std::vector<Candidate> candidates;
  if (there != nullptr) {
    auto& word = *reinterpret_cast<std::int64_t*>(there);
    candidates.push_back(cooperative("spin lock", session, Actors::all, 0, [&word] {
      const std::atomic_ref<std::int64_t> lock(word);
      while (lock.exchange(1, std::memory_order_acquire) != 0) {
      }
      lock.store(0, std::memory_order_release);
    }));
  }
  candidates.push_back(own.lock_unlock(own.target(), true));
  Table table = session.table("Contended Lock and Unlock Latency", candidates.size() - 1);
  session.measure(table, {bench, "lock_unlock_contended", "", 8}, session.crew().size(), candidates,
                  side_by_side(session.options().measure_options()));
}

/// All ranks draw from one counter.
void measure_counter(Session& session, const std::string& bench, OwnSide& own) {
  std::byte* const there = shared_slice(session, own);
  auto counter =
      arrays::Counter::create(session.job(), session.job().world(), own.target()).value();
  std::vector<Candidate> candidates;
  if (there != nullptr) {
    auto& word = *reinterpret_cast<std::int64_t*>(there);
    candidates.push_back(cooperative("lock xadd", session, Actors::all, 0,
                                     [&word] { (void)kernels::fetch_add(word, 1); }));
  }
  candidates.push_back(cooperative("counter", session, Actors::all, 0,
                                   [&counter] { (void)counter.next().value(); }));
  Table table = session.table("Counter Drawn From by All Ranks Latency", candidates.size() - 1,
                              Quantity::latency, "Ranks");
  session.measure(table, {bench, "counter_contended", "", 8}, session.crew().size(), candidates,
                  side_by_side(session.options().measure_options()));
}

}  // namespace

void measure_contention(Session& session, const std::string& bench) {
  if (session.crew().size() < 2) {
    session.remark("contention: needs two ranks");
    return;
  }
  // Room for the largest accumulate of each rank.
  OwnSide own(session.job(),
              {.capacity_bytes = (4U << 20) * static_cast<std::size_t>(session.crew().size())});
  measure_accumulate(session, bench, own, Places::apart);
  measure_accumulate(session, bench, own, Places::same);
  measure_lock(session, bench, own);
  measure_counter(session, bench, own);
}

}  // namespace tessera::bench
