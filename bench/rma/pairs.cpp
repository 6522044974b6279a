// SPDX-License-Identifier: BSD-3-Clause
//
// Several ranks that send at once, each to one other rank: the message rate of pairs, and both ways
// between two ranks.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/parts.hpp"
#include "bench/rma/memories.hpp"
#include "bench/rma/sender.hpp"

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

}  // namespace tessera::bench
