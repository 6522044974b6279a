// SPDX-License-Identifier: BSD-3-Clause
//
// Performs every one-sided operation once, for tests that only the origin takes part in them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "rma/atomic.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::test {

/// Operates on bytes 64 to 2047 of `target`'s slice under lock 0 of `target`; all callers change
/// these bytes only while they hold that lock. Checks afterwards that the slice holds the results
/// of the operations.
inline void operate_on(Job& job, Region& region, LockSet& locks, TeamRank target) {
  const RemoteAddress at = region.at(target, 64);
  const RemoteAddress counter = region.at(target, 2040);
  const std::vector<double> values(200, 1.0);
  std::vector<double> back(200);
  ASSERT_TRUE(ok(locks.lock(target, 0)));
  ASSERT_TRUE(ok(put(job, at, values.data(), 1600)));
  ASSERT_TRUE(ok(put(job, at, values.data(), CopyShape::rows(8, 100, 8, 16))));
  ASSERT_TRUE(ok(job.fence(at.rank)));
  ASSERT_TRUE(ok(get(job, at, back.data(), 1600)));
  ASSERT_TRUE(ok(get_async(job, at, back.data(), CopyShape::rows(8, 100, 8, 16)).wait()));
  ASSERT_EQ(back, values);
  ASSERT_TRUE(ok(accumulate(job, at, values.data(), 1600, Scale::of(2.0))));
  ASSERT_EQ(get_value<double>(job, at).value(), 3.0);
  ASSERT_TRUE(ok(job.fence(at.rank)));
  const auto before = fetch_add<std::int64_t>(job, counter, 1);
  ASSERT_TRUE(ok(before));
  ASSERT_EQ(get_value<std::int64_t>(job, counter).value(), *before + 1);
  ASSERT_TRUE(ok(locks.unlock(target, 0)));
  ASSERT_TRUE(ok(notify(job, at.rank)));
}

}  // namespace tessera::rma::test
