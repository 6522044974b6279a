// SPDX-License-Identifier: BSD-3-Clause
//
// Contiguous transfers, compared with the MPI calls that the transport makes ([ARMCIMPI12], figure
// 3). Local completion is compared with MPI_Win_flush_local, a fence with MPI_Win_flush.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/mpi/parts.hpp"
#include "bench/mpi/windows.hpp"
#include "bench/rma/tessera_candidate.hpp"

namespace tessera::bench {
namespace {

struct Kind {
  Operation operation;
  Completes completes;
  const char* title;
  const char* op;  ///< in the records
  const char* target;
};

constexpr std::array kinds = {
    Kind{Operation::put, Completes::here, "Put, locally complete,", "put_here",
         windows_target::put},
    Kind{Operation::put, Completes::at_target, "Put and Fence", "put", windows_target::put},
    Kind{Operation::get, Completes::at_target, "Get", "get", windows_target::get},
    Kind{Operation::accumulate, Completes::here, "Accumulate, locally complete,", "accumulate_here",
         windows_target::accumulate},
    Kind{Operation::accumulate, Completes::at_target, "Accumulate and Fence", "accumulate",
         windows_target::accumulate},
};

/// Whether -s includes this kind. A get is complete in any case.
bool is_requested(const Session& session, const Kind& kind) {
  return kind.operation == Operation::get ||
         session.options().completes(kind.completes) == kind.completes;
}

void measure_size(Session& session, TesseraCandidate& own, Topic& topic, const Kind& kind,
                  std::int64_t size) {
  constexpr std::int64_t largest_judged = 64 << 10;
  const Case c =
      Case::contiguous(kind.operation, static_cast<std::size_t>(size)).completing(kind.completes);
  std::vector<Candidate> candidates = library_candidates(session, c);
  add(candidates, own.candidate(c));
  const auto measured = measure_on_windows(session, topic, c, size, candidates);
  const std::string where = fmt::format("{} {}", kind.op, size);
  constexpr auto time = Target::Sense::time_at_most;
  if (size <= largest_judged) {
    observe_on_windows(session, kind.target, time, where, measured, "mpi");
  }
  observe_on_windows(session, windows_target::contiguous, time, where, measured, "armci-mpi");
}

}  // namespace

void measure_windows_contiguous(Session& session) {
  constexpr std::int64_t large = 4096;
  TesseraCandidate own(session.job(), session.baseline_options());
  for (const Kind& kind : kinds) {
    if (!is_requested(session, kind)) {
      continue;
    }
    // Small sizes as times, then the large ones as rates: OSU has a program for each.
    for (const Quantity quantity : {Quantity::latency, Quantity::bandwidth}) {
      Topic topic{
          fmt::format("{} {}", kind.title, quantity == Quantity::latency ? "Latency" : "Bandwidth"),
          kind.op, quantity};
      for (const std::int64_t size : session.options().sizes()) {
        const bool whole = kind.operation != Operation::accumulate || size % 8 == 0;
        if (whole && (size >= large) == (quantity == Quantity::bandwidth)) {
          measure_size(session, own, topic, kind, size);
        }
      }
    }
  }
}

}  // namespace tessera::bench
