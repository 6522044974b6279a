// SPDX-License-Identifier: BSD-3-Clause
//
// Floating-point exceptions under a guard do not trap and leave no flags. Also tests a guard's
// cost.
#include "rma/base/floating_point_guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <limits>
#include <thread>

#include "rma/base/thread_without_signals.hpp"
#include "tests/support/floating_point_traps.hpp"

namespace tessera::rma {
namespace {

using test::FloatingPointTraps;

// Each operation runs twice: with SSE, and on the x87 unit, which has separate flags and masks.
template <class Real>
void raise_everything() {
  volatile Real zero = 0;
  volatile Real largest = std::numeric_limits<Real>::max();
  [[maybe_unused]] volatile Real result = 1 / zero;
  result = zero / zero;
  result = largest * largest;
}

void raise_everything_in_both() {
  raise_everything<double>();
  raise_everything<long double>();
}

TEST(FloatingPointGuard, KeepsTheTrapsOfTheThreadOff) {
  const FloatingPointTraps traps;
  {
    const FloatingPointGuard guard;
    EXPECT_EQ(fegetexcept(), 0);
    raise_everything_in_both();
  }
  EXPECT_EQ(fegetexcept(), FloatingPointTraps::trapped);
}

TEST(FloatingPointGuard, ForgetsWhatWasRaised) {
  std::feclearexcept(FE_ALL_EXCEPT);
  {
    const FloatingPointGuard guard;
    raise_everything_in_both();
  }
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
}

TEST(FloatingPointGuard, KeepsWhatHadBeenRaisedBefore) {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_UNDERFLOW);
  {
    const FloatingPointGuard guard;
    std::feclearexcept(FE_ALL_EXCEPT);
    raise_everything_in_both();
  }
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), FE_UNDERFLOW);
  std::feclearexcept(FE_ALL_EXCEPT);
}

TEST(FloatingPointGuard, RestoresTheRoundingMode) {
  std::fesetround(FE_UPWARD);
  {
    const FloatingPointGuard guard;
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    std::fesetround(FE_TOWARDZERO);
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

TEST(FloatingPointGuard, OfTheVectorUnitLeavesTheX87AsItIs) {
  const FloatingPointTraps traps;
  {
    const VectorUnitGuard guard;
    raise_everything<double>();
  }
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
  EXPECT_EQ(fegetexcept(), FloatingPointTraps::trapped);
}

TEST(FloatingPointGuard, Nests) {
  const FloatingPointTraps traps;
  {
    const FloatingPointGuard outer;
    {
      const FloatingPointGuard inner;
      raise_everything_in_both();
    }
    EXPECT_EQ(fegetexcept(), 0);
    raise_everything_in_both();
  }
  EXPECT_EQ(fegetexcept(), FloatingPointTraps::trapped);
}

// The library's own threads compute with numbers that other ranks send.
TEST(FloatingPointGuard, HoldsForThreadsOfTheLibrary) {
  const FloatingPointTraps traps;
  int trapped_there = -1;
  auto thread = detail::start_thread_with_signals_blocked([&] {
    trapped_there = fegetexcept();
    raise_everything_in_both();
  });
  ASSERT_TRUE(thread.ok());
  thread->join();
  EXPECT_EQ(trapped_there, 0);
  EXPECT_EQ(fegetexcept(), FloatingPointTraps::trapped);
}

// The best of many rounds, since the machine may be busy with other work.
template <class Guard>
double nanoseconds() {
  constexpr int guards = 1000;
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 200; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < guards; ++i) {
      const Guard guard;
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count() / guards);
  }
  return best;
}

// The x87 unit of a program with traps may take longer: its registers alone take 65 ns on Zen 4.
TEST(FloatingPointGuard, TakesAtMostFiftyNanoseconds) {
  EXPECT_LE(nanoseconds<FloatingPointGuard>(), 50);
  EXPECT_LE(nanoseconds<VectorUnitGuard>(), 50);
  const FloatingPointTraps traps;
  EXPECT_LE(nanoseconds<VectorUnitGuard>(), 50);
  EXPECT_LE(nanoseconds<FloatingPointGuard>(), 250);
}

}  // namespace
}  // namespace tessera::rma
