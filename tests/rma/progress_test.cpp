// SPDX-License-Identifier: BSD-3-Clause
//
// How threads wait: the phases of a Waiter, what it sleeps on, and the presets.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "rma/base/fd_passing.hpp"
#include "rma/progress/poller.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/tuning.hpp"
#include "tests/rma/node_rig.hpp"

namespace tessera::rma::detail {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Without a wake-up it sleeps for a minute, which is never taken for one.
constexpr WaitPolicy seldom_awake{
    .spin = nanoseconds(0), .min_progress_spin = nanoseconds(0), .liveness_interval = seconds(60)};
constexpr WaitPolicy often_awake{.spin = nanoseconds(0),
                                 .min_progress_spin = nanoseconds(0),
                                 .liveness_interval = milliseconds(1)};
constexpr seconds a_sleep{30};

// Counts sleeps instead of sleeping.
struct OnCounter {
  static constexpr bool is_step = false;
  int& sleeps;
  void prepare() const {}
  void sleep(nanoseconds /*elapsed*/, nanoseconds /*longest*/) const { ++sleeps; }
};

// Is woken again and again for others.
struct OnNoise {
  static constexpr bool is_step = false;
  void prepare() const {}
  void sleep(nanoseconds /*elapsed*/, nanoseconds /*longest*/) const {
    std::this_thread::sleep_for(microseconds(100));
  }
};

// An event that another thread causes some time after its creation.
class Later {
 public:
  template <class Act>
  explicit Later(Act act)
      : thread_([act] {
          std::this_thread::sleep_for(milliseconds(20));
          act();
        }) {}
  ~Later() { thread_.join(); }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;

