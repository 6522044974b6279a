// SPDX-License-Identifier: BSD-3-Clause
//
// Suite "verbs": puts and gets over RDMA devices, compared with a bare loop on libibverbs.
#include "bench/verbs/verbs.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/parts.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench {

std::vector<Measured> VerbsPair::measure(Topic& topic, const Line& line,
                                         const std::vector<Candidate>& candidates, Clock clock) {
  // About 100 µs: puts that need only local completion follow each other, and the device limits the
  // rate.
  constexpr double clock_readings = 5000;
  MeasureOptions options = session_.options().measure_options();
  options.timer_multiple = clock_readings;
  options.clock = std::move(clock);
  return session_.measure(topic, line, candidates, options);
}

namespace {

constexpr std::array<std::size_t, 4> large_transfers = {64 << 10, 256 << 10, 1 << 20, 4 << 20};

Topic verbs_topic(std::string op, std::string title, Quantity quantity = Quantity::latency,
                  std::string size_name = "Size") {
  return {"verbs", std::move(op), std::move(title), quantity, std::move(size_name), true};
}

/// The `sizes` that lie within -m.
template <class Sizes>
std::vector<std::size_t> requested(const Session& session, const Sizes& sizes) {
  const auto least = static_cast<std::size_t>(session.options().min_size);
  const auto most = static_cast<std::size_t>(session.options().max_size);
  std::vector<std::size_t> found;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(found),
               [=](std::size_t size) { return size >= least && size <= most; });
  return found;
}

/// Collective.
void measure_over_devices(Session& session, const std::function<void(VerbsPair&)>& part) {
  std::string missing;
  auto bare = make_verbs_baseline(session.group(), net_options(session), missing);
  const auto name = session.job().transport_to(rma::WorldRank{1});
  if (!bare) {
    session.remark("missing: " + missing);
  }
  if (session.group().share(name.ok() && *name == "verbs")) {
    VerbsPair pair(session, std::move(bare));
    part(pair);
  } else if (bare) {
    session.remark(
        "missing: verbs: rank 0 reaches rank 1 by another transport; set "
        "TESSERA_TRANSPORT=shm,verbs to see the reason");
  }
}

/// The candidates of a small operation: the bare loop, if there is one, and Tessera.
using SmallCandidates = std::function<std::vector<Candidate>(std::size_t bytes)>;

void measure_small(VerbsPair& pair, Topic topic, const SmallCandidates& candidates_of) {
  constexpr std::array<std::size_t, 5> sizes = {8, 64, 256, 1024, 4096};
  for (const std::size_t bytes : requested(pair.session(), sizes)) {
    const auto measured =
        pair.measure(topic, static_cast<std::int64_t>(bytes), candidates_of(bytes));
    if (bytes == sizeof(std::int64_t)) {
      pair.session().observe(verbs_target::word, fmt::format("{} {}", topic.op, bytes),
                             &measured.back(), find(measured, "bare loop"));
    }
  }
}

}  // namespace

std::function<Part> over_devices(std::function<PartOverDevices> part) {
  return between_nodes(
      [part = std::move(part)](Session& session) { measure_over_devices(session, part); }, "verbs");
}

void measure_verbs_latency(VerbsPair& pair) {
  const auto joined = [](std::optional<Candidate> bare, std::optional<Candidate> own) {
    std::vector<Candidate> both;
    add(both, std::move(bare));
    add(both, std::move(own));
    return both;
  };
  const auto here = [&pair, joined](Operation operation) {
    return [&pair, joined, operation](std::size_t bytes) {
      const Case c = Case::contiguous(operation, bytes).completing(Completes::here);
      return joined(pair.bare(c), pair.allocated().candidate(c));
    };
  };
  measure_small(pair, verbs_topic("put", "Put Latency, locally complete"), here(Operation::put));
  measure_small(pair, verbs_topic("put_fence", "Put and Fence Latency"), [&](std::size_t bytes) {
    return joined(pair.bare([bytes](VerbsBaseline& loop) { return loop.put_and_read(bytes); }),
                  pair.allocated().candidate(Case::contiguous(Operation::put, bytes)));
  });
  measure_small(pair, verbs_topic("get", "Get Latency"), here(Operation::get));
}

