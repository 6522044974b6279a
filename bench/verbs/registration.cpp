// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of registering memory: puts from memory that is always registered, from memory used
// before, and from memory that is mapped for each put. The clock does not count the mapping.
#include <utility>
#include <vector>

#include "bench/support/clock.hpp"
#include "bench/verbs/parts.hpp"

namespace tessera::bench {

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
