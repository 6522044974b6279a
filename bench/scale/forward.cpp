// SPDX-License-Identifier: BSD-3-Clause
//
// Latency and bandwidth of requests that an agent forwards ([CLUSTERED10], figures 6 and 7).
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/rma/own_side.hpp"
#include "bench/scale/parts.hpp"
#include "rma/agent_memory.hpp"

namespace tessera::bench {
namespace {

/// A rank whose agent rank 0 contacts directly, and one of the same cluster to which that agent
/// forwards requests.
struct DirectAndForwarded {
  std::int32_t direct = -1;
  std::int32_t forwarded = -1;
};

std::optional<DirectAndForwarded> choose(const rma::Job& job) {
  for (std::int32_t rank = 1; rank < job.size(); ++rank) {
    const rma::WorldRank target{rank};
    const rma::NodeId by = rma::agent_for(job, rma::WorldRank{0}, target);
    for (std::int32_t other = 1; other < job.size() && by != job.node_of(target); ++other) {
      if (job.node_of(rma::WorldRank{other}) == by) {
        return DirectAndForwarded{other, rank};
      }
    }
  }
  return std::nullopt;
}

Candidate named(std::optional<Candidate> candidate, const std::string& name) {
  candidate->name = name;
  return std::move(*candidate);
}

}  // namespace

void measure_scale_forward(Session& session) {
  const auto ranks = choose(session.job());
  if (!ranks) {
    session.remark(
        "scale.forward: skipped, because no request of rank 0 is forwarded; use "
        "TESSERA_TUNE=server_cluster=2 TESSERA_RANKS_PER_NODE=1 tessera-run -n 4");
    return;
  }
  constexpr std::int64_t most = 1 << 20;
  const BaselineOptions options{.capacity_bytes = most};
  TesseraCandidate direct(session.job(), options, rma::TeamRank{ranks->direct});
  TesseraCandidate forwarded(session.job(), options, rma::TeamRank{ranks->forwarded});
  const std::string replies = session.job().settings().server_replies;
  for (const Operation operation : {Operation::get, Operation::put}) {
    const std::string name = operation == Operation::get ? "get" : "put";
    Table table =
        session.table(operation == Operation::get ? "Get Latency, replies " + replies
                                                  : "Put and Fence Latency, replies " + replies,
                      1, Quantity::latency);
    for (std::int64_t bytes = 8; bytes <= most; bytes *= 8) {
      const Case c = Case::contiguous(operation, static_cast<std::size_t>(bytes));
      const std::vector<Candidate> candidates{named(direct.candidate(c), "direct"),
                                              named(forwarded.candidate(c), "forwarded")};
      session.measure(table, {"scale", name + "_forwarded", "", bytes}, bytes, candidates);
    }
  }
  Table hop = session.table("Get Latency, for the Time of a Hop", 0, Quantity::latency);
  const Case word = Case::contiguous(Operation::get, sizeof(std::int64_t));
  const auto measured = session.measure(
      hop, {"scale", "hop", "", 8}, 8,
      {named(direct.candidate(word), "direct"), named(forwarded.candidate(word), "forwarded")});
  if (session.is_leader()) {
    const double one = measured[0].stats_ns.median;
    const double two = measured[1].stats_ns.median;
    session.remark(fmt::format(
        "a forwarded get takes {:.2f} times as long as a direct one: {:.2f} half round trips more",
        two / one, (two - one) / (one / 2)));
  }
}

}  // namespace tessera::bench
