// SPDX-License-Identifier: BSD-3-Clause
//
// All ranks read rank 0's data: each a different part, or all one block, which is then in high
// demand. Also measures how evenly they are served.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/parts.hpp"
#include "bench/rma/memories.hpp"
#include "bench/rma/reader.hpp"

namespace tessera::bench {
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

}  // namespace tessera::bench
