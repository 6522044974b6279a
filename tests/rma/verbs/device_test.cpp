// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transport/verbs/device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/rma/verbs/device_stub.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::verbs {
namespace {

using test::active_port;
using test::DeviceStub;
using test::fails;
using test::gid_entry;
using test::infiniband_device;
using test::ok;
using test::roce_device;
using test::StubDevice;

std::shared_ptr<DeviceStub> with(std::vector<StubDevice> devices) {
  auto library = std::make_shared<DeviceStub>();
  library->devices = std::move(devices);
  return library;
}

// "name:port, GID index" of the choice, or the refusal's message without its hint.
std::string chosen(const std::shared_ptr<DeviceStub>& library, const DeviceOptions& options = {}) {
  const auto device = Device::open(library, options);
  if (!device.ok()) {
    const std::string message = device.status().message();
    return message.substr(0, message.find('\n'));
  }
  return fmt::format("{}:{}, GID {}", (*device)->name(), (*device)->port().port,
                     (*device)->port().gid_index);
}

StubDevice in_state(StubDevice device, ibv_port_state state) {
  device.ports[0].state = state;
  return device;
}

StubDevice with_gids(std::vector<ibv_gid_entry> gids) {
  StubDevice device = roce_device("rxe0");
  device.gids = std::move(gids);
  return device;
}

TEST(DeviceChoice, TakesTheFirstActivePort) {
  EXPECT_EQ(
      chosen(with({in_state(roce_device("a"), IBV_PORT_DOWN), roce_device("b"), roce_device("c")})),
      "b:1, GID 1");
}

TEST(DeviceChoice, PrefersInfiniBandThenRoceV2) {
  StubDevice first = roce_device("old");
  first.gids = {gid_entry(0, IBV_GID_TYPE_ROCE_V1, "2001:db8::1")};
  EXPECT_EQ(chosen(with({first, roce_device("new"), infiniband_device("ib")})), "ib:1, GID 0");
  EXPECT_EQ(chosen(with({first, roce_device("new")})), "new:1, GID 1");
  EXPECT_EQ(chosen(with({first})), "old:1, GID 0");
}

TEST(DeviceChoice, TakesTheActivePortOfSeveral) {
  StubDevice device = roce_device("two");
  device.ports = {active_port(IBV_LINK_LAYER_ETHERNET), active_port(IBV_LINK_LAYER_ETHERNET)};
  device.ports[0].state = IBV_PORT_DOWN;
  device.gids[0].port_num = 2;
  device.gids[1].port_num = 2;
  EXPECT_EQ(chosen(with({device})), "two:2, GID 1");
}

TEST(DeviceChoice, TakesTheGidOfAnIpv4AddressOnEthernet) {
  const auto v1 = IBV_GID_TYPE_ROCE_V1;
  const auto v2 = IBV_GID_TYPE_ROCE_V2;
  EXPECT_EQ(chosen(with({with_gids(
                {gid_entry(0, v1, "fe80::1"), gid_entry(1, v2, "fe80::1"),
                 gid_entry(2, v1, "::ffff:10.0.0.1"), gid_entry(3, v2, "2001:db8::1"),
                 gid_entry(4, v2, "::ffff:10.0.0.1"), gid_entry(5, v2, "::ffff:10.0.0.2")})})),
            "rxe0:1, GID 4");
  EXPECT_EQ(chosen(with({with_gids(
                {gid_entry(2, v1, "::ffff:10.0.0.1"), gid_entry(3, v2, "2001:db8::1")})})),
            "rxe0:1, GID 3");
  EXPECT_EQ(
      chosen(with({with_gids({gid_entry(0, v2, "fe80::1"), gid_entry(2, v1, "2001:db8::1")})})),
      "rxe0:1, GID 2");
}

TEST(DeviceChoice, RefusesLinkLocalGidsUnlessRequested) {
  const auto library =
      with({with_gids({gid_entry(0, IBV_GID_TYPE_ROCE_V2, "fe80::1"),
                       gid_entry(1, IBV_GID_TYPE_ROCE_V2, "::ffff:169.254.3.4")})});
  EXPECT_EQ(chosen(library),
            "device 'rxe0': port 1 has no GID that is valid beyond its link; it has: 0 (RoCE "
            "v2, fe80::1), 1 (RoCE v2, 169.254.3.4)");
  EXPECT_TRUE(fails(Device::open(library, {}), Code::unsupported,
                    {"hint: give its Ethernet interface an IP address"}));
  EXPECT_EQ(chosen(library, {.device = {}, .gid_index = 0}), "rxe0:1, GID 0");
}

TEST(DeviceChoice, LeavesOutGidsThatAPathCannotName) {
  EXPECT_EQ(chosen(with({with_gids({gid_entry(256, IBV_GID_TYPE_ROCE_V2, "::ffff:10.0.0.1")})})),
            "device 'rxe0': port 1 has no GID that is valid beyond its link; it has none");
}

TEST(DeviceChoice, ReportsThatNoDeviceExists) {
  const auto device = Device::open(with({}), {});
  EXPECT_TRUE(fails(device, Code::unsupported, {"there is no RDMA device", "hint: `rdma link`"}));
}

TEST(DeviceChoice, ReportsTheStateOfAPort) {
  EXPECT_EQ(chosen(with({in_state(roce_device("mlx5_0"), IBV_PORT_DOWN)})),
            "device 'mlx5_0': port 1 is DOWN");
  EXPECT_EQ(chosen(with({in_state(infiniband_device("ib"), IBV_PORT_INIT)})),
            "device 'ib': port 1 is INIT: no subnet manager has configured it");
  EXPECT_TRUE(fails(Device::open(with({in_state(roce_device("a"), IBV_PORT_DOWN)}), {}),
                    Code::unsupported, {"TESSERA_VERBS_DEVICE=NAME:PORT", "`ibv_devinfo -v`"}));
}

TEST(DeviceChoice, ReportsWhatEachOfSeveralLacks) {
  StubDevice closed = roce_device("b");
  closed.open_error = EACCES;
  EXPECT_EQ(chosen(with({in_state(roce_device("a"), IBV_PORT_DOWN), closed})),
            "no RDMA device is usable: device 'a': port 1 is DOWN; device 'b' cannot be opened: "
            "Permission denied");
  EXPECT_TRUE(
      fails(Device::open(with({closed}), {}), Code::unsupported, {"/dev/infiniband/uverbs*"}));
}

TEST(DeviceChoice, RefusesDevicesWithoutReliableConnections) {
  StubDevice device = roce_device("siw0");
  device.transport = IBV_TRANSPORT_IWARP;
  EXPECT_EQ(
      chosen(with({device})),
      "device 'siw0' is an iWARP device, whose connections need rdma_cm, which is not supported");
  device.transport = IBV_TRANSPORT_USNIC;
  EXPECT_EQ(chosen(with({device})),
            "device 'siw0' is neither InfiniBand nor RoCE: it has no reliable connections");
  EXPECT_EQ(chosen(with({device, roce_device("rxe0")})), "rxe0:1, GID 1");
}

TEST(DeviceChoice, TakesTheRequestedDeviceOrListsTheExistingOnes) {
  const auto library = with({infiniband_device("ib"), roce_device("rxe0")});
  EXPECT_EQ(chosen(library, {.device = "rxe0"}), "rxe0:1, GID 1");
  EXPECT_EQ(chosen(library, {.device = "rxe0", .port = 1, .gid_index = 0}), "rxe0:1, GID 0");
  EXPECT_EQ(chosen(library, {.device = "x"}),
            "device 'x' was requested; this machine has: ib, rxe0");
  EXPECT_EQ(chosen(library, {.device = "rxe0", .port = 2}),
            "device 'rxe0' has no port 2; it has 1");
  EXPECT_EQ(chosen(library, {.device = "rxe0", .gid_index = 7}),
            "device 'rxe0': port 1 has no GID with index 7; it has: 0 (RoCE v2, "
            "fe80::5054:ff:fe12:3456), 1 (RoCE v2, 10.77.0.1)");
  EXPECT_TRUE(fails(Device::open(library, {.device = "x"}), Code::invalid_argument,
                    {"TESSERA_VERBS_DEVICE"}));
}

TEST(DeviceChoice, ClosesTheDevicesThatItDoesNotTake) {
  const auto library = with({roce_device("a"), roce_device("b"), infiniband_device("c")});
  EXPECT_EQ(chosen(library), "c:1, GID 0");
  EXPECT_EQ(library->live, 0);
}

Result<DeviceOptions> options_of(std::string device, std::int64_t gid = -1) {
  Settings settings;
  settings.verbs_device = std::move(device);
  settings.verbs_gid = gid;
  return DeviceOptions::from(settings);
}

TEST(DeviceOptions, AreReadFromTheSettings) {
  EXPECT_EQ(options_of("")->device, "");
  EXPECT_EQ(options_of("")->port, 0);
  EXPECT_EQ(options_of("")->gid_index, -1);
  EXPECT_EQ(options_of("mlx5_0", 3)->device, "mlx5_0");
  EXPECT_EQ(options_of("mlx5_0", 3)->gid_index, 3);
  EXPECT_EQ(options_of("mlx5_0:2")->device, "mlx5_0");
  EXPECT_EQ(options_of("mlx5_0:2")->port, 2);
}

TEST(DeviceOptions, RefuseInvalidPorts) {
  for (const char* text : {"a:", "a:0", "a:256", "a:1x", "a:x", ":1", ":", "a:1:2", "a:-1"}) {
    EXPECT_TRUE(fails(options_of(text), Code::invalid_argument,
                      {fmt::format("TESSERA_VERBS_DEVICE={} is not usable: expected NAME or "
                                   "NAME:PORT, with a port from 1 to 255",
                                   text)}));
  }
}

TEST(Device, KnowsItsLimits) {
  const auto opened = Device::open(with({roce_device("rxe0")}), {});
  ASSERT_TRUE(ok(opened));
  const DeviceLimits& limits = (*opened)->limits();
  EXPECT_EQ(limits.max_message, 8U << 20);
  EXPECT_EQ(limits.max_send_sge, 32U);
  EXPECT_EQ(limits.max_queue_depth, 1024U);
  EXPECT_EQ(limits.max_completions, 32'767U);
  EXPECT_EQ(limits.max_srq, 500U);
  EXPECT_EQ(limits.srq_sge, 27U);
  EXPECT_EQ(limits.reads_as_initiator, 64);
  EXPECT_EQ(limits.reads_as_target, 128);
  EXPECT_TRUE(limits.has_atomics);
  EXPECT_EQ(limits.mtu, 4096U);
  EXPECT_EQ(limits.fork, IBV_FORK_UNNEEDED);
  EXPECT_EQ((*opened)->describe(), "rxe0:1, RoCE v2, 10.77.0.1 (GID 1), MTU 4096");
}

TEST(Device, FindsOutHowMuchItTakesInline) {
  for (const auto& [most, found] : {std::pair{400U, 256U}, {1000U, 512U}, {0U, 0U}, {63U, 32U}}) {
    StubDevice device = roce_device("rxe0");
    device.max_inline = most;
    const auto opened = Device::open(with({device}), {});
    ASSERT_TRUE(ok(opened));
    EXPECT_EQ((*opened)->limits().max_inline, found);
  }
}

TEST(Device, HasNoAtomicsIfTheDeviceHasNone) {
  StubDevice device = roce_device("rxe0");
  device.attributes.atomic_cap = IBV_ATOMIC_NONE;
  EXPECT_FALSE((*Device::open(with({device}), {}))->limits().has_atomics);
}

TEST(Device, ReleasesEverythingInOrder) {
  const auto library = with({roce_device("rxe0")});
  auto opened = Device::open(library, {});
  ASSERT_TRUE(ok(opened));
  EXPECT_EQ(library->destroyed, (std::vector<std::string>{"queue pair", "completions"}));
  library->destroyed.clear();
  std::move(opened).take().reset();
  EXPECT_EQ(library->destroyed, (std::vector<std::string>{"domain", "device"}));
  EXPECT_EQ(library->live, 0);
}

TEST(Device, ReportsThatTheDeviceIsExhausted) {
  const auto library = with({roce_device("rxe0")});
  library->devices.front().attributes.max_pd = 7;
  library->has_domains = false;
  EXPECT_TRUE(fails(Device::open(library, {}), Code::no_memory,
                    {"device 'rxe0': cannot make a protection domain: Cannot allocate memory (",
                     " are available", "; its limit is 7", "hint: other processes"}));
  EXPECT_EQ(library->live, 0);
}

class DeviceEvents : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Device::open(library_, {});
    ASSERT_TRUE(ok(opened));
    device_ = std::move(opened).take();
  }
  void happens(ibv_event_type type, int port = 0) {
    ibv_async_event event{};
    event.event_type = type;
    event.element.port_num = port;
    library_->events.push_back(event);
  }

