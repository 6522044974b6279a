// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "rma" in which all ranks act: pairs that send at once, both ways between two
// ranks, readers of one rank's data, fences and barriers, and tasks drawn from a shared counter.
// Each works on every memory of bench/rma/memories.hpp.
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

/// A candidate of all ranks that calls run(*work, repetitions), with the check of `work`.
template <class Work, class Run>
Candidate by_ranks(const std::shared_ptr<Work>& work, Run run, std::size_t bytes = 0,
                   std::optional<double> operations = std::nullopt) {
  return {.name = "",
          .run = [work, run](std::int64_t repetitions) { run(*work, repetitions); },
          .verify = [work] { return work->verify(); },
          .cooperative = true,
          .bytes = bytes,
          .operations = operations};
}

/// Collective. Measures candidates whose ranks never meet.
void measure_apart(Session& session, Topic& topic, const Line& line,
                   const std::vector<Candidate>& candidates) {
  session.measure(topic, line, candidates, concurrent(session.options().measure_options()));
}

/// 1, 2, 4 … and the most. Requires: most > 0.
std::vector<int> doubling_to(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(most);
  return counts;
}

std::string part_of(int ranks, int all) {
  return fmt::format("{} of {} ranks", ranks, all);
}

/// Ranks 0 … pairs − 1 send to the same number of others, so that no two have the same target.
Peers pairs_of(int pairs, int ranks) {
  const int half = std::max(ranks / 2, 1);
  Peers peers(static_cast<std::size_t>(ranks), -1);
  for (int rank = 0; rank < pairs; ++rank) {
    peers[static_cast<std::size_t>(rank)] = (rank + half) % ranks;
  }
  return peers;
}

std::vector<Candidate> senders(Session& session, Memories& memories, const Traffic& traffic) {
  return memories.candidates([&](auto& memory) {
    using Work = Sender<std::decay_t<decltype(memory)>>;
    return by_ranks(
        std::make_shared<Work>(session.group(), memory, traffic),
        [](Work& work, std::int64_t repetitions) { work.send(repetitions); },
        traffic.window_bytes() * static_cast<std::size_t>(traffic.senders()),
        static_cast<double>(traffic.messages * traffic.senders()));
  });
}

}  // namespace

std::vector<std::int64_t> every_second(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < sizes.size(); i += 2) {
    kept.push_back(sizes[i]);
  }
  return kept;
}

