// SPDX-License-Identifier: BSD-3-Clause
//
// The base of the tests of the data server: a node of two ranks with an agent and slices in its
// memory, and peers that send an agent any bytes, also those that no Tessera client sends.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rma/server/agent/agent.hpp"
#include "rma/server/client/client.hpp"
#include "tests/rma/node_rig.hpp"
#include "tests/support/checks.hpp"

namespace tessera::rma::server {

inline constexpr std::uint64_t job_number = 77;
inline constexpr std::int32_t job_ranks = 4;
inline constexpr WorldRank owner{1};
inline constexpr WorldRank origin{3};
inline constexpr RegionId region{5};
inline constexpr RegionId strict_region{6};
inline constexpr RegionId device_region{12};  ///< the same bytes as strict_region
inline constexpr RegionId lock_memory{7};
inline constexpr RegionId mailbox_region{8};
inline constexpr std::uint64_t mail_bytes = 4096;
inline constexpr RegionId long_mailbox_region{10};
inline constexpr std::uint64_t long_mailbox_bytes = 1ULL << 20;
inline constexpr std::uint64_t lock_count = 3;
inline const std::uint64_t lock_bytes = detail::QueueLock::bytes(8);
inline constexpr std::uint32_t loopback_host = 0x7f00'0001;
inline constexpr std::uint64_t slice_bytes = 8ULL << 20;

/// The ways in which an agent may wait, for tests that try each.
inline constexpr std::array<PollDuration, 3> ways_to_wait{
    PollDuration(0), std::chrono::microseconds(50), PollDuration::max()};
inline std::string name_of_way(const testing::TestParamInfo<PollDuration>& each) {
  return each.index == 0 ? "asleep" : each.index == 1 ? "adaptive" : "awake";
}

using Bytes = std::vector<std::byte>;

struct ServedNodeOptions {
  PollDuration stay_awake{0};
  detail::TimedWaitLimits timed_waits{};
  std::size_t answer_bytes = AgentOptions{}.answer_bytes;
  std::chrono::milliseconds authentication_timeout{10'000};
  UnauthenticatedPeerLog::Limits peer_log_limits{};
  Secret secret = new_secret().value();
  /// Finds a network other than TCP, if there is one.
  std::function<std::shared_ptr<detail::RdmaProvider>(const std::shared_ptr<detail::Node>&)>
      find_provider = [](const auto&) { return nullptr; };
  std::shared_ptr<const ForwardOptions> forwards = nullptr;
};

/// A node with an agent. Its second rank has a slice in each of two regions, and a third region
/// with device atomics that shares the second slice; guard bytes lie around the slices. Three queue
/// locks and two mailboxes belong to its first rank.
class ServedNode {
 public:
  explicit ServedNode(const ServedNodeOptions& options = {}) : secret_(options.secret) {
    make_slices();
    make_locks();
    make_mailboxes();
    auto listener = TcpListener::create({loopback_host, 0}).value();
    address_ = listener.address();
    agent_ = Agent::create(node_, std::move(listener),
                           {.secret = secret_,
                            .job = job_number,
                            .ranks = job_ranks,
                            .node = NodeId{0},
                            .stay_awake = options.stay_awake,
                            .timed_waits = options.timed_waits,
                            .answer_bytes = options.answer_bytes,
                            .authentication_timeout = options.authentication_timeout,
                            .unauthenticated_log_limits = options.peer_log_limits,
                            .warn = [this](const std::string& line) { record_warning(line); },
                            .rdma_provider = options.find_provider(node_),
                            .forwards = options.forwards})
                 .value();
  }

  [[nodiscard]] detail::Node& node() { return *node_; }
  [[nodiscard]] detail::QueueLock& lock(std::uint64_t number) {
    return *reinterpret_cast<detail::QueueLock*>(node_->arena().at(locks_offset_) +
                                                 number * lock_bytes);
  }
  [[nodiscard]] std::byte* slice() const { return slice_; }
  [[nodiscard]] std::byte* long_mailbox() const { return long_mailbox_; }
  [[nodiscard]] TcpAddress address() const { return address_; }
  [[nodiscard]] const Secret& secret() const { return secret_; }
  [[nodiscard]] const std::shared_ptr<detail::NodeMemory>& memory() const { return memory_; }
  [[nodiscard]] Agent& agent() const { return *agent_; }
  void stop_agent() { agent_.reset(); }

  /// Removes the slice of `region` from the directory, as freeing the region does.
  void free_region() {
    const detail::DirectorySlice slice{.owner = owner};
    directory_.remove(region, std::span(&slice, 1));
  }
  /// Sets the access mode of the slice of `region`, as Region::set_access_mode does.
  void set_mode(AccessMode mode) {
    EXPECT_TRUE(directory_.change(
        region, owner, [&](detail::DirectorySlice& slice) { slice.access_mode = mode; }));
  }
  /// Removes the long mailbox from the directory, as a team does at its end.
  void withdraw_long_mailbox() {
    const detail::DirectorySlice slice{.owner = WorldRank{0}};
    directory_.remove(long_mailbox_region, std::span(&slice, 1));
  }

