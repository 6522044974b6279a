// SPDX-License-Identifier: BSD-3-Clause
//
// Feeds any bytes to an agent's conversation, as a peer that has come through the handshake: as it
// really does here, since whoever runs this knows the secret. Nothing but the slices that a node
// published may change, whatever comes.
//
// An input is
//
//     byte 0     most bytes that the channel gives at once, less one
//     byte 1     how many bytes of answers it has room for at a time, times 65536; 0: none
//     then       frames, one behind the other
//
// What a fuzzer cannot guess is made right in each header: magic, version, checksum, and nearly
// always the rank. The first byte of a frame chooses which of these are left as they are.
//
// With libFuzzer: TESSERA_FUZZ in .cmake/options.cmake. Without, tests/fuzz/replay_main.cpp runs
// it over the seeds.
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
#include "rma/server/bytes.hpp"
#include "rma/server/conversation.hpp"
#include "tests/fuzz/sealed_header.hpp"

namespace {

using namespace tessera::rma;          // NOLINT(google-build-using-namespace)
using namespace tessera::rma::server;  // NOLINT(google-build-using-namespace)

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

// Not assert(), which a release build would leave out.
void must(bool holds) {
  if (!holds) {
    std::abort();
  }
}

constexpr std::int32_t job_ranks = 4;
constexpr WorldRank peer_rank{3};
constexpr std::uint64_t job_number = 77;

// A stream whose other end is the input.
class FedChannel final : public Channel {
 public:
  void give(View bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  // From now on gives so many bytes at once, and has room for none until make_room().
  void begin(std::size_t most_in) {
    most_in_ = most_in;
    room_ = 0;
    sent_.clear();
  }
  void make_room(std::size_t bytes) { room_ = bytes; }
  [[nodiscard]] bool is_empty() const { return next_ == bytes_.size(); }
  [[nodiscard]] const Bytes& sent() const { return sent_; }

  Result<std::size_t> send(std::span<const iovec> pieces) override {
    if (total_ > most_answers) {
      return Status::error(Code::peer_lost, "the peer has heard enough");
    }
    auto moved = move(pieces, room_, [&](std::byte* at, std::size_t bytes) {
      sent_.assign(at, at + bytes);  // a sanitizer sees what may not be read
      return bytes;
    });
    room_ -= *moved;
    total_ += *moved;
    return moved;
  }
  Result<std::size_t> receive(std::span<const iovec> into) override {
    if (is_empty()) {
      return Status::error(Code::peer_lost, "the input is at its end");
    }
    return move(into, most_in_, [&](std::byte* at, std::size_t bytes) {
      const std::size_t some = std::min(bytes, bytes_.size() - next_);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(next_), some, at);
      next_ += some;
      return some;
    });
  }
  [[nodiscard]] Status check() const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] std::string peer() const override { return "the fuzzer"; }

 private:
  template <class Take>
  static Result<std::size_t> move(std::span<const iovec> pieces, std::size_t most, Take&& take) {
    std::size_t moved = 0;
    for (const iovec& piece : pieces) {
      const std::size_t wanted = std::min(piece.iov_len, most - moved);
      const std::size_t taken =
          wanted == 0 ? 0 : take(static_cast<std::byte*>(piece.iov_base), wanted);
      moved += taken;
      if (taken < piece.iov_len) {
        break;
      }
    }
    return moved;
  }

  // Overlapping rows make much out of few bytes; more of that finds nothing new.
  static constexpr std::size_t most_answers = std::size_t{40} << 20U;

  Bytes bytes_;
  std::size_t next_ = 0;
  std::size_t most_in_ = SIZE_MAX;
  std::size_t room_ = SIZE_MAX;
  std::size_t total_ = 0;
  Bytes sent_;
};

// A node of two ranks, one of which has slices in its memory, with bytes around them that nobody
// may touch; and the memory of a team.
class FuzzedNode {
 public:
  FuzzedNode() {
    const std::uint64_t offset = node_->arena().allocate(all_bytes).value();
    must(node_->arena().back(offset, all_bytes).ok());
    area_ = node_->arena().at(offset);
    must(node_->make_guest_book(job_ranks).ok());
    must(node_->enter().ok());
    using Use = detail::DirectorySlice::Use;
    enter(RegionId{1},
          {.owner = WorldRank{1}, .place = offset + first_start, .bytes = first_bytes});
    enter(RegionId{2}, {.owner = WorldRank{0},
                        .place = offset + second_start,
                        .bytes = second_bytes,
                        .strict = true});
    enter(RegionId{3}, {.owner = WorldRank{0},
                        .place = offset + mail_start,
                        .bytes = mail_bytes,
                        .use = Use::mailboxes});
    enter(RegionId{4}, {.owner = WorldRank{0},
                        .place = offset + locks_start,
                        .bytes = lock_count * lock_bytes_,
                        .use = Use::locks,
                        .unit = lock_bytes_});
  }

