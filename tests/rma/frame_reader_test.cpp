// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "rma/server/connection/frame_reader.hpp"
#include "rma/server/wire/wire.hpp"

namespace tessera::rma::server {
namespace {

/// Returns one batch per call, as a socket with a slow sender does.
class BatchChannel final : public Channel {
 public:
  Result<std::size_t> send(std::span<const iovec>) override { return std::size_t{0}; }
  Result<std::size_t> receive(std::span<const iovec> into) override {
    if (batches_.empty()) {
      return std::size_t{0};
    }
    std::string& batch = batches_.front();
    std::size_t taken = 0;
    for (const iovec& piece : into) {
      const std::size_t some = std::min(piece.iov_len, batch.size() - taken);
      std::memcpy(piece.iov_base, batch.data() + taken, some);
      taken += some;
    }
    batch.erase(0, taken);
    if (batch.empty()) {
      batches_.pop_front();
    }
    return taken;
  }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] std::string peer() const override { return "no peer"; }

  void feed(std::string batch) { batches_.push_back(std::move(batch)); }
  [[nodiscard]] std::size_t left() const { return batches_.size(); }

 private:
  std::deque<std::string> batches_;
};

/// Lists the complete frames. Flags count as frames that a caller waits for.
class Listing final : public FrameSink {
 public:
  Status begin(const FrameHeader& header, std::span<const std::byte>,
               std::span<const std::byte> payload, std::vector<iovec>& into) override {
    come.push_back(payload.size());
    payload_.resize(header.payload_bytes);
    if (!payload_.empty()) {
      into.push_back({payload_.data(), payload_.size()});
    }
    return {};
  }
  Status end(const FrameHeader& header) override {
    ended.push_back(header.kind);
    return {};
  }
  [[nodiscard]] bool is_latency_critical(const FrameHeader& header) const override {
    return header.kind == Kind::flag;
  }

  std::vector<Kind> ended;
  std::vector<std::size_t> come;  // bytes of whole payloads that had come with their header

 private:
  std::vector<std::byte> payload_;
};

std::string frame(Kind kind, std::size_t payload_bytes = 0) {
  FrameHeader header;
  header.kind = kind;
  header.payload_bytes = payload_bytes;
  const auto head = encode(header);
  return std::string(reinterpret_cast<const char*>(head.data()), head.size()) +
         std::string(payload_bytes, 'x');
}

// As many bytes as the reader requests at once, so that it would read again.
constexpr std::size_t long_payload = std::size_t{100} * 1024;

TEST(FrameReader, StopsAfterAPendingFrame) {
  BatchChannel channel;
  Listing sink;
  FrameReader reader(channel, sink);
  // A put and its flag fill the buffer of one call. Another put has arrived after them.
  const std::string put = frame(Kind::put, long_payload);
  const std::string flag = frame(Kind::flag);
  channel.feed(put + flag + frame(Kind::put, long_payload));

  EXPECT_TRUE(reader.advance().value());
  EXPECT_EQ(sink.ended, (std::vector{Kind::put, Kind::flag}));
  EXPECT_TRUE(reader.was_latency_critical());
  EXPECT_EQ(channel.left(), 1U) << "the put after the flag was also read";

  EXPECT_TRUE(reader.advance().value());
  EXPECT_EQ(sink.ended, (std::vector{Kind::put, Kind::flag, Kind::put}));
  EXPECT_FALSE(reader.was_latency_critical());
  EXPECT_EQ(channel.left(), 0U);
}

TEST(FrameReader, TakesAllThatArrivedWithAPendingFrame) {
  BatchChannel channel;
  Listing sink;
  FrameReader reader(channel, sink);
  channel.feed(frame(Kind::flag) + frame(Kind::put, 8) + frame(Kind::flag));
  EXPECT_TRUE(reader.advance().value());
  EXPECT_EQ(sink.ended, (std::vector{Kind::flag, Kind::put, Kind::flag}));
}

TEST(FrameReader, OffersAPayloadThatCameWithItsHeader) {
  BatchChannel channel;
  Listing sink;
  FrameReader reader(channel, sink);
  const std::string whole = frame(Kind::put, 1000);
  channel.feed(whole + frame(Kind::put, long_payload) + whole);
  channel.feed(whole.substr(0, 200));
  channel.feed(whole.substr(200));
  for (int batches = 0; batches < 3; ++batches) {
    EXPECT_TRUE(reader.advance().value());
  }
  EXPECT_EQ(sink.ended, std::vector<Kind>(4, Kind::put));
  EXPECT_EQ(sink.come, (std::vector<std::size_t>{1000, 0, 1000, 0}));
}

TEST(FrameReader, GoesOnBehindOthers) {
  BatchChannel channel;
  Listing sink;
  FrameReader reader(channel, sink);
  channel.feed(frame(Kind::put, long_payload) + frame(Kind::put, long_payload));
  EXPECT_TRUE(reader.advance().value());
  EXPECT_EQ(sink.ended, (std::vector{Kind::put, Kind::put}));
  EXPECT_FALSE(reader.was_latency_critical());
  EXPECT_FALSE(reader.advance().value());
}

}  // namespace
}  // namespace tessera::rma::server
