// SPDX-License-Identifier: BSD-3-Clause
//
// The simulated network refuses what a reliable connection refuses, with the errors of the
// InfiniBand specification.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/rma/verbs/verbs_rig.hpp"
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::test {
namespace {

/// Both queue pairs are in error: requests posted to them are flushed.
void expect_broken(Side& side) {
  ASSERT_EQ(Sending(side, IBV_WR_SEND, 99).piece(0, 1).post(), 0);
  const ibv_wc completion = side.next_sent();
  EXPECT_EQ(completion.wr_id, 99U);
  EXPECT_EQ(completion.status, IBV_WC_WR_FLUSH_ERR);
}

/// The request completes with `status`, and both ends fail.
void expect_refused(Pair& pair, Sending& sending, ibv_wc_status status) {
  ASSERT_EQ(sending.post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, status);
  expect_broken(pair.here);
  expect_broken(pair.there);
}

// --- states

TEST(FakeVerbsStates, NeedTheAttributesOfTheirStep) {
  FakeVerbs fake;
  Side side(fake);
  const auto modify = [&](ibv_qp_state to, int mask) {
    ibv_qp_attr attributes{};
    attributes.qp_state = to;
    attributes.port_num = 1;
    attributes.path_mtu = IBV_MTU_1024;
    attributes.ah_attr.port_num = 1;
    attributes.ah_attr.is_global = 1;
    return fake.modify_qp(side.queue.get(), attributes, IBV_QP_STATE | mask);
  };
  constexpr int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  constexpr int rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  constexpr int rts = IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT |
                      IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT;
  EXPECT_EQ(modify(IBV_QPS_RTR, rtr), EINVAL) << "from RESET";
  EXPECT_EQ(modify(IBV_QPS_INIT, init & ~IBV_QP_PORT), EINVAL);
  EXPECT_EQ(modify(IBV_QPS_INIT, init | IBV_QP_QKEY), EINVAL) << "not for a connection";
  EXPECT_EQ(modify(IBV_QPS_INIT, init), 0);
  EXPECT_EQ(modify(IBV_QPS_RTS, rts), EINVAL) << "from INIT";
  EXPECT_EQ(modify(IBV_QPS_RTR, rtr & ~IBV_QP_MIN_RNR_TIMER), EINVAL);
  EXPECT_EQ(modify(IBV_QPS_RTR, rtr | IBV_QP_TIMEOUT), EINVAL) << "too early";
  EXPECT_EQ(modify(IBV_QPS_RTR, rtr), 0);
  EXPECT_EQ(modify(IBV_QPS_RTS, rts & ~IBV_QP_TIMEOUT), EINVAL);
  EXPECT_EQ(modify(IBV_QPS_RTS, rts), 0);
  EXPECT_EQ(modify(IBV_QPS_ERR, IBV_QP_TIMEOUT), EINVAL);
  EXPECT_EQ(modify(IBV_QPS_ERR, 0), 0);
  EXPECT_EQ(modify(IBV_QPS_INIT, init), EINVAL) << "from ERR";
  EXPECT_EQ(modify(IBV_QPS_RESET, 0), 0);
  EXPECT_EQ(modify(IBV_QPS_INIT, init), 0);
}

TEST(FakeVerbsStates, CheckTheirValues) {
  FakeVerbs fake;
  const auto connects = [&](auto&& change) {
    Side one(fake);
    ConnectOptions options;
    change(options);
    return connect(fake, one.queue.get(), one.queue.get(), options);
  };
  EXPECT_EQ(connects([](ConnectOptions&) {}), 0);
  EXPECT_EQ(connects([](ConnectOptions& options) { options.gid_index = 9; }), EINVAL);
  EXPECT_EQ(connects([](ConnectOptions& options) { options.reads_at_a_time = 129; }), EINVAL);
  EXPECT_EQ(connects([](ConnectOptions& options) { options.timeout = 32; }), EINVAL);
  EXPECT_EQ(connects([](ConnectOptions& options) { options.retry_count = 8; }), EINVAL);
  EXPECT_EQ(connects([](ConnectOptions& options) { options.rnr_retry = 8; }), EINVAL);
}

TEST(FakeVerbsStates, PostingNeedsAConnection) {
  FakeVerbs fake;
  Side side(fake);
  EXPECT_EQ(Sending(side, IBV_WR_SEND).piece(0, 1).post(), EINVAL);
}

TEST(FakeVerbsStates, AResetForgetsEverything) {
  FakeVerbs fake;
  Pair pair(fake);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(pair.there, 0).post(), 0);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(fake.modify_qp(pair.here.queue.get(), attributes, IBV_QP_STATE), 0);
  EXPECT_FALSE(pair.here.has_sent());
  ASSERT_EQ(connect_to(fake, pair.here.queue.get(), pair.there.queue.get()), 0);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE, 5).piece(0, 1).at(pair.there, 0).post(), 0);
  EXPECT_EQ(pair.here.next_sent().wr_id, 5U);
}

