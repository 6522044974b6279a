// SPDX-License-Identifier: BSD-3-Clause
//
// Checks the simulated network: faults that tests request occur as specified, and its records are
// right.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/rma/verbs/verbs_rig.hpp"
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::test {
namespace {

int write_a_word(Pair& pair) {
  return Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(pair.there, 0).post();
}

// --- calls

TEST(FakeVerbsFaults, CallsFailWhenAndAsOftenAsRequested) {
  FakeVerbs fake;
  Side side(fake);
  fake.fail(FakeVerbs::Call::reg_mr, EAGAIN, 1, 2);
  std::vector<int> errors;
  for (int i = 0; i < 4; ++i) {
    errno = 0;
    ibv_mr* const region = fake.reg_mr(side.domain.get(), side.words.data(), 8, 0);
    errors.push_back(region == nullptr ? errno : 0);
    if (region != nullptr) {
      EXPECT_EQ(fake.dereg_mr(region), 0);
    }
  }
  EXPECT_EQ(errors, (std::vector<int>{0, EAGAIN, EAGAIN, 0}));
}

TEST(FakeVerbsFaults, EachCallCanFail) {
  using Call = FakeVerbs::Call;
  FakeVerbs fake;
  Pair pair(fake);
  Side& side = pair.here;
  ibv_context* const device = side.device.get();
  ibv_device_attr device_attributes{};
  ibv_port_attr port{};
  ibv_srq_init_attr srq{};
  ibv_srq_attr limit{};
  ibv_qp_init_attr qp{};
  ibv_qp_attr attributes{};
  ibv_wc completion{};
  const auto of_null = [](const void* object) { return object == nullptr ? errno : 0; };
  const std::vector<std::pair<Call, std::function<int()>>> calls = {
      {Call::open_device, [&] { return of_null(fake.open_device("fake0")); }},
      {Call::query_device, [&] { return fake.query_device(device, device_attributes); }},
      {Call::query_port, [&] { return fake.query_port(device, 1, port); }},
      {Call::query_gid_table, [&] { return fake.query_gid_table(device).empty() ? errno : 0; }},
      {Call::fork_init, [&] { return fake.fork_init(); }},
      {Call::alloc_pd, [&] { return of_null(fake.alloc_pd(device)); }},
      {Call::reg_mr,
       [&] { return of_null(fake.reg_mr(side.domain.get(), side.words.data(), 8, 0)); }},
      {Call::create_comp_channel, [&] { return of_null(fake.create_comp_channel(device)); }},
      {Call::create_cq, [&] { return of_null(fake.create_cq(device, 1, nullptr)); }},
      {Call::poll_cq,
       [&] {
         return -fake.poll_cq(side.sent.get(), {&completion, 1});
       }},
      {Call::req_notify_cq, [&] { return fake.req_notify_cq(side.sent.get()); }},
      {Call::create_srq, [&] { return of_null(fake.create_srq(side.domain.get(), srq)); }},
      {Call::modify_srq,
       [&] { return fake.modify_srq(side.receives.get(), limit, IBV_SRQ_LIMIT); }},
      {Call::post_srq_recv, [&] { return side.receive(1, 0, 1); }},
      {Call::create_qp, [&] { return of_null(fake.create_qp(side.domain.get(), qp)); }},
      {Call::modify_qp, [&] { return fake.modify_qp(side.queue.get(), attributes, 0); }},
      {Call::post_send, [&] { return write_a_word(pair); }},
  };
  for (const auto& [call, make] : calls) {
    fake.fail(call, EXDEV);
    EXPECT_EQ(make(), EXDEV) << static_cast<int>(call);
  }
}

TEST(FakeVerbsFaults, AFailingPostTakesNothing) {
  FakeVerbs fake;
  Pair pair(fake);
  ibv_send_wr request{};
  ibv_send_wr* bad = nullptr;
  fake.fail(FakeVerbs::Call::post_send, ENOMEM);
  EXPECT_EQ(fake.post_send(pair.here.queue.get(), &request, bad), ENOMEM);
  EXPECT_EQ(bad, &request);
}

// --- registrations

TEST(FakeVerbsFaults, LockedMemoryIsLimited) {
  FakeVerbs fake;
  Side side(fake, {.words = 16});
  EXPECT_EQ(fake.registered_bytes(), 128U);
  fake.limit_memlock(130);
  EXPECT_EQ(fake.reg_mr(side.domain.get(), side.words.data(), 3, 0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  ibv_mr* const region = fake.reg_mr(side.domain.get(), side.words.data(), 2, 0);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(fake.dereg_mr(region), 0);
  EXPECT_EQ(fake.registered_bytes(), 128U);
}

TEST(FakeVerbsFaults, RegistrationsAreWatched) {
  FakeVerbs fake;
  std::vector<FakeVerbs::Registration> seen;
  fake.watch_registrations([&](const FakeVerbs::Registration& one) { seen.push_back(one); });
  const void* address = nullptr;
  {
    Side side(fake, {.words = 16});
    address = side.words.data();
  }
  fake.watch_registrations(nullptr);
  Side unseen(fake);
  ASSERT_EQ(seen.size(), 2U);
  for (const FakeVerbs::Registration& one : seen) {
    EXPECT_EQ(one.address, address);
    EXPECT_EQ(one.bytes, 128U);
  }
  EXPECT_TRUE(seen[0].is_new);
  EXPECT_FALSE(seen[1].is_new);
}

TEST(FakeVerbsFaults, ForkIsPreparedBeforeTheFirstRegistration) {
  FakeVerbs fake;
  EXPECT_EQ(fake.is_fork_initialized(), IBV_FORK_DISABLED);
  {
    FakeVerbs other;
    Side side(other);
    EXPECT_EQ(other.fork_init(), EINVAL) << "too late";
  }
  EXPECT_EQ(fake.fork_init(), 0);
  EXPECT_EQ(fake.is_fork_initialized(), IBV_FORK_ENABLED);
  fake.set_fork_status(IBV_FORK_UNNEEDED);
  EXPECT_EQ(fake.is_fork_initialized(), IBV_FORK_UNNEEDED);
}

// --- connections

TEST(FakeVerbsFaults, AQueuePairBreaks) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.hold(true);
  ASSERT_EQ(write_a_word(pair), 0);
  fake.break_queue_pair(pair.here.queue->qp_num);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(pair.here.next_event().event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(pair.here.next_event().event_type, IBV_EVENT_QP_FATAL);
}

TEST(FakeVerbsFaults, ThePeerOfABrokenQueuePairGivesUp) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.break_queue_pair(pair.there.queue->qp_num);
  ASSERT_EQ(write_a_word(pair), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_RETRY_EXC_ERR);
}

TEST(FakeVerbsFaults, TheNextRequestOfAKindBreaks) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.break_next(IBV_WC_RDMA_READ, IBV_WC_REM_OP_ERR);
  ASSERT_EQ(write_a_word(pair), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_READ).piece(0, 1).at(pair.there, 0).post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_REM_OP_ERR);
  ASSERT_EQ(write_a_word(pair), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_WR_FLUSH_ERR);
}

TEST(FakeVerbsFaults, NothingGetsThroughACutLink) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.disconnect("fake1", "fake0");
  pair.here.words[0] = 5;
  ASSERT_EQ(write_a_word(pair), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(pair.there.words[0], 0U);
}

TEST(FakeVerbsFaults, ARepairedLinkContinues) {
  FakeVerbs fake;
  ConnectOptions connection;
  connection.timeout = 0;  // no limit of the retries
  Pair pair(fake, {}, connection);
  fake.disconnect("fake0", "fake1");
  ASSERT_EQ(write_a_word(pair), 0);
  std::this_thread::sleep_for(10 * FakeVerbs::retry_interval);
  EXPECT_FALSE(pair.here.has_sent());
  fake.reconnect("fake0", "fake1");
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
}

TEST(FakeVerbsFaults, ADeviceIsRemoved) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.hold(true);
  ASSERT_EQ(write_a_word(pair), 0);
  fake.remove_device("fake0");
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(pair.here.next_event().event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(pair.here.next_event().event_type, IBV_EVENT_DEVICE_FATAL);
  EXPECT_EQ(write_a_word(pair), EIO);
  EXPECT_EQ(pair.here.receive(1, 0, 1), EIO);
  EXPECT_EQ(fake.reg_mr(pair.here.domain.get(), pair.here.words.data(), 8, 0), nullptr);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(fake.open_device("fake0"), nullptr);
  EXPECT_EQ(errno, ENODEV);
  EXPECT_EQ(fake.device_names(), std::vector<std::string>{"fake1"});
}

TEST(FakeVerbsFaults, APortGoesDownAndComesBack) {
  FakeVerbs fake;
  ConnectOptions connection;
  connection.timeout = 0;
  Pair pair(fake, {}, connection);
  const auto state = [&] {
    ibv_port_attr port{};
    EXPECT_EQ(fake.query_port(pair.there.device.get(), 1, port), 0);
    return port.state;
  };
  EXPECT_EQ(state(), IBV_PORT_ACTIVE);
  fake.port_down("fake1");
  EXPECT_EQ(state(), IBV_PORT_DOWN);
  EXPECT_EQ(pair.there.next_event().event_type, IBV_EVENT_PORT_ERR);
  ASSERT_EQ(write_a_word(pair), 0);
  std::this_thread::sleep_for(4 * FakeVerbs::retry_interval);
  EXPECT_FALSE(pair.here.has_sent());
  fake.port_up("fake1");
  EXPECT_EQ(pair.there.next_event().event_type, IBV_EVENT_PORT_ACTIVE);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
}

TEST(FakeVerbsFaults, MessagesCanBeSlow) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.slow_down(std::chrono::hours(1));
  ASSERT_EQ(write_a_word(pair), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(pair.here.has_sent());
  fake.slow_down(std::chrono::nanoseconds(1));
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
}

TEST(FakeVerbsFaults, ComeWhileTrafficFlows) {
  FakeVerbs fake;
  Pair pair(fake);
  std::atomic<bool> is_over{false};
  std::thread traffic([&] {
    while (!is_over) {
      if (write_a_word(pair) == 0) {
        pair.here.next_sent();
      }
    }
  });
  fake.break_next(IBV_WC_FETCH_ADD, IBV_WC_REM_OP_ERR);
  fake.fail(FakeVerbs::Call::post_send, ENOMEM, 3, 3);
  fake.disconnect("fake0", "fake1");
  fake.reconnect("fake0", "fake1");
  fake.hold(true);
  fake.hold(false);
  fake.break_queue_pair(pair.here.queue->qp_num);
  fake.remove_device("fake1");
  is_over = true;
  traffic.join();
}

TEST(FakeVerbsFaults, LinksOfInfiniBandNeedNoGid) {
  auto models = soft_roce_devices(2);
  for (DeviceModel& model : models) {
    model.port.link_layer = IBV_LINK_LAYER_INFINIBAND;
    model.gids.resize(1);
  }
  FakeVerbs fake(models);
  Pair pair(fake);
  ASSERT_EQ(write_a_word(pair), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
}

// --- records

TEST(FakeVerbsAccounts, CountWhatIsAlive) {
  FakeVerbs fake;
  {
    Pair pair(fake);
    EXPECT_EQ(fake.live(), (FakeVerbs::Live{.devices = 2,
                                            .domains = 2,
                                            .regions = 2,
                                            .channels = 2,
                                            .completion_queues = 4,
                                            .receive_queues = 2,
                                            .queue_pairs = 2}));
  }
  EXPECT_EQ(fake.live(), FakeVerbs::Live{});
  EXPECT_EQ(fake.registered_bytes(), 0U);
  EXPECT_EQ(fake.misuses(), std::vector<std::string>{});
}

TEST(FakeVerbsAccounts, ObjectsInUseAreNotDestroyed) {
  FakeVerbs fake;
  Side side(fake);
  EXPECT_EQ(fake.destroy_srq(side.receives.get()), EBUSY);
  EXPECT_EQ(fake.destroy_cq(side.sent.get()), EBUSY);
  EXPECT_EQ(fake.destroy_comp_channel(side.channel.get()), EBUSY);
  EXPECT_EQ(fake.dealloc_pd(side.domain.get()), EBUSY);
  EXPECT_EQ(fake.close_device(side.device.get()), EBUSY);
  EXPECT_EQ(fake.misuses(),
            (std::vector<std::string>{"destroy_srq: it is in use", "destroy_cq: it is in use",
                                      "destroy_comp_channel: it is in use",
                                      "dealloc_pd: it is in use", "close_device: it is in use"}));
}

TEST(FakeVerbsAccounts, DestroyedObjectsAreNotDestroyedAgain) {
  FakeVerbs fake;
  Side side(fake);
  ibv_qp* const queue = side.queue.get();
  side.queue.reset();
  EXPECT_EQ(fake.destroy_qp(queue), EINVAL);
  EXPECT_EQ(fake.misuses().back(), "destroy_qp: there is no such queue pair");
}

TEST(FakeVerbsAccounts, TheTraceShowsHowRequestsWerePosted) {
  FakeVerbs fake;
  Pair pair(fake);
  ASSERT_EQ(write_a_word(pair), 0);
  fake.start_trace();
  Sending first(pair.here, IBV_WR_RDMA_WRITE);
  Sending second(pair.here, IBV_WR_RDMA_READ);
  first.piece(0, 1).piece(1, 2).at(pair.there, 0).flags(IBV_SEND_INLINE);
  second.piece(0, 1).at(pair.there, 0);
  ASSERT_EQ(first.post({&second}), 0);
  ASSERT_EQ(write_a_word(pair), 0);
  const auto trace = fake.trace();
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace[0].queue_pair, pair.here.queue->qp_num);
  EXPECT_EQ(trace[0].opcode, IBV_WR_RDMA_WRITE);
  EXPECT_EQ(trace[0].bytes, 24U);
  EXPECT_EQ(trace[0].pieces, 2);
  EXPECT_TRUE(trace[0].is_inline);
  EXPECT_FALSE(trace[0].is_signalled);
  EXPECT_TRUE(trace[1].is_signalled);
  EXPECT_EQ(trace[0].batch, trace[1].batch);
  EXPECT_NE(trace[1].batch, trace[2].batch);
}

}  // namespace
}  // namespace tessera::rma::test
