// SPDX-License-Identifier: BSD-3-Clause
//
// Patches of larger local arrays: rows with gaps at this end, packed at the other one. Each way
// that direct_row (TESSERA_TUNE) chooses is compared with the same rows without gaps. Each way has
// its own job, as in protocols.cpp.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/net/parts.hpp"
#include "bench/net/wire.hpp"
#include "bench/rma/own_side.hpp"
#include "bench/support/job_beside.hpp"
#include "bench/verbs/parts.hpp"
#include "rma/job.hpp"

namespace tessera::bench {
namespace {

constexpr std::int64_t max_columns = 8192;
constexpr std::int64_t max_row = 512;  // doubles
constexpr std::int64_t above_all_rows = 1 << 30;

/// Measures candidates in one line of a topic.
using MeasureLine = std::function<std::vector<Measured>(Topic& topic, const Case& c, std::int64_t n,
                                                        const std::vector<Candidate>& candidates)>;

BaselineOptions options_of(const Session& session) {
  BaselineOptions options = net_options(session);
  const Case largest = Case::local_patch(Operation::put, max_row, max_columns);
  options.capacity_bytes = std::max(options.capacity_bytes, largest.local_span());
  return options;
}

rma::Job start_with(rma::Job& first, std::int64_t direct_row) {
  rma::Settings settings = first.settings();
  settings.direct_row = direct_row;
  return start_job_on_same_ranks(first, settings);
}

class LocalPatches {
 public:
  /// Collective.
  explicit LocalPatches(Session& session)
      : session_(session),
        packed_job_(start_with(session.job(), above_all_rows)),
        direct_job_(start_with(session.job(), 1)),
        packed_(packed_job_, options_of(session)),
        direct_(direct_job_, options_of(session)),
        own_(session.job(), options_of(session)) {}

  void measure(const MeasureLine& measure_line, const char* target) {
    for (const Operation operation : {Operation::put, Operation::get}) {
      for (const std::int64_t columns : {std::int64_t{1024}, max_columns}) {
        measure_columns(operation, columns, measure_line, target);
      }
    }
  }

 private:
  void measure_columns(Operation operation, std::int64_t columns, const MeasureLine& measure_line,
                       const char* target) {
    Topic topic{fmt::format("{} n x n Doubles of a Local {} x {} Bandwidth",
                            operation == Operation::put ? "Put" : "Get", columns, columns),
                fmt::format("{}_local_{}", Case::contiguous(operation, 8).name(), columns),
                Quantity::bandwidth, "n"};
    for (const std::int64_t n : {std::int64_t{128}, max_row}) {
      const Case c = Case::local_patch(operation, n, columns);
      const std::vector<Candidate> candidates = {
          renamed(*own_.candidate(Case::local_patch(operation, n, n + 2)), "dense rows"),
          renamed(*packed_.candidate(c), "packed"), renamed(*direct_.candidate(c), "direct"),
          renamed(*own_.candidate(c), "default")};
      const auto measured = measure_line(topic, c, n, candidates);
      if (session_.is_leader() && target != nullptr) {
        session_.targets().observe(
            target, fmt::format("{} of {} columns", c.name(), columns),
            ratio_of_medians(find(measured, "dense rows")->samples_ns, measured.back().samples_ns));
      }
    }
  }

  Session& session_;
  rma::Job packed_job_;
  rma::Job direct_job_;
  TesseraCandidate packed_;
  TesseraCandidate direct_;
  TesseraCandidate own_;
};

}  // namespace

void measure_net_local_patches(Session& session) {
  Wire wire(session);
  LocalPatches(session).measure(
      [&](Topic& topic, const Case& c, std::int64_t n, const std::vector<Candidate>& candidates) {
        return wire.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), n, candidates);
      },
      nullptr);
}

void measure_verbs_local_patches(VerbsPair& pair) {
  LocalPatches(pair.session())
      .measure(
          [&](Topic& topic, const Case& c, std::int64_t n,
              const std::vector<Candidate>& candidates) {
            return pair.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()), n,
                                candidates);
          },
          verbs_target::local_patches);
}

}  // namespace tessera::bench
