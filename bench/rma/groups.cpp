// SPDX-License-Identifier: BSD-3-Clause
//
// Several ranks that send at once, each to one other rank: the message rate of pairs, and both ways
// between two ranks.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/mpi.hpp"
#include "bench/baselines/shmem.hpp"
#include "bench/parts.hpp"
#include "bench/rma/memories.hpp"

namespace tessera::bench {
namespace {

/// Ranks 0 … pairs − 1 send to the same number of others, so that no two have the same target.
Peers pairs_of(int pairs, int ranks) {
  const int half = std::max(ranks / 2, 1);
  Peers peers(static_cast<std::size_t>(ranks), -1);
  for (int rank = 0; rank < pairs; ++rank) {
    peers[static_cast<std::size_t>(rank)] = (rank + half) % ranks;
  }
  return peers;
}

/// Ranks 0 and 1 send to each other.
Peers both_ways(int ranks) {
  Peers peers(static_cast<std::size_t>(ranks), -1);
  peers[0] = 1;
  peers[1] = 0;
  return peers;
}

std::vector<Candidate> candidates_of(Session& session, Memories& memories, const Traffic& traffic) {
  return memories.candidates([&](auto& memory) {
    const auto sender =
        std::make_shared<Sender<std::decay_t<decltype(memory)>>>(session.group(), memory, traffic);
    Candidate candidate;
    candidate.cooperative = true;
    candidate.bytes = traffic.window_bytes() * static_cast<std::size_t>(traffic.senders());
    candidate.operations = static_cast<double>(traffic.messages * traffic.senders());
    candidate.run = [sender](std::int64_t repetitions) { sender->send(repetitions); };
    candidate.verify = [sender] { return sender->verify(); };
    return candidate;
  });
}

void measure_rate(Session& session, Operation operation, std::size_t bytes) {
  const int ranks = session.group().size();
  const std::int64_t messages = session.options().window;
  Memories memories(session, bytes * static_cast<std::size_t>(messages));
  const std::string name = Case::contiguous(operation, 8).name();
  std::optional<Table> table;
  for (const int pairs : doubling_to(std::max(ranks / 2, 1))) {
    const Traffic traffic{operation, bytes, messages, pairs_of(pairs, ranks)};
    const auto candidates = candidates_of(session, memories, traffic);
    if (!table) {
      table.emplace(session.table(
          fmt::format("Message Rate of Pairs, {}s of {} B, {} Outstanding", name, bytes, messages),
          candidates.size() - 1, Quantity::rate, "Pairs"));
    }
    session.measure(
        *table,
        {"rma", name + "_rate", fmt::format("{} pairs, {} x {} B", pairs, messages, bytes),
         static_cast<std::int64_t>(bytes)},
        pairs, candidates, concurrent(session.options().measure_options()));
  }
}

}  // namespace

void measure_rate_of_pairs(Session& session) {
  for (const Operation operation : {Operation::put, Operation::get}) {
    for (const std::size_t bytes : {8U, 512U}) {
      measure_rate(session, operation, bytes);
    }
  }
}

void measure_both_ways(Session& session) {
  const int ranks = session.group().size();
  if (ranks < 2) {
    session.remark("rma.both_ways: skipped, it needs two ranks");
    return;
  }
  const auto room = static_cast<std::int64_t>(session.baseline_options().capacity_bytes);
  Memories memories(session, static_cast<std::size_t>(room));
  std::optional<Table> table;
  for (const std::int64_t bytes : every_second(session.options().sizes())) {
    const std::int64_t messages =
        std::clamp(room / bytes, std::int64_t{1}, session.options().window);
    const Traffic traffic{Operation::put, static_cast<std::size_t>(bytes), messages,
                          both_ways(ranks)};
    const auto candidates = candidates_of(session, memories, traffic);
    if (!table) {
      table.emplace(session.table(
          fmt::format("Put Bandwidth Both Ways, up to {} Outstanding", session.options().window),
          candidates.size() - 1, Quantity::bandwidth));
    }
    session.measure(*table,
                    {"rma", "put_both_ways", fmt::format("{} x {} B", messages, bytes), bytes},
                    bytes, candidates, concurrent(session.options().measure_options()));
  }
}

// All ranks read rank 0's data: each a different part, or all one block, which is then in high
// demand. Also measures how evenly they are served.

namespace {

void measure(Session& session, Memories& memories, std::optional<Table>& table, ReadTargets places,
             std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  const std::string op = places == ReadTargets::apart ? "get_all_to_one" : "get_hot_block";
  std::function<void()> once;
  const auto candidates = memories.candidates([&](auto& memory) {
    const auto reader = std::make_shared<Reader<std::decay_t<decltype(memory)>>>(
        session.group(), memory, places, bytes);
    Candidate candidate;
    candidate.cooperative = true;
    candidate.bytes = bytes * static_cast<std::size_t>(session.group().size());
    candidate.operations = session.group().size();
    candidate.run = [reader](std::int64_t repetitions) {
      for (std::int64_t i = 0; i < repetitions; ++i) {
        reader->read();
      }
    };
    candidate.verify = [reader] { return reader->verify(); };
    once = [reader] { reader->read(); };
    return candidate;
  });
  if (!table) {
    table.emplace(session.table(places == ReadTargets::apart
                                    ? "Gets by All Ranks from Rank 0 Bandwidth"
                                    : "Gets by All Ranks of One Block of Rank 0 Bandwidth",
                                candidates.size() - 1, Quantity::bandwidth));
  }
  session.measure(*table, {"rma", op, fmt::format("{} ranks", session.group().size()), size}, size,
                  candidates, concurrent(session.options().measure_options()));
  measure_fairness(session, {"rma", op + "_fairness", "", size}, candidates.back().name, once);
}

}  // namespace

void measure_reads(Session& session) {
  constexpr std::array<std::size_t, 4> sizes = {8, 1024, 64U << 10, 1U << 20};
  const auto largest = static_cast<std::size_t>(session.options().max_size);
  Memories memories(
      session, std::min(largest, sizes.back()) * static_cast<std::size_t>(session.group().size()));
  for (const ReadTargets places : {ReadTargets::apart, ReadTargets::same}) {
    std::optional<Table> table;
    for (const std::size_t bytes : sizes) {
      if (bytes <= largest) {
        measure(session, memories, table, places, bytes);
      }
    }
  }
}

// The cost of agreeing that something is done, for different numbers of ranks at once: a barrier of
// some ranks; a put with a fence of its target; puts to all other ranks with one fence of all.

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

// Tasks that ranks draw from a shared counter: draws per second for different numbers of ranks; and
// tasks per second, each with about 20 ns of work, drawn in chunks of 1 to 64.
//
// With two levels, each node has its own counter, which is refilled from the common one: only
// refills go to other nodes.

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
