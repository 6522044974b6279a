// SPDX-License-Identifier: BSD-3-Clause
//
// One allocation of one rank fails in an operation that all ranks do together, or each for itself:
// which ranks get an error. Programs need failing_new.cpp among their sources.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "rma/job.hpp"
#include "rma/team.hpp"
#include "tests/support/failing_new.hpp"

namespace tessera::rma::test {

/// The operation, and what it needs.
struct FailingOperation {
  std::function<void()> prepare;  ///< collective: sets its operands as they are before it
  std::function<Status()> run;    ///< the operation; allocates nothing itself
  std::function<void()> check;    ///< checks that its result is right
  bool is_collective = true;      ///< otherwise errors are this rank's only
  bool may_need_nothing = false;  ///< needs no memory if ranks share memory
};

/// The result on one rank.
struct FailingOutcome {
  Code code = Code::ok;
  bool has_failed = false;  ///< whether the allocation failed
};

inline FailingOutcome try_with_failure(const FailingOperation& operation, std::int64_t number,
                                       const FailingKind& kind) {
  FailingOutcome outcome;
  const FailingNew failing(number, kind);
  outcome.code = operation.run().code();
  outcome.has_failed = failing.has_failed();
  return outcome;
}

/// Collective. Fails the allocation with that number and kind on `rank`; returns the results there.
/// Expects only no_memory as an error, and the same result on all ranks for a collective.
inline FailingOutcome fail_allocation(Job& job, const FailingOperation& operation,
                                      std::int32_t rank, std::int64_t number,
                                      const FailingKind& kind) {
  const bool fails_here = job.rank().value == rank;
  operation.prepare();
  const FailingOutcome mine = try_with_failure(operation, fails_here ? number : 0, kind);
  const std::vector<FailingOutcome> all = job.world().allgather_value(mine).value();
  const FailingOutcome failed = all[static_cast<std::size_t>(rank)];
  // It is not an error if the operation can work without that allocation, for example in smaller
  // parts.
  EXPECT_TRUE(failed.code == Code::ok || (failed.has_failed && failed.code == Code::no_memory))
      << to_string(failed.code) << ", allocation " << number << " of rank " << rank;
  EXPECT_EQ(mine.code, operation.is_collective || fails_here ? failed.code : Code::ok)
      << "allocation " << number << " of rank " << rank;
  return failed;
}

}  // namespace tessera::rma::test
