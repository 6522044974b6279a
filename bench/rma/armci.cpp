// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "armci": calls of the ARMCI interface in Tessera and in ARMCI-MPI, in the same rounds, and
// compared with loads and stores on one node or a bare connection between two.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/baselines/baseline.hpp"
#include "bench/baselines/memory_baseline.hpp"
#include "bench/baselines/tcp_baseline.hpp"
#include "bench/parts.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/statistics.hpp"
#include "rma/bootstrap.hpp"

namespace tessera::bench {
namespace {

double time_ns() {
  return static_cast<double>(now_ns());
}

using Libraries = std::vector<ArmciBaseline*>;

class ArmciBench {
 public:
  /// Collective.
  explicit ArmciBench(Session& session) : session_(session) {
    const BaselineOptions options = session.baseline_options();
    if (session.job().node_count() == 1 && session.compares_with(Peer::memory)) {
      plain_.push_back(std::make_unique<MemoryBaseline>(options));
    } else if (session.job().node_count() > 1 && session.compares_with(Peer::tcp)) {
      for (const Waiting waiting : {Waiting::polling, Waiting::blocking}) {
        std::string missing;
        if (auto tcp = make_tcp_baseline(session.group(), options, {.waiting = waiting}, missing)) {
          plain_.push_back(std::move(tcp));
        }
        remark_on(missing);
      }
    }
    for (const auto& library : session.library_baselines()) {
      if (auto* const found = dynamic_cast<ArmciBaseline*>(library.get())) {
        libraries_.push_back(found);
      }
    }
    std::string missing =
        "tessera armci: start the ranks with mpirun, by which its job starts, too";
    if (session.job().bootstrap().is_mpi_world()) {
      missing.clear();
      own_ = make_tessera_armci(session.group(), options, missing);
    }
    remark_on(missing);
    if (own_ != nullptr) {
      libraries_.push_back(own_.get());
    }
  }

  [[nodiscard]] Session& session() { return session_; }
  /// Tessera's is the last; empty if there is none.
  [[nodiscard]] const Libraries& libraries() const { return libraries_; }

  /// The plain ways to do `c`.
  [[nodiscard]] std::vector<Candidate> plain(const Case& c) {
    std::vector<Candidate> found;
    for (const auto& each : plain_) {
      add(found, each->candidate(c));
    }
    return found;
  }

  /// Collective. Measures a line by all libraries, after `candidates`. `make` gives a library's.
  template <class Make>
  void measure(Topic& topic, const Line& line, std::vector<Candidate> candidates,
               const Make& make) {
    for (ArmciBaseline* const library : libraries_) {
      add(candidates, make(*library));
    }
    if (!libraries_.empty()) {
      session_.measure(topic, line, candidates);
    }
  }

  /// Collective. The same for a case.
  void measure(Topic& topic, std::int64_t line, const Case& usual) {
    const Case c = session_.with_requested_completion(usual);
    measure(topic, {line, c}, plain(c), [&c](ArmciBaseline& each) { return each.candidate(c); });
  }

 private:
  void remark_on(const std::string& missing) const {
    if (!missing.empty()) {
      session_.remark("missing: " + missing);
    }
  }