// --- keys, bounds, rights

TEST(FakeVerbsRights, AWrongLocalKeyIsAProtectionError) {
  FakeVerbs fake;
  Pair pair(fake);
  ibv_sge piece = pair.here.piece(0, 1);
  piece.lkey = pair.here.region->rkey;  // not the same number
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(piece).at(pair.there, 0).post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_LOC_PROT_ERR);
  expect_broken(pair.here);
}

TEST(FakeVerbsRights, LocalPiecesLieWithinTheirRegion) {
  FakeVerbs fake;
  Pair pair(fake);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(60, 5).at(pair.there, 0).post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_LOC_PROT_ERR);
}

TEST(FakeVerbsRights, ReadingNeedsTheRightToWriteHere) {
  FakeVerbs fake;
  SideOptions options;
  options.access = IBV_ACCESS_REMOTE_READ;
  Pair pair(fake, options);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_READ).piece(0, 1).at(pair.there, 0).post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_LOC_PROT_ERR);
}

TEST(FakeVerbsRights, AWrongRemoteKeyBreaksBothEnds) {
  FakeVerbs fake;
  Pair pair(fake);
  Sending sending(pair.here, IBV_WR_RDMA_WRITE);
  sending.piece(0, 1).at(reinterpret_cast<std::uint64_t>(pair.there.words.data()),
                         pair.there.region->lkey);
  expect_refused(pair, sending, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(pair.there.next_event().event_type, IBV_EVENT_QP_ACCESS_ERR);
}

TEST(FakeVerbsRights, RemoteAccessStaysWithinTheRegion) {
  FakeVerbs fake;
  Pair pair(fake);
  expect_refused(pair, Sending(pair.here, IBV_WR_RDMA_READ).piece(0, 2).at(pair.there, 63),
                 IBV_WC_REM_ACCESS_ERR);
}

TEST(FakeVerbsRights, TheRegionGrantsEachKindOfAccess) {
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    FakeVerbs fake;
    SideOptions options;
    options.access = IBV_ACCESS_LOCAL_WRITE;
    Pair pair(fake, options);
    expect_refused(pair, Sending(pair.here, opcode).piece(0, 1).at(pair.there, 0),
                   IBV_WC_REM_ACCESS_ERR);
  }
}

TEST(FakeVerbsRights, TheQueuePairGrantsEachKindOfAccess) {
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    FakeVerbs fake;
    ConnectOptions connection;
    connection.access = 0;
    Pair pair(fake, {}, connection);
    expect_refused(pair, Sending(pair.here, opcode).piece(0, 1).at(pair.there, 0),
                   IBV_WC_REM_ACCESS_ERR);
  }
}

TEST(FakeVerbsRights, AKeyEndsWithItsRegion) {
  FakeVerbs fake;
  Pair pair(fake);
  const std::uint32_t key = pair.there.region->rkey;
  pair.there.region.reset();
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE)
                .piece(0, 1)
                .at(reinterpret_cast<std::uint64_t>(pair.there.words.data()), key)
                .post(),
            0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_REM_ACCESS_ERR);
}

TEST(FakeVerbsRights, ARegionServesItsOwnDomainOnly) {
  FakeVerbs fake;
  Pair pair(fake);
  Side foreign_rank(fake, {.device = "fake1"});
  expect_refused(pair, Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(foreign_rank, 0),
                 IBV_WC_REM_ACCESS_ERR);
}

TEST(FakeVerbsRights, RegisteringNeedsMappedMemoryAndSensibleAccess) {
  FakeVerbs fake;
  Side side(fake);
  const auto error = [&](void* address, std::size_t bytes, int access) {
    EXPECT_EQ(fake.reg_mr(side.domain.get(), address, bytes, access), nullptr);
    return errno;
  };
  EXPECT_EQ(error(side.words.data(), 0, 0), EINVAL);
  EXPECT_EQ(error(side.words.data(), 8, IBV_ACCESS_REMOTE_WRITE), EINVAL) << "needs LOCAL_WRITE";
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an unmapped address
  EXPECT_EQ(error(reinterpret_cast<void*>(std::uintptr_t{4096}), 8, 0), EFAULT);
}

