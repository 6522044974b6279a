// SPDX-License-Identifier: BSD-3-Clause
//
// The operations without handles that a job keeps, and operations that one handle collects.
#include "rma/engine/operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/rma/cluster_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::detail {
namespace {

using test::fails;
using test::ok;

// Otherwise a program with few fences would need memory for each operation that it started.
TEST(AdoptedOperations, AreForgottenWhenTheyHaveEndedWell) {
  Cluster cluster({0});
  const auto job = cluster.start(WorldRank{0}, true, 256);
  constexpr int count = 10'000;
  Outstanding outstanding(count);
  std::vector<std::weak_ptr<Operation>> watched;
  for (int i = 0; i < count; ++i) {
    auto operation = make_operation(*job, WorldRank{0});
    operation->completion().begin();
    operation->completion().end(i == 7 ? Status::error(Code::internal, "the eighth") : Status());
    watched.emplace_back(operation);
    outstanding.adopt(std::move(operation));
  }
  const auto kept = std::count_if(watched.begin(), watched.end(),
                                  [](const auto& each) { return !each.expired(); });
  EXPECT_LE(kept, 256);
  EXPECT_TRUE(
      fails(outstanding.complete_adopted(TargetRanks::all()), Code::internal, {"the eighth"}));
  EXPECT_TRUE(ok(outstanding.complete_adopted(TargetRanks::all())));
  job->node().leave();
}

TEST(AdoptedOperations, AreKeptUntilTheyEnd) {
  Cluster cluster({0});
  const auto job = cluster.start(WorldRank{0}, true, 256);
  constexpr std::size_t count = 1000;
  Outstanding outstanding(count);
  std::vector<std::shared_ptr<Operation>> under_way;
  for (std::size_t i = 0; i < count; ++i) {
    under_way.push_back(make_operation(*job, WorldRank{0}));
    under_way.back()->completion().begin();
    outstanding.adopt(under_way.back());
  }
  EXPECT_TRUE(std::all_of(under_way.begin(), under_way.end(),
                          [](const auto& each) { return each.use_count() == 2; }));
  under_way[500]->completion().end(Status::error(Code::internal, "the last"));
  under_way[500]->completion().begin();
  for (const auto& each : under_way) {
    each->completion().end({});
  }
  EXPECT_TRUE(
      fails(outstanding.complete_adopted(TargetRanks::all()), Code::internal, {"the last"}));
  job->node().leave();
}

// The second thread waits for the operation that the first waits for: it is complete after both
// calls.
TEST(AdoptedOperations, AreWaitedForByAllCompletingThreads) {
  Cluster cluster({0});
  const auto job = cluster.start(WorldRank{0}, true, 256);
  Outstanding outstanding(4);
  const auto operation = make_operation(*job, WorldRank{0});
  operation->completion().begin();
  outstanding.adopt(operation);
  std::atomic<int> errors{0};
  const auto complete = [&] {
    const Status status = outstanding.complete_adopted(TargetRanks::all());
    EXPECT_TRUE(operation->completion().done());
    errors += status.ok() ? 0 : 1;
  };
  std::thread first(complete);
  std::thread second(complete);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(outstanding.concerns_fences());
  operation->completion().end(Status::error(Code::internal, "reported once"));
  first.join();
  second.join();
  EXPECT_EQ(errors, 1);
  EXPECT_FALSE(outstanding.concerns_fences());
  job->node().leave();
}

// Each handle collects the previous one, as in a loop that builds a list from its end.
TEST(CollectedOperations, MayBeChainedWithoutEnd) {
  Cluster cluster({0});
  const auto job = cluster.start(WorldRank{0}, true, 256);
  constexpr int count = 300'000;
  auto all = make_operation(*job, WorldRank{0});
  for (int i = 1; i < count; ++i) {
    auto next = make_operation(*job, WorldRank{0});
    next->completion().begin();
    next->completion().end(i == 7 ? Status::error(Code::internal, "the seventh") : Status());
    next->collect(std::move(all));
    all = std::move(next);
  }
  EXPECT_TRUE(all->has_ended());
  EXPECT_TRUE(all->concerns(TargetRanks::one(WorldRank{0})));
  EXPECT_TRUE(fails(all->wait(), Code::internal, {"the seventh"}));
  all.reset();
  job->node().leave();
}

}  // namespace
}  // namespace tessera::rma::detail
