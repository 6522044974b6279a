// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the processor time that a transfer leaves to a simultaneous computation: 1 − (time
// that the thread was running in start and wait) / (time of the blocking call). The computation
// takes twice as long as the transfer, so that nothing is left to wait for ([ARMCI06], figure 19).
//
// A software device of the kernel works within the thread that posts. So a second number does not
// count the running time of the bare loop's thread: it shows what the library adds.
//
// Both times are measured alternately, but not by measure_interleaved(), because their clocks
// differ.
#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/parts.hpp"
#include "bench/support/clock.hpp"
#include "bench/support/overlap.hpp"
#include "bench/support/statistics.hpp"
#include "bench/verbs/devices.hpp"

namespace tessera::bench {
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
