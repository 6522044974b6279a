// SPDX-License-Identifier: BSD-3-Clause
//
// What a job remembers of operations that nobody has a handle of.
#include "rma/engine/operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/rma/cluster_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::detail {
namespace {

using test::fails;
using test::ok;

// Else a program that fences seldom would need memory for each operation that it ever started.
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
  job->node->leave();
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
  job->node->leave();
}

}  // namespace
}  // namespace tessera::rma::detail
