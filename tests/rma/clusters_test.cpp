// SPDX-License-Identifier: BSD-3-Clause
//
// Clusters of nodes whose agents forward requests for each other: their members, the intermediary
// of each process, and the agents' pool of buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "rma/server/agent/route_table.hpp"
#include "rma/server/connection/buffer_pool.hpp"
#include "rma/server/connection/clusters.hpp"

namespace tessera::rma::server {
namespace {

// Parameters: the number of nodes, and the size of a cluster.
class ClustersOf : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  const std::int32_t nodes_ = std::get<0>(GetParam());
  const std::int64_t size_ = std::get<1>(GetParam());
  const Clusters clusters_{nodes_, size_};

  // The nodes of each cluster in ascending order.
  [[nodiscard]] std::vector<std::vector<std::int32_t>> members() const {
    std::vector<std::vector<std::int32_t>> all;
    for (std::int32_t node = 0; node < nodes_; ++node) {
      if (all.empty() || !clusters_.are_together(NodeId{all.back().back()}, NodeId{node})) {
        all.emplace_back();
      }
      all.back().push_back(node);
    }
    return all;
  }
};

TEST_P(ClustersOf, AreOfNearlyTheSameSizeAndNoLarger) {
  const auto all = members();
  EXPECT_EQ(static_cast<std::int32_t>(all.size()), clusters_.count());
  std::size_t least = all.front().size();
  std::size_t most = least;
  for (const auto& each : all) {
    least = std::min(least, each.size());
    most = std::max(most, each.size());
  }
  EXPECT_LE(most - least, 1U);
  EXPECT_LE(static_cast<std::int64_t>(most), size_);
}

TEST_P(ClustersOf, HaveOneIntermediaryForEachProcessOfAnotherNode) {
  for (const auto& each : members()) {
    for (std::int32_t own = 0; own < nodes_; ++own) {
      const WorldRank origin{own * 3 + 1};
      std::set<std::int32_t> chosen;
      for (const std::int32_t target : each) {
        if (target == own) {
          continue;
        }
        const NodeId by = clusters_.intermediary(origin, NodeId{own}, NodeId{target});
        EXPECT_TRUE(std::find(each.begin(), each.end(), by.value) != each.end());
        EXPECT_NE(by.value, own);
        chosen.insert(by.value);
      }
      EXPECT_LE(chosen.size(), 1U) << "more than one connection to a cluster";
    }
  }
}

TEST_P(ClustersOf, LeadToAllOtherMembersAlternately) {
  for (const auto& each : members()) {
    for (const std::int32_t own : {0, nodes_ - 1}) {
      const std::int32_t target = each.front() == own ? each.back() : each.front();
      if (target == own) {
        continue;
      }
      std::set<std::int32_t> chosen;
      const std::int32_t choices = clusters_.choices(NodeId{own}, NodeId{target});
      for (std::int32_t choice = 0; choice < choices; ++choice) {
        chosen.insert(
            clusters_.intermediary(WorldRank{7}, NodeId{own}, NodeId{target}, choice).value);
      }
      EXPECT_EQ(static_cast<std::int32_t>(chosen.size()), choices);
      EXPECT_FALSE(chosen.contains(own));
    }
  }
}

// Each agent serves its share of the processes of other clusters.
TEST_P(ClustersOf, DivideProcessesEvenly) {
  constexpr std::int32_t ranks_each = 12;
  const auto cluster = members().front();
  std::map<std::int32_t, int> requests;
  int all = 0;
  for (std::int32_t rank = 0; rank < nodes_ * ranks_each; ++rank) {
    const NodeId own{rank / ranks_each};
    if (!clusters_.are_together(own, NodeId{cluster.front()})) {
      ++requests[clusters_.intermediary(WorldRank{rank}, own, NodeId{cluster.front()}).value];
      ++all;
    }
  }
  const int share = all / static_cast<int>(cluster.size());
  for (const auto& [node, count] : requests) {
    EXPECT_NEAR(count, share, ranks_each + 1) << "node " << node;
  }
}

INSTANTIATE_TEST_SUITE_P(Clusters, ClustersOf,
                         testing::Values(std::tuple(1, 1), std::tuple(4, 2), std::tuple(5, 2),
                                         std::tuple(9, 3), std::tuple(7, 3), std::tuple(10, 4),
                                         std::tuple(3, 9), std::tuple(100, 10),
                                         std::tuple(101, 10)));

TEST(Clusters, OfOneNodeAreNotFormed) {
  EXPECT_FALSE(Clusters().are_on());
  EXPECT_FALSE(Clusters(8, 1).are_on());
  EXPECT_TRUE(Clusters(8, 2).are_on());
  EXPECT_TRUE(Clusters(2, 5).are_on());
}

TEST(Clusters, AreChosenNearTheRootOfManyNodes) {
  EXPECT_EQ(Clusters::chosen_size(1), 1);
  EXPECT_EQ(Clusters::chosen_size(511), 1);
  EXPECT_EQ(Clusters::chosen_size(800), 28);
  EXPECT_EQ(Clusters::chosen_size(83'334), 289);
}

TEST(BufferPool, ReusesReturnedBuffers) {
  BufferPool pool(64, 2);
  auto first = pool.take();
  ASSERT_EQ(first.size(), 64U);
  const std::byte* const memory = first.data();
  EXPECT_EQ(pool.taken(), 1U);
  pool.give(std::move(first));
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_EQ(pool.take().data(), memory);
}

TEST(BufferPool, KeepsAFewAndFreesUnneededOnes) {
  BufferPool pool(64, 3);
  std::vector<std::vector<std::byte>> buffers;
  for (int i = 0; i < 5; ++i) {
    buffers.push_back(pool.take());
  }
  for (auto& each : buffers) {
    pool.give(std::move(each));
  }
  EXPECT_EQ(pool.kept(), 3U);
  pool.release_unused();  // all were in use since the last check
  EXPECT_EQ(pool.kept(), 3U);
  pool.release_unused();
  EXPECT_EQ(pool.kept(), 1U);
  pool.release_unused();
  EXPECT_EQ(pool.kept(), 1U);
}

TEST(RouteTable, DropWhatComesByAnOlderWay) {
  RouteTable routes;
  const FrameHeader by_first{.kind = Kind::put, .origin = WorldRank{3}, .route = 0};
  const FrameHeader by_second{.kind = Kind::put, .origin = WorldRank{3}, .route = 1};
  const FrameHeader by_third{.kind = Kind::put, .origin = WorldRank{3}, .route = 2};
  const FrameHeader of_another{.kind = Kind::put, .origin = WorldRank{4}, .route = 0};
  EXPECT_FALSE(routes.is_stale(by_first));
  EXPECT_FALSE(routes.is_stale(by_second));
  EXPECT_TRUE(routes.is_stale(by_first));
  EXPECT_FALSE(routes.is_stale(by_second));
  EXPECT_FALSE(routes.is_stale(by_third));
  EXPECT_TRUE(routes.is_stale(by_second));
  EXPECT_FALSE(routes.is_stale(of_another));
}

}  // namespace
}  // namespace tessera::rma::server
