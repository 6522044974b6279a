// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
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
#include "bench/verbs/devices.hpp"

namespace tessera::bench {
namespace {

constexpr rma::WorldRank target{1};

/// Collective. Whether rank 0 reaches rank 1 over RDMA devices.
bool goes_over_devices(Session& session) {
  const auto name = session.job().transport_to(target);
  return session.group().share(name.ok() && *name == "verbs");
}

void measure_over_devices(Session& session, const std::function<void(VerbsPair&)>& part) {
  std::string missing;
  auto bare = make_verbs_baseline(session.group(), net_options(session), missing);
  if (!bare) {
    session.remark("missing: " + missing);
  }
  if (!goes_over_devices(session)) {
    if (bare) {
      session.remark(
          "missing: verbs: rank 0 reaches rank 1 by another transport; set "
          "TESSERA_TRANSPORT=shm,verbs to see the reason");
    }
    return;
  }
  VerbsPair pair(session, std::move(bare));
  part(pair);
}

}  // namespace

VerbsPair::VerbsPair(Session& session, std::unique_ptr<VerbsBaseline> bare)
    : session_(session),
      bare_(std::move(bare)),
      ordinary_(session.job(), net_options(session)),
      allocated_(session.job(), net_options(session), rma::TeamRank{target.value},
                 LocalMemory::allocated) {}

std::optional<Candidate> VerbsPair::bare(const Case& c) const {
  return bare_ ? bare_->candidate(c) : std::nullopt;
}

std::optional<Candidate> VerbsPair::bare_stream(Operation operation, std::size_t bytes,
                                                std::int64_t messages) const {
  return bare_ ? bare_->stream(operation, bytes, messages) : std::nullopt;
}

std::optional<Candidate> VerbsPair::bare_put_and_read(std::size_t bytes) const {
  return bare_ ? bare_->put_and_read(bytes) : std::nullopt;
}

std::optional<Started> VerbsPair::bare_started(Operation operation, std::size_t bytes) const {
  return bare_ ? bare_->started(operation, bytes) : std::nullopt;
}

std::vector<Measured> VerbsPair::measure(Topic& topic, const std::string& shape, std::int64_t size,
                                         std::int64_t line,
                                         const std::vector<Candidate>& candidates,
                                         Clock clock) const {
  // About 100 µs: puts that need only local completion follow each other, and the device limits the
  // rate.
  constexpr double clock_readings = 5000;
  MeasureOptions options = session_.options().measure_options();
  options.timer_multiple = clock_readings;
  options.clock = std::move(clock);
  return measure_line(session_, topic, {"verbs", topic.op, shape, size}, line, candidates, options);
}

std::vector<std::size_t> requested(const Session& session, const std::vector<std::size_t>& sizes) {
  const auto least = static_cast<std::size_t>(session.options().min_size);
  const auto most = static_cast<std::size_t>(session.options().max_size);
  std::vector<std::size_t> found;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(found),
               [=](std::size_t size) { return size >= least && size <= most; });
  return found;
}

std::function<void(Session&)> over_devices(std::function<void(VerbsPair&)> part) {
  return between_nodes(
      [part = std::move(part)](Session& session) { measure_over_devices(session, part); }, "verbs");
}

// Small puts and gets, one after the other, from memory of Job::allocate_local.

namespace {

/// The baselines of a small operation, and Tessera.
struct Line {
  std::optional<Candidate> bare;
  std::optional<Candidate> own;
};

void measure_small(VerbsPair& pair, Topic topic, const std::function<Line(std::size_t)>& line_of) {
  Session& session = pair.session();
  for (const std::size_t bytes : requested(session, {8, 64, 256, 1024, 4096})) {
    const Line line = line_of(bytes);
    std::vector<Candidate> candidates;
    add(candidates, line.bare);
    add(candidates, line.own);
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured = pair.measure(topic, "", size, size, candidates);
    if (session.is_leader() && line.bare && bytes == sizeof(std::int64_t)) {
      session.targets().observe(
          verbs_target::word, fmt::format("{} {}", topic.op, bytes),
          ratio_of_medians(measured.back().samples_ns, measured.front().samples_ns));
    }
  }
}

}  // namespace

