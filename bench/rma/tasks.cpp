// SPDX-License-Identifier: BSD-3-Clause
//
// Tasks that ranks draw from a shared counter: draws per second for different numbers of ranks; and
// tasks per second, each with about 20 ns of work, drawn in chunks of 1 to 64.
//
// With two levels, each node has its own counter, which is refilled from the common one: only
// refills go to other nodes.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/global_arrays.hpp"
#include "bench/parts.hpp"
#include "bench/rma/drawing.hpp"
#include "bench/rma/memories.hpp"

namespace tessera::bench {
namespace {

enum class Work { none, some };

/// The counters from which all ranks draw.
struct Counters {
  Memories memories;
  std::unique_ptr<GlobalCounter> theirs;  ///< null if it isn't measured

  explicit Counters(Session& session) : memories(session, TwoLevels::bytes) {
    if (GlobalArrays* const library = session.global_arrays()) {
      theirs = library->create_counter();
    }
  }
};

/// Global Arrays' counter.
class GlobalArraysCounter {
 public:
  explicit GlobalArraysCounter(GlobalCounter& counter) : counter_(counter) {}
  std::int64_t draw(std::int64_t count) { return counter_.draw(count); }

 private:
  GlobalCounter& counter_;
};

template <class Level>
Candidate drawing(Session& session, Level level, int ranks, std::int64_t chunk, Work work) {
  const auto drawing =
      std::make_shared<Drawing<Level>>(session.group(), std::move(level), ranks, chunk);
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

/// One candidate for each memory; with several nodes, the one with two levels comes first.
std::vector<Candidate> candidates_of(Session& session, Counters& counters, int ranks,
                                     std::int64_t chunk, Work work) {
  rma::Job& job = session.job();
  auto candidates = counters.memories.candidates([&](auto& memory) {
    return drawing(session, OneLevel<std::decay_t<decltype(memory)>>(job, memory), ranks, chunk,
                   work);
  });
  if (counters.theirs) {
    Candidate theirs = drawing(session, GlobalArraysCounter(*counters.theirs), ranks, chunk, work);
    theirs.name = GlobalArrays::name;
    candidates.insert(candidates.end() - 1, std::move(theirs));
  }
  if (job.node_count() > 1) {
    Candidate two = drawing(session, TwoLevels(job, counters.memories.own()), ranks, chunk, work);
    two.name = "two levels";
    candidates.insert(candidates.end() - 1, std::move(two));
  }
  return candidates;
}

void measure_draws(Session& session, Counters& counters) {
  const int all = session.group().size();
  std::optional<Table> table;
  for (const int ranks : doubling_to(all)) {
    const auto candidates = candidates_of(session, counters, ranks, 1, Work::none);
    if (!table) {
      table.emplace(session.table("Draws From a Counter Rate", candidates.size() - 1,
                                  Quantity::rate, "Ranks"));
    }
    session.measure(*table, {"rma", "draws", fmt::format("{} of {} ranks", ranks, all), 8}, ranks,
                    candidates, concurrent(session.options().measure_options()));
  }
  measure_fairness(session, {"rma", "draws_fairness", "", 8}, "tessera",
                   [&memory = counters.memories.own()] { (void)memory.fetch_add(0, 0, 1); });
}

void measure_chunks(Session& session, Counters& counters) {
  const int all = session.group().size();
  std::optional<Table> table;
  for (const std::int64_t chunk : {1, 2, 4, 8, 16, 32, 64}) {
    const auto candidates = candidates_of(session, counters, all, chunk, Work::some);
    if (!table) {
      table.emplace(session.table("Tasks Drawn in Chunks, About 20 ns Each, Rate",
                                  candidates.size() - 1, Quantity::rate, "Chunk"));
    }
    // As "tasks a draw: N", which pages draw over N; a draw always moves one word.
    session.measure(*table, {"rma", "tasks", fmt::format("tasks a draw: {}", chunk), 8}, chunk,
                    candidates, concurrent(session.options().measure_options()));
  }
}

}  // namespace

void measure_tasks(Session& session) {
  Counters counters(session);
  measure_draws(session, counters);
  measure_chunks(session, counters);
}

}  // namespace tessera::bench
