// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "gups": HPC Challenge's RandomAccess. All ranks update random words of a table that is
// spread over them. Afterwards the updates are undone and the table is checked.
//
// The table has a power of two of words, the positions come from HPC Challenge's random numbers,
// and a rank may work on at most 1024 updates at a time. Two things differ. An update adds the
// random number instead of combining it by exclusive or, since accumulate computes sums. A
// repetition is 1024 updates per rank, so that several ways can be measured alternately.
//
// HPC Challenge allows 1 % of the words to be wrong at the end, because ranks may lose each other's
// updates. Here this holds for plain loads and stores, which may lose more in a small table
// (allowed_lost_words). All other ways must be exact.
#include "bench/parts.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/apps/gups_updates.hpp"
#include "bench/rma/memories.hpp"

namespace tessera::bench {
namespace {

/// A way to update, and how many updates it may lose.
struct Rules {
  std::string name;
  Calls calls = Calls::listed;
  std::int64_t wrong_allowed = 0;  ///< words
};

/// A way to update, in `memory`; `exact` does the same without losses.
template <class Memory, class Exact>
Candidate updating(Session& session, Memory& memory, Exact& exact, const GupsTable& table,
                   const Rules& rules) {
  RankGroup& group = session.group();
  const auto updates =
      std::make_shared<Updates<Memory>>(memory, table, rules.calls, group.rank(), group.size());
  Candidate candidate;
  candidate.name = rules.name;
  candidate.cooperative = true;
  candidate.operations = static_cast<double>(look_ahead * group.size());
  candidate.run = [updates](std::int64_t repetitions) { updates->run(repetitions); };
  candidate.verify = [&group, &exact, updates, table, allowed = rules.wrong_allowed] {
    return verify_updates(group, *updates, exact, table, allowed);
  };
  return candidate;
}

/// Each rank by itself, in its own table: the limit of its processor and memory.
Candidate local_updates(Session& session, const GupsTable& table) {
  const std::int64_t words =
      static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(table.words_each)));
  const auto own = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(words));
  const auto stream = std::make_shared<RandomStream>(session.group().rank());
  Candidate candidate;
  candidate.name = "own table";
  candidate.cooperative = true;
  candidate.operations = static_cast<double>(look_ahead * session.group().size());
  candidate.run = [own, stream, words](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions * look_ahead; ++i) {
      const std::uint64_t random = stream->next();
      (*own)[random & static_cast<std::uint64_t>(words - 1)] +=
          static_cast<std::int64_t>(random >> 24U);
    }
  };
  return candidate;
}

std::vector<Candidate> candidates_of(Session& session, OwnMemory& own, PlainMemory* plain,
                                     MpiMemory* mpi, ShmemMemory* shmem, const GupsTable& table) {
  std::vector<Candidate> candidates = {local_updates(session, table)};
  if (plain != nullptr) {
    const auto lost = allowed_lost_words(table, session.group().size());
    candidates.push_back(
        updating(session, *plain, own, table, {"loads and stores", Calls::each, lost}));
  }
  if (mpi != nullptr) {
    candidates.push_back(updating(session, *mpi, *mpi, table, {"mpi"}));
  }
  if (shmem != nullptr) {
    candidates.push_back(
        updating(session, *shmem, *shmem, table, {std::string(ShmemMemory::name)}));
  }
  candidates.push_back(updating(session, own, own, table, {"one by one", Calls::each}));
  candidates.push_back(updating(session, own, own, table, {"tessera"}));
  return candidates;
}

}  // namespace

void measure_gups(Session& session) {
  const int ranks = session.group().size();
  const GupsTable table = GupsTable::create(session.options().gups_bytes, ranks);
  const auto bytes_each = static_cast<std::size_t>(table.words_each) * sizeof(std::int64_t);
  OwnMemory own(session.job(), bytes_each);
  const auto plain = PlainMemory::create(session, own);
  const auto mpi =
      session.compares_with(Peer::mpi) ? MpiMemory::create(session.group(), bytes_each) : nullptr;
  const auto shmem = make_shmem_memory(session, bytes_each);
  Topic topic{"gups", "updates", "Random Updates Rate", Quantity::rate, "Words"};
  const auto measured =
      session.measure(topic, {table.words, fmt::format("{} words", table.words), table.words * 8},
                      candidates_of(session, own, plain.get(), mpi.get(), shmem.get(), table),
                      concurrent(session.options().measure_options()));
  if (session.is_leader()) {
    constexpr double giga = 1e9;
    session.rate(
        {"gups", measured.back().operations_per_s() / giga, "GUPS", measured.back().valid});
  }
}

}  // namespace tessera::bench
