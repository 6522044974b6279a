// SPDX-License-Identifier: BSD-3-Clause
//
// Paths beside each other on one fabric, without the server that uses them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "rma/server/tcp.hpp"
#include "rma/tuning.hpp"
#include "rma/verbs/fabric.hpp"
#include "tests/rma/node_rig.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/fake_verbs.hpp"

namespace tessera::rma::verbs {
namespace {

using test::FakeVerbs;
using test::ok;

constexpr std::size_t few_buffers = 4;

std::unique_ptr<VerbsFabric> make_fabric(const std::shared_ptr<FakeVerbs>& network,
                                         const std::string& name) {
  Settings settings;
  settings.verbs_device = name;
  auto adapter = std::make_shared<Adapter>();
  adapter->device = Device::open(network, DeviceOptions::from(settings).value()).value();
  adapter->node = detail::rig_node(detail::rig_memory(1), 0, true);
  adapter->options.send_buffers = few_buffers;
  adapter->registrar =
      Registrar::create(network, adapter->device->domain(), RegistrationOptions()).value();
  adapter->arena =
      std::make_unique<Exposure>(*adapter->registrar, adapter->node, adapter->options.slab_bytes,
                                 adapter->device->limits().has_atomics);
  return VerbsFabric::create(std::move(adapter)).value();
}

struct Ends {
  std::unique_ptr<detail::Path> here;
  std::unique_ptr<detail::Path> there;
};

Ends connect(VerbsFabric& here, VerbsFabric& there) {
  auto listener = server::TcpListener::create({0x7f00'0001, 0}).value();
  auto beside = server::connect_tcp(listener.address(), std::chrono::seconds(10)).value();
  std::unique_ptr<detail::Channel> other;
  EXPECT_TRUE(test::eventually([&] {
    other = listener.accept().value();
    return other != nullptr;
  }));
  Ends ends{here.open_path().value(), there.open_path().value()};
  EXPECT_TRUE(ok(ends.here->connect(ends.there->address())));
  EXPECT_TRUE(ok(ends.there->connect(ends.here->address())));
  ends.here->watch(std::move(beside));
  ends.there->watch(std::move(other));
  return ends;
}

// Nobody else would look at a path on which nothing is under way.
TEST(VerbsPath, ThatFoundNoBufferIsToldWhenOneIsFree) {
  const auto network = std::make_shared<FakeVerbs>();
  {
    const auto here = make_fabric(network, "fake0");
    const auto there = make_fabric(network, "fake1");
    const Ends first = connect(*here, *there);
    const Ends second = connect(*here, *there);
    std::vector<std::byte> bytes(few_buffers * FabricOptions().buffer_bytes, std::byte{5});
    const iovec piece{bytes.data(), bytes.size()};
    network->hold(true);
    EXPECT_EQ(first.here->send(std::span(&piece, 1)).value(), bytes.size());
    EXPECT_EQ(second.here->send(std::span(&piece, 1)).value(), 0U) << "there is no buffer";
    here->take_arrivals();
    network->hold(false);
    EXPECT_TRUE(test::eventually([&] {
      here->progress();
      const auto told = here->take_arrivals();
      return std::find(told.begin(), told.end(), second.here->descriptor()) != told.end();
    }));
    EXPECT_GT(second.here->send(std::span(&piece, 1)).value(), 0U);
  }
  EXPECT_EQ(network->live(), FakeVerbs::Live());
  EXPECT_EQ(network->misuses(), std::vector<std::string>());
}

}  // namespace
}  // namespace tessera::rma::verbs
