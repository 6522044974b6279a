// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "rma" in which rank 0 acts alone: each case compared with all baselines that
// support it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
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
#include "rma/collectives.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

constexpr std::array transfers = {Operation::put, Operation::get, Operation::accumulate};
constexpr std::int64_t scattered_words = 1000;

Topic rma_topic(std::string op, std::string title, Quantity quantity = Quantity::latency,
                std::string size_name = "Size") {
  return {"rma", std::move(op), std::move(title), quantity, std::move(size_name)};
}

/// Accumulate adds doubles.
bool is_possible(Operation operation, std::int64_t size) {
  return operation != Operation::accumulate || size % 8 == 0;
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

  /// Collective. Measures `c`, complete where -s says, if Tessera's side has room for it.
  void measure(Topic& topic, const Case& unasked, std::int64_t line) {
    const Case c = session_.with_requested_completion(unasked);
    topic.op = c.name();
    if (auto mine = own_.candidate(c)) {
      measure(topic, c, std::move(*mine), line);
    }
  }

  /// Collective. The same with a candidate of the caller's.
  void measure(Topic& topic, const Case& c, Candidate mine, std::int64_t line) {
    std::vector<Candidate> candidates = baselines(c);
    candidates.push_back(std::move(mine));
    if (c.operation == Operation::put || c.operation == Operation::accumulate) {
      topic.sync = sync_name(c.completes);
    }
    const auto measured = session_.measure(topic, {line, c}, candidates);
    // The limits are for shared memory, where a locally complete put has arrived.
    const bool is_judged = topic.op == c.name() && session_.options().has_default_modes() &&
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

}  // namespace

void measure_window(Session& session) {
  Bench bench(session);
  const auto room = static_cast<std::int64_t>(session.baseline_options().capacity_bytes);
  const std::int64_t most = session.options().window;
  for (const Operation operation : transfers) {
    Topic topic =
        rma_topic("", fmt::format("{} Bandwidth, up to {} Outstanding", title_of(operation), most),
                  Quantity::bandwidth);
    for (const std::int64_t size : every_second(session.options().sizes())) {
      if (is_possible(operation, size)) {
        bench.measure(topic,
                      Case::window(operation, static_cast<std::size_t>(size),
                                   std::clamp(room / size, std::int64_t{1}, most)),
                      size);
      }
    }
  }
}

void measure_aggregation(Session& session) {
  constexpr const char* one_by_one = "1000 calls";
  Bench bench(session);
  for (const Operation operation : {Operation::put, Operation::get}) {
    const Case list = Case::vector(operation, 8, scattered_words);
    std::vector<Candidate> candidates = bench.baselines(list);
    const auto add_own = [&](const Case& c, const char* name) {
      candidates.push_back(renamed(*bench.own().candidate(c), name));
    };
    add_own(Case::separate(operation, 8, scattered_words), one_by_one);
    add_own(Case::aggregate(operation, 8, scattered_words), "aggregate");
    add_own(list, "one list");
    Topic topic =
        rma_topic(std::string(name_of(operation)) + "_aggregation",
                  std::string(title_of(operation)) + " of 1000 Doubles, Aggregated, Latency",
                  Quantity::latency, "Doubles");
    const auto measured = session.measure(topic, {scattered_words, list}, candidates,
                                          session.options().measure_options());
    for (const char* const faster : {"aggregate", "one list"}) {
      if (session.is_leader()) {
        session.remark(fmt::format("{}: speed of {} / {}", topic.op, faster, one_by_one),
                       ratio_of_medians(find(measured, one_by_one)->samples_ns,
                                        find(measured, faster)->samples_ns));
      }
    }
  }
}

void measure_contiguous(Session& session) {
  constexpr std::int64_t large = 4096;
  Bench bench(session);
  session.remark_on_replies("MPI's messages",
                            session.with_requested_completion(Case::contiguous(Operation::put, 8)));
  for (const Operation operation : transfers) {
    // Small sizes as times, then the large ones as rates: OSU has a program for each.
    for (const Quantity quantity : {Quantity::latency, Quantity::bandwidth}) {
      const bool is_rate = quantity == Quantity::bandwidth;
      Topic topic = rma_topic(
          "", std::string(title_of(operation)) + (is_rate ? " Bandwidth" : " Latency"), quantity);
      for (const std::int64_t size : session.options().sizes()) {
        if (is_possible(operation, size) && (size >= large) == is_rate) {
          bench.measure(topic, Case::contiguous(operation, static_cast<std::size_t>(size)), size);
        }
      }
    }
  }
  Topic fenced = rma_topic("put_fence", "Put and Fence Latency");
  const Case word = Case::contiguous(Operation::put, 8);
  bench.measure(fenced, word, *bench.own().candidate(word), 8);
}

void measure_strided(Session& session) {
  Bench bench(session);
  for (const Operation operation : transfers) {
    for (const std::size_t bytes : {8U, 16U, 64U, 1024U, 65536U}) {
      Topic topic =
          rma_topic("", fmt::format("{} Rows of {} B Latency", title_of(operation), bytes),
                    Quantity::latency, "Rows");
      for (const std::int64_t count : {1, 4, 16, 64, 256, 1024, 4096}) {
        bench.measure(topic, Case::strided(operation, bytes, count), count);
      }
    }
  }
}

void measure_scattered(Session& session) {
  Bench bench(session);
  const auto measure = [&bench](const std::string& title, const Case& c) {
    Topic topic = rma_topic("", title + " Latency", Quantity::latency, "Rows");
    bench.measure(topic, c, scattered_words);
  };
  for (const Operation operation : transfers) {
    measure(std::string(title_of(operation)) + " of Scattered Doubles",
            Case::vector(operation, 8, scattered_words));
  }
  measure("Non-blocking Gets of Doubles and Wait",
          Case::separate(Operation::get, 8, scattered_words));
}

void measure_atomics(Session& session) {
  Bench bench(session);
  if (const std::string problem = mpi_compare_swap_problem(session.group());
      session.compares_with(Peer::mpi) && !problem.empty()) {
    session.remark(problem);
  }
  for (const Operation operation :
       {Operation::fetch_add, Operation::swap, Operation::compare_swap, Operation::lock_unlock}) {
    Topic topic = rma_topic("", std::string(title_of(operation)) + " Latency");
    bench.measure(topic, Case::contiguous(operation, 8), 8);
  }
  if (!bench.own().lock_problem().ok()) {
    session.remark("no locks: " + bench.own().lock_problem().message());
  } else if (session.group().size() > 1) {
    Topic topic = rma_topic("lock_unlock_own", "Lock and Unlock of an Own Lock Latency");
    bench.measure(topic, Case::contiguous(Operation::lock_unlock, 8),
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
  candidate.run = [&job, buffers, sent = buffers->sent(), received = buffers->received(),
                   kind = collective.kind](std::int64_t repetitions) {
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
        case Kind::alltoallv:
        case Kind::alltoallv_uneven:
          rma::require(rma::alltoallv(team, numbers, {.counts = sent}, buffers->all(),
                                      {.counts = received}));
          break;
        case Kind::gatherv:
          rma::require(
              rma::gatherv(team, numbers, buffers->all(), {.counts = received}, rma::TeamRank{0}));
          break;
      }
    }
  };
  const bool gathers = collective.kind >= Kind::allgather;
  candidate.verify = [buffers, gathers, run = candidate.run] {
    buffers->fill();
    run(1);
    return buffers->problem(gathers ? buffers->all() : buffers->own());
  };
  return candidate;
}

void measure(Session& session, Topic topic, Collective::Kind kind,
             const std::vector<std::size_t>& sizes) {
  for (const std::size_t bytes : sizes) {
    const Collective collective{kind, bytes};
    std::vector<Candidate> candidates;
    if (session.compares_with(Peer::mpi)) {
      add(candidates, mpi_collective_candidate(session.group(), collective));
    }
    candidates.push_back(own_collective(session.job(), collective));
    session.measure(topic, static_cast<std::int64_t>(bytes), candidates);
  }
}

}  // namespace

