// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/queue_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/rma/verbs/device_stub.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::verbs {
namespace {

using test::DeviceStub;
using test::fails;
using test::infiniband_device;
using test::ok;
using test::roce_device;

ConnectionAddress roce_address() {
  ConnectionAddress address{.network = Network::roce_v2,
                            .port = 2,
                            .mtu = IBV_MTU_1024,
                            .lid = 0x1234,
                            .reads_as_initiator = 16,
                            .reads_as_target = 8,
                            .queue_pair = 0x0a0b0c,
                            .first_packet = 0xfedcba};
  address.gid = test::gid_entry(0, IBV_GID_TYPE_ROCE_V2, "::ffff:10.77.0.2").gid;
  return address;
}

TEST(ConnectionAddress, HasTheseBytes) {
  const std::array<unsigned, ConnectionAddress::encoded_bytes> expected = {
      1, 2, 2, 3, 0x34, 0x12, 16, 8, 0x0c, 0x0b, 0x0a, 0,    0xba, 0xdc, 0xfe, 0,
      0, 0, 0, 0, 0,    0,    0,  0, 0,    0,    0xff, 0xff, 10,   77,   0,    2};
  const ConnectionAddress::Encoded bytes = roce_address().encode();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), expected[i]) << i;
  }
}

TEST(ConnectionAddress, IsDecodedAsEncoded) {
  const auto decoded = ConnectionAddress::decode(roce_address().encode());
  ASSERT_TRUE(ok(decoded));
  EXPECT_EQ(decoded->encode(), roce_address().encode());
  EXPECT_EQ(decoded->network, Network::roce_v2);
  EXPECT_EQ(decoded->mtu, IBV_MTU_1024);
  EXPECT_EQ(decoded->lid, 0x1234);
  EXPECT_EQ(decoded->reads_as_target, 8);
  EXPECT_EQ(decoded->queue_pair, 0x0a0b0cU);
  EXPECT_EQ(decoded->first_packet, 0xfedcbaU);
  EXPECT_EQ(decoded->describe(), "RoCE v2, 10.77.0.2, queue pair 658188");
}

TEST(ConnectionAddress, RefusesMalformedBytes) {
  const auto changed = [](std::size_t index, unsigned value) {
    ConnectionAddress::Encoded bytes = roce_address().encode();
    bytes[index] = static_cast<std::byte>(value);
    return ConnectionAddress::decode(bytes);
  };
  EXPECT_TRUE(fails(ConnectionAddress::decode({}), Code::protocol, {"has 0 bytes instead of 32"}));
  EXPECT_TRUE(fails(ConnectionAddress::decode(std::vector<std::byte>(33)), Code::protocol,
                    {"the address of a queue pair has 33 bytes instead of 32", "same build"}));
  // Single fields.
  EXPECT_TRUE(fails(changed(0, 2), Code::protocol, {"has version 2 instead of 1"}));
  EXPECT_TRUE(fails(changed(1, 0), Code::protocol, {"names the unknown network 0"}));
  EXPECT_TRUE(fails(changed(1, 4), Code::protocol, {"names the unknown network 4"}));
  EXPECT_TRUE(fails(changed(2, 0), Code::protocol, {"names port 0"}));
  EXPECT_TRUE(fails(changed(3, 0), Code::protocol, {"names the unknown MTU 0"}));
  EXPECT_TRUE(fails(changed(3, 6), Code::protocol, {"names the unknown MTU 6"}));
  EXPECT_TRUE(fails(changed(11, 1), Code::protocol, {"has the invalid number 17435404"}));
  EXPECT_TRUE(fails(changed(15, 1), Code::protocol, {"starts with the invalid packet"}));
  ConnectionAddress nobody = roce_address();
  nobody.queue_pair = 1;
  EXPECT_TRUE(fails(ConnectionAddress::decode(nobody.encode()), Code::protocol,
                    {"has the invalid number 1"}));
  nobody = roce_address();
  nobody.gid = {};
  EXPECT_TRUE(fails(ConnectionAddress::decode(nobody.encode()), Code::protocol,
                    {"has no GID, which RoCE v2 needs"}));
  nobody.network = Network::infiniband;
  EXPECT_TRUE(ok(ConnectionAddress::decode(nobody.encode())));
}

// Any byte may have any value: decoding refuses it, or preserves it.
TEST(ConnectionAddress, AcceptsOrRefusesAnyByte) {
  for (std::size_t index = 0; index < ConnectionAddress::encoded_bytes; ++index) {
    for (unsigned value = 0; value < 256; ++value) {
      ConnectionAddress::Encoded bytes = roce_address().encode();
      bytes[index] = static_cast<std::byte>(value);
      const auto decoded = ConnectionAddress::decode(bytes);
      if (decoded.ok()) {
        EXPECT_EQ(decoded->encode(), bytes);
      } else {
        EXPECT_TRUE(fails(decoded, Code::protocol));
      }
    }
  }
}