  [[nodiscard]] detail::Node& node() { return *node_; }

  void reset() {
    std::memset(area_, canary, all_bytes);
    for (int place = 0; place < 2; ++place) {
      memory_->record(place).box_count = 0;
    }
    for (std::size_t i = 0; i < lock_count; ++i) {
      new (area_ + locks_start + i * lock_bytes_) detail::QueueLock(8);
    }
    memory_->guest_fate(peer_rank) = detail::GuestFate::unknown;
  }
  void check() const {
    check_canaries(0, first_start);
    check_canaries(first_start + first_bytes, second_start);
    check_canaries(second_start + second_bytes, mail_start);
    check_canaries(mail_start + mail_bytes, locks_start);
    check_canaries(locks_start + lock_count * lock_bytes_, all_bytes);
    // No lock is left held, and what begins the node's memory is as it was made.
    must(memory_->header().magic == magic_ && memory_->header().ranks == 2);
    must(memory_->record(0).box_lock.try_lock(node_->lock_context()));
    memory_->record(0).box_lock.unlock();
    must(memory_->header().directory.lock.try_lock(node_->lock_context()));
    memory_->header().directory.lock.unlock();
  }

 private:
  static constexpr int canary = 0xca;
  // Lengths that are no multiples of anything, as users' are; starts are the arena's.
  static constexpr std::size_t first_start = 4096;
  static constexpr std::size_t first_bytes = 40'001;
  static constexpr std::size_t second_start = 65'536;
  static constexpr std::size_t second_bytes = 1'016;
  static constexpr std::size_t mail_start = 81'920;
  static constexpr std::size_t mail_bytes = 3'000;
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

// A conversation behind its handshake, and the channel that it owns.
std::pair<std::unique_ptr<Conversation>, FedChannel*> introduced(detail::Node& node,
                                                                 LockKeeper& locks) {
  auto channel = std::make_unique<FedChannel>();
  FedChannel* const fed = channel.get();
  auto server = HandshakeServer::create(secret(), job_number, job_ranks, NodeId{0});
  auto conversation =
      std::make_unique<Conversation>(std::move(channel), std::move(server).take(), node, locks);
  auto client = HandshakeClient::create(secret(), {job_number, peer_rank, NodeId{0}}).value();
  fed->give(client.outgoing());
  client.sent(client.outgoing().size());
  must(conversation->advance().ok());
  must(client.feed(fed->sent()).value().finished);
  fed->give(client.outgoing());
  must(conversation->advance().ok() && conversation->is_introduced());
  return {std::move(conversation), fed};
}

// Makes the headers right and leaves the rest; frames lie where the sizes in them say.
void seal(std::span<std::byte> frames) {
  while (frames.size() >= header_bytes) {
    const auto header = frames.first<header_bytes>();
    const unsigned choice = std::to_integer<unsigned>(header[0]) % 64;
    if (choice != 1) {
      store(peer_rank.value, header.data() + 12);
    }
    if (choice != 2) {
      header[7] &= std::byte{flags::known};
    }
    if (choice != 3) {
      const auto right = sealed(header);
      std::copy(right.begin(), right.end(), header.begin());
    }
    const std::uint64_t left = frames.size() - header_bytes;
    const std::uint64_t descriptor = load<std::uint32_t>(header.data() + 8);
    const std::uint64_t payload = load<std::uint64_t>(header.data() + 16);
    frames = frames.subspan(header_bytes + std::min(left, descriptor + std::min(payload, left)));
  }
}

// As the agent does: reads while there may be more, sends while there is room.
void converse(Conversation& conversation, FedChannel& channel, std::size_t room) {
  constexpr int most_turns = 100'000;
  for (int turn = 0; turn < most_turns; ++turn) {
    channel.make_room(room);
    if (!conversation.flush().ok()) {
      return;
    }
    if (!conversation.may_read()) {
      if (room == 0) {
        return;  // It waits for a peer that doesn't read.
      }
      continue;
    }
    const auto came = conversation.advance();
    if (!came.ok()) {
      must(!came.status().message().empty());
      conversation.say_why(came.status());
      return;
    }
    must(*came || channel.is_empty());
  }
  must(false);  // it makes no progress
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
  LockKeeper locks(node.node());
  auto [conversation, channel] = introduced(node.node(), locks);
  Bytes frames(input.begin() + 2, input.end());
  seal(frames);
  channel->give(frames);
  channel->begin(std::size_t{1} + std::to_integer<std::size_t>(input[0]));
  converse(*conversation, *channel, 65'536 * std::to_integer<std::size_t>(input[1]));
  // Its locks are others' now, and nobody answers it any more.
  conversation.reset();
  locks.finish(peer_rank, detail::GuestFate::lost);
  locks.look([](const FrameHeader&, const Result<std::uint64_t>&) { must(false); });
  node.check();
  return 0;
}
