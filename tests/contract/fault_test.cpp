// SPDX-License-Identifier: BSD-3-Clause
//
// Errors that a transport reports reach the caller: every code, from every function, both at the
// call and later.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/transfer.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/inner_transport.hpp"
#include "tests/support/rank_main.hpp"

namespace tessera::rma {
namespace {

using test::Call;
using test::EndpointMemory;
using test::fails;
using test::Fault;
using test::FaultPlan;
using test::faulty_job;
using test::neighbour;
using test::ok;
using test::on_ranks;

constexpr std::array codes{Code::invalid_argument, Code::out_of_range, Code::closed,
                           Code::unsupported,      Code::no_memory,    Code::limit_exceeded,
                           Code::unreachable,      Code::peer_lost,    Code::timed_out,
                           Code::protocol,         Code::internal};

std::shared_ptr<FaultPlan> plan_of(const Fault& fault) {
  auto plan = std::make_shared<FaultPlan>();
  plan->faults.push_back(fault);
  return plan;
}

class EachCode : public testing::TestWithParam<Code> {};

TEST_P(EachCode, OfAPutIsReportedAtOnceAndLate) {
  for (const bool late : {false, true}) {
    on_ranks(faulty_job(plan_of({Call::put, GetParam(), late, 1, 3})), [](Job& job) {
      EndpointMemory memory(job.world(), 64);
      const std::int64_t value = 5;
      const RemoteAddress at = memory.at(neighbour(job));
      EXPECT_TRUE(fails(put(job, at, &value, 8), GetParam(), {"injected"}));
      EXPECT_TRUE(fails(put_async(job, at, &value, 8).wait(), GetParam(), {"injected"}));
      { const Handle dropped = put_async(job, at, &value, 8); }
      EXPECT_TRUE(fails(job.fence_all(), GetParam(), {"injected"}));
      EXPECT_TRUE(ok(job.fence_all()));
      EXPECT_TRUE(ok(put(job, at, &value, 8)));
      EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 5);
    });
  }
}

TEST_P(EachCode, OfAGetIsReportedAtOnceAndLate) {
  for (const bool late : {false, true}) {
    on_ranks(faulty_job(plan_of({Call::get, GetParam(), late, 1, 2})), [](Job& job) {
      EndpointMemory memory(job.world(), 64);
      std::int64_t value = 5;
      const RemoteAddress at = memory.at(neighbour(job));
      EXPECT_TRUE(fails(get(job, at, &value, 8), GetParam(), {"injected"}));
      EXPECT_TRUE(fails(get_async(job, at, &value, 8).wait(), GetParam(), {"injected"}));
      EXPECT_TRUE(ok(get(job, at, &value, 8)));
      EXPECT_EQ(value, 0);
    });
  }
}

TEST_P(EachCode, OfAFenceIsReported) {
  on_ranks(faulty_job(plan_of({Call::fence, GetParam(), false, 1, 1})), [](Job& job) {
    EndpointMemory memory(job.world(), 64);
    ASSERT_TRUE(ok(put_value(job, memory.at(neighbour(job)), 1.0)));
    EXPECT_TRUE(fails(job.fence_all(), GetParam(), {"injected"}));
    EXPECT_TRUE(ok(job.fence_all()));
  });
}

TEST_P(EachCode, OfAnAllocationIsReportedAndTheTeamContinues) {
  on_ranks(faulty_job(plan_of({Call::allocate, GetParam(), false, 1, 1})), [](Job& job) {
    EXPECT_TRUE(
        fails(Region::allocate(job.world(), 4096), GetParam(), {"allocating 4", "injected"}));
    EXPECT_TRUE(ok(Region::allocate(job.world(), 4096)));
  });
}

TEST_P(EachCode, OfFreeingMemoryIsReported) {
  on_ranks(faulty_job(plan_of({Call::free, GetParam(), false, 1, 1})), [](Job& job) {
    Region region = Region::allocate(job.world(), 4096).value();
    EXPECT_TRUE(fails(region.free(), GetParam(), {"injected"}));
    EXPECT_TRUE(ok(region.free()));
  });
}

TEST_P(EachCode, OfLocalAccessIsReportedByBeginAndEnd) {
  const auto plan = plan_of({Call::begin_access, GetParam(), false, 1, 1});
  plan->faults.push_back({Call::end_access, GetParam(), false, 1, 1});
  on_ranks(faulty_job(plan), [](Job& job) {
    Region region = Region::allocate(job.world(), 4096).value();
    EXPECT_TRUE(fails(LocalAccess::begin(region), GetParam(), {"injected"}));
    LocalAccess access = LocalAccess::begin(region).value();
    EXPECT_TRUE(fails(access.end(), GetParam(), {"injected"}));
    EXPECT_TRUE(ok(access.end()));
  });
}

INSTANTIATE_TEST_SUITE_P(All, EachCode, testing::ValuesIn(codes),
                         [](const testing::TestParamInfo<Code>& each) {
                           return std::string(to_string(each.param));
                         });

TEST(AFault, OfConnectingNamesThePeerAndIsNotPermanent) {
  on_ranks(faulty_job(plan_of({Call::connect, Code::unreachable, false, 1, 1})), [](Job& job) {
    EndpointMemory memory(job.world(), 64);
    const RemoteAddress at = memory.at(neighbour(job));
    const Status status = put_value(job, at, 1.0);
    EXPECT_TRUE(
        fails(status, Code::unreachable,
              {"connecting to rank " + std::to_string(at.rank.value) + " by faulty", "injected"}));
    EXPECT_EQ(status.rank(), at.rank);
    EXPECT_TRUE(ok(put_value(job, at, 1.0)));
    EXPECT_EQ(job.transport_to(at.rank).value(), "faulty");
  });
}

TEST(AFault, OfStartingATransportFailsTheStartOnAllRanks) {
  const auto start = [](Job&) {};
  if (!test::ranks_are_threads()) {
    GTEST_SKIP() << "calls Job::start for all ranks itself, which needs ranks that are threads";
  }
  static_cast<void>(start);
  const TransportFactory factory{
      "lame", [](const TransportContext& context) -> Result<std::unique_ptr<Transport>> {
        if (context.rank.value == context.size - 1) {
          return Status::error(Code::limit_exceeded, "no adapter has a free port");
        }
        return test::inner_transport().create(context);
      }};
  Settings settings;
  settings.transport = "lame";
  const Status status = run_on_threads(test::rank_count(), [](Job&) { return Status(); },
                                       {.settings = settings, .transports = {factory}});
  EXPECT_TRUE(fails(status, Code::limit_exceeded, {"starting transport lame", "no adapter"}));
}

TEST(AFault, InThePutOfAComposedOperationLeavesTheLockFree) {
  if (test::transport_name() == "loopback") {
    GTEST_SKIP() << "loopback composes neither accumulate nor atomics";
  }
  for (const Call call : {Call::get, Call::put}) {
    for (const bool late : {false, true}) {
      on_ranks(faulty_job(plan_of({call, Code::timed_out, late, 1, 2})), [](Job& job) {
        EndpointMemory memory(job.world(), 64);
        const RemoteAddress at = memory.at(TeamRank{0});
        const std::int64_t one = 1;
        EXPECT_TRUE(fails(accumulate(job, at, &one, 8, Scale::of(one)), Code::timed_out));
        EXPECT_TRUE(fails(fetch_add(job, at, one), Code::timed_out));
        ASSERT_TRUE(ok(job.barrier()));
        EXPECT_TRUE(ok(accumulate(job, at, &one, 8, Scale::of(one))));
        ASSERT_TRUE(ok(job.barrier()));  // the two kinds are not atomic towards each other
        EXPECT_TRUE(ok(fetch_add(job, at, one)));
        ASSERT_TRUE(ok(job.barrier()));
        EXPECT_EQ(get_value<std::int64_t>(job, at).value(), 2 * job.size());
      });
    }
  }
}

TEST(AFault, OfNativeAccumulateAndAtomicsIsReportedAtOnceAndLate) {
  if (test::transport_name() != "loopback") {
    GTEST_SKIP() << test::transport_name() << " has neither accumulate nor atomics of its own";
  }
  for (const bool late : {false, true}) {
    const auto plan = plan_of({Call::accumulate, Code::peer_lost, late, 1, 1});
    plan->faults.push_back({Call::atomic, Code::protocol, late, 1, 1});
    on_ranks(faulty_job(plan), [](Job& job) {
      EndpointMemory memory(job.world(), 64);
      const RemoteAddress at = memory.at(neighbour(job));
      const std::int64_t one = 1;
      EXPECT_TRUE(fails(accumulate(job, at, &one, 8, Scale::of(one)), Code::peer_lost));
      EXPECT_TRUE(fails(fetch_add(job, at, one), Code::protocol));
      EXPECT_EQ(fetch_add(job, at, one).value(), 0);
    });
  }
}

TEST(AFault, InOneRunOfManyIsReported) {
  on_ranks(faulty_job(plan_of({Call::put, Code::timed_out, true, 3, 3})), [](Job& job) {
    EndpointMemory memory(job.world(), 4096);
    const std::vector<std::int64_t> rows(64, 1);
    std::vector<Fragment> list;
    for (std::uint64_t i = 0; i < 8; ++i) {
      list.push_back({const_cast<std::int64_t*>(rows.data()), 16 * i, 8});
    }
    EXPECT_TRUE(fails(put(job, memory.at(neighbour(job)), list), Code::timed_out));
  });
}

}  // namespace
}  // namespace tessera::rma
