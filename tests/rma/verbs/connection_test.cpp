// SPDX-License-Identifier: BSD-3-Clause
//
// Several connections of one context, without the server that uses them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/rma/verbs/connection_rig.hpp"

namespace tessera::rma::verbs {
namespace {

using test::FakeVerbs;

constexpr std::size_t few_buffers = 4;

// No other code would poll a connection on which nothing is under way.
TEST(VerbsConnection, WithoutABufferIsNotifiedWhenOneIsFree) {
  const auto network = std::make_shared<FakeVerbs>();
  {
    // With initial credits: only send buffers may be missing.
    const auto change = [](VerbsContextOptions& options) {
      options.send_buffers = few_buffers;
      options.reserves_for_clients = true;
    };
    const auto here = make_context(network, "fake0", change);
    const auto there = make_context(network, "fake1", change);
    const Ends first = connect(*here, *there, 0).value();
    const Ends second = connect(*here, *there, 1).value();
    std::vector<std::byte> bytes(few_buffers * VerbsContextOptions().buffer_bytes, std::byte{5});
    const iovec piece{bytes.data(), bytes.size()};
    network->hold(true);
    EXPECT_EQ(first.here->send(std::span(&piece, 1)).value(), bytes.size());
    EXPECT_EQ(second.here->send(std::span(&piece, 1)).value(), 0U) << "no buffer is free";
    here->take_ready_descriptors();
    network->hold(false);
    EXPECT_TRUE(test::eventually([&] {
      here->progress();
      const auto ready = here->take_ready_descriptors();
      return std::find(ready.begin(), ready.end(), second.here->descriptor()) != ready.end();
    }));
    EXPECT_GT(second.here->send(std::span(&piece, 1)).value(), 0U);
  }
  EXPECT_EQ(network->live(), FakeVerbs::Live());
  EXPECT_EQ(network->misuses(), std::vector<std::string>());
}

}  // namespace
}  // namespace tessera::rma::verbs
