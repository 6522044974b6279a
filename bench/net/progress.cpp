// SPDX-License-Identifier: BSD-3-Clause
//
// The time of small operations that arrive from time to time at a rank that computes: its node's
// agent must get a processor first. They are compared with bare sockets, where a thread at the
// target sleeps until a request comes. MPI's windows are not a baseline here: a target that doesn't
// call MPI need not answer.
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/wire.hpp"
#include "bench/parts.hpp"
#include "bench/support/clock.hpp"
#include "bench/support/overlap.hpp"
#include "bench/support/statistics.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
namespace {

/// Random moments within a time slice of the operating system, which lasts some milliseconds.
class Moments {
 public:
  void wait() { std::this_thread::sleep_for(std::chrono::microseconds(pause_us_(random_))); }

 private:
  std::minstd_rand random_;
  std::uniform_int_distribution<int> pause_us_{200, 3000};
};

/// The same operation at unpredictable moments; the wait before each is not timed.
Candidate now_and_then(Candidate candidate, Moments& moments, PausableClock& clock) {
  candidate.run = [run = std::move(candidate.run), &moments, &clock](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      clock.pause([&] { moments.wait(); });
      run(1);
    }
  };
  return candidate;
}

/// A median doesn't show that a few operations wait long.
void remark_on_late(const Session& session, const char* operation,
                    const std::vector<Measured>& measured) {
  constexpr double us_per_ns = 1e-3;
  for (const Measured& each : measured) {
    const Stats us = each.stats_ns.scaled(us_per_ns);
    session.remark(
        fmt::format("{}, {}: 95 % within {:.1f} us, 99 % within {:.1f}, all within {:.1f}",
                    operation, each.name, us.p95, us.p99, us.max));
  }
}

void measure(Wire& wire, Operation operation, const char* name) {
  Session& session = wire.session();
  const Case c = Case::contiguous(operation, 8);
  std::vector<Candidate> candidates;
  if (TcpBaseline* const tcp = wire.tcp(Waiting::blocking)) {
    add(candidates, tcp->candidate(c));
  }
  add(candidates, wire.own().candidate(c));
  Moments moments;
  PausableClock clock;
  for (Candidate& each : candidates) {
    each = now_and_then(std::move(each), moments, clock);
  }
  MeasureOptions options = session.options().measure_options();
  options.clock = clock.clock();
  options.repetitions = 1;
  options.prime = false;  // after a recent request, the agent may still be awake
  Topic topic{fmt::format("{} Latency at Random Times, target computing", name),
              "progress_" + c.name()};
  topic.sampling_limit = std::chrono::seconds(5);
  const auto measured =
      measure_line(session, topic, {"net", topic.op, "", 8}, 8, candidates, options);
  if (session.is_leader()) {
    remark_on_late(session, name, measured);
  }
}

}  // namespace

void measure_net_progress(Session& session) {
  Wire wire(session);
  std::optional<BackgroundComputation> busy;
  if (session.group().rank() == 1) {
    busy.emplace();
  }
  measure(wire, Operation::get, "Get");
  measure(wire, Operation::put, "Put and Fence");
  measure(wire, Operation::fetch_add, "Fetch-and-Add");
}

// The processor time of the library's threads while a job communicates nothing.

namespace {

using std::chrono::milliseconds;

/// The part of a core that the threads with that name take on this rank while nothing happens.
double part_of_core(const char* thread) {
  const auto before = processor_time_of(thread);
  const std::int64_t start = now_ns();
  std::this_thread::sleep_for(milliseconds(1000));
  const auto after = processor_time_of(thread);
  const auto elapsed = static_cast<double>(now_ns() - start);
  // Ranks without such a thread take nothing.
  return before && after ? static_cast<double>((*after - *before).count()) / elapsed : 0;
}

/// Collective. One window, of the worst rank. Agents and connections are awake at its beginning.
double idle_window(Session& session, const char* thread) {
  auto region = rma::Region::allocate(session.job().world(), sizeof(std::int64_t)).value();
  const std::int64_t word = 0;
  rma::require(rma::put(session.job(), region.at(rma::TeamRank{1}), &word, sizeof word));
  rma::require(session.job().barrier());
  // Wait for the last of the barrier's messages, and for the longest time that the agent stays
  // awake after them.
  std::this_thread::sleep_for(milliseconds(1300));
  return session.group().maximum(part_of_core(thread));
}

}  // namespace

void measure_net_idle(Session& session) {
  const std::string& server = session.job().settings().server;
  for (const char* const thread : {"tessera-agent", "tessera-comm"}) {
    constexpr int windows = 3;
    std::vector<double> parts;
    for (int i = 0; i < windows; ++i) {
      parts.push_back(idle_window(session, thread));
    }
    const Stats stats = summarise(parts);
    session.remark(fmt::format("idle {}, server {}: {:.5f} of a core, at most {:.5f}", thread,
                               server, stats.median, stats.max));
    Record record;
    record.bench = "net";
    record.backend = thread;
    record.op = "idle";
    record.unit = "cores";
    record.stats = stats;
    session.record(std::move(record));
    // An agent that polls by its setting is never idle.
    if (session.is_leader() && server != "poll" && thread == std::string("tessera-agent")) {
      session.targets().observe(net_target::idle_agent, "server " + server,
                                {stats.max, {stats.min, stats.max}});
    }
  }
}

}  // namespace tessera::bench
