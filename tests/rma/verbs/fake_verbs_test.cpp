// SPDX-License-Identifier: BSD-3-Clause
//
// The simulated network moves data like a reliable connection, in order.
#include "tests/support/fake_verbs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/rma/verbs/verbs_rig.hpp"

namespace tessera::rma::test {
namespace {

TEST(FakeVerbs, WritesWhatThePiecesHold) {
  FakeVerbs fake;
  Pair pair(fake);
  std::iota(pair.here.words.begin(), pair.here.words.end(), 100);
  ASSERT_EQ(
      Sending(pair.here, IBV_WR_RDMA_WRITE, 7).piece(0, 2).piece(10, 3).at(pair.there, 4).post(),
      0);
  const ibv_wc completion = pair.here.next_sent();
  EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
  EXPECT_EQ(completion.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(completion.wr_id, 7U);
  EXPECT_EQ(completion.qp_num, pair.here.queue->qp_num);
  const std::vector<std::uint64_t> arrived(pair.there.words.begin(), pair.there.words.begin() + 10);
  EXPECT_EQ(arrived, (std::vector<std::uint64_t>{0, 0, 0, 0, 100, 101, 110, 111, 112, 0}));
}

TEST(FakeVerbs, ReadsIntoThePieces) {
  FakeVerbs fake;
  Pair pair(fake);
  std::iota(pair.there.words.begin(), pair.there.words.end(), 100);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_READ).piece(5, 1).piece(1, 2).at(pair.there, 3).post(),
            0);
  EXPECT_EQ(pair.here.next_sent().opcode, IBV_WC_RDMA_READ);
  const std::vector<std::uint64_t> arrived(pair.here.words.begin(), pair.here.words.begin() + 7);
  EXPECT_EQ(arrived, (std::vector<std::uint64_t>{0, 104, 105, 0, 0, 103, 0}));
}

TEST(FakeVerbs, MovesBytesThatAreNotAligned) {
  FakeVerbs fake;
  Pair pair(fake);
  auto* const from = reinterpret_cast<std::uint8_t*>(pair.here.words.data());
  auto* const to = reinterpret_cast<std::uint8_t*>(pair.there.words.data());
  std::iota(from, from + 64, std::uint8_t{1});
  ibv_sge piece = pair.here.piece(0, 1);
  piece.addr += 3;
  piece.length = 37;
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE)
                .piece(piece)
                .at(reinterpret_cast<std::uint64_t>(to + 5), pair.there.region->rkey)
                .post(),
            0);
  pair.here.next_sent();
  EXPECT_EQ(std::vector<std::uint8_t>(to + 5, to + 42),
            std::vector<std::uint8_t>(from + 3, from + 40));
  EXPECT_EQ(to[4], 0);
  EXPECT_EQ(to[42], 0);
}

TEST(FakeVerbs, MovesMessagesOfManySteps) {
  FakeVerbs fake;
  SideOptions options;
  options.words = std::size_t{1} << 17;  // 1 MiB
  Pair pair(fake, options);
  std::iota(pair.here.words.begin(), pair.here.words.end(), 1);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, options.words).at(pair.there, 0).post(),
            0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
  EXPECT_EQ(pair.here.words, pair.there.words);
  std::fill(pair.here.words.begin(), pair.here.words.end(), 0);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_READ).piece(0, options.words).at(pair.there, 0).post(),
            0);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
  EXPECT_EQ(pair.here.words, pair.there.words);
}

TEST(FakeVerbs, SendsIntoTheOldestReceive) {
  FakeVerbs fake;
  Pair pair(fake);
  pair.here.words[0] = 11;
  pair.here.words[1] = 22;
  ASSERT_EQ(pair.there.receive(1, 8, 2), 0);
  ASSERT_EQ(pair.there.receive(2, 16, 2), 0);
  ASSERT_EQ(Sending(pair.here, IBV_WR_SEND).piece(0, 1).post(), 0);
  ASSERT_EQ(Sending(pair.here, IBV_WR_SEND_WITH_IMM).piece(0, 2).immediate(77).post(), 0);
  const ibv_wc first = pair.there.next_received();
  EXPECT_EQ(first.wr_id, 1U);
  EXPECT_EQ(first.opcode, IBV_WC_RECV);
  EXPECT_EQ(first.byte_len, 8U);
  EXPECT_EQ(first.qp_num, pair.there.queue->qp_num);
  EXPECT_EQ(first.wc_flags, 0U);
  EXPECT_EQ(pair.there.words[8], 11U);
  const ibv_wc second = pair.there.next_received();
  EXPECT_EQ(second.wr_id, 2U);
  EXPECT_EQ(second.wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM));
  EXPECT_EQ(second.imm_data, 77U);
  EXPECT_EQ(pair.there.words[17], 22U);
  EXPECT_EQ(pair.here.next_sent().opcode, IBV_WC_SEND);
}