void measure_rate_of_pairs(Session& session) {
  const int ranks = session.group().size();
  const std::int64_t messages = session.options().window;
  for (const Operation operation : {Operation::put, Operation::get}) {
    const std::string name = name_of(operation);
    for (const std::size_t bytes : {8U, 512U}) {
      Memories memories(session, bytes * static_cast<std::size_t>(messages));
      Topic topic{
          "rma", name + "_rate",
          fmt::format("Message Rate of Pairs, {}s of {} B, {} Outstanding", name, bytes, messages),
          Quantity::rate, "Pairs"};
      for (const int pairs : doubling_to(std::max(ranks / 2, 1))) {
        measure_apart(
            session, topic,
            {pairs, fmt::format("{} pairs, {} x {} B", pairs, messages, bytes),
             static_cast<std::int64_t>(bytes)},
            senders(session, memories, {operation, bytes, messages, pairs_of(pairs, ranks)}));
      }
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
  Peers each_other(static_cast<std::size_t>(ranks), -1);
  each_other[0] = 1;
  each_other[1] = 0;
  const std::int64_t window = session.options().window;
  Topic topic{"rma", "put_both_ways",
              fmt::format("Put Bandwidth Both Ways, up to {} Outstanding", window),
              Quantity::bandwidth};
  for (const std::int64_t bytes : every_second(session.options().sizes())) {
    const std::int64_t messages = std::clamp(room / bytes, std::int64_t{1}, window);
    measure_apart(session, topic, {bytes, fmt::format("{} x {} B", messages, bytes), bytes},
                  senders(session, memories,
                          {Operation::put, static_cast<std::size_t>(bytes), messages, each_other}));
  }
}

// All ranks read rank 0's data: each a different part, or all one block, which is then in high
// demand. Also measures how evenly they are served.

void measure_reads(Session& session) {
  constexpr std::array<std::size_t, 4> sizes = {8, 1024, 64U << 10, 1U << 20};
  const auto ranks = static_cast<std::size_t>(session.group().size());
  const auto largest = static_cast<std::size_t>(session.options().max_size);
  Memories memories(session, std::min(largest, sizes.back()) * ranks);
  for (const ReadTargets places : {ReadTargets::apart, ReadTargets::same}) {
    const bool is_apart = places == ReadTargets::apart;
    Topic topic{"rma", is_apart ? "get_all_to_one" : "get_hot_block",
                is_apart ? "Gets by All Ranks from Rank 0 Bandwidth"
                         : "Gets by All Ranks of One Block of Rank 0 Bandwidth",
                Quantity::bandwidth};
    for (const std::size_t bytes : sizes) {
      if (bytes > largest) {
        continue;
      }
      std::function<void()> once;
      const auto candidates = memories.candidates([&](auto& memory) {
        using Work = Reader<std::decay_t<decltype(memory)>>;
        const auto reader = std::make_shared<Work>(session.group(), memory, places, bytes);
        once = [reader] { reader->read(); };
        return by_ranks(
            reader,
            [](Work& work, std::int64_t repetitions) {
              for (std::int64_t i = 0; i < repetitions; ++i) {
                work.read();
              }
            },
            bytes * ranks, static_cast<double>(ranks));
      });
      const auto size = static_cast<std::int64_t>(bytes);
      measure_apart(session, topic, {size, fmt::format("{} ranks", ranks), size}, candidates);
      measure_fairness(session, {"rma", topic.op + "_fairness", "", size}, candidates.back().name,
                       once);
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
  Topic topic{"rma", is_one ? "sync_fence_one" : "sync_fence_all",
              is_one ? "Put of a Word and Fence of its Target Latency"
                     : "Puts of a Word to All and Fence of All Latency",
              Quantity::latency, "Ranks"};
  for (const int ranks : doubling_to(all)) {
    measure_apart(
        session, topic, {ranks, part_of(ranks, all), 8}, memories.candidates([&](auto& memory) {
          using Work = Fencer<std::decay_t<decltype(memory)>>;
          return by_ranks(std::make_shared<Work>(session.group(), memory, fencing, ranks),
                          [](Work& work, std::int64_t repetitions) { work.fence(repetitions); });
        }));
  }
}

/// Collective. Barriers of the first `ranks` ranks; with `fences`, a fence of all before each.
Candidate own_barrier(Session& session, int ranks, bool fences) {
  const bool acts = session.group().rank() < ranks;
  const auto team = std::make_shared<rma::Team>(
      session.job().world().split(acts ? 0 : -1, session.group().rank()).value());
  return {.name = fences ? "fence and barrier" : "tessera",
          .run =
              [&job = session.job(), team, acts, fences](std::int64_t repetitions) {
                for (std::int64_t i = 0; i < repetitions && acts; ++i) {
                  if (fences) {
                    rma::require(job.fence_all());
                  }
                  rma::require(team->barrier());
                }
              },
          .cooperative = true};
}

}  // namespace

void measure_sync(Session& session) {
  const int all = session.group().size();
  Topic topic{"rma", "sync_barrier", "Barrier by Ranks Latency", Quantity::latency, "Ranks"};
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
    session.measure(topic, {ranks, part_of(ranks, all), 0}, candidates);
  }
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
struct GlobalArraysCounter {
  GlobalCounter& counter;
  [[nodiscard]] std::int64_t draw(std::int64_t count) const { return counter.draw(count); }
};

template <class Level>
Candidate drawing(Session& session, Level level, int ranks, std::int64_t chunk, Work work) {
  const bool works = work == Work::some;
  return by_ranks(
      std::make_shared<Drawing<Level>>(session.group(), std::move(level), ranks, chunk),
      [works](Drawing<Level>& tasks, std::int64_t repetitions) {
        works ? tasks.draw_and_work(repetitions) : tasks.draw(repetitions);
      },
      0, static_cast<double>(ranks * (works ? chunk : 1)));
}

/// One candidate for each memory; with several nodes, the one with two levels comes first.
std::vector<Candidate> drawers(Session& session, Counters& counters, int ranks, std::int64_t chunk,
                               Work work) {
  rma::Job& job = session.job();
  auto candidates = counters.memories.candidates([&](auto& memory) {
    return drawing(session, OneLevel<std::decay_t<decltype(memory)>>(job, memory), ranks, chunk,
                   work);
  });
  const auto insert = [&candidates](Candidate candidate, std::string_view name) {
    candidates.insert(candidates.end() - 1, renamed(std::move(candidate), name));
  };
  if (counters.theirs) {
    insert(drawing(session, GlobalArraysCounter{*counters.theirs}, ranks, chunk, work),
           GlobalArrays::name);
  }
  if (job.node_count() > 1) {
    insert(drawing(session, TwoLevels(job, counters.memories.own()), ranks, chunk, work),
           "two levels");
  }
  return candidates;
}

}  // namespace

void measure_tasks(Session& session) {
  const int all = session.group().size();
  Counters counters(session);
  Topic draws{"rma", "draws", "Draws From a Counter Rate", Quantity::rate, "Ranks"};
  for (const int ranks : doubling_to(all)) {
    measure_apart(session, draws, {ranks, part_of(ranks, all), 8},
                  drawers(session, counters, ranks, 1, Work::none));
  }
  measure_fairness(session, {"rma", "draws_fairness", "", 8}, "tessera",
                   [&memory = counters.memories.own()] { (void)memory.fetch_add(0, 0, 1); });
  Topic tasks{"rma", "tasks", "Tasks Drawn in Chunks, About 20 ns Each, Rate", Quantity::rate,
              "Chunk"};
  for (const std::int64_t chunk : {1, 2, 4, 8, 16, 32, 64}) {
    // As "tasks a draw: N", which pages draw over N; a draw always moves one word.
    measure_apart(session, tasks, {chunk, fmt::format("tasks a draw: {}", chunk), 8},
                  drawers(session, counters, all, chunk, Work::some));
  }
}

}  // namespace tessera::bench
