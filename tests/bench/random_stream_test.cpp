// SPDX-License-Identifier: BSD-3-Clause
//
// The numbers of HPC Challenge's RandomAccess: one after the other, and from any position on.
#include "bench/apps/gups_updates.hpp"

#include <gtest/gtest.h>

namespace tessera::bench {
namespace {

TEST(RandomStream, ShiftsAndAddsThePolynomial) {
  RandomStream stream(0);
  for (unsigned bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(stream.next(), std::uint64_t{1} << bit);
  }
  EXPECT_EQ(stream.next(), 7U) << "what was shifted out is x² + x + 1";
}

TEST(RandomStream, BeginsAnywhere) {
  RandomStream from_start(0);
  for (std::int64_t position = 0; position < 1000; ++position) {
    EXPECT_EQ(RandomStream(position).next(), from_start.next()) << position;
  }
}

TEST(RandomStream, JumpsFar) {
  // Jumps add up: 2^40 + 5 is five steps after 2^40.
  constexpr std::int64_t far = std::int64_t{1} << 40;
  RandomStream stream(far);
  for (std::int64_t step = 0; step < 5; ++step) {
    (void)stream.next();
  }
  EXPECT_EQ(stream.next(), RandomStream(far + 5).next());
}

TEST(RandomStream, ComesBackAfterItsPeriod) {
  constexpr std::int64_t period = 1317624576693539401;
  EXPECT_EQ(RandomStream(period).next(), RandomStream(0).next());
}

}  // namespace
}  // namespace tessera::bench