 private:
  std::thread thread_;
};

class Event {
 public:
  [[nodiscard]] int descriptor() const { return file_.get(); }
  void signal() const {
    const std::uint64_t one = 1;
    EXPECT_EQ(write(file_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

 private:
  Descriptor file_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

class CountingDelegate final : public ProgressDelegate {
 public:
  void begin() noexcept override { ++scopes; }
  void advance() noexcept override { ++advances; }
  void end() noexcept override { --scopes; }
  void yield_progress() noexcept override { ++yields; }
  [[nodiscard]] nanoseconds max_sleep() const noexcept override { return longest; }
  [[nodiscard]] nanoseconds min_polling() const noexcept override { return polling; }

  int scopes = 0;
  int advances = 0;
  int yields = 0;
  nanoseconds longest = nanoseconds::max();
  nanoseconds polling{0};
};

Waiter::Clock::time_point after(nanoseconds time) {
  return Waiter::Clock::now() + time;
}

TEST(Waiter, AsksOnceIfTheEventHasOccurred) {
  int polls = 0;
  int sleeps = 0;
  const auto has_occurred = [&] { return ++polls > 0; };
  EXPECT_TRUE(Waiter(seldom_awake).spin(has_occurred));
  EXPECT_EQ(polls, 1);
  EXPECT_TRUE(Waiter(seldom_awake).sleep(OnCounter{sleeps}, has_occurred));
  EXPECT_EQ(polls, 2);
  EXPECT_EQ(sleeps, 0);
  // Also after the deadline.
  EXPECT_TRUE(
      Waiter(seldom_awake).until(after(-seconds(1))).sleep(OnCounter{sleeps}, has_occurred));
}

TEST(Waiter, SpinsForItsTimeAndThenYields) {
  const WaitPolicy policy{.spin = milliseconds(2),
                          .yield = {.budget = milliseconds(2), .between_yields = nanoseconds(0)}};
  std::thread([&] {  // its record of oversubscription is empty
    const auto start = Waiter::Clock::now();
    EXPECT_FALSE(Waiter(policy).spin([] { return false; }));
    EXPECT_GE(Waiter::Clock::now() - start, policy.spin + policy.yield.budget);
  })
      .join();
}

TEST(Waiter, IsWokenByAChangeOfItsWord) {
  FutexWord word{0};
  const auto start = Waiter::Clock::now();
  const Later change([&] {
    word.store(1);
    futex_wake_all(word);
  });
  EXPECT_TRUE(Waiter(seldom_awake).sleep(OnWord(word), [&] { return word.load() == 1; }));
  EXPECT_LT(Waiter::Clock::now() - start, a_sleep);
}

TEST(Waiter, DoesNotSleepIfItsWordChangesAfterThePoll) {
  FutexWord word{0};
  int polls = 0;
  const auto start = Waiter::Clock::now();
  EXPECT_TRUE(Waiter(seldom_awake).sleep(OnWord(word), [&] {
    word.fetch_add(1);  // as another thread might after the poll
    return ++polls == 3;
  }));
  EXPECT_LT(Waiter::Clock::now() - start, a_sleep);
}

TEST(Waiter, IsWokenByADescriptor) {
  const Event event;
  const auto start = Waiter::Clock::now();
  const Later arrival([&] { event.signal(); });
  OnDescriptor on(event.descriptor(), POLLIN);
  EXPECT_TRUE(Waiter(seldom_awake).sleep(on, [&] { return on.is_ready(); }));
  EXPECT_LT(Waiter::Clock::now() - start, a_sleep);
}

TEST(Waiter, EndsAtItsDeadline) {
  FutexWord word{0};
  const auto deadline = after(milliseconds(30));
  EXPECT_FALSE(Waiter(seldom_awake).until(deadline).sleep(OnWord(word), [] { return false; }));
  EXPECT_GE(Waiter::Clock::now(), deadline);
  EXPECT_LT(Waiter::Clock::now(), deadline + a_sleep);
  int sleeps = 0;
  EXPECT_FALSE(Waiter(seldom_awake).until(deadline).sleep(OnCounter{sleeps}, [] { return false; }));
  EXPECT_EQ(sleeps, 0);
}

TEST(Waiter, EndsIfItsPeerDies) {
  const auto memory = rig_memory(2);
  const auto node = rig_node(memory, 0, false);
  ForkedRank peer([&] {
    const auto own = rig_node(memory, 1, false);
    while (true) {
      pause();
    }
  });
  ASSERT_TRUE(test::eventually([&] {
    return memory->record(1).presence.load() == static_cast<std::uint32_t>(Presence::present);
  }));
  FutexWord word{0};
  int checks = 0;
  const auto is_peer_gone = [&] {
    if (++checks == 3) {
      EXPECT_FALSE(node->is_gone(1));
      peer.end();
    }
    return node->is_gone(1);
  };
  EXPECT_FALSE(Waiter(often_awake)
                   .sleep(
                       OnWord(word), [] { return false; }, is_peer_gone));
  EXPECT_GE(checks, 3);
}

TEST(Waiter, ChecksItsPeersDuringWakeUpsForOthers) {
  bool has_checked = false;
  const auto check = [&] {
    has_checked = true;
    return true;
  };
  EXPECT_FALSE(Waiter(often_awake)
                   .sleep(
                       OnNoise(), [] { return false; }, check));
  EXPECT_TRUE(has_checked);
}

TEST(Waiter, AdvancesItsDelegateWhileItSpins) {
  CountingDelegate delegate;
  int polls = 0;
  EXPECT_TRUE(Waiter(seldom_awake, &delegate).spin([&] { return ++polls == 9; }, 4));
  EXPECT_EQ(delegate.advances, 2);
  EXPECT_EQ(delegate.scopes, 0);
  EXPECT_EQ(delegate.yields, 0);
}

TEST(Waiter, PollsAsLongAsItsDelegateAsks) {
  std::thread([&] {  // its record of oversubscription is empty
    CountingDelegate delegate;
    delegate.polling = milliseconds(20);
    const auto start = Waiter::Clock::now();
    EXPECT_FALSE(Waiter(seldom_awake, &delegate).spin([] { return false; }));
    EXPECT_GE(Waiter::Clock::now() - start, delegate.polling);
    EXPECT_EQ(delegate.scopes, 0);
  })
      .join();
}

TEST(Waiter, YieldsTheWorkOfItsDelegateOnceBeforeItSleeps) {
  CountingDelegate delegate;
  int polls = 0;
  int sleeps = 0;
  const auto third = [&] { return ++polls % 3 == 0; };
  EXPECT_TRUE(Waiter(seldom_awake, &delegate).sleep(OnCounter{sleeps}, third));
  EXPECT_EQ(delegate.yields, 1);
  EXPECT_EQ(delegate.advances, 0) << "others do its work";
  delegate.longest = microseconds(30);
  EXPECT_TRUE(Waiter(seldom_awake, &delegate).sleep(OnCounter{sleeps}, third));
  EXPECT_EQ(delegate.yields, 2);
  EXPECT_EQ(delegate.advances, 2) << "before each sleep";
  EXPECT_EQ(delegate.scopes, 0);
}

TEST(Waiter, TakesStepsThatGrowWithTheWait) {
  std::vector<nanoseconds> periods;
  const TimedWaits waits{.first = milliseconds(1), .longest = milliseconds(10)};
  OnStep on(waits, [&](nanoseconds period) { periods.push_back(period); });
  on.sleep(nanoseconds(0), seconds(1));
  on.sleep(milliseconds(8), seconds(1));
  on.sleep(seconds(1), seconds(1));
  on.sleep(seconds(1), milliseconds(5));
  EXPECT_EQ(periods, (std::vector<nanoseconds>{milliseconds(1), milliseconds(2), milliseconds(10),
                                               milliseconds(5)}));
}

TEST(Waiter, TakesStepsLongerThanItsLivenessInterval) {
  std::vector<nanoseconds> periods;
  const TimedWaits waits{.first = milliseconds(5)};
  const auto record = [&](nanoseconds period) { periods.push_back(period); };
  EXPECT_TRUE(
      Waiter(often_awake).sleep(OnStep(waits, record), [&] { return periods.size() == 1; }));
  EXPECT_EQ(periods.front(), waits.first);
}

TEST(Waiter, PollsUntilADeadline) {
  constexpr TimedWaits waits{.first = microseconds(50)};
  int polls = 0;
  EXPECT_TRUE(poll_until(waits, after(a_sleep), [&] { return ++polls == 3; }));
  EXPECT_EQ(polls, 3);
  const auto deadline = after(milliseconds(5));
  EXPECT_FALSE(poll_until(waits, deadline, [] { return false; }));
  EXPECT_GE(Waiter::Clock::now(), deadline);
  EXPECT_TRUE(poll_yielding(after(a_sleep), [&] { return ++polls == 6; }));
  EXPECT_FALSE(poll_yielding(deadline, [] { return false; }));
}

TEST(Poller, WakesAllThreadsAndKeepsTheEvent) {
  const Event event;
  Poller poller;
  ASSERT_TRUE(test::ok(poller.open("a test's queue")));
  ASSERT_TRUE(test::ok(poller.watch(event.descriptor(), EPOLLIN)));
  EXPECT_FALSE(poller.wait(microseconds(100)));
  std::atomic<int> woken{0};
  const auto start = Waiter::Clock::now();
  {
    const Later arrival([&] { event.signal(); });
    std::thread other([&] { woken += poller.wait(2 * a_sleep) ? 1 : 0; });
    woken += poller.wait(2 * a_sleep) ? 1 : 0;
    other.join();
  }
  EXPECT_EQ(woken, 2);
  EXPECT_LT(Waiter::Clock::now() - start, a_sleep);
  std::vector<epoll_event> room(4);
  EXPECT_EQ(poller.take(room).size(), 1U);
  poller.leave(event.descriptor());
  EXPECT_FALSE(poller.wait(nanoseconds(0)));
}

bool is_preset(const WaitPolicy& policy, const WaitPolicy& preset) {
  return policy.spin == preset.spin && policy.min_progress_spin == preset.min_progress_spin &&
         policy.yield.budget == preset.yield.budget &&
         policy.yield.between_yields == preset.yield.between_yields;
}

TEST(WaitPolicy, DependsOnTheProcessorsOfTheNode) {
  EXPECT_TRUE(is_preset(choose_wait_policy(Settings(), 2, 2), with_spare_processors));
  EXPECT_TRUE(is_preset(choose_wait_policy(Settings(), 1, 2), with_spare_processors));
  EXPECT_TRUE(is_preset(choose_wait_policy(Settings(), 3, 2), with_scarce_processors));
  EXPECT_LT(with_scarce_processors.spin, with_spare_processors.spin);
}

TEST(WaitPolicy, FollowsTheSettings) {
  Settings settings;
  settings.spin_ns = 0;
  settings.liveness_ms = 7;
  const WaitPolicy policy = choose_wait_policy(settings, 1, 1);
  EXPECT_EQ(policy.spin, nanoseconds(0));
  EXPECT_EQ(policy.yield.budget, nanoseconds(0)) << "the user's spin is all";
  EXPECT_EQ(policy.liveness_interval, milliseconds(7));
  EXPECT_EQ(policy.min_progress_spin, with_spare_processors.min_progress_spin);
}

}  // namespace
}  // namespace tessera::rma::detail
