// SPDX-License-Identifier: BSD-3-Clause
//
// Failures of the transport over RDMA devices: a waiting call returns the node, the rank and the
// cause. No failed operation counts as done, other nodes continue, and the transport uses another
// way if there is one.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "rma/atomic.hpp"
#include "rma/handle.hpp"
#include "rma/notify.hpp"
#include "tests/rma/verbs/transport_rig.hpp"

namespace tessera::rma::test {
namespace {

constexpr std::size_t faults_slice_bytes = std::size_t{2} << 20;
constexpr std::size_t long_bytes = 200'000;

// An operation on the far rank, with what completes it there.
struct Operation {
  const char* name;
  ibv_wc_opcode kind;  // of the request that does it
  Status (*run)(Job& job, Region& region);
};

Status put_and_fence(Job& job, Region& region, std::size_t bytes) {
  const auto data = pattern(bytes, 9);
  TESSERA_RETURN_IF_ERROR(put(job, region.at(far_team_rank), data.data(), bytes));
  return job.fence(far);
}

// If a get succeeds its result must be right.
Status get_zeroes(Job& job, Region& region, std::size_t bytes) {
  std::vector<std::byte> back(bytes, std::byte{0x55});
  TESSERA_RETURN_IF_ERROR(
      get(job, region.at(far_team_rank, faults_slice_bytes / 2), back.data(), bytes));
  EXPECT_TRUE(std::all_of(back.begin(), back.end(), [](std::byte each) {
    return each == std::byte{0};
  })) << "a wrong result was returned as success";
  return {};
}

Status add(Job& job, Region& region) {
  return fetch_add(job, region.at(far_team_rank), std::int64_t{1}).status();
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"PutOfAWord", IBV_WC_RDMA_WRITE,
       [](Job& job, Region& region) { return put_and_fence(job, region, 8); }},
      {"PutThroughABuffer", IBV_WC_RDMA_WRITE,
       [](Job& job, Region& region) { return put_and_fence(job, region, 3000); }},
      {"PutInPlace", IBV_WC_RDMA_WRITE,
       [](Job& job, Region& region) { return put_and_fence(job, region, long_bytes); }},
      {"FlushOfAFence", IBV_WC_RDMA_READ,
       [](Job& job, Region& region) { return put_and_fence(job, region, 8); }},
      {"GetThroughABuffer", IBV_WC_RDMA_READ,
       [](Job& job, Region& region) { return get_zeroes(job, region, 800); }},
      {"GetInPlace", IBV_WC_RDMA_READ,
       [](Job& job, Region& region) { return get_zeroes(job, region, long_bytes); }},
      {"Request", IBV_WC_SEND, add},
  };
  return all;
}

struct Cause {
  const char* name;
  ibv_wc_status status;
  const char* words;
};

const std::vector<Cause>& causes() {
  static const std::vector<Cause> all = {
      {"RetriesExceeded", IBV_WC_RETRY_EXC_ERR, "the other end does not answer"},
      {"NotReady", IBV_WC_RNR_RETRY_EXC_ERR, "the other end was not ready to receive"},
      {"RemoteAccess", IBV_WC_REM_ACCESS_ERR, "the other end refused access to its memory"},
      {"RemoteInvalid", IBV_WC_REM_INV_REQ_ERR, "the other end did not accept the request"},
      // remote and local failures
      {"RemoteOperation", IBV_WC_REM_OP_ERR, "the other end could not execute the request"},
      {"LocalProtection", IBV_WC_LOC_PROT_ERR,
       "the local memory is not registered for the request"},
      {"LocalLength", IBV_WC_LOC_LEN_ERR, "a message was longer than its buffer"},
      {"Flushed", IBV_WC_WR_FLUSH_ERR, "the connection had failed before"},
      {"Fatal", IBV_WC_FATAL_ERR, "the device failed"},
      {"General", IBV_WC_GENERAL_ERR, "the request failed"},
  };
  return all;
}

