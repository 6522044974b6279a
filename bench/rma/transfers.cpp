// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of suite "rma" in which rank 0 acts alone: each case compared with all baselines that
// support it.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/mpi_two_sided.hpp"
#include "bench/parts.hpp"
#include "bench/rma/tessera_candidate.hpp"

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

}  // namespace tessera::bench
