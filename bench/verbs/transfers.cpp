// SPDX-License-Identifier: BSD-3-Clause
//
// Small puts and gets, one after the other, from memory of Job::allocate_local.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/parts.hpp"
#include "bench/support/clock.hpp"
#include "bench/verbs/devices.hpp"

namespace tessera::bench {
namespace {

/// The baselines of a small operation, and Tessera.
struct Line {
  std::optional<Candidate> bare;
  std::optional<Candidate> own;
};

void measure_small(VerbsPair& pair, Topic topic, const std::function<Line(std::size_t)>& line_of) {
  Session& session = pair.session();
  for (const std::size_t bytes : requested(session, {8, 64, 256, 1024, 4096})) {
    const Line line = line_of(bytes);
    std::vector<Candidate> candidates;
    add(candidates, line.bare);
    add(candidates, line.own);
    const auto size = static_cast<std::int64_t>(bytes);
    const auto measured = pair.measure(topic, "", size, size, candidates);
    if (session.is_leader() && line.bare && bytes == sizeof(std::int64_t)) {
      session.targets().observe(
          verbs_target::word, fmt::format("{} {}", topic.op, bytes),
          ratio_of_medians(measured.back().samples_ns, measured.front().samples_ns));
    }
  }
}

}  // namespace

void measure_verbs_latency(VerbsPair& pair) {
  const auto of = [&pair](Operation operation) {
    return [&pair, operation](std::size_t bytes) {
      const Case c = Case::contiguous(operation, bytes).completing(Completes::here);
      return Line{pair.bare(c), pair.allocated().candidate(c)};
    };
  };
  measure_small(pair, {"Put Latency, locally complete", "put"}, of(Operation::put));
  measure_small(pair, {"Put and Fence Latency", "put_fence"}, [&pair](std::size_t bytes) {
    const Case c = Case::contiguous(Operation::put, bytes);
    return Line{pair.bare_put_and_read(bytes), pair.allocated().candidate(c)};
  });
  measure_small(pair, {"Get Latency", "get"}, of(Operation::get));
}

// Large puts and gets with both kinds of memory. A put is locally complete when the device reports
// that the other end has the data; the bare loop waits for the same event.

namespace {

/// Reports the speed of both kinds of memory / the bare loop's speed to the targets.
void observe(Session& session, const std::string& where, const std::vector<Measured>& measured) {
  const Measured* const bare = find(measured, "bare loop");
  if (!session.is_leader() || bare == nullptr) {
    return;
  }
  for (const char* const memory : {"ordinary memory", "allocate_local"}) {
    session.targets().observe(
        verbs_target::large, fmt::format("{}, {}", where, memory),
        ratio_of_medians(bare->samples_ns, find(measured, memory)->samples_ns));
  }
}

void measure_large(VerbsPair& pair, Operation operation, std::int64_t outstanding) {
  const std::string name = Case::contiguous(operation, 8).name();
  const bool is_one = outstanding == 1;
  Topic topic{fmt::format("{} Bandwidth, {}", operation == Operation::put ? "Put" : "Get",
                          is_one ? "one blocking" : fmt::format("{} outstanding", outstanding)),
              is_one ? name : name + "_stream", Quantity::bandwidth};
  for (const std::size_t bytes :
       requested(pair.session(), {64 << 10, 256 << 10, 1 << 20, 4 << 20})) {
    const auto ours = [=](TesseraCandidate& side) {
      return is_one ? side.candidate(Case::contiguous(operation, bytes).completing(Completes::here))
                    : side.stream(operation, bytes, outstanding, Completes::here);
    };
    std::vector<Candidate> candidates;
    add(candidates, pair.bare_stream(operation, bytes, outstanding));
    candidates.push_back(renamed(*ours(pair.ordinary()), "ordinary memory"));
    candidates.push_back(renamed(*ours(pair.allocated()), "allocate_local"));
    const auto size = static_cast<std::int64_t>(bytes);
    const std::string shape = is_one ? "" : fmt::format("{} x {} B", outstanding, bytes);
    const auto measured = pair.measure(topic, shape, size * outstanding, size, candidates);
    observe(pair.session(), fmt::format("{} {}", topic.op, bytes), measured);
  }
}

}  // namespace

void measure_verbs_bandwidth(VerbsPair& pair) {
  for (const Operation operation : {Operation::put, Operation::get}) {
    for (const std::int64_t outstanding : {1, 4}) {
      measure_large(pair, operation, outstanding);
    }
  }
}

// Rows, compared with the same bytes in one piece. This job's settings choose the protocol, so each
// protocol takes one launch ([ARMCI06], figure 18). Puts have a fence after them: packed rows are
// locally complete when they are copied.

namespace {

/// 256, or fewer if these would exceed 1 MiB.
std::int64_t rows_of(std::size_t row_bytes) {
  constexpr std::size_t most_rows = 256;
  constexpr std::size_t most_bytes = 1 << 20;
  return static_cast<std::int64_t>(std::min(most_rows, most_bytes / row_bytes));
}

void measure_rows(VerbsPair& pair, Operation operation, const std::string& title) {
  Topic topic{title, Case::strided(operation, 16, 2).name(), Quantity::bandwidth, "Row"};
  for (const std::size_t row_bytes : {16U, 64U, 256U, 512U, 1024U, 2048U, 4096U, 8192U}) {
    const Case c = Case::strided(operation, row_bytes, rows_of(row_bytes));
    const Case whole = Case::contiguous(operation, c.bytes());
    std::vector<Candidate> candidates;
    add(candidates,
        operation == Operation::put ? pair.bare_put_and_read(c.bytes()) : pair.bare(whole));
    candidates.push_back(renamed(*pair.allocated().candidate(whole), "contiguous"));
    candidates.push_back(renamed(*pair.allocated().candidate(c), "rows"));
    pair.measure(topic, c.shape(), static_cast<std::int64_t>(c.bytes()),
                 static_cast<std::int64_t>(row_bytes), candidates);
  }
}

}  // namespace

void measure_verbs_strided(VerbsPair& pair) {
  measure_rows(pair, Operation::get, "Get of Rows Bandwidth");
  measure_rows(pair, Operation::put, "Put and Fence of Rows Bandwidth");
}

// The cost of registering memory: puts from memory that is always registered, from memory used
// before, and from memory that is mapped for each put. The clock does not count the mapping.

void measure_verbs_registration(VerbsPair& pair) {
  Topic topic{"Put Latency by Memory", "put_registration"};
  for (const std::size_t bytes :
       requested(pair.session(), {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20})) {
    const Case c = Case::contiguous(Operation::put, bytes).completing(Completes::here);
    PausableClock clock;
    std::vector<Candidate> candidates;
    add(candidates, pair.bare(c));
    candidates.push_back(renamed(*pair.allocated().candidate(c), "allocate_local"));
    candidates.push_back(renamed(*pair.ordinary().candidate(c), "used before"));
    candidates.push_back(
        renamed(*pair.ordinary().with_new_memory(Operation::put, bytes, clock), "newly mapped"));
    const auto size = static_cast<std::int64_t>(bytes);
    pair.measure(topic, "", size, size, candidates, clock.clock());
  }
}

}  // namespace tessera::bench
