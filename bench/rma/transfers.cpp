// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "rma" in which rank 0 acts alone: each case compared with all baselines that
// support it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "arrays/counter.hpp"
#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/mpi.hpp"
#include "bench/parts.hpp"
#include "bench/rma/memories.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/support/statistics.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

constexpr std::array transfers = {Operation::put, Operation::get, Operation::accumulate};

std::string title_of(Operation operation) {
  switch (operation) {
    case Operation::put:
      return "Put";
    case Operation::get:
      return "Get";
    case Operation::accumulate:
      return "Accumulate";
    case Operation::fetch_add:
      return "Fetch-and-Add";
    case Operation::swap:
      return "Swap";
    case Operation::compare_swap:
      return "Compare-and-Swap";
    case Operation::lock_unlock:
      return "Lock and Unlock";
  }
  return "Unknown";
}

/// Tessera's side and the baselines of one part; measures a case with them.
class Bench {
 public:
  explicit Bench(Session& session)
      : session_(session),
        own_(session.job(), session.baseline_options()),
        memory_(session.compares_with(Peer::memory) ? own_.make_memory_baseline() : nullptr),
        libraries_(session.library_baselines()) {}

  [[nodiscard]] TesseraCandidate& own() { return own_; }

  /// The baselines that support `c`, memory first.
  [[nodiscard]] std::vector<Candidate> baselines(const Case& c) {
    std::vector<Candidate> found;
    add(found, memory_ ? memory_->candidate(c) : std::nullopt);
    add(found, by_messages(c));
    for (const auto& baseline : libraries_) {
      add(found, baseline->candidate(c));
    }
    return found;
  }

  /// Collective. Measures `c` and adds a line to `table`, which the first case creates.
  void measure(std::optional<Table>& table, const std::string& title, Quantity quantity,
               const Case& unasked, std::int64_t line) {
    const Case c = session_.with_requested_completion(unasked);
    const bool has_rows = c.layout != Layout::contiguous && c.layout != Layout::window;
    if (auto mine = own_.candidate(c)) {
      measure(table, title, quantity, {c.name(), c.name(), c.shape(), 0}, c, std::move(*mine), line,
              has_rows ? "Rows" : "Size");
    }
  }

  /// Collective. The same with a candidate of the caller's.
  void measure(std::optional<Table>& table, const std::string& title, Quantity quantity,
               Subject subject, const Case& c, Candidate mine, std::int64_t line,
               const std::string& size_name = "Size") {
    std::vector<Candidate> candidates = baselines(c);
    candidates.push_back(std::move(mine));
    subject.bench = "rma";
    subject.size = static_cast<std::int64_t>(c.bytes());
    if (!table) {
      table.emplace(session_.table_of(c, title, candidates.size() - 1, quantity, size_name));
    }
    // MPI's messages involve both ends, which don't begin at exactly the same time.
    const bool has_both_ends =
        std::any_of(candidates.begin(), candidates.end(),
                    [](const Candidate& candidate) { return candidate.cooperative; });
    const MeasureOptions options = session_.options().measure_options();
    const auto measured = session_.measure(*table, subject, line, candidates,
                                           has_both_ends ? together(options) : options);
    // The limits are for shared memory, where a locally complete put has arrived.
    const bool is_judged = subject.op == c.name() && session_.options().has_default_modes() &&
                           session_.job().node_count() == 1;
    if (session_.is_leader() && is_judged) {
      session_.targets().look(c, measured, measured.back());
    }
  }

 private:
  /// MPI's messages for one-sided operations in one piece ([ARMCI06], figure 17): a message and its
  /// reply, and a requested one.
  [[nodiscard]] std::optional<Candidate> by_messages(const Case& c) {
    if (c.layout != Layout::contiguous || !session_.compares_with(Peer::mpi)) {
      return std::nullopt;
    }
    if (c.operation == Operation::put) {
      return session_.has_comparable_replies(c)
                 ? mpi_stream_candidate(session_.group(), c.bytes(), 1)
                 : std::nullopt;
    }
    const auto get =
        c.operation == Operation::get ? mpi_started_get(session_.group(), c.bytes()) : std::nullopt;
    return get ? std::optional(blocking_candidate(*get)) : std::nullopt;
  }

