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

/// All ranks accumulate on the same bytes of one target; each has a source of its own.
void measure_accumulate(Session& session, OwnSide& own) {
  std::byte* const there = own.region().direct(own.target());
  const rma::RemoteAddress to = own.region().at(own.target());
  rma::Job& job = session.job();
  std::optional<Table> table;
  for (const std::size_t bytes : {64U << 10, 256U << 10, 4U << 20}) {
    const auto ours = [&job, &own, to, bytes] {
      rma::require(rma::accumulate(job, to, own.local().data(), bytes, rma::Scale::of(1.0)));
    };
    const auto plain = [&own, there, bytes] {
      kernels::axpy(reinterpret_cast<double*>(there),
                    reinterpret_cast<const double*>(own.local().data()), 1.0,
                    bytes / sizeof(double));
    };
    std::vector<Candidate> candidates;
    if (there != nullptr) {
      candidates.push_back(cooperative("one axpy", session, Actors::one, bytes, plain));
      candidates.push_back(cooperative("all axpy", session, Actors::all, bytes, plain));
    }
    candidates.push_back(cooperative("one rank", session, Actors::one, bytes, ours));
    candidates.push_back(cooperative("all ranks", session, Actors::all, bytes, ours));
    if (!table) {
      table.emplace(session.table("Accumulate on One Target Bandwidth", candidates.size() - 1,
                                  Quantity::bandwidth));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured =
        session.measure(*table, {"rma", "accumulate_contended", "", size}, size, candidates,
                        together(session.options().measure_options()));
    if (!session.is_leader()) {
      continue;
    }
    const Ratio scaling = rate_ratio(measured[measured.size() - 2], measured.back());
    session.remark(fmt::format(
        "{}: rate of all ranks / one: {:.3f} [{:.3f},{:.3f}], plain loops {:.3f}", size,
        scaling.value, scaling.ci95.lo, scaling.ci95.hi,
        there == nullptr ? 0 : rate_ratio(measured[0], measured[1]).value));
    if (session.crew().size() == 2) {
      session.targets().observe("accumulate by two on one target: rate / one",
                                fmt::format("{} B", size), scaling);
    }
  }
}

/// All ranks lock and unlock one lock as fast as they can.
void measure_lock(Session& session, OwnSide& own) {
  std::byte* const there = own.region().direct(own.target());
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
  session.measure(table, {"rma", "lock_unlock_contended", "", 8}, session.crew().size(), candidates,
                  together(session.options().measure_options()));
}

/// All ranks draw from one counter.
void measure_counter(Session& session, OwnSide& own) {
  std::byte* const there = own.region().direct(own.target());
  auto counter = arrays::Counter::create(session.job(), session.job().world(), own.target()).value();
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
  session.measure(table, {"rma", "counter_contended", "", 8}, session.crew().size(), candidates,
                  together(session.options().measure_options()));
}

}  // namespace

void measure_contention(Session& session) {
  if (session.crew().size() < 2) {
    session.remark("contention: needs two ranks");
    return;
  }
  OwnSide own(session.job(), {.capacity_bytes = 4U << 20});
  measure_accumulate(session, own);
  measure_lock(session, own);
  measure_counter(session, own);
}

}  // namespace tessera::bench