// Large puts and gets with both kinds of memory. A put is locally complete when the device reports
// that the other end has the data; the bare loop waits for the same event.

namespace {

void measure_large(VerbsPair& pair, Operation operation, std::int64_t outstanding) {
  const std::string name = name_of(operation);
  const bool is_one = outstanding == 1;
  Topic topic =
      verbs_topic(is_one ? name : name + "_stream",
                  fmt::format("{} Bandwidth, {}", title_of(operation),
                              is_one ? "one blocking" : fmt::format("{} outstanding", outstanding)),
                  Quantity::bandwidth);
  for (const std::size_t bytes : requested(pair.session(), large_transfers)) {
    const auto ours = [=](TesseraCandidate& side) {
      return is_one ? side.candidate(Case::contiguous(operation, bytes).completing(Completes::here))
                    : side.stream(operation, bytes, outstanding, Completes::here);
    };
    std::vector<Candidate> candidates;
    add(candidates,
        pair.bare([=](VerbsBaseline& loop) { return loop.stream(operation, bytes, outstanding); }));
    add(candidates, renamed(*ours(pair.ordinary()), "ordinary memory"));
    add(candidates, renamed(*ours(pair.allocated()), "allocate_local"));
    const auto size = static_cast<std::int64_t>(bytes);
    const std::string shape = is_one ? "" : fmt::format("{} x {} B", outstanding, bytes);
    const auto measured = pair.measure(topic, {size, shape, size * outstanding}, candidates);
    for (const char* const memory : {"ordinary memory", "allocate_local"}) {
      pair.session().observe(verbs_target::large, fmt::format("{} {}, {}", topic.op, bytes, memory),
                             find(measured, "bare loop"), find(measured, memory));
    }
  }
}

// Rows, compared with the same bytes in one piece. This job's settings choose the protocol, so each
// protocol takes one launch ([ARMCI06], figure 18). Puts have a fence after them: packed rows are
// locally complete when they are copied. 256 rows, or fewer if these would exceed 1 MiB.

void measure_rows(VerbsPair& pair, Operation operation, const std::string& title) {
  constexpr std::size_t max_bytes = 1 << 20;
  Topic topic = verbs_topic(Case::strided(operation, 16, 2).name(), title + " of Rows Bandwidth",
                            Quantity::bandwidth, "Row");
  for (const std::size_t row : {16U, 64U, 256U, 512U, 1024U, 2048U, 4096U, 8192U}) {
    const Case c = Case::strided(
        operation, row, static_cast<std::int64_t>(std::min<std::size_t>(256, max_bytes / row)));
    const Case whole = Case::contiguous(operation, c.bytes());
    std::vector<Candidate> candidates;
    add(candidates,
        operation == Operation::get ? pair.bare(whole) : pair.bare([&c](VerbsBaseline& loop) {
          return loop.put_and_read(c.bytes());
        }));
    add(candidates, renamed(*pair.allocated().candidate(whole), "contiguous"));
    add(candidates, renamed(*pair.allocated().candidate(c), "rows"));
    pair.measure(topic, {static_cast<std::int64_t>(row), c}, candidates);
  }
}

}  // namespace

void measure_verbs_bandwidth(VerbsPair& pair) {
  for (const Operation operation : copies) {
    for (const std::int64_t outstanding : {1, 4}) {
      measure_large(pair, operation, outstanding);
    }
  }
}

void measure_verbs_strided(VerbsPair& pair) {
  measure_rows(pair, Operation::get, "Get");
  measure_rows(pair, Operation::put, "Put and Fence");
}

// The cost of registering memory: puts from memory that is always registered, from memory used
// before, and from memory that is mapped for each put. The clock does not count the mapping.

