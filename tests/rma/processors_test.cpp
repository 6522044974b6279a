// SPDX-License-Identifier: BSD-3-Clause
#include "rma/base/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "tests/support/one_processor.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tessera::rma {
namespace {

RankLocation rank_on(std::uint64_t kernel, int node,
                     std::initializer_list<std::size_t> processors) {
  RankLocation rank{.kernel = kernel, .node = NodeId{node}, .processors = {}};
  for (const std::size_t each : processors) {
    rank.processors.set(each);
  }
  return rank;
}

TEST(Processors, OfANodeAreThoseOfAllItsRanks) {
  const std::vector<RankLocation> bound{rank_on(1, 0, {0}), rank_on(1, 0, {3}), rank_on(1, 0, {3})};
  const NodeProcessors found = processors_of(NodeId{0}, bound);
  EXPECT_EQ(found.usable, 2);
  EXPECT_EQ(found.share, 2);
}

TEST(Processors, AreSharedByNodesOfOneKernel) {
  const std::vector<RankLocation> two{rank_on(1, 0, {0, 1}), rank_on(1, 1, {0, 1})};
  EXPECT_EQ(processors_of(NodeId{1}, two).usable, 2);
  EXPECT_EQ(processors_of(NodeId{1}, two).share, 1);

  const std::vector<RankLocation> three{rank_on(1, 0, {0, 1}), rank_on(1, 1, {0, 1}),
                                        rank_on(1, 2, {0, 1})};
  EXPECT_EQ(processors_of(NodeId{2}, three).usable, 2);
  EXPECT_EQ(processors_of(NodeId{2}, three).share, 0) << "two thirds of one";
}

TEST(Processors, AreNotSharedWithOtherKernels) {
  const std::vector<RankLocation> ranks{rank_on(7, 0, {0, 1}), rank_on(8, 1, {0, 1}),
                                        rank_on(8, 1, {2})};
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 2);
  EXPECT_EQ(processors_of(NodeId{1}, ranks).share, 3);
}

TEST(Processors, ToWhichANodeIsBoundAreItsOwn) {
  const std::vector<RankLocation> ranks{rank_on(1, 0, {0, 1}), rank_on(1, 1, {2, 3}),
                                        rank_on(1, 2, {3, 4, 5})};
  EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 2);
  EXPECT_EQ(processors_of(NodeId{1}, ranks).share, 1) << "one processor, and half of another";
  EXPECT_EQ(processors_of(NodeId{2}, ranks).share, 2) << "two, and half of another";
}

TEST(Processors, InEqualPartsAddUpToWholeOnes) {
  for (int nodes = 1; nodes <= 60; ++nodes) {
    RankLocation rank;
    for (int processor = 0; processor < nodes; ++processor) {
      rank.processors.set(static_cast<std::size_t>(processor));
    }
    std::vector<RankLocation> ranks;
    for (int node = 0; node < nodes; ++node) {
      rank.node = NodeId{node};
      ranks.push_back(rank);
    }
    EXPECT_EQ(processors_of(NodeId{0}, ranks).share, 1) << nodes;
  }
}

std::vector<RankLocation> with_quota(std::vector<RankLocation> ranks, double processors,
                                     std::uint64_t group) {
  for (RankLocation& rank : ranks) {
    rank.quota = {processors, group};
  }
  return ranks;
}

TEST(Processors, AreNoMoreThanAControlGroupGives) {
  const std::vector<RankLocation> bound{rank_on(1, 0, {0, 1, 2, 3}), rank_on(1, 0, {0, 1, 2, 3})};
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 2.5, 8)).usable, 2);
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 2.5, 8)).share, 2);
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 9, 8)).share, 4)
      << "only four are available";
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 0.5, 8)).usable, 1) << "it runs on one";
  EXPECT_EQ(processors_of(NodeId{0}, with_quota(bound, 0.5, 8)).share, 0);
}

