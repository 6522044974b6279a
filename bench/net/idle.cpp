// SPDX-License-Identifier: BSD-3-Clause
//
// The processor time of the library's threads while a job communicates nothing.
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/net/parts.hpp"
#include "bench/support/clock.hpp"
#include "bench/support/statistics.hpp"
#include "bench/support/thread_time.hpp"
#include "rma/region.hpp"
#include "rma/transfer.hpp"

namespace tessera::bench {
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