// --- lengths

TEST(FakeVerbsLengths, AMessageHasAMaximumLength) {
  auto models = soft_roce_devices(2);
  models[0].port.max_msg_sz = 64;
  FakeVerbs fake(models);
  Pair pair(fake);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 8).at(pair.there, 0).post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 9).at(pair.there, 0).post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_LOC_LEN_ERR);
}

TEST(FakeVerbsLengths, AReceiveHoldsTheWholeMessage) {
  FakeVerbs fake;
  Pair pair(fake);
  ASSERT_EQ(pair.there.receive(1, 0, 1), 0);
  expect_refused(pair, Sending(pair.here, IBV_WR_SEND).piece(0, 2), IBV_WC_REM_INV_REQ_ERR);
  const ibv_wc received = pair.there.next_received();
  EXPECT_EQ(received.status, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(received.wr_id, 1U);
}

TEST(FakeVerbsLengths, AReceiveNeedsItsKey) {
  FakeVerbs fake;
  Pair pair(fake);
  ASSERT_EQ(pair.there.receive(1, 63, 2), 0);
  expect_refused(pair, Sending(pair.here, IBV_WR_SEND).piece(0, 1), IBV_WC_REM_OP_ERR);
  EXPECT_EQ(pair.there.next_received().status, IBV_WC_LOC_PROT_ERR);
}

TEST(FakeVerbsLengths, AtomicsAreOfOneAlignedWord) {
  FakeVerbs fake;
  {
    Pair pair(fake);
    expect_refused(pair,
                   Sending(pair.here, IBV_WR_ATOMIC_FETCH_AND_ADD)
                       .piece(0, 1)
                       .at(reinterpret_cast<std::uint64_t>(pair.there.words.data()) + 4,
                           pair.there.region->rkey),
                   IBV_WC_REM_INV_REQ_ERR);
  }
  Pair pair(fake);
  ASSERT_EQ(Sending(pair.here, IBV_WR_ATOMIC_FETCH_AND_ADD).piece(0, 2).at(pair.there, 0).post(),
            0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_LOC_LEN_ERR);
}

TEST(FakeVerbsLengths, PostingChecksPiecesAndInlineBytesAndOpcode) {
  auto models = soft_roce_devices(2);
  models[0].attributes.atomic_cap = IBV_ATOMIC_NONE;
  FakeVerbs fake(models);
  Pair pair(fake);
  Sending many(pair.here, IBV_WR_RDMA_WRITE);
  many.piece(0, 1).piece(1, 1).piece(2, 1).piece(3, 1).piece(4, 1).at(pair.there, 0);
  EXPECT_EQ(many.post(), EINVAL);
  const auto inline_error = [&](ibv_wr_opcode opcode, std::size_t words) {
    return Sending(pair.here, opcode)
        .piece(0, words)
        .at(pair.there, 0)
        .flags(IBV_SEND_INLINE)
        .post();
  };
  EXPECT_EQ(inline_error(IBV_WR_RDMA_WRITE, 9), EINVAL);
  EXPECT_EQ(inline_error(IBV_WR_RDMA_WRITE, 8), 0);
  EXPECT_EQ(inline_error(IBV_WR_RDMA_READ, 1), EINVAL);
  EXPECT_EQ(Sending(pair.here, IBV_WR_SEND_WITH_INV).piece(0, 1).post(), EINVAL);
  EXPECT_EQ(Sending(pair.here, IBV_WR_ATOMIC_CMP_AND_SWP).piece(0, 1).at(pair.there, 0).post(),
            EINVAL)
      << "a device without atomics";
}

TEST(FakeVerbsLengths, CreatingChecksTheLimitsOfTheDevice) {
  auto models = soft_roce_devices(1);
  models[0].attributes.max_qp_wr = 10;
  models[0].attributes.max_sge = 2;
  models[0].attributes.max_cqe = 20;
  models[0].attributes.max_srq_wr = 5;
  models[0].max_inline_bytes = 16;
  FakeVerbs fake(models);
  const SideOptions good = {.entries = 20,
                            .queue = {.max_send_wr = 10,
                                      .max_recv_wr = 0,
                                      .max_send_sge = 2,
                                      .max_recv_sge = 0,
                                      .max_inline_data = 16},
                            .receives = {.max_wr = 5, .max_sge = 1, .srq_limit = 0}};
  const auto has = [&](auto member, auto&& change) {
    SideOptions options = good;
    change(options);
    return (Side(fake, options).*member).get() != nullptr;
  };
  EXPECT_TRUE(has(&Side::queue, [](SideOptions&) {}));
  EXPECT_FALSE(has(&Side::queue, [](SideOptions& options) { ++options.queue.max_send_wr; }));
  EXPECT_FALSE(has(&Side::queue, [](SideOptions& options) { ++options.queue.max_send_sge; }));
  EXPECT_FALSE(has(&Side::queue, [](SideOptions& options) { ++options.queue.max_inline_data; }));
  EXPECT_FALSE(has(&Side::sent, [](SideOptions& options) { ++options.entries; }));
  EXPECT_FALSE(has(&Side::receives, [](SideOptions& options) { ++options.receives.max_wr; }));
}

// --- depths

TEST(FakeVerbsDepths, AFullSendQueueTakesNoMore) {
  FakeVerbs fake;
  SideOptions options;
  options.queue.max_send_wr = 3;
  Pair pair(fake, options);
  ibv_sge piece = pair.here.piece(0, 1);
  std::vector<ibv_send_wr> list(4);
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i].wr_id = i;
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
    list[i].sg_list = &piece;
    list[i].num_sge = 1;
    list[i].opcode = IBV_WR_RDMA_WRITE;
    list[i].send_flags = i == 2 ? unsigned{IBV_SEND_SIGNALED} : 0U;
    list[i].wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(pair.there.words.data());
    list[i].wr.rdma.rkey = pair.there.region->rkey;
  }
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(fake.post_send(pair.here.queue.get(), list.data(), bad), ENOMEM);
  EXPECT_EQ(bad, &list[3]);
  // Executed or not, a request occupies its entry until a completion is polled.
  EXPECT_EQ(pair.here.next_sent().wr_id, 2U);
  EXPECT_EQ(fake.post_send(pair.here.queue.get(), &list[3], bad), 0);
}