  Session& session_;
  TesseraCandidate own_;
  std::unique_ptr<Baseline> memory_;
  const std::vector<std::unique_ptr<Baseline>>& libraries_;
};

constexpr std::int64_t scattered_words = 1000;
constexpr const char* one_by_one = "1000 calls";

}  // namespace

std::vector<std::int64_t> every_second(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < sizes.size(); i += 2) {
    kept.push_back(sizes[i]);
  }
  return kept;
}

std::vector<int> doubling_to(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(most);
  return counts;
}

void measure_window(Session& session) {
  Bench bench(session);
  const auto room = static_cast<std::int64_t>(session.baseline_options().capacity_bytes);
  const std::int64_t most = session.options().window;
  for (const Operation operation : transfers) {
    std::optional<Table> table;
    for (const std::int64_t size : every_second(session.options().sizes())) {
      if (operation != Operation::accumulate || size % 8 == 0) {
        const Case c = Case::window(operation, static_cast<std::size_t>(size),
                                    std::clamp(room / size, std::int64_t{1}, most));
        bench.measure(table,
                      fmt::format("{} Bandwidth, up to {} Outstanding", title_of(operation), most),
                      Quantity::bandwidth, c, size);
      }
    }
  }
}

void measure_aggregation(Session& session) {
  Bench bench(session);
  for (const Operation operation : {Operation::put, Operation::get}) {
    std::vector<Candidate> candidates =
        bench.baselines(Case::vector(operation, 8, scattered_words));
    const auto add = [&](const Case& c, const char* name) {
      candidates.push_back(*bench.own().candidate(c));
      candidates.back().name = name;
    };
    add(Case::separate(operation, 8, scattered_words), one_by_one);
    add(Case::aggregate(operation, 8, scattered_words), "aggregate");
    add(Case::vector(operation, 8, scattered_words), "one list");
    Table table = session.table(title_of(operation) + " of 1000 Doubles, Aggregated, Latency",
                                candidates.size() - 1, Quantity::latency, "Doubles");
    const std::string name = Case::contiguous(operation, 8).name() + "_aggregation";
    const auto measured =
        session.measure(table, {"rma", name, fmt::format("{} x 8 B", scattered_words), 8000},
                        scattered_words, candidates);
    if (session.is_leader()) {
      const std::size_t first = measured.size() - 3;
      for (const std::size_t faster : {first + 1, first + 2}) {
        const Ratio gain =
            ratio_of_medians(measured[first].samples_ns, measured[faster].samples_ns);
        session.remark(fmt::format("{}: speed of {} / {}: {:.2f} [{:.2f},{:.2f}]", name,
                                   measured[faster].name, one_by_one, gain.value, gain.ci95.lo,
                                   gain.ci95.hi));
      }
    }
  }
}

void measure_contiguous(Session& session) {
  const std::vector<std::int64_t> sizes = session.options().sizes();
  Bench bench(session);
  session.remark_on_replies("MPI's messages",
                            session.with_requested_completion(Case::contiguous(Operation::put, 8)));
  for (const Operation operation : transfers) {
    // Small sizes as times, then the large ones as rates: OSU has a program for each.
    for (const Quantity quantity : {Quantity::latency, Quantity::bandwidth}) {
      constexpr std::int64_t large = 4096;
      std::optional<Table> table;
      for (const std::int64_t size : sizes) {
        const bool whole = operation != Operation::accumulate || size % 8 == 0;
        if (whole && (size >= large) == (quantity == Quantity::bandwidth)) {
          const Case c = Case::contiguous(operation, static_cast<std::size_t>(size));
          bench.measure(
              table,
              title_of(operation) + (quantity == Quantity::latency ? " Latency" : " Bandwidth"),
              quantity, c, size);
        }
      }
    }
  }
  std::optional<Table> fenced;
  const Case word = Case::contiguous(Operation::put, 8);
  bench.measure(fenced, "Put and Fence Latency", Quantity::latency, {"rma", "put_fence", "", 8},
                word, *bench.own().candidate(word), 8);
}