void measure_verbs_latency(VerbsPair& pair) {
  const auto of = [&pair](Operation operation) {
    return [&pair, operation](std::size_t bytes) {
      const Case c = Case::contiguous(operation, bytes).completing(Completes::here);
      return Line{pair.bare(c), pair.allocated().candidate(c)};
    };
  };
  measure_small(pair, {"Put Latency, locally complete", "put"}, of(Operation::put));
  measure_small(pair, {"Put and Fence Latency", "put_fence"}, [&pair](std::size_t bytes) {
    const Case c = Case::contiguous(Operation::put, bytes);
    return Line{pair.bare_put_and_read(bytes), pair.allocated().candidate(c)};
  });
  measure_small(pair, {"Get Latency", "get"}, of(Operation::get));
}

// Large puts and gets with both kinds of memory. A put is locally complete when the device reports
// that the other end has the data; the bare loop waits for the same event.

namespace {

/// Reports the speed of both kinds of memory / the bare loop's speed to the targets.
void observe(Session& session, const std::string& where, const std::vector<Measured>& measured) {
  const Measured* const bare = find(measured, "bare loop");
  if (!session.is_leader() || bare == nullptr) {
    return;
  }
  for (const char* const memory : {"ordinary memory", "allocate_local"}) {
    session.targets().observe(
        verbs_target::large, fmt::format("{}, {}", where, memory),
        ratio_of_medians(bare->samples_ns, find(measured, memory)->samples_ns));
  }
}

void measure_large(VerbsPair& pair, Operation operation, std::int64_t outstanding) {
  const std::string name = Case::contiguous(operation, 8).name();
  const bool is_one = outstanding == 1;
  Topic topic{fmt::format("{} Bandwidth, {}", operation == Operation::put ? "Put" : "Get",
                          is_one ? "one blocking" : fmt::format("{} outstanding", outstanding)),
              is_one ? name : name + "_stream", Quantity::bandwidth};
  for (const std::size_t bytes :
       requested(pair.session(), {64 << 10, 256 << 10, 1 << 20, 4 << 20})) {
    const auto ours = [=](TesseraCandidate& side) {
      return is_one ? side.candidate(Case::contiguous(operation, bytes).completing(Completes::here))
                    : side.stream(operation, bytes, outstanding, Completes::here);
    };
    std::vector<Candidate> candidates;
    add(candidates, pair.bare_stream(operation, bytes, outstanding));
    candidates.push_back(renamed(*ours(pair.ordinary()), "ordinary memory"));
    candidates.push_back(renamed(*ours(pair.allocated()), "allocate_local"));
    const auto size = static_cast<std::int64_t>(bytes);
    const std::string shape = is_one ? "" : fmt::format("{} x {} B", outstanding, bytes);
    const auto measured = pair.measure(topic, shape, size * outstanding, size, candidates);
    observe(pair.session(), fmt::format("{} {}", topic.op, bytes), measured);
  }
}

}  // namespace

void measure_verbs_bandwidth(VerbsPair& pair) {
  for (const Operation operation : {Operation::put, Operation::get}) {
    for (const std::int64_t outstanding : {1, 4}) {
      measure_large(pair, operation, outstanding);
    }
  }
}

// Rows, compared with the same bytes in one piece. This job's settings choose the protocol, so each
// protocol takes one launch ([ARMCI06], figure 18). Puts have a fence after them: packed rows are
// locally complete when they are copied.