TEST(Processors, OfAControlGroupAreSharedByTheNodesThatAreInIt) {
  std::vector<RankLocation> ranks =
      with_quota({rank_on(1, 0, {0, 1, 2, 3}), rank_on(1, 1, {0, 1, 2, 3})}, 3, 8);
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
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0) << "this test must read its own mask";
  const ProcessorSet all = own_processors();
  for (std::size_t at = 0; at < all.size(); ++at) {
    EXPECT_EQ(all.test(at), CPU_ISSET(at, &before) != 0) << at;
  }
  const tessera::test::OnOneProcessor one;
  EXPECT_EQ(own_processors(), ProcessorSet().set(one.processor()));
}

// --- for agents

bool is_dedicated(const std::vector<RankLocation>& ranks, int node = 0) {
  return processors_for_agent(NodeId{node}, ranks).is_dedicated;
}

std::string reason(const std::vector<RankLocation>& ranks, int node = 0) {
  return processors_for_agent(NodeId{node}, ranks).reason;
}

TEST(AgentProcessors, AreFreeIfTheHostHasOneForEachThread) {
  const std::vector<RankLocation> two{rank_on(1, 0, {0, 1, 2, 3}), rank_on(1, 1, {0, 1, 2, 3})};
  EXPECT_TRUE(is_dedicated(two));
  EXPECT_TRUE(is_dedicated(two, 1));
  EXPECT_EQ(reason(two), "4 processors for 2 threads of ranks and 2 of agents");
  std::vector<RankLocation> three = two;
  three.push_back(rank_on(1, 1, {0, 1, 2, 3}));
  EXPECT_FALSE(is_dedicated(three))
      << "one is left by this node's ranks, but none by all ranks of the host";
  EXPECT_EQ(reason(three), "4 processors for 3 threads of ranks and 2 of agents");
  three.front().kernel = 2;
  EXPECT_TRUE(is_dedicated(three)) << "another machine's ranks don't count";
  EXPECT_TRUE(is_dedicated(three, 1));
  EXPECT_EQ(reason({rank_on(1, 0, {5})}), "1 processor for 1 thread of ranks and 1 of agents");
}

TEST(AgentProcessors, CountThreads) {
  std::vector<RankLocation> ranks{rank_on(1, 0, {0, 1, 2, 3, 4, 5})};
  ranks[0].threads = 5;
  EXPECT_TRUE(is_dedicated(ranks));
  ranks[0].agent_threads = 2;
  EXPECT_FALSE(is_dedicated(ranks));
  EXPECT_EQ(reason(ranks), "6 processors for 5 threads of ranks and 2 of agents");
  ranks[0].threads = 4;
  EXPECT_TRUE(is_dedicated(ranks));
  ranks.push_back(rank_on(1, 0, {0, 1, 2, 3, 4, 5}));
  ranks[1].agent_threads = 8;
  EXPECT_EQ(reason(ranks), "6 processors for 5 threads of ranks and 2 of agents")
      << "a node's agent runs in the process of its first rank";
}

TEST(AgentProcessors, AreThoseOfTheFirstRank) {
  const std::vector<RankLocation> bound{rank_on(1, 0, {0}), rank_on(1, 0, {0, 1, 2})};
  EXPECT_FALSE(is_dedicated(bound));
  EXPECT_EQ(reason(bound),
            "3 processors for 2 threads of ranks and 1 of agents, but ranks are "
            "bound to processors that an agent may use");
  EXPECT_TRUE(is_dedicated({rank_on(1, 0, {0, 1}), rank_on(1, 0, {2})}));
  EXPECT_TRUE(is_dedicated({rank_on(1, 0, {0, 1, 2}), rank_on(1, 0, {0}), rank_on(1, 0, {9})}))
      << "the first rank's thread can run elsewhere";
  const std::vector<RankLocation> apart{rank_on(1, 0, {0, 1}), rank_on(1, 1, {2}),
                                        rank_on(1, 2, {3})};
  EXPECT_TRUE(is_dedicated(apart));
  EXPECT_FALSE(is_dedicated(apart, 1)) << "only ranks that share processors count";
}