void measure_strided(Session& session) {
  constexpr std::array<std::size_t, 5> row_bytes = {8, 16, 64, 1024, 65536};
  constexpr std::array<std::int64_t, 7> rows = {1, 4, 16, 64, 256, 1024, 4096};
  Bench bench(session);
  for (const Operation operation : transfers) {
    for (const std::size_t bytes : row_bytes) {
      std::optional<Table> table;
      for (const std::int64_t count : rows) {
        bench.measure(table, fmt::format("{} Rows of {} B Latency", title_of(operation), bytes),
                      Quantity::latency, Case::strided(operation, bytes, count), count);
      }
    }
  }
}

void measure_scattered(Session& session) {
  constexpr std::int64_t runs = scattered_words;
  Bench bench(session);
  for (const Operation operation : transfers) {
    std::optional<Table> table;
    bench.measure(table, title_of(operation) + " of Scattered Doubles Latency", Quantity::latency,
                  Case::vector(operation, 8, runs), runs);
  }
  std::optional<Table> table;
  bench.measure(table, "Non-blocking Gets of Doubles and Wait Latency", Quantity::latency,
                Case::separate(Operation::get, 8, runs), runs);
}

void measure_atomics(Session& session) {
  Bench bench(session);
  if (const std::string problem = mpi_compare_swap_problem(session.group());
      session.compares_with(Peer::mpi) && !problem.empty()) {
    session.remark(problem);
  }
  for (const Operation operation :
       {Operation::fetch_add, Operation::swap, Operation::compare_swap, Operation::lock_unlock}) {
    std::optional<Table> table;
    bench.measure(table, title_of(operation) + " Latency", Quantity::latency,
                  Case::contiguous(operation, 8), 8);
  }
  if (!bench.own().lock_problem().ok()) {
    session.remark("no locks: " + bench.own().lock_problem().message());
  } else if (session.group().size() > 1) {
    std::optional<Table> table;
    bench.measure(table, "Lock and Unlock of an Own Lock Latency", Quantity::latency,
                  {"rma", "lock_unlock_own", "", 8}, Case::contiguous(Operation::lock_unlock, 8),
                  bench.own().lock_unlock(rma::TeamRank{0}, false), 8);
  }
}

// Collectives, compared with MPI's. The time is that of the slowest rank.