class QueuePairs : public testing::Test {
 protected:
  void SetUp() override { open(roce_device("rxe0")); }
  void open(test::StubDevice description) {
    library_ = std::make_shared<DeviceStub>();
    library_->devices = {std::move(description)};
    auto opened = Device::open(library_, {});
    ASSERT_TRUE(ok(opened));
    device_ = std::move(opened).take();
  }
  QueuePair make(const QueuePairOptions& options = {}) {
    return QueuePair::create(device_, options).value();
  }

  std::shared_ptr<DeviceStub> library_;
  std::shared_ptr<Device> device_;
};

TEST_F(QueuePairs, AreMadeAsRequested) {
  ibv_cq sent{};
  ibv_cq received{};
  ibv_srq receives{};
  const QueuePair pair = make({.send_completions = &sent,
                               .receive_completions = &received,
                               .receives = &receives,
                               .depth = 64,
                               .send_sge = 4,
                               .inline_bytes = 200});
  const ibv_qp_init_attr& made = library_->made_queue_pairs.back();
  EXPECT_EQ(made.send_cq, &sent);
  EXPECT_EQ(made.recv_cq, &received);
  EXPECT_EQ(made.srq, &receives);
  EXPECT_EQ(made.qp_type, IBV_QPT_RC);
  EXPECT_EQ(made.sq_sig_all, 0);
  EXPECT_EQ(made.cap.max_send_wr, 64U);
  EXPECT_EQ(made.cap.max_send_sge, 4U);
  EXPECT_EQ(made.cap.max_inline_data, 200U);
  const auto& [attributes, mask] = library_->changes.back();
  EXPECT_EQ(attributes.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  EXPECT_EQ(attributes.port_num, 1);
  EXPECT_NE(attributes.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC, 0U);
}

TEST_F(QueuePairs, AllowNoAtomicsIfTheDeviceHasNone) {
  auto description = roce_device("rxe0");
  description.attributes.atomic_cap = IBV_ATOMIC_NONE;
  open(std::move(description));
  const QueuePair pair = make();
  EXPECT_EQ(library_->changes.back().attributes.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC, 0U);
}

TEST_F(QueuePairs, AreRefusedBeyondTheLimits) {
  EXPECT_TRUE(
      fails(QueuePair::create(device_, {.depth = 1025}), Code::invalid_argument,
            {"a queue pair with 1025 entries was requested; device 'rxe0' has 1024 at most"}));
  EXPECT_TRUE(fails(QueuePair::create(device_, {.send_sge = 33}), Code::invalid_argument,
                    {"33 pieces in a request", "32 at most"}));
  EXPECT_TRUE(fails(QueuePair::create(device_, {.inline_bytes = 257}), Code::invalid_argument,
                    {"257 inline bytes", "256 at most"}));
}

TEST_F(QueuePairs, ReportTheirAddress) {
  const QueuePair pair = make();
  const ConnectionAddress address = pair.address();
  EXPECT_EQ(address.network, Network::roce_v2);
  EXPECT_EQ(to_string(address.gid), "10.77.0.1");
  EXPECT_EQ(address.mtu, IBV_MTU_4096);
  EXPECT_EQ(address.reads_as_initiator, 64);
  EXPECT_EQ(address.reads_as_target, 128);
  EXPECT_EQ(address.queue_pair, pair.number());
  EXPECT_LT(address.first_packet, 1U << 24);
  EXPECT_TRUE(ok(ConnectionAddress::decode(address.encode())));
}

TEST_F(QueuePairs, BeginWithRandomPacketNumbers) {
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < 8; ++i) {
    numbers.push_back(make().address().first_packet);
  }
  EXPECT_NE(numbers, std::vector<std::uint32_t>(8, numbers[0]));
}

