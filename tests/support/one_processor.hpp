// SPDX-License-Identifier: BSD-3-Clause
//
// Threads that share a processor, whatever the machine has.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>

namespace tessera::test {

/// During its lifetime, the calling thread and all threads and processes that it starts run on one
/// processor: the current one.
class OnOneProcessor {
 public:
  OnOneProcessor() : is_known_(sched_getaffinity(0, sizeof before_, &before_) == 0) {
    const int current = sched_getcpu();
    EXPECT_TRUE(is_known_ && current >= 0) << "this test needs to know its processors";
    processor_ = static_cast<std::size_t>(current);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor_, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OnOneProcessor() {
    if (is_known_) {
      EXPECT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0);
    }
  }
  OnOneProcessor(const OnOneProcessor&) = delete;
  OnOneProcessor& operator=(const OnOneProcessor&) = delete;

  [[nodiscard]] std::size_t processor() const { return processor_; }

 private:
  cpu_set_t before_{};
  bool is_known_;
  std::size_t processor_ = 0;
};

}  // namespace tessera::test