TEST(FakeVerbsDepths, UnsignalledRequestsOccupyTheirEntries) {
  FakeVerbs fake;
  SideOptions options;
  options.queue.max_send_wr = 2;
  Pair pair(fake, options);
  pair.here.words[0] = 1;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(pair.there, 0).flags(0).post(),
              0);
  }
  EXPECT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(pair.there, 0).post(), ENOMEM);
}

TEST(FakeVerbsDepths, AFullReceiveQueueTakesNoMore) {
  FakeVerbs fake;
  SideOptions options;
  options.receives.max_wr = 2;
  Side side(fake, options);
  EXPECT_EQ(side.receive(1, 0, 1), 0);
  EXPECT_EQ(side.receive(2, 0, 1), 0);
  EXPECT_EQ(side.receive(3, 0, 1), ENOMEM);
}

TEST(FakeVerbsDepths, ACompletionQueueThatRunsOverIsBroken) {
  FakeVerbs fake;
  SideOptions options;
  options.entries = 2;
  Pair pair(fake, options);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE, id).piece(0, 1).at(pair.there, 0).post(), 0);
  }
  const ibv_async_event event = pair.here.next_event();
  EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event.element.cq, pair.here.sent.get());
  EXPECT_EQ(pair.here.next_event().event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(pair.here.next_event().event_type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(pair.here.next_sent().wr_id, 1U);
  EXPECT_EQ(pair.here.next_sent().wr_id, 2U);
  EXPECT_FALSE(pair.here.has_sent());
}

TEST(FakeVerbsDepths, AnErrorFlushesTheRestInOrder) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.hold(true);
  Sending good(pair.here, IBV_WR_RDMA_READ, 1);
  Sending wrong(pair.here, IBV_WR_RDMA_WRITE, 2);
  Sending silent(pair.here, IBV_WR_RDMA_WRITE, 3);
  Sending last(pair.here, IBV_WR_SEND, 4);
  good.piece(0, 1).at(pair.there, 0);
  wrong.piece(0, 1).at(pair.there, 64).flags(0);
  silent.piece(0, 1).at(pair.there, 0).flags(0);
  last.piece(0, 1);
  ASSERT_EQ(good.post({&wrong, &silent, &last}), 0);
  fake.hold(false);
  const ibv_wc_status expected[] = {IBV_WC_SUCCESS, IBV_WC_REM_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR,
                                    IBV_WC_WR_FLUSH_ERR};
  for (std::uint64_t i = 0; i < 4; ++i) {
    const ibv_wc completion = pair.here.next_sent();
    EXPECT_EQ(completion.wr_id, i + 1);
    EXPECT_EQ(completion.status, expected[i]);
  }
}