namespace {

/// 256, or fewer if these would exceed 1 MiB.
std::int64_t rows_of(std::size_t row_bytes) {
  constexpr std::size_t most_rows = 256;
  constexpr std::size_t most_bytes = 1 << 20;
  return static_cast<std::int64_t>(std::min(most_rows, most_bytes / row_bytes));
}

void measure_rows(VerbsPair& pair, Operation operation, const std::string& title) {
  Topic topic{title, Case::strided(operation, 16, 2).name(), Quantity::bandwidth, "Row"};
  for (const std::size_t row_bytes : {16U, 64U, 256U, 512U, 1024U, 2048U, 4096U, 8192U}) {
    const Case c = Case::strided(operation, row_bytes, rows_of(row_bytes));
    const Case whole = Case::contiguous(operation, c.bytes());
    std::vector<Candidate> candidates;
    add(candidates,
        operation == Operation::put ? pair.bare_put_and_read(c.bytes()) : pair.bare(whole));
    candidates.push_back(renamed(*pair.allocated().candidate(whole), "contiguous"));
    candidates.push_back(renamed(*pair.allocated().candidate(c), "rows"));
    pair.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()),
                 static_cast<std::int64_t>(row_bytes), candidates);
  }
}

}  // namespace

void measure_verbs_strided(VerbsPair& pair) {
  measure_rows(pair, Operation::get, "Get of Rows Bandwidth");
  measure_rows(pair, Operation::put, "Put and Fence of Rows Bandwidth");
}

// The cost of registering memory: puts from memory that is always registered, from memory used
// before, and from memory that is mapped for each put. The clock does not count the mapping.

void measure_verbs_registration(VerbsPair& pair) {
  Topic topic{"Put Latency by Memory", "put_registration"};
  for (const std::size_t bytes :
       requested(pair.session(), {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20})) {
    const Case c = Case::contiguous(Operation::put, bytes).completing(Completes::here);
    PausableClock clock;
    std::vector<Candidate> candidates;
    add(candidates, pair.bare(c));
    candidates.push_back(renamed(*pair.allocated().candidate(c), "allocate_local"));
    candidates.push_back(renamed(*pair.ordinary().candidate(c), "used before"));
    candidates.push_back(
        renamed(*pair.ordinary().with_new_memory(Operation::put, bytes, clock), "newly mapped"));
    const auto size = static_cast<std::int64_t>(bytes);
    pair.measure(topic, "", size, size, candidates, clock.clock());
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
    const Ratio left = each.left();
    session.remark(fmt::format("{}: {} leaves {:.4f} [{:.4f},{:.4f}]", where, each.name(),
                               left.value, left.ci95.lo, left.ci95.hi));
  }
  session.targets().observe(verbs_target::left, where, trials.back().left());
  if (trials.size() > 1) {
    session.targets().observe(verbs_target::left_by_tessera, where,
                              trials.back().left_relative_to(trials.front()));
  }
}

/// Local to rank 0. One line of the table, for the transfers of the same rounds; Tessera's is the
/// last.
void measure_line(const VerbsPair& pair, Table& table, const Subject& subject,
                  const std::vector<Started>& transfers) {
  const Session& session = pair.session();
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
  session.add(table, subject, subject.size, measured);
  observe_left(session, subject, trials);
}

void measure_overlap(VerbsPair& pair, Operation operation, const std::string& title) {
  Session& session = pair.session();
  const std::string op = "overlap_" + Case::contiguous(operation, 8).name();
  std::optional<Table> table;
  for (const std::size_t bytes : requested(session, {64 << 10, 256 << 10, 1 << 20, 4 << 20})) {
    std::vector<Started> transfers;
    if (auto bare = pair.bare_started(operation, bytes)) {
      transfers.push_back(std::move(*bare));
    }
    transfers.push_back(*pair.allocated().started(operation, bytes));
    if (!table) {
      table.emplace(session.table(title, 2 * transfers.size() - 1));
    }
    if (session.is_leader()) {
      measure_line(pair, *table, {"verbs", op, "", static_cast<std::int64_t>(bytes)}, transfers);
    }
    session.sleeping_group().barrier();
  }
}

}  // namespace

void measure_verbs_overlap(VerbsPair& pair) {
  measure_overlap(pair, Operation::put, "Put During a Computation Latency");
  measure_overlap(pair, Operation::get, "Get During a Computation Latency");
}

}  // namespace tessera::bench