void measure_verbs_registration(VerbsPair& pair) {
  constexpr std::array<std::size_t, 6> sizes = {4 << 10,   16 << 10, 64 << 10,
                                                256 << 10, 1 << 20,  4 << 20};
  Topic topic = verbs_topic("put_registration", "Put Latency by Memory");
  for (const std::size_t bytes : requested(pair.session(), sizes)) {
    const Case c = Case::contiguous(Operation::put, bytes).completing(Completes::here);
    PausableClock clock;
    std::vector<Candidate> candidates;
    add(candidates, pair.bare(c));
    add(candidates, renamed(*pair.allocated().candidate(c), "allocate_local"));
    add(candidates, renamed(*pair.ordinary().candidate(c), "used before"));
    add(candidates,
        renamed(*pair.ordinary().with_new_memory(Operation::put, bytes, clock), "newly mapped"));
    pair.measure(topic, static_cast<std::int64_t>(bytes), candidates, clock.clock());
  }
}

// The part of the processor time that a transfer leaves to a simultaneous computation: 1 − (time
// that the thread was running in start and wait) / (time of the blocking call). The computation
// takes twice as long as the transfer, so that nothing is left to wait for ([ARMCI06], figure 19).
//
// A software device of the kernel works within the thread that posts. So a second number does not
// count the running time of the bare loop's thread: it shows what the library adds.
//
// Both times are measured alternately, but not by measure_interleaved(), because their clocks
// differ.

namespace {

/// One transfer: its repetitions in a sample, the simultaneous computation, and its samples.
class Trial {
 public:
  explicit Trial(Started transfer) : transfer_(std::move(transfer)) {
    const double typical_ns = std::max(blocking_sample(warm_up), 1.0);
    repetitions_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(sample_ns / typical_ns), 1,
                                            max_repetitions);
    computation_ =
        Computation::lasting(std::chrono::nanoseconds(static_cast<std::int64_t>(2 * typical_ns)));
  }

  [[nodiscard]] const std::string& name() const { return transfer_.name; }
  void take_samples() {
    blocking_ns_.push_back(blocking_sample(repetitions_));
    running_ns_.push_back(running_sample());
  }

  /// 1 − running / blocking.
  [[nodiscard]] Ratio left() const {
    return number_of_medians({blocking_ns_, running_ns_}, [](std::span<const double> ns) {
      return std::max(0.0, 1 - ns[1] / ns[0]);
    });
  }
  /// The same without the running time of `bare`, another transfer of these rounds.
  [[nodiscard]] Ratio left_relative_to(const Trial& bare) const {
    return number_of_medians({blocking_ns_, running_ns_, bare.running_ns_},
                             [](std::span<const double> ns) {
                               return 1 - std::clamp((ns[1] - ns[2]) / ns[0], 0.0, 1.0);
                             });
  }
  [[nodiscard]] std::vector<Measured> measured(bool is_valid) const {
    return {measured(transfer_.name, blocking_ns_, is_valid),
            measured(transfer_.name + " running", running_ns_, is_valid)};
  }

 private:
  static constexpr std::int64_t warm_up = 5;
  static constexpr std::int64_t max_repetitions = 100;
  static constexpr double sample_ns = 1e6;

  [[nodiscard]] double blocking_sample(std::int64_t repetitions) const {
    const std::int64_t start = now_ns();
    for (std::int64_t i = 0; i < repetitions; ++i) {
      transfer_.start();
      transfer_.wait();
    }
    return static_cast<double>(now_ns() - start) / static_cast<double>(repetitions);
  }

  // Each pause leaves one reading of the clock in the time, and so does the sample.
  [[nodiscard]] double running_sample() const {
    PausableClock clock(thread_time_ns);
    const std::int64_t start = clock.now();
    for (std::int64_t i = 0; i < repetitions_; ++i) {
      transfer_.start();
      clock.pause([this] { computation_.run(); });
      transfer_.wait();
    }
    const auto repetitions = static_cast<double>(repetitions_);
    const double elapsed = static_cast<double>(clock.now() - start) - reading_ns_;
    return std::max(elapsed / repetitions - reading_ns_, 0.0);
  }

  [[nodiscard]] Measured measured(const std::string& name, const std::vector<double>& samples_ns,
                                  bool is_valid) const {
    Measured found;
    found.name = name;
    found.bytes = transfer_.bytes;
    found.repetitions = repetitions_;
    found.samples_ns = samples_ns;
    found.stats_ns = summarise(samples_ns);
    found.valid = is_valid;
    return found;
  }