void measure_collectives(Session& session, const std::string& bench) {
  const std::vector<std::size_t> sizes = {8, 1024, 65536, 1U << 20};
  measure(session, {bench, "barrier", "Barrier Latency"}, Kind::barrier, {0});
  measure(session, {bench, "broadcast", "Broadcast Latency"}, Kind::broadcast, sizes);
  measure(session, {bench, "allreduce", "Allreduce Latency"}, Kind::allreduce, sizes);
  measure(session, {bench, "reduce", "Reduce Latency"}, Kind::reduce, sizes);
  measure(session, {bench, "allgather", "Allgather Latency"}, Kind::allgather, sizes);
  measure(session, {bench, "alltoallv", "Alltoallv Latency, to Each Rank"}, Kind::alltoallv, sizes);
  measure(session, {bench, "alltoallv_uneven", "Alltoallv Latency, 0 to 2 Blocks to Each Rank"},
          Kind::alltoallv_uneven, sizes);
  measure(session, {bench, "gatherv", "Gatherv Latency, 0 to 2 Blocks of Each Rank"}, Kind::gatherv,
          sizes);
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

/// The target's name for two ranks that accumulate on one rank.
std::string contention_target(const std::string& where) {
  return "two accumulate on " + where + ": rate / one's";
}

void measure_accumulate(Session& session, const std::string& bench, TesseraCandidate& own,
                        SameOrDisjoint places) {
  const std::string where = places == SameOrDisjoint::same ? "same bytes" : "bytes apart";
  Topic topic{bench, "accumulate_contended",
              "Accumulate and Fence on One Target, " + where + ", Bandwidth", Quantity::bandwidth};
  for (const std::int64_t size : {64 << 10, 256 << 10, 4 << 20}) {
    const auto candidates =
        accumulate_candidates(session, own, places, static_cast<std::size_t>(size));
    const Subject subject{bench, topic.op, where, size};
    const auto measured = session.measure(topic, {size, where, size}, candidates,
                                          concurrent(session.options().measure_options()));
    measure_fairness(session, subject, candidates.back().name, [&] { candidates.back().run(1); });
    if (!session.is_leader()) {
      continue;
    }
    const Ratio scaling = rate_ratio(measured[measured.size() - 2], measured.back());
    session.remark(fmt::format("{}: rate of all ranks / one", size), scaling);
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
  Topic topic{bench, "lock_unlock_contended", "Contended Lock and Unlock Latency",
              Quantity::latency, "Ranks"};
  const Subject subject{bench, topic.op, "", 8};
  session.measure(topic, {session.group().size(), "", 8}, candidates,
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
  Topic topic{bench, "counter_contended", "Counter Drawn From by All Ranks Latency",
              Quantity::latency, "Ranks"};
  session.measure(topic, {session.group().size(), "", 8}, candidates,
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
  const Stats stats = summarise(evenness);
  session.remark(fmt::format("{} {}: fewest / most of the ranks", subject.size, backend),
                 {stats.median, stats.ci95_median, stats.samples_n});
  session.record(subject, backend, "fewest/most", stats);
}

// The limits for transfers on one node.

namespace {

/// Covers cases with these operations whose runs have from `least` to `most` bytes; rows only from
/// 64 rows on, the smallest number that the design has a limit for.
std::function<bool(const Case&)> cases(const std::vector<Operation>& operations, Layout layout,
                                       std::size_t least, std::size_t most) {
  return [=](const Case& c) {
    return std::find(operations.begin(), operations.end(), c.operation) != operations.end() &&
           c.layout == layout && c.run_bytes >= least && c.run_bytes <= most &&
           (layout != Layout::strided || c.runs >= 64);
  };
}

}  // namespace

std::vector<Target> shm_targets() {
  using Sense = Target::Sense;
  constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
  const std::vector<Operation> copies = {Operation::put, Operation::get};
  const std::vector<Operation> adds = {Operation::accumulate};
  const auto words = cases(copies, Layout::contiguous, 8, 8);
  const auto short_rows = cases(copies, Layout::strided, 16, 16);
  return {
      {"put, get 8 B: time / memcpy", "memcpy", Sense::time_at_most, 6, words},
      {"put, get 8 B: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 8, words},
      {"put, get 8 B: speed / MPI and flush_local", "mpi", Sense::speed_at_least, 8, words},
      {"put, get 4 KiB: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 3.5,
       cases(copies, Layout::contiguous, 4096, 4096)},
      {"put, get from 32 KiB: speed / memcpy", "memcpy", Sense::speed_at_least, 0.95,
       cases(copies, Layout::contiguous, 32768, any)},
      {"put, get rows from 64 B: speed / loop", "memcpy", Sense::speed_at_least, 0.90,
       cases(copies, Layout::strided, 64, any)},
      {"put, get 16 B rows: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 14, short_rows},
      {"put, get 16 B rows: speed / MPI subarray", "mpi", Sense::speed_at_least, 2, short_rows},
      {"accumulate from 32 KiB: speed / loop", "axpy", Sense::speed_at_least, 0.90,
       cases(adds, Layout::contiguous, 32768, any)},
      {"accumulate 16 B rows: speed / ARMCI-MPI", "armci-mpi", Sense::speed_at_least, 10,
       cases(adds, Layout::strided, 16, 16)},
      {contention_target("bytes apart"), "one rank", Sense::speed_at_least, 1.7},
      {contention_target("same bytes"), "one rank", Sense::speed_at_least, 1.7},
      {"fetch-and-add: time / lock xadd", "lock xadd", Sense::time_at_most, 3,
       cases({Operation::fetch_add}, Layout::contiguous, 8, 8)},
      {"lock and unlock: time / two atomics", "two atomics", Sense::time_at_most, 4,
       cases({Operation::lock_unlock}, Layout::contiguous, 8, 8)},
  };
}

}  // namespace tessera::bench