  Session& session_;
  std::vector<std::unique_ptr<Baseline>> plain_;  ///< memory, or TCP
  std::unique_ptr<ArmciBaseline> own_;
  Libraries libraries_;
};

Topic armci_topic(const std::string& op, const std::string& title) {
  return {"armci", op, title};
}
Topic armci_topic(const Case& c, const std::string& more = "") {
  return armci_topic(c.name(), fmt::format("ARMCI {} Latency{}", c.name(), more));
}

constexpr std::int64_t words_in_list = 1000;
constexpr std::size_t word_bytes = 8;

/// What the target does meanwhile.
enum class Situation { in_receive, in_barrier, computing };

/// Times small operations while the target is in a situation. A call that lasts until the target
/// stops computing has waited for it.
Measured measure_in(Session& session, ArmciBaseline& library, const Case& c, Situation situation) {
  constexpr auto computing = std::chrono::milliseconds(500);
  constexpr double part_for_samples = 0.6;
  constexpr double part_of_a_stall = 0.5;
  const double busy_ns = std::chrono::duration<double, std::nano>(computing).count();
  const Candidate candidate = *library.candidate(c);
  Measured measured;
  measured.name = candidate.name;
  measured.bytes = candidate.bytes;
  measured.repetitions = 1;
  if (session.group().rank() == 0 && candidate.verify) {
    const std::string problem = candidate.verify();
    measured.valid = problem.empty();
    measured.notes = measured.valid ? measured.notes : std::vector{problem};
  }
  session.group().barrier();
  if (session.group().rank() != 0) {
    const double end = time_ns() + busy_ns;
    while (situation == Situation::computing && time_ns() < end) {
    }
    if (situation == Situation::in_barrier) {
      library.wait_for_all();
    }
    session.group().barrier();
    return measured;
  }
  const double begin = time_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until the target is there
  const auto has_time = [&] { return time_ns() - begin < part_for_samples * busy_ns; };
  const auto wanted = static_cast<std::size_t>(session.options().samples);
  do {
    const double start = time_ns();
    candidate.run(1);
    measured.samples_ns.push_back(time_ns() - start);
  } while (measured.samples_ns.size() < wanted && has_time());
  if (situation == Situation::computing &&
      measured.samples_ns.front() > part_of_a_stall * busy_ns) {
    measured.samples_ns.resize(1);
    measured.notes.emplace_back("no progress: the call ended when the target stopped computing");
  }
  if (situation == Situation::in_barrier) {
    library.wait_for_all();
  }
  session.group().barrier();
  measured.stats_ns = summarise(measured.samples_ns);
  return measured;
}

/// Loads a word from each of `count` places in turn; each holds the number of the next one.
Candidate loads_in_turn(std::int64_t count) {
  constexpr std::size_t apart = 8192;    // words between places
  constexpr std::size_t lines = 64;      // of a page, so that the places share few lines of caches
  constexpr std::int64_t stride = 1597;  // a prime
  const auto memory = std::make_shared<Mapping>(
      (static_cast<std::size_t>(count) * apart + apart) * sizeof(std::int64_t), Sharing::shared);
  auto* const words = reinterpret_cast<std::int64_t*>(memory->bytes().data());
  const auto place = [](std::int64_t number) {
    const auto n = static_cast<std::size_t>(number);
    return n * apart + n % lines * (word_bytes * word_bytes / sizeof(std::int64_t));
  };
  for (std::int64_t i = 0; i < count; ++i) {
    words[place(i)] = (i + stride) % count;
  }
  Candidate candidate;
  candidate.name = "plain loads";
  candidate.bytes = word_bytes;
  candidate.run = [memory, words, place](std::int64_t repetitions) {
    const volatile std::int64_t* const loaded = words;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < repetitions; ++i) {
      at = loaded[place(at)];
    }
  };
  return candidate;
}

}  // namespace

void measure_armci_contiguous(Session& session) {
  ArmciBench bench(session);
  for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
    Topic topic = armci_topic(Case::contiguous(operation, word_bytes));
    for (const std::int64_t size : session.options().sizes()) {
      if (operation != Operation::accumulate || size % 8 == 0) {
        bench.measure(topic, size, Case::contiguous(operation, static_cast<std::size_t>(size)));
      }
    }
  }
}

void measure_armci_strided(Session& session) {
  ArmciBench bench(session);
  for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
    for (const std::size_t row_bytes : {16U, 1024U}) {
      Topic topic = armci_topic(Case::strided(operation, row_bytes, 1),
                                fmt::format(", Rows of {} B", row_bytes));
      for (const std::int64_t rows : {1, 4, 16, 64, 256, 512, 1024}) {
        bench.measure(topic, rows, Case::strided(operation, row_bytes, rows));
      }
    }
  }
}

void measure_armci_lists(Session& session) {
  ArmciBench bench(session);
  const auto measure = [&bench](Topic topic, const Case& c) {
    bench.measure(topic, words_in_list, c);
  };
  for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
    const Case c = Case::vector(operation, word_bytes, words_in_list);
    measure(armci_topic(c), c);
  }
  // Non-blocking gets: without handles, and with one that aggregates.
  const Case separate = Case::separate(Operation::get, word_bytes, words_in_list);
  measure(armci_topic(separate), separate);
  const Case aggregate = Case::aggregate(Operation::get, word_bytes, words_in_list);
  measure(armci_topic("get_aggregate", "ARMCI get, Aggregate Handle, Latency"), aggregate);
}