// --- receivers

TEST(FakeVerbsReceivers, AreAskedAgainUntilTheyAreReady) {
  FakeVerbs fake;
  Pair pair(fake);  // rnr_retry 7: without limit
  pair.here.words[0] = 5;
  ASSERT_EQ(Sending(pair.here, IBV_WR_SEND).piece(0, 1).post(), 0);
  std::this_thread::sleep_for(20 * FakeVerbs::rnr_interval);
  EXPECT_FALSE(pair.here.has_sent());
  ASSERT_EQ(pair.there.receive(1, 8, 1), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
  EXPECT_EQ(pair.there.words[8], 5U);
}

TEST(FakeVerbsReceivers, AreGivenUpAfterTheRetries) {
  FakeVerbs fake;
  ConnectOptions connection;
  connection.rnr_retry = 2;
  Pair pair(fake, {}, connection);
  ASSERT_EQ(Sending(pair.here, IBV_WR_SEND).piece(0, 1).post(), 0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST(FakeVerbsReceivers, ReportOnceThatFewReceivesAreLeft) {
  FakeVerbs fake;
  Pair pair(fake);
  for (std::uint64_t id = 0; id < 6; ++id) {
    ASSERT_EQ(pair.there.receive(id, 0, 1), 0);
  }
  ibv_srq_attr limit{};
  limit.srq_limit = 5;
  ASSERT_EQ(fake.modify_srq(pair.there.receives.get(), limit, IBV_SRQ_LIMIT), 0);
  const auto send = [&] {
    EXPECT_EQ(Sending(pair.here, IBV_WR_SEND).piece(0, 1).post(), 0);
    pair.here.next_sent();
  };
  ASSERT_EQ(fcntl(pair.there.device->async_fd, F_SETFL, O_NONBLOCK), 0);
  ibv_async_event event{};
  send();
  EXPECT_EQ(fake.get_async_event(pair.there.device.get(), event), -1) << "5 remain";
  send();
  event = pair.there.next_event();
  EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(event.element.srq, pair.there.receives.get());
  send();
  EXPECT_EQ(fake.get_async_event(pair.there.device.get(), event), -1) << "not armed";
  limit.srq_limit = 17;
  EXPECT_EQ(fake.modify_srq(pair.there.receives.get(), limit, IBV_SRQ_LIMIT), EINVAL);
}

TEST(FakeVerbsReceivers, ServeOnlyTheAgreedNumberOfReads) {
  FakeVerbs fake;
  Side here(fake);
  Side there(fake, {.device = "fake1"});
  ConnectOptions eager;
  ConnectOptions shy;
  shy.reads_at_a_time = 0;
  ASSERT_EQ(connect_to(fake, here.queue.get(), there.queue.get(), eager), 0);
  ASSERT_EQ(connect_to(fake, there.queue.get(), here.queue.get(), shy), 0);
  ASSERT_EQ(Sending(here, IBV_WR_RDMA_READ).piece(0, 1).at(there, 0).post(), 0);
  EXPECT_EQ(here.next_sent().status, IBV_WC_REM_INV_REQ_ERR);
  here.next_event();
  EXPECT_EQ(there.next_event().event_type, IBV_EVENT_QP_REQ_ERR);
}

TEST(FakeVerbsReceivers, TakeNoRequestOfAQueuePairThatTheyDoNotKnow) {
  FakeVerbs fake;
  Side here(fake);
  Side there(fake, {.device = "fake1"});
  ConnectOptions connection;
  connection.retry_count = 1;
  ASSERT_EQ(connect_to(fake, here.queue.get(), there.queue.get(), connection), 0);
  ASSERT_EQ(Sending(here, IBV_WR_RDMA_WRITE).piece(0, 1).at(there, 0).post(), 0);
  EXPECT_EQ(here.next_sent().status, IBV_WC_RETRY_EXC_ERR);
}

}  // namespace
}  // namespace tessera::rma::test
