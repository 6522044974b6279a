// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the tests of an agent's robustness: a client that works all the time, the fixture that
// checks it, and functions that build requests byte by byte.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rma/server/client/endpoint.hpp"
#include "tests/rma/server_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {

inline constexpr WorldRank foreign_rank{2};

/// A client that puts and gets all the time, compares the data and counts its rounds.
class OtherClient {
 public:
  explicit OtherClient(const ServedNode& node) : client_(options_for(node)) {
    thread_ = std::thread([this] { work(); });
  }
  ~OtherClient() { end(); }
  OtherClient(const OtherClient&) = delete;
  OtherClient& operator=(const OtherClient&) = delete;

  // Waits until the client has completed more rounds, all of them correct.
  void expect_served() {
    const int before = rounds_.load();
    EXPECT_TRUE(test::eventually([&] { return rounds_.load() >= before + 3 || has_failed_; }))
        << "the other clients are no longer served";
    EXPECT_FALSE(has_failed_);
  }
  void end() {
    is_ending_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
    client_.close();
  }

 private:
  void work() {
    ServerEndpoint endpoint(*client_.links().to(NodeId{0}).value(), origin, owner);
    while (!is_ending_ && !has_failed_) {
      has_failed_ = !round(endpoint);
      ++rounds_;
    }
  }
  bool round(ServerEndpoint& endpoint) {
    const std::vector<int> sent(10'000, rounds_.load());
    std::vector<int> back(sent.size());
    const Target target{.rank = TeamRank{1}, .offset = 0, .region = strict_region};
    const CopyShape shape = CopyShape::contiguous(sent.size() * sizeof(int));
    Completion done;
    done.begin();
    done.begin();
    const bool is_started = endpoint.put(target, sent.data(), shape, done).ok() &&
                            endpoint.get(back.data(), target, shape, done).ok();
    while (is_started && !done.done()) {
      client_.progress().wait(done, std::chrono::milliseconds(1));
    }
    return is_started && done.take_error().ok() && back == sent;
  }

  Client client_;
  std::atomic<int> rounds_{0};
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> has_failed_{false};
  std::thread thread_;
};

class AgentRobustness : public testing::Test {
 protected:
  // The client's data are right, and no other memory has changed.
  void TearDown() override {
    other_client_.expect_served();
    other_client_.end();
    EXPECT_TRUE(node_.is_intact_around());
  }
  RawPeer authenticated_peer(WorldRank rank = foreign_rank) {
    RawPeer peer(node_.address());
    EXPECT_TRUE(test::ok(peer.authenticate(node_.secret(), rank)));
    return peer;
  }
  void expect_warning(const std::string& beginning, const std::string& words,
                      std::size_t number = 1) {
    const auto warnings = node_.warnings(number);
    ASSERT_EQ(warnings.size(), number);
    EXPECT_TRUE(warnings.back().starts_with(beginning)) << warnings.back();
    EXPECT_NE(warnings.back().find(words), std::string::npos) << warnings.back();
  }
  void expect_slice_unchanged() {
    EXPECT_TRUE(std::all_of(node_.slice(), node_.slice() + slice_bytes,
                            [](std::byte each) { return each == std::byte{0}; }));
  }
  // The connection still works: a request on it is answered.
  static void expect_fence_answered(RawPeer& peer, WorldRank rank = foreign_rank) {
    ASSERT_TRUE(peer.send(frame({.kind = Kind::fence, .origin = rank, .operation = 99})));
    const auto answer = peer.receive_frame();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->first.kind, Kind::done);
    EXPECT_EQ(answer->first.operation, 99U);
  }

  ServedNode node_;
  OtherClient other_client_{node_};
};

inline FrameHeader request(Kind kind, std::uint64_t offset = 0, RegionId id = region) {
  return {.kind = kind,
          .origin = foreign_rank,
          .target = owner,
          .operation = 7,
          .region = id,
          .offset = offset};
}

inline Bytes shape_descriptor(const CopyShape& shape) {
  Bytes bytes;
  encode_shape(shape, bytes);
  return bytes;
}

inline Bytes atomic_descriptor() {
  Bytes bytes;
  encode_atomic({.kind = AtomicRequest::Kind::fetch_add, .bytes = 8}, bytes);
  return bytes;
}

inline Bytes first_bytes(Bytes bytes, std::size_t count) {
  bytes.resize(count);
  return bytes;
}

template <class Change>
FrameHeader changed(FrameHeader header, Change&& change) {
  change(header);
  return header;
}

}  // namespace tessera::rma::server