TEST(AgentProcessors, AreNotFreeBeyondAQuota) {
  const RankLocation rank = rank_on(1, 0, {0, 1, 2, 3});
  EXPECT_FALSE(is_dedicated(with_quota({rank}, 1.5, 8)));
  EXPECT_EQ(reason(with_quota({rank}, 1.5, 8)),
            "a control group allows the time of 1.5 processors for 1 thread of ranks and 1 of "
            "agents");
  EXPECT_TRUE(is_dedicated(with_quota({rank}, 2, 8)));
  std::vector<RankLocation> two = with_quota({rank, rank_on(1, 1, {0, 1, 2, 3})}, 3.5, 8);
  EXPECT_EQ(reason(two),
            "a control group allows the time of 3.5 processors for 2 threads of "
            "ranks and 2 of agents");
  two[1].quota.group = 9;
  EXPECT_TRUE(is_dedicated(two)) << "each group has its own";
}

// The files that containers and batch systems write, in both versions of control groups.
TEST(AgentProcessors, FollowTheFilesOfControlGroups) {
  const tessera::test::TemporaryFolder root;
  const auto write = [&root](const std::string& path, const std::string& text) {
    const std::filesystem::path file = root.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  };
  const auto has_free_processors = [&root] {
    RankLocation rank = rank_on(1, 0, {0, 1, 2, 3});
    rank.quota = read_processor_quota(root.path());
    return is_dedicated({rank});
  };
  EXPECT_TRUE(has_free_processors());
  write("/proc/self/cgroup", "0::/batch/step\n");
  write("/sys/fs/cgroup/batch/step/cpu.max", "max 100000\n");
  EXPECT_TRUE(has_free_processors());
  write("/sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
  EXPECT_FALSE(has_free_processors());
  write("/sys/fs/cgroup/batch/cpu.max", "200000 100000\n");
  EXPECT_TRUE(has_free_processors());
  write("/proc/self/cgroup", "4:cpuacct,cpu:/old\n0::/\n");
  write("/sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "100000\n");
  EXPECT_FALSE(has_free_processors());
  write("/sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "-1\n");
  EXPECT_TRUE(has_free_processors());
}

// True if threads with those sets can have a processor each, found by trying all assignments.
bool fit(const std::vector<ProcessorSet>& threads, std::size_t from, ProcessorSet taken) {
  if (from == threads.size()) {
    return true;
  }
  for (std::size_t at = 0; at < 8; ++at) {
    if (threads[from].test(at) && !taken.test(at) &&
        fit(threads, from + 1, ProcessorSet(taken).set(at))) {
      return true;
    }
  }
  return false;
}

TEST(AgentProcessors, AgreeWithASearchOverAllAssignments) {
  std::minstd_rand random(7);
  int dedicated = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<RankLocation> ranks;
    std::vector<ProcessorSet> threads;
    const int count = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < count; ++i) {
      RankLocation rank = rank_on(1, 0, {0});  // all ranks share processor 0, so all count
      rank.processors |= ProcessorSet(random() % 64);
      ranks.push_back(rank);
      threads.push_back(rank.processors);
    }
    threads.push_back(ranks.front().processors);
    ASSERT_EQ(is_dedicated(ranks), fit(threads, 0, {})) << reason(ranks) << " in round " << round;
    dedicated += is_dedicated(ranks) ? 1 : 0;
  }
  EXPECT_GT(dedicated, 100);
  EXPECT_LT(dedicated, 1900);
}

TEST(AnnouncedThreads, AreThoseOfTheSettingOrOfTheGreaterVariable) {
  EXPECT_EQ(announced_threads(0, "", ""), 1);
  EXPECT_EQ(announced_threads(3, "8", "8"), 3);
  EXPECT_EQ(announced_threads(0, "2", "4"), 4);
  EXPECT_EQ(announced_threads(0, "", "6,2"), 6) << "nested levels";
  EXPECT_EQ(announced_threads(0, "many", "0"), 1);
}

}  // namespace
}  // namespace tessera::rma
