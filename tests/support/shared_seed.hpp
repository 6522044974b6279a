// SPDX-License-Identifier: BSD-3-Clause
//
// Seeds of tests on several ranks: one for the job, so that every rank can compute what the others
// do; printed after a failure.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "rma/job.hpp"
#include "tests/support/random_shape.hpp"

namespace tessera::rma::test {

/// Collective. The same seed at all ranks; failures during the object's lifetime print it.
class SharedSeed {
 public:
  explicit SharedSeed(Job& job)
      : value_(choose(job)),
        trace_(__FILE__, __LINE__, "--gtest_random_seed=" + std::to_string(value_)) {}

  /// The generator of a rank, or a generator common to all with number −1.
  [[nodiscard]] std::mt19937_64 generator(std::int32_t rank) const {
    std::seed_seq sequence{static_cast<std::uint32_t>(value_), static_cast<std::uint32_t>(rank)};
    return std::mt19937_64(sequence);
  }

 private:
  static std::uint64_t choose(Job& job) {
    std::uint64_t seed = choose_seed();
    require(job.world().broadcast_value(seed, TeamRank{0}));
    return seed;
  }
  std::uint64_t value_;
  testing::ScopedTrace trace_;
};

}  // namespace tessera::rma::test
