// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <initializer_list>
#include <vector>

#include "tests/support/one_processor.hpp"

namespace tessera::rma::detail {
namespace {

RankPlace place(std::uint64_t kernel, int node, std::initializer_list<std::size_t> processors) {
  RankPlace rank{.kernel = kernel, .node = NodeId{node}, .processors = {}};
  for (const std::size_t each : processors) {
    rank.processors.set(each);
  }
  return rank;
}

TEST(Processors, OfANodeAreThoseOfAllItsRanks) {
  const std::vector<RankPlace> bound{place(1, 0, {0}), place(1, 0, {3}), place(1, 0, {3})};
  const NodeProcessors found = processors_of(NodeId{0}, bound);
  EXPECT_EQ(found.usable, 2);
  EXPECT_EQ(found.share, 2);
}

TEST(Processors, AreSharedByNodesOfOneKernel) {
  const std::vector<RankPlace> two{place(1, 0, {0, 1}), place(1, 1, {0, 1})};
  EXPECT_EQ(processors_of(NodeId{1}, two).usable, 2);
  EXPECT_EQ(processors_of(NodeId{1}, two).share, 1);

  const std::vector<RankPlace> three{place(1, 0, {0, 1}), place(1, 1, {0, 1}), place(1, 2, {0, 1})};
  EXPECT_EQ(processors_of(NodeId{2}, three).usable, 2);
  EXPECT_EQ(processors_of(NodeId{2}, three).share, 0) << "two thirds of one";
}

TEST(Processors, AreNotSharedWithOtherKernels) {
  const std::vector<RankPlace> ranks{place(7, 0, {0, 1}), place(8, 1, {0, 1}), place(8, 1, {2})};
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 2);
  EXPECT_EQ(processors_of(NodeId{1}, ranks).share, 3);
}

TEST(Processors, ToWhichANodeIsBoundAreItsOwn) {
  const std::vector<RankPlace> ranks{place(1, 0, {0, 1}), place(1, 1, {2, 3}),
                                     place(1, 2, {3, 4, 5})};
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 2);
  EXPECT_EQ(processors_of(NodeId{1}, ranks).share, 1) << "one, and half of another";
  EXPECT_EQ(processors_of(NodeId{2}, ranks).share, 2) << "two, and half of another";
}

TEST(Processors, InEqualPartsAddUpToWholeOnes) {
  for (int nodes = 1; nodes <= 60; ++nodes) {
    RankPlace rank;
    for (int processor = 0; processor < nodes; ++processor) {
      rank.processors.set(static_cast<std::size_t>(processor));
    }
    std::vector<RankPlace> ranks;
    for (int node = 0; node < nodes; ++node) {
      rank.node = NodeId{node};
      ranks.push_back(rank);
    }
    EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 1) << nodes;
  }
}

std::vector<RankPlace> with_quota(std::vector<RankPlace> ranks, double processors,
                                  std::uint64_t group) {
  for (RankPlace& rank : ranks) {
    rank.quota = {processors, group};
  }
  return ranks;
}

TEST(Processors, AreNoMoreThanAControlGroupGives) {
  const std::vector<RankPlace> bound{place(1, 0, {0, 1, 2, 3}), place(1, 0, {0, 1, 2, 3})};
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 2.5, 8)).usable, 2);
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 2.5, 8)).share, 2);
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 9, 8)).share, 4) << "there are no more";
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 0.5, 8)).usable, 1) << "it runs on one";
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 0.5, 8)).share, 0);
}

TEST(Processors, OfAControlGroupAreSharedByTheNodesThatAreInIt) {
  std::vector<RankPlace> ranks =
      with_quota({place(1, 0, {0, 1, 2, 3}), place(1, 1, {0, 1, 2, 3})}, 3, 8);
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 1);
  EXPECT_EQ(processors_of(NodeId{0}, ranks).usable, 3);
  ranks[1].quota.group = 9;
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 2) << "half of the processors";
  ranks[1].node = NodeId{0};
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 4) << "of two groups";
  ranks[1].quota = {};
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 4) << "one rank has no quota";
}

TEST(Processors, OfThisProcessAreThoseOfItsMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0) << "this test needs to know its mask";
  const ProcessorSet all = own_processors();
  for (std::size_t at = 0; at < all.size(); ++at) {
    EXPECT_EQ(all.test(at), CPU_ISSET(at, &before) != 0) << at;
  }
  const tessera::test::OnOneProcessor one;
  EXPECT_EQ(own_processors(), ProcessorSet().set(one.processor()));
}

}  // namespace
}  // namespace tessera::rma::detail
