// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs: ranks and their nodes, counters, local access, and several jobs at once.
#include "rma/job.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/base/control_group.hpp"
#include "rma/lock.hpp"
#include "rma/notify.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/rank_main.hpp"
#include "tests/support/toy_transport.hpp"

namespace tessera::rma {
namespace {

using test::fails;
using test::neighbour;
using test::ok;
using test::on_ranks;

TEST(Job, KnowsItsRanksAndItsNode) {
  on_ranks([](Job& job) {
    EXPECT_EQ(job.size(), test::rank_count());
    const auto wanted = static_cast<std::int32_t>(job.settings().ranks_per_node);
    const std::int32_t shared = wanted == 0 ? job.size() : wanted;
    const std::int32_t most = test::transport_name() == "mpi" ? 1 : shared;
    EXPECT_EQ(job.node_count(), (job.size() + most - 1) / most);
    const NodeId own{job.rank().value / most};
    std::vector<WorldRank> neighbours;
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      EXPECT_EQ(job.node_of(WorldRank{rank}), NodeId{rank / most});
      const bool is_near = NodeId{rank / most} == own;
      if (is_near) {
        neighbours.push_back(WorldRank{rank});
      }
      EXPECT_EQ(job.shares_node(WorldRank{rank}), is_near);
      EXPECT_TRUE(job.is_present(WorldRank{rank}));
      EXPECT_EQ(job.transport_to(WorldRank{rank}).value(),
                is_near ? test::transport_name() : test::network_name());
    }
    EXPECT_TRUE(std::equal(neighbours.begin(), neighbours.end(), job.node_ranks().begin(),
                           job.node_ranks().end()));
    EXPECT_EQ(job.settings().transport.find(test::transport_name()), 0U);
    const auto ranks = job.world().allgather_value(job.rank()).value();
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      EXPECT_EQ(ranks[static_cast<std::size_t>(rank)], WorldRank{rank});
    }
    EXPECT_TRUE(ok(job.barrier()));
  });
}

TEST(Job, CountsTheProcessorsThatItsNodeMayUse) {
  on_ranks([](Job& job) {
    // The processors of at least one rank; more if a launcher binds each rank to different ones.
    cpu_set_t mask;
    CPU_ZERO(&mask);
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0) << "this test needs to know its mask";
    const double quota = read_processor_quota("").processors;
    const auto given = quota > 0 ? std::max<std::int64_t>(static_cast<std::int64_t>(quota), 1)
                                 : std::numeric_limits<std::int64_t>::max();
    const auto own = std::min<std::int64_t>(CPU_COUNT(&mask), given);
    const auto of_ranks = job.world().allgather_value(own).value();
    std::int64_t sum = 0;
    for (const WorldRank rank : job.node_ranks()) {
      const auto of_rank = of_ranks[static_cast<std::size_t>(rank.value)];
      EXPECT_GE(job.node_processors(), of_rank);
      sum += of_rank;
    }
    EXPECT_GE(job.node_processors(), 1);
    EXPECT_LE(job.node_processors(), sum);
    EXPECT_LE(job.node_processor_share(), job.node_processors());
  });
}

TEST(Job, RefusesNodesThatNoTransportConnects) {
  if (!test::ranks_are_threads() || test::rank_count() == 1) {
    GTEST_SKIP() << "calls Job::start for several ranks itself, which needs ranks that are threads";
  }
  Settings settings;
  // The rule concerns transports that stay within a node, also if this test runs over another one.
  const std::string name = test::transport_name();
  settings.transport = name.find("tcp") == std::string::npos ? name : "shm";
  settings.ranks_per_node = 1;
  const Status status =
      run_on_threads(test::rank_count(), [](Job&) { return Status(); },
                     {.settings = settings, .transports = {test::toy_transport()}});
  EXPECT_TRUE(fails(status, Code::unreachable,
                    {"the ranks are on " + std::to_string(test::rank_count()) + " nodes",
                     "TESSERA_RANKS_PER_NODE"}));
}

TEST(Job, LivesBesideOthersInOneProcess) {
  on_ranks([](Job& job) {
    Region region = Region::allocate(job.world(), 64).value();
    auto alone = Job::start({.bootstrap = alone_bootstrap(), .settings = Settings{}}).value();
    EXPECT_EQ(alone.size(), 1);
    Region other = Region::allocate(alone.world(), 64).value();
    const RemoteAddress here = other.at(TeamRank{0});
    ASSERT_TRUE(ok(put_value(job, region.at(neighbour(job)), 1.5)));
    ASSERT_TRUE(ok(put_value(alone, here, 2.5)));
    EXPECT_EQ(get_value<double>(job, region.at(neighbour(job))).value(), 1.5);
    EXPECT_EQ(get_value<double>(alone, here).value(), 2.5);
    EXPECT_EQ(alone.traffic().total(Op::put).operations, 1U);
    EXPECT_TRUE(ok(other.free()));
    EXPECT_TRUE(ok(alone.stop()));
    EXPECT_TRUE(ok(job.barrier()));
  });
}

