// SPDX-License-Identifier: BSD-3-Clause
//
// MessageChannel: short messages between ranks of a job, over MPI's send and receive.
//
// A message is a header and up to MessageChannel::max_bytes. MPI libraries send messages of this
// size eagerly, without a reply from the receiver, which takes long if cores are scarce. Messages
// from one rank to another arrive in the order of sending. They are received when the receiver
// polls: in waiting threads, and in the progress thread if there is one.
//
//     receives   [ 0 | 1 | … | 31 ]   all posted; the oldest is tested first, then posted again as
//                                     the newest, so that the order is kept
// Threads: all functions may be called from any thread; one at a time handles messages.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/transport/mpi/world.hpp"

namespace tessera::rma::mpi {

enum class MessageKind : std::uint32_t {
  deliver,
  join,
  notify,
  ring,
  read,
  reply,
  left,
  hand_over,
  stay_awake  ///< one-sided operations follow that MPI serves with the target's help
};

/// A message. Its kind determines which of the words have a meaning.
struct MessageHeader {
  MessageKind kind = MessageKind::ring;
  std::int32_t origin = 0;  ///< set by send()
  std::int32_t target = 0;  ///< the rank concerned, on the receiver's node
  std::uint32_t memory = 0;
  std::uint64_t offset = 0;
  std::array<std::uint64_t, 3> words{};
};
static_assert(sizeof(MessageHeader) == 48);

class MessageChannel {
 public:
  static constexpr std::size_t max_bytes = 3776;
  using Handler = std::function<void(const MessageHeader&, std::span<const std::byte>)>;

  /// Collective: all ranks make a channel before any sends.
  static Result<std::unique_ptr<MessageChannel>> create(std::shared_ptr<World> world,
                                                        Handler handler);
  ~MessageChannel();
  MessageChannel(const MessageChannel&) = delete;
  MessageChannel& operator=(const MessageChannel&) = delete;

  /// Complete: the bytes may be reused at return. Errors: unreachable, no_memory.
  Status send(WorldRank to, MessageHeader header, std::span<const std::byte> bytes = {});

  /// Handles the messages that have arrived; returns their number. Never waits; returns 0 at once
  /// if another thread is polling.
  int poll();

  /// Local. Waits until all sent messages have left this process.
  void finish_sending();
  /// Local. Stops receiving. Requires: no rank sends to this one any longer.
  void close() noexcept;

 private:
  static constexpr std::size_t receive_count = 32;
  struct PendingMessage {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::byte> bytes;
  };

  MessageChannel(std::shared_ptr<World> world, Handler handler)
      : world_(std::move(world)), handler_(std::move(handler)) {}
  Status post(PendingMessage& receive);
  int handle_arrivals();
  bool handle_oldest();
  bool has_room();
  bool has_sent_all();
  void reap_sent();

  std::shared_ptr<World> world_;
  Handler handler_;
  std::atomic<bool> is_polled_{false};
  std::array<PendingMessage, receive_count> receives_;
  std::size_t oldest_ = 0;
  bool is_open_ = false;
  std::mutex send_mutex_;
  std::deque<PendingMessage> sent_;
};

}  // namespace tessera::rma::mpi
