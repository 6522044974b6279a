// SPDX-License-Identifier: BSD-3-Clause
//
// Regions with Atomics::device on the transport over RDMA devices: which component does
// read-modify-writes, when they are refused, and what happens after failures. The contract tests
// their results (tests/contract/atomic_test.cpp).
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "rma/atomic.hpp"
#include "tests/rma/verbs/transport_rig.hpp"

namespace tessera::rma::test {
namespace {

using ::tessera::test::rounds;

constexpr std::size_t atomics_slice_bytes = std::size_t{1} << 20;
const RegionOptions by_device{.atomics = Atomics::device};

class DeviceAtomics : public WithinLimit {
 protected:
  static std::size_t count_atomics(const RdmaJob& rdma_job) {
    return rdma_job.posted(IBV_WR_ATOMIC_FETCH_AND_ADD).size() +
           rdma_job.posted(IBV_WR_ATOMIC_CMP_AND_SWP).size();
  }
  // The location of the slice is requested once, before the test counts.
  static void get_ready(const RdmaJob& rdma_job, Job& job, Region& region) {
    ASSERT_EQ(region.atomics(), Atomics::device);
    ASSERT_TRUE(ok(fetch_add(job, region.at(far_team_rank), std::int64_t{0})));
    rdma_job.network().start_trace();
  }
  static std::int64_t word_of(RdmaJob& rdma_job, std::int32_t rank) {
    return *reinterpret_cast<const std::int64_t*>(rdma_job.slice(rank));
  }
};

TEST_F(DeviceAtomics, AreOneDeviceRequestAndNoAgentRequest) {
  RdmaJob rdma_job;
  rdma_job.act(
      atomics_slice_bytes,
      [&](Job& job, Region& region) {
        const RemoteAddress at = region.at(far_team_rank);
        get_ready(rdma_job, job, region);
        EXPECT_EQ(fetch_add(job, at, std::int64_t{5}).value(), 0);
        EXPECT_EQ(fetch_add(job, at, std::int64_t{-7}).value(), 5);
        EXPECT_EQ(compare_swap(job, at, std::int64_t{1}, std::int64_t{9}).value(), -2);
        EXPECT_EQ(compare_swap(job, at, std::int64_t{-2}, std::int64_t{9}).value(), -2);
        EXPECT_EQ(word_of(rdma_job, 1), 9);
        const auto sums = rdma_job.posted(IBV_WR_ATOMIC_FETCH_AND_ADD);
        EXPECT_EQ(sums.size(), 2U);
        EXPECT_EQ(rdma_job.posted(IBV_WR_ATOMIC_CMP_AND_SWP).size(), 2U);
        EXPECT_TRUE(rdma_job.posted(IBV_WR_SEND_WITH_IMM).empty());
        EXPECT_TRUE(std::all_of(sums.begin(), sums.end(), [](const FakeVerbs::Posted& each) {
          return each.is_signalled && each.bytes == sizeof(std::int64_t);
        }));
      },
      by_device);
}

TEST_F(DeviceAtomics, SwapByComparingWithAGuessAndThenWithTheOldValue) {
  RdmaJob rdma_job;
  rdma_job.act(
      atomics_slice_bytes,
      [&](Job& job, Region& region) {
        const RemoteAddress at = region.at(far_team_rank);
        constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
        get_ready(rdma_job, job, region);
        EXPECT_EQ(swap(job, at, lowest).value(), 0);
        EXPECT_EQ(rdma_job.posted(IBV_WR_ATOMIC_CMP_AND_SWP).size(), 1U);
        EXPECT_EQ(swap(job, at, std::int64_t{8}).value(), lowest);
        EXPECT_EQ(rdma_job.posted(IBV_WR_ATOMIC_CMP_AND_SWP).size(), 3U);
        EXPECT_EQ(word_of(rdma_job, 1), 8);
        EXPECT_TRUE(rdma_job.posted(IBV_WR_SEND_WITH_IMM).empty());
      },
      by_device);
}

TEST_F(DeviceAtomics, OfTheOwnNodeUseTheDeviceToo) {
  RdmaJob rdma_job;
  rdma_job.act(
      atomics_slice_bytes,
      [&](Job& job, Region& region) {
        const RemoteAddress own = region.at(TeamRank{0});
        ASSERT_TRUE(ok(fetch_add(job, own, std::int64_t{4})));
        rdma_job.network().start_trace();
        EXPECT_EQ(fetch_add(job, own, std::int64_t{2}).value(), 4);
        EXPECT_EQ(count_atomics(rdma_job), 1U);
        EXPECT_EQ(word_of(rdma_job, 0), 6);
        ASSERT_TRUE(ok(put_value(job, own, std::int64_t{40})));
        EXPECT_EQ(swap(job, own, std::int64_t{1}).value(), 40);
        EXPECT_EQ(get_value<std::int64_t>(job, own).value(), 1);
      },
      by_device);
}

TEST_F(DeviceAtomics, FollowEarlierRequestsToTheAgent) {
  RdmaJob rdma_job;
  rdma_job.act(
      atomics_slice_bytes,
      [&](Job& job, Region& region) {
        const RemoteAddress at = region.at(far_team_rank);
        const std::int64_t three = 3;
        std::int64_t expected = 0;
        for (int i = 0; i < rounds(200); ++i) {
          ASSERT_TRUE(ok(accumulate(job, at, &three, sizeof three, Scale::of(three))));
          expected += 9;
          ASSERT_EQ(fetch_add(job, at, std::int64_t{1}).value(), expected);
          ++expected;
        }
        EXPECT_EQ(get_value<std::int64_t>(job, at).value(), expected);
      },
      by_device);
}

TEST_F(DeviceAtomics, OfFourBytesAreRefused) {
  RdmaJob rdma_job;
  rdma_job.act(
      atomics_slice_bytes,
      [&](Job& job, Region& region) {
        rdma_job.network().start_trace();
        for (const std::int32_t member : {0, 1}) {
          const RemoteAddress at = region.at(TeamRank{member});
          EXPECT_TRUE(
              fails(fetch_add(job, at, std::int32_t{1}), Code::unsupported,
                    {"atomic operation on 4 bytes in region",
                     "network devices, which support 8-byte words only", "use words of 8 bytes"}));
          EXPECT_TRUE(fails(swap(job, at, std::int32_t{1}), Code::unsupported));
          EXPECT_TRUE(
              fails(compare_swap(job, at, std::int32_t{0}, std::int32_t{1}), Code::unsupported));
          EXPECT_EQ(word_of(rdma_job, member), 0);
        }
        for (const ibv_wr_opcode each :
             {IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_RDMA_WRITE}) {
          EXPECT_TRUE(rdma_job.posted(each).empty());
        }
      },
      by_device);
}

// --- as `separate`

TEST_F(DeviceAtomics, UseProcessorsIfOneNodesDeviceHasNone) {
  for (const std::size_t without : {0U, 1U}) {
    std::vector<DeviceModel> devices = soft_roce_devices(2);
    devices[without].attributes.atomic_cap = IBV_ATOMIC_NONE;
    RdmaJob rdma_job({.devices = devices});
    rdma_job.act(
        atomics_slice_bytes,
        [&](Job& job, Region& region) {
          const RemoteAddress at = region.at(far_team_rank);
          EXPECT_EQ(region.options().atomics, Atomics::device);
          EXPECT_EQ(region.atomics(), Atomics::separate);
          rdma_job.network().start_trace();
          EXPECT_EQ(fetch_add(job, at, std::int64_t{5}).value(), 0);
          EXPECT_EQ(fetch_add(job, at, std::int32_t{5}).value(), 5);
          EXPECT_EQ(fetch_add(job, region.at(TeamRank{0}), std::int32_t{5}).value(), 0);
          EXPECT_EQ(word_of(rdma_job, 1), 10);
          EXPECT_EQ(count_atomics(rdma_job), 0U);
          EXPECT_FALSE(rdma_job.posted(IBV_WR_SEND_WITH_IMM).empty());
        },
        by_device);
  }
}

TEST_F(DeviceAtomics, UseProcessorsInMemoryThatDevicesDoNotReach) {
  RdmaJob rdma_job;
  rdma_job.run([&](Job& job) {
    alignas(64) std::array<std::int64_t, 8> own{};
    auto sparse = Region::allocate(job.world(), atomics_slice_bytes,
                                   {.sparse = true, .atomics = Atomics::device});
    auto attached = Region::attach(job.world(), own.data(), sizeof own, by_device);
    auto of_one = job.world().split(job.rank().value, 0);
    ASSERT_TRUE(ok(of_one));
    auto alone = Region::allocate(*of_one, atomics_slice_bytes, by_device);
    for (auto* const each : {&sparse, &attached}) {
      ASSERT_TRUE(ok(*each));
      EXPECT_EQ((*each)->atomics(), Atomics::separate);
      ASSERT_TRUE(ok(fetch_add(job, (*each)->at(TeamRank{0}), std::int32_t{1})));
      ASSERT_TRUE(ok(job.barrier()));
      EXPECT_EQ(get_value<std::int32_t>(job, (*each)->at(TeamRank{0})).value(), 2);
    }
    ASSERT_TRUE(ok(alone));
    EXPECT_EQ(alone->atomics(), Atomics::separate) << "there is one node";
    EXPECT_EQ(fetch_add(job, alone->at(TeamRank{0}), std::int32_t{1}).value(), 0);
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST_F(DeviceAtomics, OfOtherRegionsStayRequests) {
  RdmaJob rdma_job;
  rdma_job.act(atomics_slice_bytes, [&](Job& job, Region& region) {
    EXPECT_EQ(region.atomics(), Atomics::separate);
    rdma_job.network().start_trace();
    ASSERT_TRUE(ok(fetch_add(job, region.at(far_team_rank), std::int64_t{1})));
    ASSERT_TRUE(ok(fetch_add(job, region.at(TeamRank{0}), std::int64_t{1})));
    EXPECT_EQ(count_atomics(rdma_job), 0U);
  });
}

// --- several ranks on a node

TEST_F(DeviceAtomics, OfRanksOfOneNodeAndOfOthersLoseNothing) {
  RdmaJob rdma_job({.ranks = 4});
  rdma_job.settings().ranks_per_node = 2;
  const std::int64_t each = rounds(300);
  rdma_job.network().start_trace();
  rdma_job.run([&](Job& job) {
    auto region = Region::allocate(job.world(), 64, by_device);
    ASSERT_TRUE(ok(region));
    ASSERT_EQ(region->atomics(), Atomics::device);
    std::vector<std::int64_t> seen(static_cast<std::size_t>(each * job.size()));
    for (std::int64_t i = 0; i < each; ++i) {
      const auto ticket = fetch_add(job, region->at(TeamRank{1}, 8), std::int64_t{1});
      ASSERT_TRUE(ok(ticket));
      ASSERT_LT(static_cast<std::size_t>(*ticket), seen.size());
      ++seen[static_cast<std::size_t>(*ticket)];
    }
    ASSERT_TRUE(ok(job.world().allreduce(std::span(seen), Reduction::sum)));
    EXPECT_TRUE(
        std::all_of(seen.begin(), seen.end(), [](std::int64_t count) { return count == 1; }));
  });
  EXPECT_EQ(count_atomics(rdma_job), static_cast<std::size_t>(each * rdma_job.ranks()));
}

// --- failures

TEST_F(DeviceAtomics, NeverFallBackToAnotherMethod) {
  RdmaJob rdma_job;
  constexpr int of_devices = 4;  // while devices are opened, before connections exist
  rdma_job.network().fail(FakeVerbs::Call::create_qp, ENOMEM, of_devices, -1);
  rdma_job.act(
      atomics_slice_bytes,
      [&](Job& job, Region& region) {
        ASSERT_EQ(region.atomics(), Atomics::device);
        for (const std::int32_t member : {0, 1}) {
          const RemoteAddress at = region.at(TeamRank{member});
          EXPECT_TRUE(fails(fetch_add(job, at, std::int64_t{1}), Code::unsupported,
                            {"node " + std::to_string(member) + " is reached over TCP",
                             "done by its device only"}));
          EXPECT_TRUE(fails(swap(job, at, std::int64_t{1}), Code::unsupported));
          EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 0) << "the rest works";
        }
      },
      by_device);
}

TEST_F(DeviceAtomics, ReportWhyTheMemoryIsNotRegistered) {
  RdmaJob rdma_job;
  rdma_job.act(
      atomics_slice_bytes,
      [&](Job& job, Region& region) {
        ASSERT_TRUE(ok(job.fence(far)));
        rdma_job.network().limit_memlock(rdma_job.network().registered_bytes() +
                                         (std::size_t{4} << 20));
        for (int i = 0; i < 2; ++i) {
          EXPECT_TRUE(fails(fetch_add(job, region.at(far_team_rank), std::int64_t{1}),
                            Code::unsupported, {"by the device of the target's node", "regist"}));
        }
        ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), std::int64_t{2})));
        EXPECT_EQ(get_value<std::int64_t>(job, region.at(far_team_rank)).value(), 2);
      },
      by_device);
}

TEST_F(DeviceAtomics, OfALostNodeReportIt) {
  struct Case {
    ibv_wc_opcode kind;
    Result<std::int64_t> (*run)(Job& job, RemoteAddress at);
  };
  const std::vector<Case> cases = {
      {IBV_WC_FETCH_ADD,
       [](Job& job, RemoteAddress at) { return fetch_add(job, at, std::int64_t{1}); }},
      {IBV_WC_COMP_SWAP, [](Job& job, RemoteAddress at) { return swap(job, at, std::int64_t{1}); }},
  };
  for (const Case& each : cases) {
    RdmaJob rdma_job;
    rdma_job.act(
        atomics_slice_bytes,
        [&](Job& job, Region& region) {
          get_ready(rdma_job, job, region);
          rdma_job.network().break_next(each.kind, IBV_WC_RETRY_EXC_ERR);
          EXPECT_TRUE(fails(each.run(job, region.at(far_team_rank)), Code::peer_lost,
                            {"node 1 is lost with rank 1", "does not answer"}));
          EXPECT_TRUE(fails(each.run(job, region.at(far_team_rank)), Code::peer_lost, {"node 1"}));
        },
        by_device);
  }
}

}  // namespace
}  // namespace tessera::rma::test
