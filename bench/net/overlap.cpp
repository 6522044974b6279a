// SPDX-License-Identifier: BSD-3-Clause
//
// How much of a get a computation hides ([ARMCI06], section 6.1.2 and figure 19). It is compared
// with what a program with bare sockets and a helper thread at each end hides in the same rounds.
// One computation is long enough to hide all of the get; others grow.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/net_suite.hpp"
#include "bench/parts.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/statistics.hpp"

namespace tessera::bench {
namespace {

/// Local. The median time of a few transfers, of rank 0.
double typical_ns(const Started& transfer) {
  constexpr int trials = 15;
  std::vector<double> times;
  for (int i = 0; i < trials; ++i) {
    const std::int64_t start = now_ns();
    transfer.start();
    transfer.wait();
    times.push_back(static_cast<double>(now_ns() - start));
  }
  return summarise(times).median;
}

/// Bare sockets with helpers, if available, and Tessera.
std::vector<Started> transfers_of(NetSuite& suite, std::size_t bytes) {
  std::vector<Started> transfers;
  TcpBaseline* const tcp = suite.tcp(Waiting::blocking);
  if (auto raw = tcp == nullptr ? std::nullopt : tcp->started_get(bytes)) {
    transfers.push_back(std::move(*raw));
  }
  transfers.push_back(*suite.own().started(Operation::get, bytes));
  return transfers;
}

/// All candidates of the same rounds; the last is Tessera with a computation.
std::vector<Candidate> candidates_of(const std::vector<Started>& transfers,
                                     const Computation& computation) {
  std::vector<Candidate> candidates = {computing_candidate(computation)};
  for (const Started& each : transfers) {
    candidates.push_back(blocking_candidate(each));
    candidates.push_back(overlapped_candidate(each, computation));
  }
  return candidates;
}

/// Three times the duration of the slower transfer without a computation. Both ends' helpers may
/// then share one core, and need twice the time.
Computation computation_for(const Session& session, const std::vector<Started>& transfers) {
  double slowest_ns = 0;
  for (const Started& transfer : transfers) {
    slowest_ns = std::max(slowest_ns, session.is_leader() ? typical_ns(transfer) : 0);
  }
  constexpr double margin = 3;
  return Computation::lasting(
      std::chrono::nanoseconds(static_cast<std::int64_t>(margin * slowest_ns)));
}

Overlap overlap_of(const std::vector<Measured>& measured, const std::string& name) {
  return {find(measured, name)->samples_ns, find(measured, "computation")->samples_ns,
          find(measured, name + " overlapped")->samples_ns};
}

bool is_credible(const Overlap& overlap) {
  return is_credible_overlap(summarise(overlap.blocking_ns).median,
                             summarise(overlap.computing_ns).median,
                             summarise(overlap.overlapped_ns).median);
}

/// What the target, rank 1, does during this object's lifetime.
enum class TargetDoes { nothing, compute };

/// The names of measurements with such a target.
const char* op_of(TargetDoes what) {
  return what == TargetDoes::compute ? "overlap_busy" : "overlap_idle";
}

/// Records what a computation hid of a transfer, in each round. `topic` and `shape` are those of
/// the times from which it is computed.
void record_hidden(const Session& session, const std::string& topic, const std::string& shape,
                   const Started& transfer, const Overlap& overlap) {
  session.record({"net", topic + "_hidden", shape, static_cast<std::int64_t>(transfer.bytes)},
                 transfer.name, "%", summarise(hidden_by_rounds(overlap)).scaled(100));
}

void observe(Session& session, TargetDoes what, const std::vector<Measured>& measured,
             const std::vector<Started>& transfers) {
  for (const Started& each : transfers) {
    if (!is_credible(overlap_of(measured, each.name))) {
      session.remark(
          "the computation or the transfer took longer alone than both together, because of other "
          "load: no result");
      return;
    }
    const Ratio part = hidden(overlap_of(measured, each.name));
    session.remark(fmt::format("{} hides {:.3f} [{:.3f},{:.3f}] of {:.3f} ms", each.name,
                               part.value, part.ci95.lo, part.ci95.hi,
                               find(measured, each.name)->stats_ns.median * 1e-6));
    record_hidden(session, op_of(what), "", each, overlap_of(measured, each.name));
  }
  const Overlap ours = overlap_of(measured, transfers.back().name);
  const std::string where = fmt::format("get {}", transfers.back().bytes);
  if (what == TargetDoes::nothing) {
    session.targets().observe(net_target::overlap_idle, where, hidden(ours));
  } else if (transfers.size() > 1) {
    const Overlap raw = overlap_of(measured, transfers.front().name);
    if (!hides_anything(raw)) {
      session.remark(transfers.front().name + " hid too little for a ratio to it");
      return;
    }
    const Ratio ratio = hidden_ratio(ours, raw);
    session.remark("hidden, Tessera / " + transfers.front().name, ratio);
    session.targets().observe(net_target::overlap_busy, where, ratio);
  }
}

void measure(NetSuite& suite, TargetDoes what) {
  Session& session = suite.session();
  const bool computes = what == TargetDoes::compute;
  std::optional<BackgroundComputation> busy;
  if (computes && session.group().rank() == 1) {
    busy.emplace();
  }
  constexpr std::size_t bytes = 4 << 20;
  const std::vector<Started> transfers = transfers_of(suite, bytes);
  const Computation computation = computation_for(session, transfers);
  Topic topic = net_topic(op_of(what), fmt::format("Get During a Computation Latency, target {}",
                                                   computes ? "computing" : "idle"));
  topic.limit = std::chrono::seconds(15);  // a round takes 50 ms and more
  const auto measured = suite.measure(topic, bytes, candidates_of(transfers, computation));
  if (session.is_leader()) {
    observe(session, what, measured, transfers);
  }
}

constexpr const char* steps_op = "overlap_steps";

std::string shape_of(const std::string& step) {
  return fmt::format("computation {}", step);
}

/// Prints what a computation hid of each transfer.
void remark_on_step(Session& session, const std::vector<Measured>& measured,
                    const std::vector<Started>& transfers, const std::string& step) {
  for (const Started& each : transfers) {
    const Overlap overlap = overlap_of(measured, each.name);
    if (!is_credible(overlap)) {
      session.remark(
          fmt::format("{}: {}: it or the computation took longer alone than both together, because "
                      "of other load: no result",
                      step, session.shown(each.name)));
      continue;
    }
    const Ratio part = hidden(overlap);
    session.remark(fmt::format("{}: {} hides {:.3f} [{:.3f},{:.3f}]", step,
                               session.shown(each.name), part.value, part.ci95.lo, part.ci95.hi));
    record_hidden(session, steps_op, shape_of(step), each, overlap);
  }
}

/// The experiment of [ARMCI06], figure 19, which also had MPI's messages. As the computation grows,
/// the total time stays the same until the computation fills the time in which the processor was
/// idle.
void measure_steps(NetSuite& suite, std::size_t bytes) {
  Session& session = suite.session();
  std::vector<Started> transfers = transfers_of(suite, bytes);
  if (auto by_messages = suite.mpi_started_get(bytes)) {
    transfers.insert(transfers.end() - 1, std::move(*by_messages));
  }
  Topic topic =
      net_topic(steps_op, fmt::format("Get of {} B During a Growing Computation Latency", bytes),
                Quantity::latency, "Percent");
  topic.limit = std::chrono::seconds(1);  // there are many lines
  const auto size = static_cast<std::int64_t>(bytes);
  std::vector<Candidate> alone;
  for (const Started& each : transfers) {
    alone.push_back(blocking_candidate(each));
  }
  const double transfer_ns = suite.measure(topic, {0, "", size}, alone).back().stats_ns.median;
  for (const std::int64_t percent : {25, 50, 75, 100, 150}) {
    const double time_ns = transfer_ns * static_cast<double>(percent) / 100;
    const auto computation =
        Computation::lasting(std::chrono::nanoseconds(static_cast<std::int64_t>(time_ns)));
    const std::string step = fmt::format("{} %", percent);
    const auto measured = suite.measure(topic, {percent, shape_of(step), size},
                                        candidates_of(transfers, computation));
    if (session.is_leader()) {
      remark_on_step(session, measured, transfers, step);
    }
  }
}

}  // namespace

void measure_net_overlap(Session& session) {
  NetSuite suite(session);
  measure(suite, TargetDoes::nothing);
  measure(suite, TargetDoes::compute);
}

void measure_net_overlap_steps(Session& session) {
  NetSuite suite(session);
  for (const std::size_t bytes : {4U << 10, 64U << 10, 1U << 20}) {
    measure_steps(suite, bytes);
  }
}

}  // namespace tessera::bench