class VerbsFaults : public WithinLimit {
 protected:
  // Rank 0 has a connection to both others, and runs `scene`. At the end it reaches rank 2.
  static void run_as_rank_0(RdmaJob& rdma_job, const std::function<void(Job&, Region&)>& scene) {
    rdma_job.act(faults_slice_bytes, [&](Job& job, Region& region) {
      ASSERT_TRUE(ok(put_value(job, region.at(far_team_rank), std::int64_t{0})));
      ASSERT_TRUE(ok(put_value(job, region.at(other_member), std::int64_t{3})));
      ASSERT_TRUE(ok(job.fence(far)));
      ASSERT_TRUE(ok(job.fence(other_rank)));
      scene(job, region);
      expect_other_rank_reached(rdma_job, job, region);
    });
  }
  static void expect_other_rank_reached(RdmaJob& rdma_job, Job& job, Region& region) {
    const auto data = pattern(long_bytes, 11);
    EXPECT_TRUE(ok(put(job, region.at(other_member, 8), data.data(), data.size())));
    EXPECT_TRUE(ok(job.fence(other_rank)));
    EXPECT_EQ(std::memcmp(rdma_job.slice(2) + 8, data.data(), data.size()), 0);
    const auto before = fetch_add(job, region.at(other_member), std::int64_t{1});
    ASSERT_TRUE(ok(before));
    EXPECT_EQ(*before, 3);
  }
  static constexpr WorldRank other_rank{2};
  static constexpr TeamRank other_member{2};
};

class VerbsFailingRequest
    : public VerbsFaults,
      public testing::WithParamInterface<std::tuple<std::size_t, std::size_t>> {};

TEST_P(VerbsFailingRequest, ReportsTheNodeTheRankAndTheCause) {
  const Operation& operation = operations()[std::get<0>(GetParam())];
  const Cause& cause = causes()[std::get<1>(GetParam())];
  RdmaJob rdma_job({.ranks = 3});
  run_as_rank_0(rdma_job, [&](Job& job, Region& region) {
    // Anything that the operation needs, such as the slice's location, exists before.
    ASSERT_TRUE(ok(operation.run(job, region)));
    rdma_job.network().break_next(operation.kind, cause.status);
    EXPECT_TRUE(fails(operation.run(job, region), Code::peer_lost,
                      {"node 1 is lost with rank 1", cause.words}));
    EXPECT_TRUE(fails(operation.run(job, region), Code::peer_lost, {"node 1 is lost with rank 1"}))
        << "it stays lost";
  });
}

