// SPDX-License-Identifier: BSD-3-Clause
//
// Small puts and gets, one after the other, from memory of Job::allocate_local.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/verbs/parts.hpp"

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

}  // namespace tessera::bench
