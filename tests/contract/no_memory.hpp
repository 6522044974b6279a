// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that runs out on one rank. Each memory allocation of each rank fails in turn, until the
// operation completes without a failed one; then its result must be right. No exception is thrown,
// no rank waits for ever, and the job continues after each failure. All members of a collective get
// the error; of other operations, the calling rank.
//
// Only allocations of the ranks' own threads fail, not those of the library's threads.
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

// The limit on the allocations of one rank in one operation.
inline constexpr std::int64_t max_allocations = 5000;
// If there are many similar allocations, only some fail: from number n, the next one to fail is 1 +
// n / part_left_out further.
inline constexpr std::int64_t part_left_out = tessera::test::rounds(16);

using Operation = test::FailingOperation;

// Collective. Returns whether this rank reached allocation `number`; if there was no error, the
// results are checked.
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
    while (number <= max_allocations && fail_allocation(job, operation, rank, number)) {
      number += 1 + number / part_left_out;
    }
  } catch (const std::bad_alloc&) {
    ADD_FAILURE() << "an exception left the operation at failed allocation " << number;
    throw;
  }
  EXPECT_LE(number, max_allocations);
}

// A waiting rank can poll on behalf of its agent. That work is not the rank's own, so it is
// switched off here.
inline void disable_progress_delegate(Job& job) {
  job.state().node().set_progress_delegate(nullptr);
}

inline void expect_all_report(const std::function<Operation(Job&)>& make) {
  on_ranks([&](Job& job) {
    disable_progress_delegate(job);
    const Operation operation = make(job);
    // A first run creates what the library keeps for later operations, such as connections and
    // their buffers.
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