  /// Waits for `wanted` warnings of the agent; returns all warnings so far.
  std::vector<std::string> warnings(std::size_t wanted) {
    test::eventually([&] { return copy_of_warnings().size() >= wanted; });
    return copy_of_warnings();
  }

  /// True if the guard bytes around the two slices have not changed.
  [[nodiscard]] bool is_intact_around() const {
    const auto is_canary = [](std::byte each) { return each == canary; };
    return std::all_of(slice_ - guard_bytes, slice_, is_canary) &&
           std::all_of(slice_ + 2 * slice_bytes, slice_ + 2 * slice_bytes + guard_bytes, is_canary);
  }

 private:
  void make_mailboxes() {
    make_mailbox(mailbox_region, mail_bytes);
    long_mailbox_ = make_mailbox(long_mailbox_region, long_mailbox_bytes);
  }
  static constexpr std::uint64_t guard_bytes = 2ULL << 20;
  static constexpr std::byte canary{0xca};

  void make_slices() {
    constexpr std::uint64_t all = 2 * slice_bytes + 2 * guard_bytes;
    const auto start = node_->arena().allocate(all).value();
    EXPECT_TRUE(test::ok(node_->arena().back(start, all)));
    std::memset(node_->arena().at(start), static_cast<int>(canary), all);
    const auto offset = start + guard_bytes;
    slice_ = node_->arena().at(offset);
    std::memset(slice_, 0, 2 * slice_bytes);
    enter(region, {.owner = owner, .location = offset, .bytes = slice_bytes});
    enter(strict_region,
          {.owner = owner, .location = offset + slice_bytes, .bytes = slice_bytes, .strict = true});
    enter(device_region, {.owner = owner,
                          .location = offset + slice_bytes,
                          .bytes = slice_bytes,
                          .device_atomics = true});
  }
  void make_locks() {
    const std::uint64_t bytes = lock_count * lock_bytes;
    locks_offset_ = node_->arena().allocate(bytes).value();
    EXPECT_TRUE(test::ok(node_->arena().back(locks_offset_, bytes)));
    for (std::uint64_t i = 0; i < lock_count; ++i) {
      new (&lock(i)) detail::QueueLock(8);
    }
    enter(lock_memory, {.owner = WorldRank{0},
                        .location = locks_offset_,
                        .bytes = bytes,
                        .use = detail::DirectorySlice::Use::locks,
                        .unit = lock_bytes});
  }
  std::byte* make_mailbox(RegionId id, std::uint64_t bytes) {
    const auto offset = node_->arena().allocate(bytes).value();
    EXPECT_TRUE(test::ok(node_->arena().back(offset, bytes)));
    std::memset(node_->arena().at(offset), 0, bytes);
    enter(id, {.owner = WorldRank{0},
               .location = offset,
               .bytes = bytes,
               .use = detail::DirectorySlice::Use::mailboxes});
    return node_->arena().at(offset);
  }
  void enter(RegionId id, detail::DirectorySlice slice) {
    EXPECT_TRUE(test::ok(directory_.insert(id, std::span(&slice, 1))));
  }
  void record_warning(const std::string& line) {
    const std::lock_guard guard(mutex_);
    warnings_.push_back(line);
  }
  std::vector<std::string> copy_of_warnings() {
    const std::lock_guard guard(mutex_);
    return warnings_;
  }

