// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives, compared with MPI's. The time is that of the slowest rank.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/baselines/mpi_collectives.hpp"
#include "bench/parts.hpp"
#include "rma/team.hpp"

namespace tessera::bench {
namespace {

using Kind = Collective::Kind;

Candidate own_collective(rma::Job& job, const Collective& collective) {
  Candidate candidate;
  candidate.name = "tessera";
  candidate.cooperative = true;
  candidate.bytes = collective.bytes;
  const auto buffers =
      std::make_shared<CollectiveBuffers>(collective, job.rank().value, job.size());
  candidate.run = [&job, buffers, kind = collective.kind](std::int64_t repetitions) {
    rma::Team& team = job.world();
    const std::span<double> numbers = buffers->own();
    const std::span<std::byte> bytes = std::as_writable_bytes(numbers);
    const std::span<std::byte> gathered = std::as_writable_bytes(buffers->all());
    for (std::int64_t i = 0; i < repetitions; ++i) {
      switch (kind) {
        case Kind::barrier:
          rma::require(team.barrier());
          break;
        case Kind::broadcast:
          rma::require(team.broadcast(bytes, rma::TeamRank{0}));
          break;
        case Kind::allreduce:
          rma::require(team.allreduce(numbers, rma::Reduction::sum));
          break;
        case Kind::reduce:
          rma::require(team.reduce(numbers.data(), std::ssize(numbers), rma::ElementType::f64,
                                   rma::Reduction::sum, rma::TeamRank{0}));
          break;
        case Kind::allgather:
          rma::require(team.allgather(bytes, gathered));
          break;
      }
    }
  };
  candidate.verify = [buffers, gathers = collective.kind == Kind::allgather, run = candidate.run] {
    buffers->fill();
    run(1);
    return buffers->problem(gathers ? buffers->all() : buffers->own());
  };
  return candidate;
}

/// The names of a collective in the records, and in its table.
struct Name {
  std::string bench;
  std::string title;
  std::string op;
};

void measure(Session& session, const Name& name, Kind kind, const std::vector<std::size_t>& sizes) {
  std::optional<Table> table;
  for (const std::size_t bytes : sizes) {
    const Collective collective{kind, bytes};
    std::vector<Candidate> candidates;
    if (session.compares_with(Peer::mpi)) {
      add(candidates, mpi_collective_candidate(session.group(), collective));
    }
    candidates.push_back(own_collective(session.job(), collective));
    if (!table) {
      table.emplace(session.table(name.title, candidates.size() - 1));
    }
    const auto size = static_cast<std::int64_t>(bytes);
    session.measure(*table, {name.bench, name.op, "", size}, size, candidates,
                    together(session.options().measure_options()));
  }
}

}  // namespace

void measure_collectives(Session& session, const std::string& bench) {
  measure(session, {bench, "Barrier Latency", "barrier"}, Kind::barrier, {0});
  measure(session, {bench, "Broadcast Latency", "broadcast"}, Kind::broadcast,
          {8, 1024, 65536, 1U << 20});
  measure(session, {bench, "Allreduce Latency", "allreduce"}, Kind::allreduce,
          {8, 1024, 65536, 1U << 20});
  measure(session, {bench, "Reduce Latency", "reduce"}, Kind::reduce, {8, 1024, 65536, 1U << 20});
  measure(session, {bench, "Allgather Latency", "allgather"}, Kind::allgather,
          {8, 1024, 65536, 1U << 20});
}

}  // namespace tessera::bench