  std::shared_ptr<DeviceStub> library_ = with({roce_device("rxe0")});
  std::shared_ptr<Device> device_;
};

TEST_F(DeviceEvents, ArePolledWithoutWaiting) {
  EXPECT_NE(fcntl(device_->event_descriptor(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_TRUE(device_->poll_events().empty());
}

TEST_F(DeviceEvents, OfPortsConcernThisPortOrAnother) {
  happens(IBV_EVENT_PORT_ERR, 1);
  happens(IBV_EVENT_PORT_ACTIVE, 1);
  happens(IBV_EVENT_PORT_ERR, 2);
  const auto events = device_->poll_events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].kind, EventKind::port_down);
  EXPECT_EQ(events[0].text, "device 'rxe0': port 1 is DOWN");
  EXPECT_EQ(events[1].kind, EventKind::port_up);
  EXPECT_EQ(events[2].kind, EventKind::other);
  EXPECT_EQ(events[2].text, "device 'rxe0': port 2 is DOWN");
  EXPECT_EQ(library_->acknowledged, 3);
}

TEST_F(DeviceEvents, NameTheQueueThatTheyAreOf) {
  ibv_qp queue{};
  queue.qp_num = 18;
  ibv_srq receives{};
  ibv_cq completions{};
  ibv_async_event event{};
  event.event_type = IBV_EVENT_QP_ACCESS_ERR;
  event.element.qp = &queue;
  library_->events.push_back(event);
  event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
  event.element.srq = &receives;
  library_->events.push_back(event);
  event.event_type = IBV_EVENT_SRQ_ERR;
  library_->events.push_back(event);
  event.event_type = IBV_EVENT_CQ_ERR;
  event.element.cq = &completions;
  library_->events.push_back(event);
  const auto events = device_->poll_events();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].kind, EventKind::queue_error);
  EXPECT_EQ(events[0].queue_pair, 18U);
  EXPECT_EQ(events[0].text,
            "device 'rxe0': queue pair 18 has failed: the other end requested memory that it may "
            "not use");
  EXPECT_EQ(events[1].kind, EventKind::low_on_receives);
  EXPECT_EQ(events[1].receives, &receives);
  EXPECT_EQ(events[2].kind, EventKind::receive_queue_error);
  EXPECT_EQ(events[3].kind, EventKind::completion_queue_error);
  EXPECT_EQ(events[3].completions, &completions);
}

TEST_F(DeviceEvents, OfOtherKindsAreOnlyReported) {
  happens(IBV_EVENT_GID_CHANGE, 1);
  happens(IBV_EVENT_COMM_EST);
  const auto events = device_->poll_events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, EventKind::other);
  EXPECT_EQ(events[0].text, "device 'rxe0': the port's GIDs changed");
  EXPECT_EQ(events[1].kind, EventKind::other);
}

TEST_F(DeviceEvents, ReportOnceThatTheDeviceIsLost) {
  happens(IBV_EVENT_DEVICE_FATAL);
  auto events = device_->poll_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, EventKind::device_lost);
  EXPECT_EQ(events[0].text, "device 'rxe0': it has failed");
  library_->last_event_error = EIO;
  EXPECT_TRUE(device_->poll_events().empty());
}

TEST_F(DeviceEvents, EndWithARemovedDevice) {
  library_->last_event_error = EIO;
  const auto events = device_->poll_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, EventKind::device_lost);
  EXPECT_EQ(events[0].text, "device 'rxe0' reports no further events: Input/output error");
  EXPECT_TRUE(device_->poll_events().empty());
}

}  // namespace
}  // namespace tessera::rma::verbs
