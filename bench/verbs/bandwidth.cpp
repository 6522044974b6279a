// SPDX-License-Identifier: BSD-3-Clause
//
// Large puts and gets with both kinds of memory. A put is locally complete when the device reports
// that the other end has the data; the bare loop waits for the same event.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/verbs/parts.hpp"

namespace tessera::bench {
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

}  // namespace tessera::bench