  Started transfer_;
  std::int64_t repetitions_ = 1;
  Computation computation_{1};
  double reading_ns_ = timer_cost_ns(thread_time_ns);
  std::vector<double> blocking_ns_;
  std::vector<double> running_ns_;
};

/// Whether the transfer brings the right data; prints an error if it doesn't.
bool is_right(const Session& session, const Started& transfer) {
  const std::string problem = session.options().check ? transfer.verify() : "";
  if (!problem.empty()) {
    session.remark(fmt::format("INVALID: {}: {}", transfer.name, problem));
  }
  return problem.empty();
}

/// Takes the requested number of rounds, or fewer if the time limit comes first.
void take_rounds(std::vector<Trial>& trials, const MeasureOptions& options) {
  const std::int64_t start = now_ns();
  const auto is_late = [&] { return now_ns() - start > options.sampling_limit.count(); };
  for (std::int64_t round = 0;
       round < options.samples && (round < options.min_samples || !is_late()); ++round) {
    std::for_each(trials.begin(), trials.end(), [](Trial& each) { each.take_samples(); });
  }
}

/// Reports the remaining processor time to the targets, and prints it.
void observe_left(const Session& session, const Subject& subject,
                  const std::vector<Trial>& trials) {
  const std::string where = fmt::format("{} {}", subject.op, subject.size);
  for (const Trial& each : trials) {
    session.remark(fmt::format("{}: {} leaves", where, each.name()), each.left());
  }
  session.targets().observe(verbs_target::left, where, trials.back().left());
  if (trials.size() > 1) {
    session.targets().observe(verbs_target::left_by_tessera, where,
                              trials.back().left_relative_to(trials.front()));
  }
}

/// Local to rank 0. One line of the table, for the transfers of the same rounds; Tessera's is the
/// last.
void measure_overlapped(const Session& session, Table& table, const Subject& subject,
                        const std::vector<Started>& transfers) {
  bool is_valid = true;
  std::vector<Trial> trials;
  for (const Started& each : transfers) {
    is_valid = is_right(session, each) && is_valid;
    trials.emplace_back(each);
  }
  take_rounds(trials, session.options().measure_options());
  std::vector<Measured> measured;
  for (const Trial& each : trials) {
    const std::vector<Measured> both = each.measured(is_valid);
    measured.insert(measured.end(), both.begin(), both.end());
  }
  // The reference of all records is the line's first candidate. The remaining processor time is
  // recorded separately.
  for (Measured& each : measured) {
    each.ratio = ratio_of_medians(each.samples_ns, measured.front().samples_ns);
  }
  session.add(table, subject, std::to_string(subject.size), measured);
  observe_left(session, subject, trials);
}

}  // namespace

void measure_verbs_overlap(VerbsPair& pair) {
  Session& session = pair.session();
  for (const Operation operation : copies) {
    std::optional<Table> table;
    for (const std::size_t bytes : requested(session, large_transfers)) {
      std::vector<Started> transfers;
      if (auto bare =
              pair.bare([=](VerbsBaseline& loop) { return loop.started(operation, bytes); })) {
        transfers.push_back(std::move(*bare));
      }
      transfers.push_back(*pair.allocated().started(operation, bytes));
      if (!table) {
        table.emplace(
            session.table(fmt::format("{} During a Computation Latency", title_of(operation)),
                          2 * transfers.size() - 1));
      }
      if (session.is_leader()) {
        measure_overlapped(session, *table,
                           {"verbs", fmt::format("overlap_{}", name_of(operation)), "",
                            static_cast<std::int64_t>(bytes)},
                           transfers);
      }
      session.sleeping_group().barrier();
    }
  }
}

std::vector<Target> verbs_targets() {
  return {
      {verbs_target::word, "bare loop", Target::Sense::time_at_most, 1.1},
      {verbs_target::large, "bare loop", Target::Sense::speed_at_least, 0.95},
      {verbs_target::local_patches, "dense rows", Target::Sense::speed_at_least, 0.90},
      {verbs_target::left, "all of it", Target::Sense::speed_at_least, 0.99},
      {verbs_target::left_by_tessera, "bare loop", Target::Sense::speed_at_least, 0.99},
  };
}

}  // namespace tessera::bench
