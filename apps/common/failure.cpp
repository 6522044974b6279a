// SPDX-License-Identifier: BSD-3-Clause
#include "apps/common/failure.hpp"

#include <chrono>
#include <thread>

#include "apps/common/output.hpp"

namespace tessera::apps {
namespace {

using rma::Job;
using rma::WorldRank;

// All ranks have the error of a collective, unless a rank is lost.
bool is_known_to_all(const rma::Status& status) {
  return status.code() != rma::Code::peer_lost && status.code() != rma::Code::closed &&
         status.code() != rma::Code::timed_out;
}

// Rank 0 prints while the other ranks are present. A rank on another node that left early would be
// reported as lost, and the next rank would print again.
void print_collectively(std::string_view program, const Job& job, const rma::Status& status) {
  if (job.rank().value == 0) {
    print_error(program, status.message());
  }
  job.world().barrier().ignore("the program ends in any case");
}

// Whether a rank died or left; also if only `status` reports it and the node has not noticed it
// yet.
bool has_left(const Job& job, const rma::Status& status, WorldRank rank) {
  return (status.code() == rma::Code::peer_lost && status.rank() == rank) || !job.is_present(rank);
}

bool is_lowest_present(const Job& job, const rma::Status& status) {
  for (WorldRank rank{0}; rank != job.rank(); ++rank.value) {
    if (!has_left(job, status, rank)) {
      return false;
    }
  }
  return true;
}

bool is_last_present(const Job& job) {
  for (WorldRank rank{0}; rank.value < job.size(); ++rank.value) {
    if (rank != job.rank() && job.shares_node(rank) && job.is_present(rank)) {
      return false;
    }
  }
  return true;
}

// The other ranks notice a loss within two liveness checks, or not at all.
void wait_for_other_ranks(const Job& job) {
  constexpr std::chrono::milliseconds pause{2};
  const auto limit =
      std::chrono::steady_clock::now() + 2 * std::chrono::milliseconds(job.settings().liveness_ms);
  while (!is_last_present(job) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

void print_failure(std::string_view program, const Job& job, const rma::Status& status) {
  if (is_known_to_all(status)) {
    print_collectively(program, job, status);
    return;
  }
  const bool is_reporter = is_lowest_present(job, status);
  if (is_reporter || status.rank() == job.rank()) {
    print_error(program, status.message());
  }
  if (is_reporter) {
    wait_for_other_ranks(job);
  }
}

}  // namespace tessera::apps
