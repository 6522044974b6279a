// SPDX-License-Identifier: BSD-3-Clause
//
// Small operations, one after the other; and many of them outstanding.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/wire.hpp"
#include "bench/parts.hpp"

namespace tessera::bench {
namespace {

/// The baseline of a round trip depends on what the agent does between requests.
void observe_get(Session& session, const std::vector<Measured>& measured) {
  const bool blocks = session.job().settings().server == "block";
  const Measured* const baseline = find(measured, blocks ? "tcp blocking" : "tcp polling");
  if (session.is_leader() && baseline != nullptr) {
    session.targets().observe(blocks ? net_target::get_asleep : net_target::get_awake, "get 8",
                              ratio_of_medians(measured.back().samples_ns, baseline->samples_ns));
  }
}

void measure_transfers(Wire& wire, Operation operation, const std::string& title) {
  Topic topic{title, Case::contiguous(operation, 8).name()};
  for (const std::size_t bytes : {8U, 64U, 512U}) {
    const Case c = Case::contiguous(operation, bytes);
    std::vector<Candidate> candidates = wire.tcp_baselines(c);
    if (operation != Operation::accumulate) {
      add(candidates, wire.mpi_ping_pong(bytes));
    }
    add(candidates, wire.windows(c));
    add(candidates, wire.own().candidate(c));
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured = wire.measure(topic, "", size, size, candidates);
    if (operation == Operation::get && bytes == 8) {
      observe_get(wire.session(), measured);
    }
  }
}

/// The time of a call if the next one follows immediately: the target sends no replies.
void measure_unfenced_put(Wire& wire) {
  Topic topic{"Put Latency, locally complete", "put_here"};
  std::vector<Candidate> candidates;
  add(candidates,
      wire.own().candidate(Case::contiguous(Operation::put, 8).completing(Completes::here)));
  wire.measure(topic, "", 8, 8, candidates);
}

void measure_atomic(Wire& wire, Operation operation, const std::string& title) {
  const Case c = Case::contiguous(operation, 8);
  auto own = wire.own().candidate(c);
  if (!own) {
    wire.session().remark("no locks: " + wire.own().lock_problem().message());
    return;
  }
  std::vector<Candidate> candidates = wire.tcp_baselines(c);
  add(candidates, wire.windows(c));
  add(candidates, std::move(own));
  Topic topic{title, c.name()};
  wire.measure(topic, "", 8, 8, candidates);
}

/// What the network takes for a message there and back, without any library.
void measure_round_trips(Wire& wire) {
  Topic topic{"Round Trip Latency of Bare Messages", "ping_pong"};
  for (const std::size_t bytes : {8U, 64U, 512U}) {
    std::vector<Candidate> candidates;
    add(candidates, wire.mpi_ping_pong(bytes));
    for (const Waiting waiting : {Waiting::blocking, Waiting::polling}) {
      TcpBaseline* const tcp = wire.tcp(waiting);
      add(candidates, tcp != nullptr ? tcp->ping_pong(bytes) : std::nullopt);
    }
    if (!candidates.empty()) {
      const auto size = static_cast<std::int64_t>(bytes);
      wire.measure(topic, "", size, size, candidates);
    }
  }
}

}  // namespace

void measure_net_latency(Session& session) {
  Wire wire(session);
  measure_transfers(wire, Operation::get, "Get Latency");
  measure_transfers(wire, Operation::put, "Put and Fence Latency");
  measure_unfenced_put(wire);
  measure_transfers(wire, Operation::accumulate, "Accumulate and Fence Latency");
  measure_atomic(wire, Operation::fetch_add, "Fetch-and-Add Latency");
  measure_atomic(wire, Operation::swap, "Swap Latency");
  measure_atomic(wire, Operation::compare_swap, "Compare-and-Swap Latency");
  measure_atomic(wire, Operation::lock_unlock, "Lock and Unlock Latency");
  measure_round_trips(wire);
}

void measure_net_rate(Session& session) {
  constexpr std::int64_t messages = 64;  // as OSU's window
  Wire wire(session);
  for (const Operation operation : {Operation::put, Operation::get}) {
    const std::string name = Case::contiguous(operation, 8).name();
    Topic topic{fmt::format("{} {}s Outstanding Latency", messages, name), name + "_rate"};
    for (const std::size_t bytes : {8U, 64U, 512U}) {
      std::vector<Candidate> candidates = wire.tcp_streams(operation, bytes, messages);
      if (operation == Operation::put) {
        add(candidates, wire.mpi_stream(bytes, messages));
      }
      add(candidates, wire.own().stream(operation, bytes, messages));
      const auto size = static_cast<std::int64_t>(bytes);
      const auto measured = wire.measure(topic, fmt::format("{} x {} B", messages, bytes),
                                         size * messages, size, candidates);
      std::string rates;
      for (const Measured& one : measured) {
        constexpr double us_per_ns = 1e-3;
        rates += fmt::format(" {} {:.3f},", session.shown(one.name),
                             static_cast<double>(messages) / (one.stats_ns.median * us_per_ns));
      }
      rates.pop_back();
      session.remark(fmt::format("{}: million messages a second:{}", size, rates));
    }
  }
}

}  // namespace tessera::bench
