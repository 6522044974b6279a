// SPDX-License-Identifier: BSD-3-Clause
//
// Common checks of the contract's tests: a status is ok, or is this error with these words; the
// neighbour's rank; and that something happens soon.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <ostream>
#include <string_view>
#include <thread>

#include "rma/job.hpp"
#include "rma/team.hpp"

namespace tessera::rma {

// Prints ranks in GoogleTest's messages.
inline void PrintTo(WorldRank rank, std::ostream* out) {
  *out << "rank " << rank.value;
}
inline void PrintTo(TeamRank rank, std::ostream* out) {
  *out << "member " << rank.value;
}

}  // namespace tessera::rma

namespace tessera::rma::test {

inline testing::AssertionResult ok(const Status& status) {
  return status.ok() ? testing::AssertionSuccess()
                     : testing::AssertionFailure() << status.describe();
}
template <class T>
testing::AssertionResult ok(const Result<T>& result) {
  return ok(result.status());
}

/// The status is an error with `code`, and its message contains all of `words`.
inline testing::AssertionResult fails(const Status& status, Code code,
                                      std::initializer_list<std::string_view> words = {}) {
  if (status.code() != code) {
    return testing::AssertionFailure() << "expected " << to_string(code) << ", got "
                                       << (status.ok() ? std::string("ok") : status.describe());
  }
  for (const std::string_view word : words) {
    if (status.message().find(word) == std::string::npos) {
      return testing::AssertionFailure()
             << "'" << word << "' is not in the message: " << status.message();
    }
  }
  return testing::AssertionSuccess();
}
template <class T>
testing::AssertionResult fails(const Result<T>& result, Code code,
                               std::initializer_list<std::string_view> words = {}) {
  return fails(result.status(), code, words);
}

inline bool is_last(const Team& team) {
  return team.rank().value == team.size() - 1;
}
inline bool is_last(const Job& job) {
  return job.rank().value == job.size() - 1;
}

/// The rank `steps` positions further, around the world team.
inline TeamRank neighbour(const Job& job, std::int32_t steps = 1) {
  return TeamRank{(job.rank().value + steps) % job.size()};
}

/// Checks `happened()` repeatedly, with sleeps in between, until it is true; at most for
/// `time_limit`.
template <class Happened>
bool eventually(Happened&& happened, std::chrono::seconds time_limit = std::chrono::seconds(30)) {
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  int looks = 0;
  while (!happened()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    if (++looks % 16 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } else {
      std::this_thread::yield();
    }
  }
  return true;
}

}  // namespace tessera::rma::test
