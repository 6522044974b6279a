// SPDX-License-Identifier: BSD-3-Clause
//
// Feeds arbitrary bytes to an agent's connection, from a peer that has completed the handshake. The
// handshake is real, since this program knows the secret. Whatever arrives, only the slices that a
// node published may change.
//
// An input is
//
//     byte 0     the largest number of bytes that the channel returns at once, minus one
//     byte 1     the bytes of replies that it accepts at a time, divided by 65536; 0: none
//     then       frames, one after the other
//
// Fields that a fuzzer cannot guess are set to valid values in each header
// (tests/fuzz/fed_channel.hpp), in nearly all frames including the rank.
//
// With libFuzzer: TESSERA_FUZZ in .cmake/options.cmake. Without it, tests/fuzz/replay_main.cpp runs
// this target over the seeds.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rma/node/node.hpp"
#include "rma/server/agent/server_connection.hpp"
#include "rma/server/wire/bytes.hpp"
#include "tests/fuzz/fed_channel.hpp"

namespace {

using namespace tessera::rma;          // NOLINT(google-build-using-namespace)
using namespace tessera::rma::server;  // NOLINT(google-build-using-namespace)

constexpr std::int32_t job_ranks = 4;
constexpr WorldRank peer_rank{3};
constexpr std::uint64_t job_number = 77;

// A node of two ranks. Its memory holds slices of both, the memory of a team and locks, with bytes
// around them that must not change.
class FuzzedNode {
 public:
  FuzzedNode() {
    const std::uint64_t offset = node_->arena().allocate(all_bytes).value();
    must(node_->arena().back(offset, all_bytes).ok());
    area_ = node_->arena().at(offset);
    must(node_->make_remote_rank_tables(job_ranks).ok());
    must(node_->enter().ok());
    using Use = detail::DirectorySlice::Use;
    enter(RegionId{1},
          {.owner = WorldRank{1}, .location = offset + first_start, .bytes = first_bytes});
    enter(RegionId{2}, {.owner = WorldRank{0},
                        .location = offset + second_start,
                        .bytes = second_bytes,
                        .strict = true});
    enter(RegionId{3}, {.owner = WorldRank{0},
                        .location = offset + mailbox_start,
                        .bytes = mailbox_bytes,
                        .use = Use::mailboxes});
    enter(RegionId{4}, {.owner = WorldRank{0},
                        .location = offset + locks_start,
                        .bytes = lock_count * lock_bytes_,
                        .use = Use::locks,
                        .unit = lock_bytes_});
  }

  [[nodiscard]] detail::Node& node() { return *node_; }

  void reset() {
    std::memset(area_, canary, all_bytes);
    for (int local_rank = 0; local_rank < 2; ++local_rank) {
      memory_->record(local_rank).inbox_count = 0;
    }
    for (std::size_t i = 0; i < lock_count; ++i) {
      new (area_ + locks_start + i * lock_bytes_) detail::QueueLock(8);
    }
    memory_->remote_rank_state(peer_rank) = detail::RemoteRankState::unknown;
  }
  void check() const {
    check_canaries(0, first_start);
    check_canaries(first_start + first_bytes, second_start);
    check_canaries(second_start + second_bytes, mailbox_start);
    check_canaries(mailbox_start + mailbox_bytes, locks_start);
    check_canaries(locks_start + lock_count * lock_bytes_, all_bytes);
    // No lock is held, and the header of the node's memory is unchanged.
    must(memory_->header().magic == magic_ && memory_->header().ranks == 2);
    must(memory_->record(0).inbox_lock.try_lock(node_->lock_context()));
    memory_->record(0).inbox_lock.unlock();
    must(memory_->header().directory.shards[0].lock.try_lock(node_->lock_context()));
    memory_->header().directory.shards[0].lock.unlock();
  }

 private:
  static constexpr int canary = 0xca;
  // Lengths are multiples of nothing, as those of users; the arena chooses the starts.
  static constexpr std::size_t first_start = 4096;
  static constexpr std::size_t first_bytes = 40'001;
  static constexpr std::size_t second_start = 65'536;
  static constexpr std::size_t second_bytes = 1'016;
  static constexpr std::size_t mailbox_start = 81'920;
  static constexpr std::size_t mailbox_bytes = 3'000;
  static constexpr std::size_t locks_start = 90'112;
  static constexpr std::size_t lock_count = 2;
  static constexpr std::size_t all_bytes = 98'304;
  const std::size_t lock_bytes_ = detail::QueueLock::bytes(8);

