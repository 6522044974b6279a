// SPDX-License-Identifier: BSD-3-Clause
#include "bench/support/statistics.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "bench/support/measure.hpp"

namespace tessera::bench {
namespace {

/// Runs `body` while a thread named `name` does `work` until it must stop.
template <class Work, class Body>
void with_thread(const char* name, const Work& work, const Body& body) {
  std::atomic<int> phase = 0;
  std::thread thread([&] {
    pthread_setname_np(pthread_self(), name);
    phase = 1;
    phase.notify_all();
    work(phase);
  });
  phase.wait(0);
  body();
  phase = 2;
  phase.notify_all();
  thread.join();
}

TEST(ProcessorTime, GrowsForAThreadThatComputes) {
  const auto compute = [](std::atomic<int>& phase) {
    const Computation some(1000);
    while (phase == 1) {
      some.run();
    }
  };
  with_thread("computes", compute, [] {
    // A test asserts no time: it waits as long as necessary.
    const auto before = processor_time_of("computes");
    ASSERT_TRUE(before);
    while (*processor_time_of("computes") < *before + std::chrono::milliseconds(5)) {
      std::this_thread::yield();
    }
  });
}

TEST(ProcessorTime, StandsStillForAThreadThatSleeps) {
  with_thread(
      "sleeps", [](std::atomic<int>& phase) { phase.wait(1); },
      [] {
        const auto time = [] { return processor_time_of("sleeps").value().count(); };
        // At first the thread may not yet be asleep.
        std::int64_t before = time();
        for (int i = 0; i < 1000; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          if (const std::int64_t now = time(); std::exchange(before, now) == now) {
            return;
          }
        }
        FAIL() << "the thread is still running";
      });
}

TEST(ProcessorTime, IsNoneForAThreadThatIsNotThere) {
  EXPECT_FALSE(processor_time_of("missing"));
}

TEST(ThreadTime, GrowsWhileThisThreadComputes) {
  const Computation some(1000);
  const std::int64_t before = thread_time_ns();
  while (thread_time_ns() < before + 5'000'000) {
    some.run();
  }
}

TEST(ThreadTime, IsOfThisThreadOnly) {
  std::int64_t others = 0;
  const std::int64_t before = thread_time_ns();
  std::thread thread([&] {
    const Computation some(1000);
    while (others < before + 20'000'000) {
      some.run();
      others = thread_time_ns();
    }
  });
  thread.join();  // asleep
  EXPECT_LT(thread_time_ns(), others);
}

}  // namespace
}  // namespace tessera::bench
