// SPDX-License-Identifier: BSD-3-Clause
//
// Tasks that ranks draw from a shared counter: how many draws a second, by how many ranks; and how
// many tasks, each with some 20 ns of work, in chunks of 1 to 64.
//
// In two levels each node has a counter of its own, which is refilled from the common one: only
// refills cross nodes.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/rma/drawing.hpp"
#include "bench/rma/fairness.hpp"
#include "bench/rma/memories.hpp"
#include "bench/rma/parts.hpp"

namespace tessera::bench {
namespace {

enum class Work { none, some };

template <class Level, class Memory>
Candidate drawing(Session& session, Memory& memory, int ranks, std::int64_t chunk, Work work) {
  const auto drawing =
      std::make_shared<Drawing<Level>>(session.crew(), Level(session.job(), memory), ranks, chunk);
  Candidate candidate;
  candidate.cooperative = true;
  candidate.operations = static_cast<double>(ranks * (work == Work::some ? chunk : 1));
  if (work == Work::some) {
    candidate.run = [drawing](std::int64_t repetitions) { drawing->draw_and_work(repetitions); };
  } else {
    candidate.run = [drawing](std::int64_t repetitions) { drawing->draw(repetitions); };
  }
  candidate.verify = [drawing] { return drawing->verify(); };
  return candidate;
}

/// One of each memory; where there are several nodes first that in two levels.
std::vector<Candidate> candidates_of(Session& session, Memories& memories, int ranks,
                                     std::int64_t chunk, Work work) {
  auto candidates = memories.candidates([&](auto& memory) {
    return drawing<OneLevel<std::decay_t<decltype(memory)>>>(session, memory, ranks, chunk, work);
  });
  if (session.job().node_count() > 1) {
    Candidate two = drawing<TwoLevels>(session, memories.own(), ranks, chunk, work);
    two.name = "two levels";
    candidates.insert(candidates.end() - 1, std::move(two));
  }
  return candidates;
}

void measure_draws(Session& session, Memories& memories) {
  const int all = session.crew().size();
  std::optional<Table> table;
  for (const int ranks : doubling_to(all)) {
    const auto candidates = candidates_of(session, memories, ranks, 1, Work::none);
    if (!table) {
      table.emplace(session.table("Draws From a Counter Rate", candidates.size() - 1,
                                  Quantity::rate, "Ranks"));
    }
    session.measure(*table, {"rma", "draws", fmt::format("{} of {} ranks", ranks, all), 8}, ranks,
                    candidates, side_by_side(session.options().measure_options()));
  }
  measure_fairness(session, {"rma", "draws_fairness", "", 8}, "tessera",
                   [&memory = memories.own()] { (void)memory.fetch_add(0, 0, 1); });
}

void measure_chunks(Session& session, Memories& memories) {
  const int all = session.crew().size();
  std::optional<Table> table;
  for (const std::int64_t chunk : {1, 2, 4, 8, 16, 32, 64}) {
    const auto candidates = candidates_of(session, memories, all, chunk, Work::some);
    if (!table) {
      table.emplace(session.table("Tasks Drawn in Chunks, Each Some 20 ns, Rate",
                                  candidates.size() - 1, Quantity::rate, "Chunk"));
    }
    session.measure(*table, {"rma", "tasks", fmt::format("chunks of {}", chunk), chunk * 8}, chunk,
                    candidates, side_by_side(session.options().measure_options()));
  }
}

}  // namespace

void measure_tasks(Session& session) {
  Memories memories(session, TwoLevels::bytes);
  measure_draws(session, memories);
  measure_chunks(session, memories);
}

}  // namespace tessera::bench