// Each operation with one cause, and each cause with one operation.
std::vector<std::tuple<std::size_t, std::size_t>> failing_requests() {
  constexpr std::size_t in_place = 2;
  std::vector<std::tuple<std::size_t, std::size_t>> all;
  for (std::size_t i = 0; i < operations().size(); ++i) {
    all.emplace_back(i, 0);
  }
  for (std::size_t i = 1; i < causes().size(); ++i) {
    all.emplace_back(in_place, i);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Each, VerbsFailingRequest, testing::ValuesIn(failing_requests()),
                         [](const auto& each) {
                           return std::string(operations()[std::get<0>(each.param)].name) +
                                  causes()[std::get<1>(each.param)].name;
                         });

// --- failures outside of requests

// Until one fails; none may take long.
Status run_until_failure(const Operation& operation, Job& job, Region& region) {
  constexpr int enough = 2000;
  Status status;
  for (int i = 0; i < enough && status.ok(); ++i) {
    status = operation.run(job, region);
  }
  return status;
}

struct Failure {
  const char* name;
  void (*cause)(FakeVerbs& network);
  const char* words;  // of the cause, for operations under way
};

const std::vector<Failure>& failures() {
  static const std::vector<Failure> all = {
      {"CutNetwork", [](FakeVerbs& network) { network.disconnect("fake0", "fake1"); },
       "the other end does not answer"},
      {"RemovedDeviceThere", [](FakeVerbs& network) { network.remove_device("fake1"); }, ""},
      {"RefusedRequests",
       [](FakeVerbs& network) { network.fail(FakeVerbs::Call::post_send, ENOMEM); }, ""},
  };
  return all;
}

class VerbsFailure : public VerbsFaults,
                     public testing::WithParamInterface<std::tuple<std::size_t, std::size_t>> {};

TEST_P(VerbsFailure, EndsEachOperationAndNothingElse) {
  const Failure& failure = failures()[std::get<0>(GetParam())];
  const Operation& operation = operations()[std::get<1>(GetParam())];
  RdmaJob rdma_job({.ranks = 3});
  run_as_rank_0(rdma_job, [&](Job& job, Region& region) {
    ASSERT_TRUE(ok(operation.run(job, region)));
    failure.cause(rdma_job.network());
    EXPECT_TRUE(fails(run_until_failure(operation, job, region), Code::peer_lost,
                      {"node 1 is lost with rank 1", failure.words}));
    EXPECT_TRUE(fails(operation.run(job, region), Code::peer_lost, {"node 1"}));
  });
}

INSTANTIATE_TEST_SUITE_P(Each, VerbsFailure,
                         testing::Combine(testing::Range(std::size_t{0}, failures().size()),
                                          testing::Range(std::size_t{0}, operations().size())),
                         [](const auto& each) {
                           return std::string(failures()[std::get<0>(each.param)].name) +
                                  operations()[std::get<1>(each.param)].name;
                         });

// Also if the most active connection no longer exists.
TEST_F(VerbsFaults, AgentsSleepWhenAConnectionIsLost) {
  for (int round = 0; round < 10 && !HasFailure(); ++round) {
    RdmaJob rdma_job;
    rdma_job.act(faults_slice_bytes, [&](Job& job, Region& region) {
      ASSERT_TRUE(ok(add(job, region)));
      rdma_job.network().break_next(IBV_WC_SEND, IBV_WC_RETRY_EXC_ERR);
      EXPECT_FALSE(ok(add(job, region)));
      EXPECT_TRUE(rdma_job.becomes_idle());
    });
  }
}

// This side's device is gone: no node is reachable.
TEST_F(VerbsFaults, RemovedDeviceEndsPendingOperations) {
  RdmaJob rdma_job({.ranks = 3});
  rdma_job.act(faults_slice_bytes, [&](Job& job, Region& region) {
    const auto data = pattern(long_bytes, 12);
    std::vector<std::byte> back(long_bytes);
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), data.data(), long_bytes)));
    ASSERT_TRUE(ok(get(job, region.at(far_team_rank), back.data(), long_bytes)));
    rdma_job.network().hold(true);
    Handle writing = put_async(job, region.at(far_team_rank), data.data(), long_bytes);
    Handle reading = get_async(job, region.at(far_team_rank), back.data(), long_bytes);
    rdma_job.network().remove_device("fake0");
    EXPECT_TRUE(fails(writing.wait(), Code::peer_lost, {"node 1 is lost with rank 1"}));
    EXPECT_TRUE(fails(reading.wait(), Code::peer_lost, {"node 1 is lost with rank 1"}));
    rdma_job.network().hold(false);
    EXPECT_TRUE(fails(add(job, region), Code::peer_lost, {"node 1"}));
    EXPECT_TRUE(fails(fetch_add(job, region.at(TeamRank{2}), std::int64_t{1}), Code::peer_lost,
                      {"node 2"}));
  });
}

// Whatever the device did with the requests, no completion reports it any longer.
TEST_F(VerbsFaults, CompletionQueueThatFailsEndsPendingOperations) {
  RdmaJob rdma_job;
  rdma_job.act(faults_slice_bytes, [&](Job& job, Region& region) {
    const auto data = pattern(long_bytes, 13);
    ASSERT_TRUE(ok(put(job, region.at(far_team_rank), data.data(), long_bytes)));
    ASSERT_TRUE(ok(add(job, region)));
    rdma_job.network().fail(FakeVerbs::Call::poll_cq, EIO, 0, -1);
    EXPECT_TRUE(fails(put(job, region.at(far_team_rank), data.data(), long_bytes), Code::peer_lost,
                      {"node 1 is lost with rank 1", "completion queue"}));
    EXPECT_TRUE(fails(add(job, region), Code::peer_lost, {"node 1"}));
  });
}

// --- objects that cannot be made