TEST(FakeVerbs, AWriteWithImmediateTakesAReceive) {
  FakeVerbs fake;
  Pair pair(fake);
  pair.here.words[0] = 11;
  ASSERT_EQ(pair.there.receive(1, 8, 2), 0);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE_WITH_IMM)
                .piece(0, 1)
                .at(pair.there, 3)
                .immediate(5)
                .post(),
            0);
  const ibv_wc received = pair.there.next_received();
  EXPECT_EQ(received.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received.imm_data, 5U);
  EXPECT_EQ(pair.there.words[3], 11U);
  EXPECT_EQ(pair.there.words[8], 0U);
}

TEST(FakeVerbs, AddsAndSwapsAndReturnsTheOldValue) {
  FakeVerbs fake;
  Pair pair(fake);
  pair.there.words[2] = 40;
  const auto atomic = [&](ibv_wr_opcode opcode, std::uint64_t operand, std::uint64_t swap) {
    EXPECT_EQ(
        Sending(pair.here, opcode).piece(0, 1).at(pair.there, 2).operands(operand, swap).post(), 0);
    EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
    return pair.here.words[0];
  };
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40U);
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 41, 9), 42U);
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 9), 42U);
  EXPECT_EQ(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0), 9U);
}

TEST(FakeVerbs, InlineDataMayBeReusedAtOnce) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.hold(true);
  std::uint64_t unregistered = 5;
  ASSERT_EQ(
      Sending(pair.here, IBV_WR_RDMA_WRITE)
          .piece({.addr = reinterpret_cast<std::uint64_t>(&unregistered), .length = 8, .lkey = 0})
          .at(pair.there, 0)
          .flags(IBV_SEND_SIGNALED | IBV_SEND_INLINE)
          .post(),
      0);
  unregistered = 6;
  fake.hold(false);
  EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
  EXPECT_EQ(pair.there.words[0], 5U);
}

TEST(FakeVerbs, NothingMovesWhileItIsHeld) {
  FakeVerbs fake;
  Pair pair(fake);
  fake.hold(true);
  pair.here.words[0] = 5;
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE).piece(0, 1).at(pair.there, 0).post(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(pair.here.has_sent());
  EXPECT_EQ(pair.there.words[0], 0U);
  fake.hold(false);
  pair.here.next_sent();
  EXPECT_EQ(pair.there.words[0], 5U);
}

TEST(FakeVerbs, MessagesMayBeEmpty) {
  FakeVerbs fake;
  Pair pair(fake);
  ASSERT_EQ(pair.there.receive(1, 0, 1), 0);
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND}) {
    ASSERT_EQ(Sending(pair.here, opcode).post(), 0);  // no key is needed
    EXPECT_EQ(pair.here.next_sent().status, IBV_WC_SUCCESS);
  }
  EXPECT_EQ(pair.there.next_received().byte_len, 0U);
}

TEST(FakeVerbs, AQueuePairMaySignalEverything) {
  FakeVerbs fake;
  SideOptions options;
  options.signals_all = true;
  Pair pair(fake, options);
  ASSERT_EQ(Sending(pair.here, IBV_WR_RDMA_WRITE, 3).piece(0, 1).at(pair.there, 0).flags(0).post(),
            0);
  EXPECT_EQ(pair.here.next_sent().wr_id, 3U);
}

TEST(FakeVerbs, ADeviceReportsTheLimitsOfItsModel) {
  auto models = soft_roce_devices(1);
  models[0].attributes.max_qp_wr = 77;
  models[0].port.state = IBV_PORT_DOWN;
  models[0].gids.resize(1);
  FakeVerbs fake(models);
  EXPECT_EQ(fake.device_names(), std::vector<std::string>{"fake0"});
  Side side(fake);
  EXPECT_STREQ(side.device->device->name, "fake0");
  ibv_device_attr attributes{};
  ASSERT_EQ(fake.query_device(side.device.get(), attributes), 0);
  EXPECT_EQ(attributes.max_qp_wr, 77);
  ibv_port_attr port{};
  ASSERT_EQ(fake.query_port(side.device.get(), 1, port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  EXPECT_EQ(port.gid_tbl_len, 1);
  EXPECT_EQ(fake.query_port(side.device.get(), 2, port), EINVAL);
  EXPECT_EQ(fake.query_gid_table(side.device.get()).size(), 1U);
}

TEST(FakeVerbs, AQueuePairMayConnectToItself) {
  FakeVerbs fake;
  Side side(fake);
  ASSERT_EQ(connect(fake, side.queue.get(), side.queue.get()), 0);
  side.words[0] = 5;
  ASSERT_EQ(Sending(side, IBV_WR_RDMA_WRITE).piece(0, 1).at(side, 9).post(), 0);
  EXPECT_EQ(side.next_sent().status, IBV_WC_SUCCESS);
  EXPECT_EQ(side.words[9], 5U);
}

}  // namespace
}  // namespace tessera::rma::test
