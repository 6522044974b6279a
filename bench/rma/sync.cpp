// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of agreeing that something is done, for different numbers of ranks at once: a barrier of
// some ranks; a put with a fence of its target; puts to all other ranks with one fence of all.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/mpi_collectives.hpp"
#include "bench/baselines/shmem_memory.hpp"
#include "bench/parts.hpp"
#include "bench/rma/fencer.hpp"
#include "bench/rma/memories.hpp"

namespace tessera::bench {
namespace {

void measure_fence(Session& session, Fencing fencing) {
  const bool is_one = fencing == Fencing::one;
  const int all = session.group().size();
  Memories memories(session, static_cast<std::size_t>(all) * sizeof(std::int64_t));
  std::optional<Table> table;
  for (const int ranks : doubling_to(all)) {
    const auto candidates = memories.candidates([&](auto& memory) {
      const auto fencer = std::make_shared<Fencer<std::decay_t<decltype(memory)>>>(
          session.group(), memory, fencing, ranks);
      Candidate candidate;
      candidate.cooperative = true;
      candidate.run = [fencer](std::int64_t repetitions) { fencer->fence(repetitions); };
      candidate.verify = [fencer] { return fencer->verify(); };
      return candidate;
    });
    if (!table) {
      table.emplace(session.table(is_one ? "Put of a Word and Fence of its Target Latency"
                                         : "Puts of a Word to All and Fence of All Latency",
                                  candidates.size() - 1, Quantity::latency, "Ranks"));
    }
    session.measure(*table,
                    {"rma", is_one ? "sync_fence_one" : "sync_fence_all",
                     fmt::format("{} of {} ranks", ranks, all), 8},
                    ranks, candidates, concurrent(session.options().measure_options()));
  }
}

/// Collective. Barriers of the first `ranks` ranks; with `fences`, a fence of all before each.
Candidate own_barrier(Session& session, int ranks, bool fences) {
  const bool acts = session.group().rank() < ranks;
  const auto team = std::make_shared<rma::Team>(
      session.job().world().split(acts ? 0 : -1, session.group().rank()).value());
  Candidate candidate;
  candidate.name = fences ? "fence and barrier" : "tessera";
  candidate.cooperative = true;
  candidate.run = [&job = session.job(), team, acts, fences](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions && acts; ++i) {
      if (fences) {
        rma::require(job.fence_all());
      }
      rma::require(team->barrier());
    }
  };
  return candidate;
}

void measure_barrier(Session& session) {
  const int all = session.group().size();
  std::optional<Table> table;
  for (const int ranks : doubling_to(all)) {
    std::vector<Candidate> candidates;
    if (session.compares_with(Peer::mpi)) {
      add(candidates, mpi_barrier_candidate(session.group(), ranks));
    }
    if (session.compares_with(Peer::shmem)) {
      add(candidates, shmem_barrier_candidate(session.group(), ranks));
    }
    candidates.push_back(own_barrier(session, ranks, true));
    candidates.push_back(own_barrier(session, ranks, false));
    if (!table) {
      table.emplace(session.table("Barrier by Ranks Latency", candidates.size() - 1,
                                  Quantity::latency, "Ranks"));
    }
    session.measure(*table, {"rma", "sync_barrier", fmt::format("{} of {} ranks", ranks, all), 0},
                    ranks, candidates, together(session.options().measure_options()));
  }
}

}  // namespace

void measure_sync(Session& session) {
  measure_barrier(session);
  measure_fence(session, Fencing::one);
  measure_fence(session, Fencing::all);
}

}  // namespace tessera::bench