  void enter(RegionId id, const detail::DirectorySlice& slice) {
    must(detail::Directory(node_->arena(), node_->lock_context())
             .insert(id, std::span(&slice, 1))
             .ok());
  }
  void check_canaries(std::size_t from, std::size_t to) const {
    must(std::all_of(area_ + from, area_ + to,
                     [](std::byte each) { return each == static_cast<std::byte>(canary); }));
  }

  std::shared_ptr<detail::NodeMemory> memory_ =
      std::shared_ptr<detail::NodeMemory>(detail::NodeMemory::create(2, 64ULL << 20U).value());
  std::unique_ptr<detail::Node> node_ = std::make_unique<detail::Node>(
      memory_, std::vector<WorldRank>{WorldRank{0}, WorldRank{1}}, 0, true, detail::WaitPolicy{});
  std::uint64_t magic_ = memory_->header().magic;
  std::byte* area_ = nullptr;
};

FuzzedNode& fuzzed_node() {
  static FuzzedNode one;
  return one;
}

const Secret& secret() {
  static const Secret one = new_secret().value();
  return one;
}

// A connection that has completed its handshake, and the channel that it owns.
std::pair<std::unique_ptr<ServerConnection>, FedChannel*> authenticated(detail::Node& node,
                                                                        RemoteLockServer& locks) {
  auto channel = std::make_unique<FedChannel>();
  FedChannel* const fed = channel.get();
  auto server = HandshakeServer::create(secret(), job_number, job_ranks, NodeId{0});
  auto connection =
      std::make_unique<ServerConnection>(std::move(channel), std::move(server).take(), node, locks);
  auto client = HandshakeClient::create(secret(), {job_number, peer_rank, NodeId{0}}).value();
  fed->give(client.outgoing());
  client.sent(client.outgoing().size());
  must(connection->advance().ok());
  must(client.feed(fed->sent()).value().finished);
  fed->give(client.outgoing());
  must(connection->advance().ok() && connection->peer().is_authenticated);
  return {std::move(connection), fed};
}

// Sets the headers of all frames to valid values and leaves the rest.
void seal(std::span<std::byte> frames) {
  while (!frames.empty()) {
    const auto first = first_frame(frames, [](unsigned choice, auto header) {
      if (choice != 1) {
        store(peer_rank.value, header.data() + 12);
      }
    });
    frames = frames.subspan(first.size());
  }
}

// Does as the agent does: reads while there may be more, sends while there is room.
void converse(ServerConnection& connection, FedChannel& channel, std::size_t room) {
  constexpr int max_iterations = 100'000;
  for (int turn = 0; turn < max_iterations; ++turn) {
    channel.make_room(room);
    if (!connection.flush().ok()) {
      return;
    }
    if (!connection.may_read()) {
      if (room == 0) {
        return;  // It waits for a peer that does not read.
      }
      continue;
    }
    const auto arrived = connection.advance();
    if (!arrived.ok()) {
      must(!arrived.status().message().empty());
      connection.send_reason(arrived.status());
      return;
    }
    must(*arrived || channel.is_empty());
  }
  must(false);  // there is no progress
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const View input = std::as_bytes(std::span(data, size));
  if (input.size() < 2) {
    return 0;
  }
  FuzzedNode& node = fuzzed_node();
  node.reset();
  RemoteLockServer locks(node.node());
  auto [connection, channel] = authenticated(node.node(), locks);
  Bytes frames(input.begin() + 2, input.end());
  seal(frames);
  channel->give(frames);
  channel->end();
  channel->begin(std::size_t{1} + std::to_integer<std::size_t>(input[0]));
  converse(*connection, *channel, 65'536 * std::to_integer<std::size_t>(input[1]));
  // Other ranks get the peer's locks now, and the peer gets no reply any more.
  connection.reset();
  node.node().memory().remote_rank_state(peer_rank) = detail::RemoteRankState::lost;
  locks.forget(peer_rank);
  locks.answer_waiting([](const FrameHeader&, const Result<std::uint64_t>&) { must(false); });
  node.check();
  return 0;
}