void measure_armci_synchronisation(Session& session) {
  ArmciBench bench(session);
  const auto measure = [&bench](const std::string& op, std::int64_t size, const Case& like,
                                const auto& make) {
    Topic topic = armci_topic(op, "ARMCI " + op + " Latency");
    bench.measure(topic, size, bench.plain(like), make);
  };
  const Case add = Case::contiguous(Operation::fetch_add, word_bytes);
  const Case swap = Case::contiguous(Operation::swap, word_bytes);
  const Case put = Case::contiguous(Operation::put, word_bytes).completing(Completes::at_target);
  for (const Case& c : {add, swap}) {
    measure(c.name(), word_bytes, c, [&c](ArmciBaseline& each) { return each.candidate(c); });
  }
  measure("fetch_add_int", sizeof(int), add,
          [](ArmciBaseline& each) { return std::optional(each.add_int()); });
  measure("swap_int", sizeof(int), swap,
          [](ArmciBaseline& each) { return std::optional(each.swap_int()); });
  measure("lock_unlock", 0, Case::contiguous(Operation::lock_unlock, word_bytes),
          [](ArmciBaseline& each) { return std::optional(each.lock_at_target()); });
  measure("put_fence", word_bytes, put,
          [&put](ArmciBaseline& each) { return each.candidate(put); });
  Topic barrier = armci_topic("barrier", "ARMCI Barrier Latency");
  bench.measure(barrier, {session.group().size(), "", 0}, {},
                [](ArmciBaseline& each) { return std::optional(each.barrier()); });
}

void measure_armci_progress(Session& session) {
  ArmciBench bench(session);
  if (session.group().size() != 2 || bench.libraries().empty()) {
    session.remark("armci.progress: skipped; it needs exactly two ranks, and an ARMCI");
    return;
  }
  // Each library has its own table: its calls take part in no rounds with the others'.
  for (const auto& [situation, name] : {std::pair(Situation::in_receive, "in_receive"),
                                        std::pair(Situation::in_barrier, "in_barrier"),
                                        std::pair(Situation::computing, "computing")}) {
    for (ArmciBaseline* const library : bench.libraries()) {
      Table table = session.table(fmt::format("ARMCI Calls, Target {}, Latency", name), 0);
      for (const Operation operation : {Operation::get, Operation::put}) {
        const Case c = Case::contiguous(operation, word_bytes).completing(Completes::at_target);
        const std::string op = operation == Operation::get ? "get" : "put_fence";
        session.add(table, {"armci", fmt::format("{}.{}", name, op), "", word_bytes}, op,
                    {measure_in(session, *library, c, situation)});
      }
    }
  }
}

void measure_armci_overlap(Session& session) {
  constexpr std::size_t bytes = 4 << 20;
  ArmciBench bench(session);
  for (ArmciBaseline* const library : bench.libraries()) {
    const Started get = library->started_get(bytes);
    // As long as the get alone.
    const auto alone = measure_interleaved(session.group(), {blocking_candidate(get)},
                                           session.options().measure_options());
    const double ns = session.group().share(session.is_leader() ? alone[0].stats_ns.median : 0.0);
    const auto computation =
        Computation::lasting(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
    Topic topic{"armci", "overlap_get", fmt::format("ARMCI get by {}, Overlap", library->name())};
    const auto measured =
        session.measure(topic, {bytes, std::string(library->name()), bytes},
                        {blocking_candidate(get), computing_candidate(computation),
                         overlapped_candidate(get, computation)},
                        session.options().measure_options());
    if (session.is_leader()) {
      session.remark(fmt::format(
          "{}: part hidden: {:.2f}", library->name(),
          hidden({measured[0].samples_ns, measured[1].samples_ns, measured[2].samples_ns}).value));
    }
  }
}

void measure_armci_allocations(Session& session) {
  ArmciBench bench(session);
  Topic one = armci_topic("get_one_of", "ARMCI get from One Allocation of Many, Latency");
  Topic each = armci_topic("get_each_of", "ARMCI get from Each Allocation in Turn, Latency");
  for (const std::int64_t count : {1, 64, 5000}) {
    bool has_all = true;
    for (ArmciBaseline* const library : bench.libraries()) {
      has_all = library->allocate(count) == count && has_all;
    }
    if (!has_all) {
      session.remark(fmt::format("{} allocations take more than 20 s", count));
      break;
    }
    const std::string shape = fmt::format("allocations: {}", count);
    const Line line(count, shape, word_bytes);
    bench.measure(one, line, {}, [count](ArmciBaseline& library) {
      return std::optional(library.get_from(count / 2, 1));
    });
    bench.measure(each, line, {loads_in_turn(count)}, [count](ArmciBaseline& library) {
      return std::optional(library.get_from(0, count));
    });
  }
  for (ArmciBaseline* const library : bench.libraries()) {
    library->free_allocations();
  }
}

}  // namespace tessera::bench
