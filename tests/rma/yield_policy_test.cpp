// SPDX-License-Identifier: BSD-3-Clause
//
// The yield phase of a wait, and how a waiter finds out that its processor is oversubscribed.
#include "rma/progress/waiter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/checks.hpp"
#include "tests/support/one_processor.hpp"

namespace tessera::rma::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr OversubscriptionDetector::Limits limits{.min_backoff = milliseconds(2),
                                                  .max_backoff = milliseconds(7),
                                                  .reset_after = milliseconds(100)};
constexpr YieldPolicy for_long{.budget = seconds(20),
                               .between_yields = std::chrono::nanoseconds(300)};

// Runs `body` on a new thread, whose record of oversubscription is empty.
template <class Body>
void on_new_thread(Body body) {
  std::thread(body).join();
}

TEST(OversubscriptionDetector, IsNotReportedBeforeALoss) {
  const OversubscriptionDetector detector(limits);
  EXPECT_FALSE(detector.is_oversubscribed(OversubscriptionDetector::Clock::now()));
}

TEST(OversubscriptionDetector, IsRememberedTwiceAsLongAtEachLossUpToALimit) {
  OversubscriptionDetector detector(limits);
  auto now = OversubscriptionDetector::Clock::now();
  for (const int length : {2, 4, 7, 7}) {
    detector.record_lost_slice(now);
    EXPECT_TRUE(
        detector.is_oversubscribed(now + milliseconds(length) - std::chrono::nanoseconds(1)))
        << length;
    now += milliseconds(length);
    EXPECT_FALSE(detector.is_oversubscribed(now)) << length;
    now += limits.reset_after;
  }
}

TEST(OversubscriptionDetector, IsForgottenWhenNothingWasLostForLong) {
  OversubscriptionDetector detector(limits);
  auto now = OversubscriptionDetector::Clock::now();
  detector.record_lost_slice(now);
  detector.record_lost_slice(now);
  now += milliseconds(4) + limits.reset_after + std::chrono::nanoseconds(1);
  detector.record_lost_slice(now);
  EXPECT_FALSE(detector.is_oversubscribed(now + milliseconds(2)));
}

TEST(YieldPolicy, ChecksOnceWithoutABudget) {
  int checks = 0;
  const auto check = [&] { return ++checks > 0; };
  EXPECT_TRUE(yield_until({}, check));
  EXPECT_EQ(checks, 1);
  EXPECT_FALSE(yield_until({}, [] { return false; }));
}

TEST(YieldPolicy, EndsWithItsBudget) {
  const YieldPolicy short_policy{.budget = milliseconds(3),
                                 .between_yields = std::chrono::nanoseconds(300)};
  const auto start = OversubscriptionDetector::Clock::now();
  on_new_thread([&] { EXPECT_FALSE(yield_until(short_policy, [] { return false; })); });
  EXPECT_GE(OversubscriptionDetector::Clock::now() - start, short_policy.budget);
}

TEST(YieldPolicy, LetsThreadsOfItsProcessorCompleteTheWait) {
  on_new_thread([] {
    const tessera::test::OnOneProcessor one;
    std::atomic<bool> has_arrived{false};
    std::thread other([&] { has_arrived = true; });
    EXPECT_TRUE(yield_until(for_long, [&] { return has_arrived.load(); }));
    other.join();
  });
}

// The other thread sets the value and continues to compute, so the waiter sees it only after a time
// slice.
TEST(YieldPolicy, IsFollowedBySleepIfOthersComputeOnItsProcessor) {
  on_new_thread([] {
    const tessera::test::OnOneProcessor one;
    std::atomic<int> requested{0};
    std::atomic<int> delivered{0};
    std::atomic<bool> is_over{false};
    std::thread other([&] {
      while (!is_over) {
        delivered = requested.load();
      }
    });
    const auto is_oversubscribed = [&] {
      const int next = ++requested;
      EXPECT_TRUE(yield_until(for_long, [&] { return delivered == next; }));
      return OversubscriptionDetector::for_this_thread().is_oversubscribed(
          OversubscriptionDetector::Clock::now());
    };
    EXPECT_TRUE(test::eventually(is_oversubscribed));
    is_over = true;
    other.join();
  });
}

TEST(YieldPolicy, ChecksOnceWhileItsProcessorIsOversubscribed) {
  on_new_thread([] {
    const auto was_always_oversubscribed = [] {
      OversubscriptionDetector::for_this_thread().record_lost_slice(
          OversubscriptionDetector::Clock::now());
      int checks = 0;
      const bool has_arrived = yield_until(for_long, [&] { return ++checks > 1; });
      if (!OversubscriptionDetector::for_this_thread().is_oversubscribed(
              OversubscriptionDetector::Clock::now())) {
        return false;
      }
      EXPECT_FALSE(has_arrived);
      EXPECT_EQ(checks, 1);
      return true;
    };
    EXPECT_TRUE(test::eventually(was_always_oversubscribed));
  });
}

}  // namespace
}  // namespace tessera::rma::detail