std::uint64_t operations(const Job& job, WorldRank peer, Op op) {
  for (const PeerTraffic& each : job.traffic().peers) {
    if (each.peer == peer) {
      return each.by_op[static_cast<std::size_t>(op)].operations;
    }
  }
  return 0;
}

TEST(Traffic, CountsOperationsAndBytesExactly) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    EXPECT_TRUE(job.traffic().peers.empty());
    Region region = Region::allocate(job.world(), 4096).value();
    LockSet locks = LockSet::create(job.world(), 1).value();
    const RemoteAddress at = region.at(neighbour(job));
    std::vector<double> values(100, 1.0);
    ASSERT_TRUE(ok(put(job, at, values.data(), 800)));
    ASSERT_TRUE(ok(put(job, at, values.data(), CopyShape::rows(16, 10, 16, 32))));
    ASSERT_TRUE(ok(put_async(job, at, values.data(), 8).wait()));
    ASSERT_TRUE(ok(get(job, at, values.data(), 80)));
    ASSERT_TRUE(ok(accumulate(job, at, values.data(), 240, Scale::of(1.0))));
    ASSERT_TRUE(ok(fetch_add<std::int32_t>(job, at, 1)));
    ASSERT_TRUE(ok(swap<std::int64_t>(job, at + 8, 1)));
    ASSERT_TRUE(ok(locks.lock(neighbour(job), 0)));
    ASSERT_TRUE(ok(locks.unlock(neighbour(job), 0)));
    ASSERT_TRUE(ok(notify(job, at.rank)));
    // Refused operations are not counted.
    EXPECT_FALSE(put(job, at + 4000, values.data(), 800).ok());
    const Traffic traffic = job.traffic();
    ASSERT_EQ(traffic.peers.size(), 1U);
    EXPECT_EQ(traffic.peers[0].peer, at.rank);
    EXPECT_EQ(traffic.total(Op::put).operations, 3U);
    EXPECT_EQ(traffic.total(Op::put).bytes, 968U);
    EXPECT_EQ(traffic.total(Op::get).operations, 1U);
    EXPECT_EQ(traffic.total(Op::get).bytes, 80U);
    EXPECT_EQ(traffic.total(Op::accumulate).operations, 1U);
    EXPECT_EQ(traffic.total(Op::accumulate).bytes, 240U);
    EXPECT_EQ(traffic.total(Op::atomic).operations, 2U);
    EXPECT_EQ(traffic.total(Op::atomic).bytes, 12U);
    EXPECT_EQ(traffic.total(Op::lock).operations, 1U);
    EXPECT_EQ(traffic.total(Op::notify).operations, 1U);
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(Traffic, IsKeptForEachPeerAndEachThread) {
  on_ranks({.change = [](Settings&) {}}, [](Job& job) {
    Region region = Region::allocate(job.world(), 4096).value();
    const auto work = [&](std::int32_t times) {
      for (std::int32_t i = 0; i < times; ++i) {
        for (std::int32_t rank = 0; rank < job.size(); ++rank) {
          for (std::int32_t repeat = 0; repeat <= rank; ++repeat) {
            ASSERT_TRUE(ok(put_value(job, region.at(TeamRank{rank}), i)));
          }
        }
      }
    };
    work(5);
    std::thread other([&] { work(7); });
    other.join();
    for (std::int32_t rank = 0; rank < job.size(); ++rank) {
      EXPECT_EQ(operations(job, WorldRank{rank}, Op::put),
                12U * (static_cast<std::uint64_t>(rank) + 1));
    }
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST(LocalAccess, BeginsAndEndsAtTheTransport) {
  if (!test::ranks_are_threads()) {
    GTEST_SKIP() << "the transport that counts operations connects only ranks that are threads";
  }
  const auto counts = std::make_shared<test::ToyCounts>();
  Settings settings;
  settings.transport = "toy";
  const auto body = [](Job& job) -> Status {
    TESSERA_ASSIGN_OR_RETURN(Region region, Region::allocate(job.world(), 64));
    {
      TESSERA_ASSIGN_OR_RETURN(LocalAccess first, LocalAccess::begin(region));
      TESSERA_ASSIGN_OR_RETURN(LocalAccess nested, LocalAccess::begin(region));
      const LocalAccess moved = std::move(nested);
      TESSERA_RETURN_IF_ERROR(first.end());
      TESSERA_RETURN_IF_ERROR(first.end());
    }
    return region.free();
  };
  ASSERT_TRUE(
      ok(run_on_threads(test::rank_count(), body,
                        {.settings = settings, .transports = {test::toy_transport(counts)}})));
  EXPECT_EQ(counts->begun_accesses.load(), 2 * test::rank_count());
  EXPECT_EQ(counts->ended_accesses.load(), 2 * test::rank_count());
}

}  // namespace
}  // namespace tessera::rma
