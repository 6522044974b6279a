// SPDX-License-Identifier: BSD-3-Clause
//
// One allocation of one rank fails in an operation that all ranks do, or each for itself: who hears
// of it. Programs need failing_new.cpp among their sources.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "rma/job.hpp"
#include "rma/team.hpp"
#include "tests/support/failing_new.hpp"

namespace tessera::rma::test {

/// What is tried, and what it needs.
struct FailingOperation {
  std::function<void()> prepare;  ///< collective: its operands, as they are before it
  std::function<Status()> run;    ///< what is tried; allocates nothing itself
  std::function<void()> check;    ///< that what it leaves is right
  bool is_collective = true;      ///< else errors are this rank's only
  bool may_need_nothing = false;  ///< all is in place where ranks share memory
};

/// How it went on one rank.
struct FailingOutcome {
  Code code = Code::ok;
  bool has_failed = false;  ///< the allocation
};

inline FailingOutcome try_with_failure(const FailingOperation& operation, std::int64_t number,
                                       const FailingKind& kind) {
  FailingOutcome outcome;
  const FailingNew failing(number, kind);
  outcome.code = operation.run().code();
  outcome.has_failed = failing.has_failed();
  return outcome;
}

/// Collective. Fails the allocation of that number and kind of `rank`; how it went there. Expects
/// no_memory of it at most, and of a collective that all have the same.
inline FailingOutcome fail_allocation(Job& job, const FailingOperation& operation,
                                      std::int32_t rank, std::int64_t number,
                                      const FailingKind& kind) {
  const bool fails_here = job.rank().value == rank;
  operation.prepare();
  const FailingOutcome mine = try_with_failure(operation, fails_here ? number : 0, kind);
  const std::vector<FailingOutcome> all = job.world().allgather_value(mine).value();
  const FailingOutcome failed = all[static_cast<std::size_t>(rank)];
  // Where it can be done without, by a smaller piece of work perhaps, it is no error.
  EXPECT_TRUE(failed.code == Code::ok || (failed.has_failed && failed.code == Code::no_memory))
      << to_string(failed.code) << ", allocation " << number << " of rank " << rank;
  EXPECT_EQ(mine.code, operation.is_collective || fails_here ? failed.code : Code::ok)
      << "allocation " << number << " of rank " << rank;
  return failed;
}

}  // namespace tessera::rma::test