namespace {

using Kind = Collective::Kind;

Candidate own_collective(rma::Job& job, const Collective& collective) {
  Candidate candidate;
  candidate.name = "tessera";
  candidate.cooperative = true;
  candidate.bytes = collective.bytes;
  const auto buffers =
      std::make_shared<CollectiveBuffers>(collective, job.rank().value, job.size());
  candidate.run = [&job, buffers, kind = collective.kind](std::int64_t repetitions) {
    rma::Team& team = job.world();
    const std::span<double> numbers = buffers->own();
    const std::span<std::byte> bytes = std::as_writable_bytes(numbers);
    const std::span<std::byte> gathered = std::as_writable_bytes(buffers->all());
    for (std::int64_t i = 0; i < repetitions; ++i) {
      switch (kind) {
        case Kind::barrier:
          rma::require(team.barrier());
          break;
        case Kind::broadcast:
          rma::require(team.broadcast(bytes, rma::TeamRank{0}));
          break;
        case Kind::allreduce:
          rma::require(team.allreduce(numbers, rma::Reduction::sum));
          break;
        case Kind::reduce:
          rma::require(team.reduce(numbers.data(), std::ssize(numbers), rma::ElementType::f64,
                                   rma::Reduction::sum, rma::TeamRank{0}));
          break;
        case Kind::allgather:
          rma::require(team.allgather(bytes, gathered));
          break;
      }
    }
  };
  candidate.verify = [buffers, gathers = collective.kind == Kind::allgather, run = candidate.run] {
    buffers->fill();
    run(1);
    return buffers->problem(gathers ? buffers->all() : buffers->own());
  };
  return candidate;
}

/// The names of a collective in the records, and in its table.
struct Name {
  std::string bench;
  std::string title;
  std::string op;
};

void measure(Session& session, const Name& name, Kind kind, const std::vector<std::size_t>& sizes) {
  std::optional<Table> table;
  for (const std::size_t bytes : sizes) {
    const Collective collective{kind, bytes};
    std::vector<Candidate> candidates;
    if (session.compares_with(Peer::mpi)) {
      add(candidates, mpi_collective_candidate(session.group(), collective));
    }
    candidates.push_back(own_collective(session.job(), collective));
    if (!table) {
      table.emplace(session.table(name.title, candidates.size() - 1));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    session.measure(*table, {name.bench, name.op, "", size}, size, candidates,
                    together(session.options().measure_options()));
  }
}

}  // namespace

void measure_collectives(Session& session, const std::string& bench) {
  measure(session, {bench, "Barrier Latency", "barrier"}, Kind::barrier, {0});
  measure(session, {bench, "Broadcast Latency", "broadcast"}, Kind::broadcast,
          {8, 1024, 65536, 1U << 20});
  measure(session, {bench, "Allreduce Latency", "allreduce"}, Kind::allreduce,
          {8, 1024, 65536, 1U << 20});
  measure(session, {bench, "Reduce Latency", "reduce"}, Kind::reduce, {8, 1024, 65536, 1U << 20});
  measure(session, {bench, "Allgather Latency", "allgather"}, Kind::allgather,
          {8, 1024, 65536, 1U << 20});
}

// Several ranks on one target. The baseline is a plain loop of all ranks at once, which loses
// updates: it shows what the memory itself does when several processors write to it.

namespace {

/// Which ranks act: rank 0 alone, or all.
enum class Actors { one, all };

Candidate cooperative(const std::string& name, Session& session, Actors actors, std::size_t bytes,
                      std::function<void()> once) {
  const bool acts = actors == Actors::all || session.is_leader();
  Candidate candidate;
  candidate.name = name;
  candidate.cooperative = true;
  candidate.bytes =
      bytes *
      (actors == Actors::all ? static_cast<std::size_t>(session.group().size()) : std::size_t{1});
  candidate.run = [acts, once = std::move(once)](std::int64_t repetitions) {
    for (std::int64_t i = 0; acts && i < repetitions; ++i) {
      once();
    }
  };
  return candidate;
}

/// The rate of all ranks divided by the rate of one, which did the same work per rank.
Ratio rate_ratio(const Measured& one, const Measured& all) {
  const Ratio times = ratio_of_medians(one.samples_ns, all.samples_ns);
  const double factor = static_cast<double>(all.bytes) / static_cast<double>(one.bytes);
  return times.scaled(factor);
}

void add_plainly(std::byte* to, const std::byte* from, std::size_t bytes) {
  kernels::axpy(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from), 1.0,
                bytes / sizeof(double));
}

/// Collective. The target's slice if all ranks can load and store it, otherwise null: all ranks
/// must have the same baselines.
std::byte* shared_slice(Session& session, TesseraCandidate& own) {
  std::byte* const there =
      session.compares_with(Peer::memory) ? own.region().direct(own.target()) : nullptr;
  return session.group().maximum(there == nullptr ? 1 : 0) == 0 ? there : nullptr;
}

/// Where on the target the ranks accumulate.
enum class SameOrDisjoint {
  same,   ///< all on the same bytes; their cache lines then move from core to core
  apart,  ///< each on its own bytes
};

/// The candidates for ranks that accumulate `bytes` each on one target: plain loops, which lose
/// updates, and Tessera, each by one rank and by all. The last one is Tessera by all ranks.
std::vector<Candidate> accumulate_candidates(Session& session, TesseraCandidate& own,
                                             SameOrDisjoint places, std::size_t bytes) {
  const auto checked = [&session, &own, places, bytes](Candidate candidate, Actors actors) {
    const Sums sums{own.region(),
                    own.target(),
                    own.local().data(),
                    bytes,
                    places == SameOrDisjoint::apart,
                    actors == Actors::all ? session.group().size() : 1};
    candidate.verify = [&session, sums, run = candidate.run] {
      return verify_sums(session.group(), session.job(), sums, [&run] { run(1); });
    };
    return candidate;
  };
  const auto rank = static_cast<std::size_t>(session.group().rank());
  const auto ranks = static_cast<std::size_t>(session.group().size());
  const std::size_t offset = places == SameOrDisjoint::apart ? rank * bytes : 0;
  std::byte* const there = shared_slice(session, own);
  std::byte* const here = own.local().data();
  std::vector<Candidate> candidates;
  if (there != nullptr) {
    // On the same bytes, each rank starts at a different offset: in step they would compete for
    // every cache line.
    const std::size_t turn = places == SameOrDisjoint::same ? rank * (bytes / ranks / 64 * 64) : 0;
    const auto plain = [=, to = there + offset] {
      add_plainly(to + turn, here + turn, bytes - turn);
      add_plainly(to, here, turn);
    };
    candidates.push_back(
        checked(cooperative("one axpy", session, Actors::one, bytes, plain), Actors::one));
    Candidate all = cooperative("all axpy", session, Actors::all, bytes, plain);
    const bool loses_updates = places == SameOrDisjoint::same;
    candidates.push_back(loses_updates ? all : checked(all, Actors::all));
  }
  const auto ours = [=, &job = session.job(), to = own.region().at(own.target(), offset)] {
    rma::require(rma::accumulate(job, to, here, bytes, rma::Scale::of(1.0)));
    rma::require(job.fence(to.rank));  // otherwise operations that are still under way would count
  };
  candidates.push_back(
      checked(cooperative("one rank", session, Actors::one, bytes, ours), Actors::one));
  candidates.push_back(
      checked(cooperative("all ranks", session, Actors::all, bytes, ours), Actors::all));
  return candidates;
}

void measure_accumulate(Session& session, const std::string& bench, TesseraCandidate& own,
                        SameOrDisjoint places) {
  const std::string where = places == SameOrDisjoint::same ? "same bytes" : "bytes apart";
  std::optional<Table> table;
  for (const std::size_t bytes : {64U << 10, 256U << 10, 4U << 20}) {
    const auto candidates = accumulate_candidates(session, own, places, bytes);
    if (!table) {
      table.emplace(session.table("Accumulate and Fence on One Target, " + where + ", Bandwidth",
                                  candidates.size() - 1, Quantity::bandwidth));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    const Subject subject{bench, "accumulate_contended", where, size};
    const auto measured = session.measure(*table, subject, size, candidates,
                                          concurrent(session.options().measure_options()));
    measure_fairness(session, subject, candidates.back().name, [&] { candidates.back().run(1); });
    if (!session.is_leader()) {
      continue;
    }
    const Ratio scaling = rate_ratio(measured[measured.size() - 2], measured.back());
    session.remark(fmt::format("{}: rate of all ranks / one: {:.3f} [{:.3f},{:.3f}]", size,
                               scaling.value, scaling.ci95.lo, scaling.ci95.hi));
    if (measured.size() == 4) {
      session.remark(fmt::format("{}: the same for plain loops: {:.3f}", size,
                                 rate_ratio(measured[0], measured[1]).value));
    }
    if (session.group().size() == 2 && session.job().node_count() == 1) {
      session.targets().observe(contention_target(where), fmt::format("{} B", size), scaling);
    }
  }
}

/// A word of the target on another cache line than the spin lock.
rma::RemoteAddress counted_under_lock(TesseraCandidate& own) {
  constexpr std::size_t a_page = 4096;
  return own.region().at(own.target(), a_page);
}

/// A spin lock in the word at `place`, which all ranks share.
Candidate spin_lock(Session& session, TesseraCandidate& own, std::byte* place) {
  const auto lock = [place] {
    const std::atomic_ref<std::int64_t> word(*reinterpret_cast<std::int64_t*>(place));
    while (word.exchange(1, std::memory_order_acquire) != 0) {
    }
  };
  const auto unlock = [place] {
    std::atomic_ref<std::int64_t>(*reinterpret_cast<std::int64_t*>(place))
        .store(0, std::memory_order_release);
  };
  Candidate candidate = cooperative("spin lock", session, Actors::all, 0, [lock, unlock] {
    lock();
    unlock();
  });
  candidate.prepare = [&session, unlock, acts = session.is_leader()] {
    if (acts) {
      unlock();  // whatever value it had
    }
    session.group().barrier();
  };
  candidate.verify = [&session, lock, unlock, word = counted_under_lock(own)] {
    return verify_lock(session.group(), session.job(), word, lock, unlock);
  };
  return candidate;
}

/// All ranks lock and unlock one lock as fast as they can.
void measure_lock(Session& session, const std::string& bench, TesseraCandidate& own) {
  if (!own.lock_problem().ok()) {
    session.remark("no locks: " + own.lock_problem().message());
    return;
  }
  std::vector<Candidate> candidates;
  if (std::byte* const there = shared_slice(session, own)) {
    candidates.push_back(spin_lock(session, own, there));
  }
  Candidate ours = own.lock_unlock(own.target(), true);
  ours.verify = [&session, &own] {
    return verify_lock(
        session.group(), session.job(), counted_under_lock(own), [&own] { own.lock(own.target()); },
        [&own] { own.unlock(own.target()); });
  };
  candidates.push_back(std::move(ours));
  Table table = session.table("Contended Lock and Unlock Latency", candidates.size() - 1,
                              Quantity::latency, "Ranks");
  const Subject subject{bench, "lock_unlock_contended", "", 8};
  session.measure(table, subject, session.group().size(), candidates,
                  concurrent(session.options().measure_options()));
  measure_fairness(session, subject, candidates.back().name, [&] { candidates.back().run(1); });
}

/// All ranks draw from one counter.
void measure_counter(Session& session, const std::string& bench, TesseraCandidate& own) {
  auto counter =
      arrays::Counter::create(session.job(), session.job().world(), own.target()).value();
  const auto drawing = [&session](const char* name, const std::function<std::int64_t()>& draw) {
    Candidate candidate = cooperative(name, session, Actors::all, 0, [draw] { (void)draw(); });
    candidate.verify = [&session, draw] { return verify_draws(session.group(), draw); };
    return candidate;
  };
  std::vector<Candidate> candidates;
  if (std::byte* const there = shared_slice(session, own)) {
    candidates.push_back(drawing("lock xadd", [there] {
      return kernels::fetch_add(*reinterpret_cast<std::int64_t*>(there), 1);
    }));
  }
  candidates.push_back(drawing("counter", [&counter] { return counter.next().value(); }));
  Table table = session.table("Counter Drawn From by All Ranks Latency", candidates.size() - 1,
                              Quantity::latency, "Ranks");
  session.measure(table, {bench, "counter_contended", "", 8}, session.group().size(), candidates,
                  concurrent(session.options().measure_options()));
}

}  // namespace

void measure_contention(Session& session, const std::string& bench) {
  if (session.group().size() < 2) {
    session.remark("contention: skipped, it needs two ranks");
    return;
  }
  // Room for the largest accumulate of each rank.
  TesseraCandidate own(
      session.job(),
      {.capacity_bytes = (4U << 20) * static_cast<std::size_t>(session.group().size())});
  measure_accumulate(session, bench, own, SameOrDisjoint::apart);
  measure_accumulate(session, bench, own, SameOrDisjoint::same);
  measure_lock(session, bench, own);
  measure_counter(session, bench, own);
}

// How evenly ranks are served that want the same: how often each repeats an operation in the same
// time.

namespace {

/// The number of repetitions of `once` in the given time.
std::int64_t count_for(std::int64_t time_ns, const std::function<void()>& once) {
  std::int64_t count = 0;
  for (const std::int64_t end = now_ns() + time_ns; now_ns() < end; ++count) {
    once();
  }
  return count;
}

}  // namespace

void measure_fairness(Session& session, const Subject& subject, const std::string& backend,
                      const std::function<void()>& once) {
  constexpr std::int64_t time_ns = 10'000'000;
  constexpr int rounds = 11;
  RankGroup& group = session.group();
  if (group.size() < 2) {
    return;
  }
  std::vector<double> evenness;
  for (int round = 0; round < rounds; ++round) {
    group.barrier();
    const auto count = static_cast<double>(count_for(time_ns, once));
    const double most = group.maximum(count);
    const double fewest = -group.maximum(-count);
    evenness.push_back(fewest / most);
  }
  Record record;
  record.bench = subject.bench;
  record.backend = backend;
  record.op = subject.op;
  record.shape = subject.shape;
  record.size = subject.size;
  record.unit = "fewest/most";
  record.stats = summarise(evenness);
  session.remark(fmt::format("{} {}: fewest / most of the ranks: {:.3f} [{:.3f},{:.3f}]",
                             subject.size, backend, record.stats.median,
                             record.stats.ci95_median.lo, record.stats.ci95_median.hi));
  session.record(std::move(record));
}

}  // namespace tessera::bench
