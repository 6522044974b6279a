// SPDX-License-Identifier: BSD-3-Clause
//
// Segments by the methods of the transport ([ARMCIMPI12], figure 4): each call complete before the
// next, all calls and one flush, MPI's datatypes, and the library's choice. They are compared with
// MPI's datatypes made in advance, and with ARMCI-MPI in its default configuration.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/mpi/parts.hpp"
#include "bench/mpi/windows.hpp"
#include "bench/rma/own_side.hpp"
#include "bench/support/job_beside.hpp"
#include "rma/job.hpp"

namespace tessera::bench {
namespace {

/// Values of mpi_vectors and mpi_strides in TESSERA_TUNE.
struct ListMethod {
  std::string_view name;
  const char* vectors;
  const char* strides;
};

constexpr std::string_view conservative = "conservative";
// The last is the subject of the tables.
constexpr std::array<ListMethod, 4> methods = {{
    {conservative, "conservative", "vectors"},
    {"batched", "batched", "vectors"},
    {"direct", "direct", "direct"},
    {"auto", "auto", "auto"},
}};

/// A job with one method, and Tessera's side of a case in it.
class MethodSide {
 public:
  /// Collective.
  MethodSide(Session& session, const ListMethod& method)
      : name_(method.name),
        job_(start(session.job(), method)),
        own_(job_, session.baseline_options()) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Candidate candidate(const Case& c) { return renamed(*own_.candidate(c), name_); }

 private:
  static rma::Job start(rma::Job& first, const ListMethod& method) {
    rma::Settings settings = first.settings();
    settings.mpi_vectors = method.vectors;
    settings.mpi_strides = method.strides;
    return start_job_on_same_ranks(first, settings);
  }

  std::string name_;
  rma::Job job_;
  TesseraCandidate own_;
};

using Partition = std::vector<std::unique_ptr<MethodSide>>;

/// For rows, only one method makes a call for each.
bool supports(const MethodSide& side, Layout layout) {
  return layout == Layout::vector || side.name() != conservative;
}

void measure_segments(Session& session, Partition& sides, Layout layout, Operation operation,
                      std::size_t bytes) {
  constexpr std::array<std::int64_t, 6> counts = {1, 4, 16, 64, 256, 1024};
  constexpr std::int64_t fewest_judged = 64;
  const bool is_list = layout == Layout::vector;
  const auto make = is_list ? &Case::vector : &Case::strided;
  const std::string op = make(operation, bytes, 2).name();
  Topic topic{fmt::format("{}, Segments of {} B, Latency", op, bytes), op, Quantity::latency,
              "Segments"};
  for (const std::int64_t count : counts) {
    const Case c = session.with_requested_completion(make(operation, bytes, count));
    std::vector<Candidate> candidates = library_candidates(session, c);
    for (const auto& side : sides) {
      if (supports(*side, layout)) {
        candidates.push_back(side->candidate(c));
      }
    }
    const auto measured = measure_on_windows(session, topic, c, count, candidates);
    if (count >= fewest_judged) {
      observe_on_windows(session, is_list ? windows_target::lists : windows_target::rows,
                         Target::Sense::speed_at_least, fmt::format("{} {}", op, c.shape()),
                         measured, "armci-mpi");
    }
  }
}

}  // namespace

void measure_windows_lists(Session& session) {
  Partition sides;
  for (const ListMethod& method : methods) {
    sides.push_back(std::make_unique<MethodSide>(session, method));
    session.remark(fmt::format("{}: TESSERA_TUNE=mpi_vectors={},mpi_strides={}", method.name,
                               method.vectors, method.strides));
  }
  for (const Layout layout : {Layout::vector, Layout::strided}) {
    for (const Operation operation : {Operation::get, Operation::put, Operation::accumulate}) {
      for (const std::size_t bytes : {16U, 1024U}) {
        measure_segments(session, sides, layout, operation, bytes);
      }
    }
  }
}

}  // namespace tessera::bench