  std::shared_ptr<detail::NodeMemory> memory_ = detail::rig_memory(2);
  std::shared_ptr<detail::Node> node_ = detail::rig_node(memory_, 0, true);
  detail::Directory directory_{node_->arena(), node_->lock_context()};
  Secret secret_;
  std::byte* slice_ = nullptr;
  std::byte* long_mailbox_ = nullptr;
  std::uint64_t locks_offset_ = 0;
  TcpAddress address_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
  std::unique_ptr<Agent> agent_;
};

inline ClientOptions options_for(const ServedNode& node, WorldRank rank = origin) {
  ClientOptions options;
  options.rank = rank;
  options.job = job_number;
  options.secret = node.secret();
  options.agents = {node.address()};
  options.stray_error = [](const Status& error) { ADD_FAILURE() << error.describe(); };
  return options;
}

/// A frame as on the wire. Its sizes are correct unless `header` has larger ones.
inline Bytes frame(FrameHeader header, const Bytes& descriptor = {}, const Bytes& payload = {}) {
  header.descriptor_bytes =
      std::max(header.descriptor_bytes, static_cast<std::uint32_t>(descriptor.size()));
  header.payload_bytes = std::max<std::uint64_t>(header.payload_bytes, payload.size());
  const auto fixed = encode(header);
  Bytes bytes(fixed.begin(), fixed.end());
  bytes.insert(bytes.end(), descriptor.begin(), descriptor.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

/// One end of a connection, which sends and receives plain bytes.
class RawPeer {
 public:
  explicit RawPeer(TcpAddress address)
      : channel_(connect_tcp(address, std::chrono::seconds(10)).value()) {}
  explicit RawPeer(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}

  /// Sends all bytes, and waits for room. Returns false if the other side closed.
  bool send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
      const auto taken = channel_->send(std::span(&piece, 1));
      if (!taken.ok()) {
        return false;
      }
      bytes = bytes.subspan(*taken);
      if (*taken == 0) {
        wait_for(POLLOUT);
      }
    }
    return true;
  }

  /// Waits for bytes, and returns at most `most`. Returns none if the other side closed, or sent
  /// nothing for the rig's time limit.
  Bytes receive(std::size_t most = 65536) {
    const auto deadline = std::chrono::steady_clock::now() + detail::rig_time_limit;
    Bytes bytes(most);
    while (std::chrono::steady_clock::now() < deadline) {
      const iovec room{bytes.data(), bytes.size()};
      const auto came = channel_->receive(std::span(&room, 1));
      if (!came.ok()) {
        is_closed_ = true;
        break;
      }
      if (*came > 0) {
        bytes.resize(*came);
        return bytes;
      }
      wait_for(POLLIN);
    }
    return {};
  }
  /// Receives exactly `count` bytes, or fewer if the other side closed.
  Bytes receive_all(std::size_t count) {
    Bytes bytes;
    while (bytes.size() < count) {
      const Bytes more = receive(count - bytes.size());
      if (more.empty()) {
        break;
      }
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
  }
  /// Waits until the other side closes; appends what it sends before that to `last_words`. Returns
  /// false if it neither closes nor sends for the rig's time limit.
  bool is_closed_by_the_other(Bytes* last_words = nullptr) {
    while (!is_closed_) {
      const Bytes more = receive();
      if (more.empty()) {
        break;
      }
      if (last_words != nullptr) {
        last_words->insert(last_words->end(), more.begin(), more.end());
      }
    }
    return is_closed_;
  }

  /// Does the handshake as the client; appends the bytes that it sent to `sent_bytes`.
  Status authenticate(const Secret& secret, WorldRank rank, Bytes* sent_bytes = nullptr,
                      std::uint64_t job = job_number) {
    TESSERA_ASSIGN_OR_RETURN(
        auto side,
        HandshakeClient::create(secret, {.job = job, .origin = rank, .node = NodeId{0}}));
    return shake_hands(side, sent_bytes);
  }
  template <class Side>
  Status shake_hands(Side& side, Bytes* sent_bytes = nullptr) {
    bool is_finished = false;
    while (!is_finished || !side.outgoing().empty()) {
      const auto out = side.outgoing();
      if (!out.empty()) {
        if (sent_bytes != nullptr) {
          sent_bytes->insert(sent_bytes->end(), out.begin(), out.end());
        }
        send(out);
        side.sent(out.size());
        continue;
      }
      const Bytes came = receive(1);  // not a byte more than the handshake
      if (came.empty()) {
        return side.ended();
      }
      TESSERA_ASSIGN_OR_RETURN(const HandshakeProgress progress, side.feed(came));
      is_finished = progress.finished;
    }
    return {};
  }

  /// Receives the next frame's header and payload.
  std::optional<std::pair<FrameHeader, Bytes>> receive_frame() {
    const Bytes head = receive_all(header_bytes);
    if (head.size() < header_bytes) {
      return std::nullopt;
    }
    const auto header = decode(std::span<const std::byte, header_bytes>(head));
    if (!header.ok()) {
      ADD_FAILURE() << header.status().describe();
      return std::nullopt;
    }
    return std::pair(*header, receive_all(header->payload_bytes));
  }
  /// Receives a frame and returns the error that it reports; ok if it is another kind of frame.
  Status receive_failure() {
    const auto answer = receive_frame();
    return answer && answer->first.kind == Kind::failed ? decode_failure(answer->second) : Status();
  }

  [[nodiscard]] int descriptor() const { return channel_->descriptor(); }
  /// Moves the connection to the caller; no other function may be called after this.
  [[nodiscard]] std::unique_ptr<Channel> take_channel() { return std::move(channel_); }

 private:
  void wait_for(short events) const {
    pollfd waiting{.fd = channel_->descriptor(), .events = events, .revents = 0};
    poll(&waiting, 1, 100);
  }
  std::unique_ptr<Channel> channel_;
  bool is_closed_ = false;
};

}  // namespace tessera::rma::server