// All operations complete with the right result, by any transport.
void work(Job& job) {
  auto region = Region::allocate(job.world(), faults_slice_bytes);
  ASSERT_TRUE(ok(region));
  ASSERT_TRUE(ok(job.barrier()));
  const TeamRank next = neighbour(job);
  const auto seed = static_cast<std::uint32_t>(job.rank().value);
  const auto sent = pattern(long_bytes, seed);
  std::vector<std::byte> back(long_bytes);
  const auto rows = CopyShape::rows(1000, 50, 2000, 3000);
  ASSERT_TRUE(ok(put(job, region->at(next, 16), sent.data(), long_bytes)));
  ASSERT_TRUE(ok(get(job, region->at(next, 16), back.data(), long_bytes)));
  EXPECT_TRUE(back == sent);
  ASSERT_TRUE(ok(put(job, region->at(next, 500'000), sent.data(), rows)));
  ASSERT_TRUE(ok(put(job, region->at(next, 1'000'000), sent.data(), 1000)));
  ASSERT_TRUE(ok(put_value(job, region->at(next, 8), std::int64_t{40})));
  const auto before = fetch_add(job, region->at(next, 8), std::int64_t{2});
  ASSERT_TRUE(ok(before));
  EXPECT_EQ(*before, 40);
  ASSERT_TRUE(ok(job.barrier()));
  const auto come =
      pattern(long_bytes, static_cast<std::uint32_t>(neighbour(job, job.size() - 1).value));
  EXPECT_EQ(std::memcmp(region->local() + 16, come.data(), long_bytes), 0);
  EXPECT_EQ(std::memcmp(region->local() + 1'000'000, come.data(), 1000), 0);
  const std::byte* const rows_at = region->local() + 500'000;
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(std::memcmp(rows_at + 3000 * i, come.data() + 2000 * i, 1000), 0);
  }
  EXPECT_EQ(*reinterpret_cast<const std::int64_t*>(region->local() + 8), 42);
  ASSERT_TRUE(ok(job.barrier()));
}

struct Refusal {
  const char* name;
  FakeVerbs::Call call;
  int error;
  int after;          // calls of that kind that succeed
  int times;          // then calls that fail; −1: all
  const char* words;  // of a warning; empty: there is none
};

const std::vector<Refusal>& refusals() {
  using Call = FakeVerbs::Call;
  constexpr const char* over_tcp = "is reached over TCP: ";
  static const std::vector<Refusal> all = {
      // Two devices are measured, with two queue pairs each; then each of two agents makes one, and
      // then each client.
      {"CompletionQueueOfAnAgent", Call::create_cq, ENOMEM, 2, 1, "agent is reached over TCP: "},
      {"CompletionQueueOfAClient", Call::create_cq, ENOMEM, 4, 1, over_tcp},
      {"CompletionQueues", Call::create_cq, ENOMEM, 2, -1, over_tcp},
      {"ChannelOfAnAgent", Call::create_comp_channel, EMFILE, 1, 1, over_tcp},
      {"ChannelOfAClient", Call::create_comp_channel, EMFILE, 3, 1, over_tcp},
      {"ReceivesOfAnAgent", Call::create_srq, ENOMEM, 0, 1, over_tcp},
      {"ReceivesOfAClient", Call::create_srq, ENOMEM, 2, 1, over_tcp},
      {"BuffersOfAnAgent", Call::reg_mr, EINVAL, 0, 1, over_tcp},
      {"BuffersOfAClient", Call::reg_mr, EINVAL, 2, 1, over_tcp},
      {"AllMemory", Call::reg_mr, ENOMEM, 0, -1, over_tcp},
      {"PostedReceives", Call::post_srq_recv, ENOMEM, 0, 1, over_tcp},
      {"QueuePairOfTheFirst", Call::create_qp, ENOMEM, 4, 1, over_tcp},
      {"QueuePairOfTheSecond", Call::create_qp, ENOMEM, 5, 1, over_tcp},
      {"QueuePairOfTheThird", Call::create_qp, ENOMEM, 6, 1, over_tcp},
      {"QueuePairs", Call::create_qp, ENOMEM, 4, -1, over_tcp},
      {"LimitOfReceives", Call::modify_srq, EINVAL, 0, -1, ""},
  };
  return all;
}

class VerbsRefusal : public VerbsFaults, public testing::WithParamInterface<std::size_t> {};

TEST_P(VerbsRefusal, FallsBackToAnotherProtocol) {
  const Refusal& refusal = refusals()[GetParam()];
  RdmaJob rdma_job;
  rdma_job.network().fail(refusal.call, refusal.error, refusal.after, refusal.times);
  rdma_job.run(work);
  if (std::string_view(refusal.words).empty()) {
    EXPECT_EQ(rdma_job.warnings(), std::vector<std::string>());
  } else {
    EXPECT_FALSE(rdma_job.warnings(refusal.words).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Each, VerbsRefusal, testing::Range(std::size_t{0}, refusals().size()),
                         [](const auto& each) { return std::string(refusals()[each.param].name); });

// Each step of connecting, at the end that reaches it first: INIT, RTR and RTS of two queue pairs
// for each of two connections.
class VerbsRefusedStep : public VerbsFaults, public testing::WithParamInterface<int> {};

TEST_P(VerbsRefusedStep, LeavesTheConnectionOnTcp) {
  RdmaJob rdma_job;
  rdma_job.network().fail(FakeVerbs::Call::modify_qp, EINVAL, GetParam());
  rdma_job.run(work);
  EXPECT_EQ(rdma_job.warnings("is reached over TCP: ").size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Each, VerbsRefusedStep, testing::Range(0, 12));

TEST_F(VerbsFaults, ArenaThatCannotBeRegisteredIsReachedByRequests) {
  for (const int after : {6, 7, 8}) {
    RdmaJob rdma_job;
    rdma_job.network().fail(FakeVerbs::Call::reg_mr, ENOMEM, after, -1);
    rdma_job.run(work);
  }
}

// Registrations fail as soon as their total reaches that size.
TEST_F(VerbsFaults, ExhaustedLockedMemoryOnlyChangesTheProtocol) {
  for (const std::size_t mib : {1U, 4U, 6U, 9U, 16U, 24U, 40U, 60U}) {
    RdmaJob rdma_job;
    rdma_job.network().limit_memlock(mib << 20U);
    rdma_job.run(work);
    EXPECT_FALSE(HasFailure()) << "with " << mib << " MiB";
  }
}

// The slab of its beginning is registered for another region, and no other slab can be.
TEST_F(VerbsFaults, PartlyRegisteredSliceIsReachedAsAWhole) {
  RdmaJob rdma_job;
  rdma_job.run([&](Job& job) {
    constexpr std::size_t bytes = std::size_t{24} << 20;
    auto small = Region::allocate(job.world(), 4096);
    auto large = Region::allocate(job.world(), bytes);
    ASSERT_TRUE(ok(small));
    ASSERT_TRUE(ok(large));
    const TeamRank next = neighbour(job);
    ASSERT_TRUE(ok(put_value(job, small->at(next), 1.0)));
    ASSERT_TRUE(ok(job.barrier()));
    rdma_job.network().limit_memlock(rdma_job.network().registered_bytes());
    ASSERT_TRUE(ok(job.barrier()));
    const auto sent = pattern(bytes, 14);
    std::vector<std::byte> back(bytes);
    EXPECT_TRUE(ok(put(job, large->at(next), sent.data(), bytes)));
    EXPECT_TRUE(ok(get(job, large->at(next), back.data(), bytes)));
    EXPECT_TRUE(back == sent);
    ASSERT_TRUE(ok(job.barrier()));
    EXPECT_EQ(std::memcmp(large->local(), sent.data(), bytes), 0);
    ASSERT_TRUE(ok(job.barrier()));
  });
}

TEST_F(VerbsFaults, OneNodeWithoutADeviceMakesAllUseTcp) {
  RdmaJob rdma_job({.ranks = 3});
  rdma_job.has_no_device = [](WorldRank rank) { return rank == far; };
  rdma_job.run([&](Job& job) {
    const auto name = job.transport_to(WorldRank{neighbour(job).value});
    ASSERT_TRUE(ok(name));
    EXPECT_EQ(*name, "tcp");
    work(job);
  });
  EXPECT_EQ(rdma_job.network().live(), FakeVerbs::Live());
}

TEST_F(VerbsFaults, OneNodeWithoutADeviceIsNamedIfNoOtherTransportExists) {
  RdmaJob rdma_job({.ranks = 3, .transport = "shm,fabric"});
  rdma_job.has_no_device = [](WorldRank rank) { return rank == far; };
  std::atomic<int> started{0};
  const Status status = rdma_job.try_to_run([&](Job&) { ++started; });
  EXPECT_TRUE(fails(status, Code::unreachable, {"no transport of 'shm,fabric' connects nodes"}));
  EXPECT_EQ(started, 0);
}

}  // namespace
}  // namespace tessera::rma::test
