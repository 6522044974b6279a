// SPDX-License-Identifier: BSD-3-Clause
//
// Kinds of local memory ([ARMCIMPI12], figure 5): memory of the library, a slice of a region, the
// user's memory used before, and memory mapped for each transfer. The clock does not count the
// mapping. They are compared with MPI's calls with memory of MPI and of the user.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/mpi/parts.hpp"
#include "bench/mpi/windows.hpp"
#include "bench/rma/tessera_candidate.hpp"
#include "bench/support/clock.hpp"

namespace tessera::bench {
namespace {

/// Tessera's side and MPI's with each kind of local memory.
class Buffers {
 public:
  /// Collective.
  explicit Buffers(Session& session)
      : session_(session),
        ordinary_(session.job(), session.baseline_options(), target, LocalMemory::ordinary),
        slice_(session.job(), session.baseline_options(), target, LocalMemory::slice),
        allocated_(session.job(), session.baseline_options(), target, LocalMemory::allocated) {
    for (const bool is_mpis : {false, true}) {
      BaselineOptions options = session.baseline_options();
      options.local_is_mpis = is_mpis;
      std::string missing;
      auto baseline = session.compares_with(Peer::mpi)
                          ? make_mpi_baseline(session.group(), options, missing)
                          : nullptr;
      if (baseline == nullptr) {
        session.remark("missing: " + missing);
        return;
      }
      baselines_.push_back(std::move(baseline));
    }
  }

  void measure(Topic& topic, Operation operation, std::size_t bytes) {
    const Case c = Case::contiguous(operation, bytes).completing(Completes::here);
    PausableClock clock;
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < baselines_.size(); ++i) {
      candidates.push_back(renamed(*baselines_[i]->candidate(c), i == 0 ? "mpi" : "mpi alloc_mem"));
    }
    candidates.push_back(renamed(*ordinary_.candidate(c), "ordinary memory"));
    candidates.push_back(
        renamed(*ordinary_.with_new_memory(operation, bytes, clock), "newly mapped"));
    candidates.push_back(renamed(*slice_.candidate(c), "own slice"));
    candidates.push_back(renamed(*allocated_.candidate(c), "allocate_local"));
    const auto size = static_cast<std::int64_t>(bytes);
    MeasureOptions options = session_.options().measure_options();
    options.clock = clock.clock();
    measure_line(session_, topic, {"mpi", topic.op, "", size}, size, candidates, options);
  }

 private:
  static constexpr rma::TeamRank target{1};

  Session& session_;
  TesseraCandidate ordinary_;
  TesseraCandidate slice_;
  TesseraCandidate allocated_;
  std::vector<std::unique_ptr<Baseline>>
      baselines_;  ///< of MPI: with the user's memory, and with MPI's
};

}  // namespace

void measure_windows_buffers(Session& session) {
  Buffers buffers(session);
  for (const Operation operation : {Operation::get, Operation::put}) {
    const bool gets = operation == Operation::get;
    Topic topic{std::string(gets ? "Get" : "Put, locally complete,") + " Bandwidth by Local Memory",
                gets ? "get_by_memory" : "put_by_memory", Quantity::bandwidth};
    for (const std::size_t bytes : large_sizes(session)) {
      buffers.measure(topic, operation, bytes);
    }
  }
}

}  // namespace tessera::bench
