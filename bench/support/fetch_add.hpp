// SPDX-License-Identifier: BSD-3-Clause
//
// Fetch-and-add as all candidates do it: each adds one to a word, again and again.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/support/candidate.hpp"

namespace tessera::bench {

/// `add(increment)` returns the old value; `verifies` says whether this rank checks it.
template <class Add>
Candidate fetch_add_candidate(std::string name, bool verifies, Add add,
                              std::size_t bytes = sizeof(std::int64_t)) {
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.bytes = bytes;
  candidate.run = [add](std::int64_t repetitions) {
    for (std::int64_t i = 0; i < repetitions; ++i) {
      static_cast<void>(add(1));
    }
  };
  if (verifies) {
    candidate.verify = [add]() -> std::string {
      const std::int64_t before = add(2);
      const std::int64_t after = add(0);
      return after - before == 2 ? "" : fmt::format("adding 2 to {} gave {}", before, after);
    };
  }
  return candidate;
}

}  // namespace tessera::bench
