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

// Compare-and-swap as all candidates do it: each counts one word up. So all except the first of a
// batch find the expected value, and store.

/// `once(expected, desired)` returns the old value; `verifies` says whether this rank checks it.
template <class Once>
Candidate compare_swap_candidate(std::string name, bool verifies, Once once) {
  Candidate candidate;
  candidate.name = std::move(name);
  candidate.bytes = sizeof(std::int64_t);
  candidate.run = [once](std::int64_t repetitions) {
    std::int64_t expected = 0;
    for (std::int64_t i = 0; i < repetitions; ++i) {
      const std::int64_t before = once(expected, expected + 1);
      expected = before == expected ? expected + 1 : before;
    }
  };
  if (verifies) {
    candidate.verify = [once]() -> std::string {
      const std::int64_t start = once(0, 0);
      once(start + 1, start + 2);  // not the expected value, so nothing is stored
      once(start, start + 5);
      const std::int64_t end = once(start + 5, start);
      return end == start + 5 ? ""
                              : fmt::format("exchanging {} for {} gave {}", start, start + 5, end);
    };
  }
  return candidate;
}

}  // namespace tessera::bench