TEST_F(QueuePairs, ConnectWithTheCommonLimitsOfBothSides) {
  QueuePair pair = make();
  ASSERT_TRUE(ok(pair.connect(roce_address())));
  ASSERT_EQ(library_->changes.size(), 3U);
  const auto& [receive, receive_mask] = library_->changes[1];
  EXPECT_EQ(receive.qp_state, IBV_QPS_RTR);
  EXPECT_EQ(receive_mask, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  EXPECT_EQ(receive.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(receive.dest_qp_num, 0x0a0b0cU);
  EXPECT_EQ(receive.rq_psn, 0xfedcbaU);
  EXPECT_EQ(receive.max_dest_rd_atomic, 16);
  EXPECT_EQ(receive.min_rnr_timer, 12);
  EXPECT_EQ(receive.ah_attr.is_global, 1);
  EXPECT_EQ(to_string(receive.ah_attr.grh.dgid), "10.77.0.2");
  EXPECT_EQ(receive.ah_attr.grh.sgid_index, 1);
  EXPECT_EQ(receive.ah_attr.port_num, 1);
  const auto& [send, send_mask] = library_->changes[2];
  EXPECT_EQ(send.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(send_mask, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  EXPECT_EQ(send.max_rd_atomic, 8);
  EXPECT_EQ(send.timeout, 14);
  EXPECT_EQ(send.retry_cnt, 7);
  EXPECT_EQ(send.rnr_retry, 7);
  EXPECT_EQ(send.sq_psn, pair.address().first_packet);
}

TEST_F(QueuePairs, OfInfiniBandUseTheGidBeyondTheirSubnetOnly) {
  open(infiniband_device("ib"));
  ConnectionAddress other = make().address();
  QueuePair near = make();
  ASSERT_TRUE(ok(near.connect(other)));
  const auto rtr = [&] { return library_->changes[library_->changes.size() - 2].attributes; };
  EXPECT_EQ(rtr().ah_attr.is_global, 0);
  EXPECT_EQ(rtr().ah_attr.dlid, 12);
  other.gid.raw[7] = 1;
  QueuePair far = make();
  ASSERT_TRUE(ok(far.connect(other)));
  EXPECT_EQ(rtr().ah_attr.is_global, 1);
}

TEST_F(QueuePairs, OfInfiniBandUseTheGidIfThePortRequiresIt) {
  auto description = infiniband_device("ib");
  description.ports[0].flags = IBV_QPF_GRH_REQUIRED;
  open(std::move(description));
  QueuePair pair = make();
  ASSERT_TRUE(ok(pair.connect(make().address())));
  EXPECT_EQ(library_->changes[library_->changes.size() - 2].attributes.ah_attr.is_global, 1);
}

TEST_F(QueuePairs, DoNotConnectDifferentNetworks) {
  QueuePair pair = make();
  ConnectionAddress other = roce_address();
  other.network = Network::roce_v1;
  EXPECT_TRUE(fails(pair.connect(other), Code::unreachable,
                    {"device 'rxe0' is on RoCE v2, the other side (RoCE v1, 10.77.0.2, queue pair "
                     "658188) is not",
                     "TESSERA_VERBS_GID"}));
}

TEST_F(QueuePairs, RefuseTimesThatWouldHang) {
  QueuePair pair = make();
  const auto with = [&](const std::function<void(QueuePairTimes&)>& change) {
    QueuePairTimes times;
    change(times);
    return pair.connect(roce_address(), times);
  };
  EXPECT_TRUE(fails(with([](auto& times) { times.not_ready_delay = 0; }), Code::invalid_argument,
                    {"delay when not ready 0 (1 to 31)"}));
  EXPECT_TRUE(fails(with([](auto& times) { times.not_ready_retries = 8; }), Code::invalid_argument,
                    {"retries then 8 (0 to 7)"}));
  EXPECT_TRUE(fails(with([](auto& times) { times.timeout = 0; }), Code::invalid_argument,
                    {"timeout 0 (1 to 31)"}));
  EXPECT_TRUE(fails(with([](auto& times) { times.timeout = 32; }), Code::invalid_argument));
  EXPECT_TRUE(fails(with([](auto& times) { times.retries = 8; }), Code::invalid_argument,
                    {"retries 8 (0 to 7)"}));
}

TEST_F(QueuePairs, ReportWhyTheyCannotBeConnected) {
  library_->failing_state = IBV_QPS_RTR;
  const auto refusal = [&](int error) {
    library_->modify_error = error;
    QueuePair pair = make();
    return pair.connect(roce_address());
  };
  EXPECT_TRUE(
      fails(refusal(ENETUNREACH), Code::unreachable,
            {"connecting to RoCE v2, 10.77.0.2, queue pair 658188: queue pair ",
             " of device 'rxe0' cannot go to state RTR: there is no route to the other side's "
             "address (Network is unreachable)",
             "hint: `ping`"}));
  EXPECT_TRUE(fails(refusal(ETIMEDOUT), Code::unreachable, {"there is no route"}));
  EXPECT_TRUE(fails(refusal(EINVAL), Code::unreachable, {"does not accept these attributes"}));
  EXPECT_TRUE(fails(refusal(ENOMEM), Code::no_memory, {"no memory left"}));
  EXPECT_TRUE(fails(refusal(EIO), Code::unreachable, {"has failed or was removed"}));
  EXPECT_TRUE(fails(refusal(EPERM), Code::internal, {"refuses (Operation not permitted)"}));
}

TEST_F(QueuePairs, GoToErrorOnDemand) {
  QueuePair pair = make();
  ASSERT_TRUE(ok(pair.to_error()));
  EXPECT_EQ(library_->changes.back().attributes.qp_state, IBV_QPS_ERR);
  EXPECT_EQ(library_->changes.back().mask, IBV_QP_STATE);
}

TEST_F(QueuePairs, AreDestroyedBeforeTheirDevice) {
  {
    QueuePair first = make();
    device_.reset();
    library_->destroyed.clear();
    QueuePair second = std::move(first);
    EXPECT_TRUE(library_->destroyed.empty());
  }
  EXPECT_EQ(library_->destroyed, (std::vector<std::string>{"queue pair", "domain", "device"}));
  EXPECT_EQ(library_->live, 0);
}

TEST_F(QueuePairs, ThatFailHalfwayFreeEverything) {
  const int before = library_->live;
  library_->failing_state = IBV_QPS_INIT;
  library_->modify_error = ENOMEM;
  EXPECT_TRUE(fails(QueuePair::create(device_, {}), Code::no_memory, {"state INIT"}));
  EXPECT_EQ(library_->live, before);
}

}  // namespace
}  // namespace tessera::rma::verbs
