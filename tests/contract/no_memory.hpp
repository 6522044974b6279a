// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that runs out on one rank. One allocation of each rank after the other fails, until an
// operation is through without one that fails; then its result is right. Nothing is thrown, nobody
// waits for ever, and behind each failure the job goes on: of a collective all members hear, and of
// other operations the rank that called them.
//
// Only what ranks allocate themselves fails, and not what the threads behind them do.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <new>
#include <vector>

#include "rma/engine/job_state.hpp"
#include "rma/team.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/failing_operation.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {

using test::FailingNew;
using test::ok;
using test::on_ranks;

// Of one rank, in one operation.
inline constexpr std::int64_t most_allocations = 5000;
// Of many that are alike, some: the next one is farther away by this part of their number.
inline constexpr std::int64_t part_left_out = tessera::test::rounds(16);

using Operation = test::FailingOperation;

// Collective. Whether that allocation of this rank was reached; without an error all is right.
inline bool fail_allocation(Job& job, const Operation& operation, std::int32_t rank,
                            std::int64_t number) {
  const test::FailingOutcome failed = test::fail_allocation(job, operation, rank, number, {});
  if (failed.code == Code::ok) {
    operation.check();
  }
  return failed.has_failed;
}

inline void fail_each_allocation(Job& job, const Operation& operation, std::int32_t rank) {
  std::int64_t number = 1;
  try {
    while (number <= most_allocations && fail_allocation(job, operation, rank, number)) {
      number += 1 + number / part_left_out;
    }
  } catch (const std::bad_alloc&) {
    ADD_FAILURE() << "an exception leaves it, of allocation " << number;
    throw;
  }
  EXPECT_LE(number, most_allocations);
}

// A turn of the agent's, which a waiting rank takes over, is no work of the rank's.
inline void leave_agent_alone(Job& job) {
  job.state().node->set_helper(nullptr);
}

inline void expect_all_told(const std::function<Operation(Job&)>& make) {
  on_ranks([&](Job& job) {
    leave_agent_alone(job);
    const Operation operation = make(job);
    // What is kept for the next time, connections and buffers of theirs, is there.
    operation.prepare();
    ASSERT_TRUE(ok(operation.run()));
    operation.check();
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      fail_each_allocation(job, operation, rank);
    }
    operation.prepare();
    EXPECT_TRUE(ok(operation.run()));
    operation.check();
    EXPECT_TRUE(ok(job.barrier()));
  });
}

inline void nothing() {}

}  // namespace tessera::rma
