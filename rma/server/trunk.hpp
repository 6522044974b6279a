// SPDX-License-Identifier: BSD-3-Clause
//
// Trunk: an agent's connection to another agent of its cluster, over which it passes on requests of
// processes. It is made by the first of them.
//
// Flow control: a request is in flight from when it is taken until the other agent acknowledges
// that it was carried out. As many requests, and bytes of theirs and of their answers, are in
// flight as the limits say; one always. What has an answer gets it from the other agent, directly
// or by this connection; an answer that overtakes the acknowledgement changes nothing here.
//
// Where agents have another network than TCP, trunks go on over that, as processes' connections do
// (engine/fabric.hpp).
//
// Order: first come, first served, so what one process asks of a node stays in order.
//
// Threads: the agent thread's only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rma/engine/channel.hpp"
#include "rma/engine/fabric.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/server/buffer_pool.hpp"
#include "rma/server/handshake.hpp"
#include "rma/server/stream.hpp"
#include "rma/server/tcp.hpp"
#include "rma/server/wire.hpp"

namespace tessera::rma::server {

/// A request that was taken from a process, until it is acknowledged.
struct Forwarded {
  FrameHeader request;
  int asker = -1;         ///< descriptor of the conversation that it came by
  std::size_t bytes = 0;  ///< of the request and its answer
};

/// What a trunk tells.
class TrunkListener {
 public:
  virtual ~TrunkListener() = default;
  /// An answer for who asked that, with its payload.
  virtual void pass_back(const Forwarded& forwarded, FrameHeader answer,
                         std::vector<std::byte> payload) = 0;
  /// There is room for more requests.
  virtual void note_room() = 0;
};

class Trunk final : private FrameSink {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Options {
    NodeId own;          ///< node of this agent
    WorldRank carrier;   ///< rank in whose process it is
    NodeId other;        ///< node at the other end
    TcpAddress address;  ///< of its agent
    std::uint64_t job = 0;
    Secret secret;
    std::string congestion = "auto";
    std::size_t window = 32;                     ///< requests in flight
    std::size_t bytes = 1U << 20U;               ///< of those
    std::chrono::milliseconds patience{10'000};  ///< for connecting
    detail::Fabric* fabric = nullptr;            ///< to go on over; outlives the trunk
  };

  /// `pool`: of receive buffers, which outlives it, as `listener` does.
  Trunk(Options options, BufferPool& pool, TrunkListener& listener);
  ~Trunk() override;

  /// Connects. Errors: limit_exceeded, unreachable, peer_lost.
  Status open();
  /// For the event queue: what the trunk waits for.
  [[nodiscard]] int descriptor() const noexcept { return channel_->descriptor(); }
  [[nodiscard]] bool waits_for_room() const noexcept {
    return state_ == State::connecting || (!writer_->is_empty() && channel_->shows_room());
  }

  /// Whether a request of so many bytes, with its answer, may be passed on now.
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
    return in_flight_.empty() ||
           (in_flight_.size() < options_.window && bytes_in_flight_ + bytes <= options_.bytes);
  }
  /// Passes it on, or keeps it until the connection is made. Requires: has_room(). Errors: as
  /// advance().
  Status pass_on(const Forwarded& forwarded, std::span<const std::byte> descriptor,
                 std::vector<std::byte> payload);

  /// As Channel::heed_descriptor.
  Status heed_descriptor() { return channel_->heed_descriptor(); }
  /// Takes what has come and sends what there is room for. Errors: peer_lost, closed (the other
  /// agent has ended in good order), timed_out, protocol: the trunk is of no use any more.
  Status advance();
  Status flush();
  /// To be called every second or so. Errors: as advance().
  [[nodiscard]] Status check(TimePoint now) const;
  void say_bye();
  /// All that is in flight: of a trunk that is lost.
  [[nodiscard]] std::deque<Forwarded> take_in_flight() { return std::move(in_flight_); }

 private:
  enum class State : std::uint8_t { connecting, greeting, asking_for_path, open };

  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::vector<iovec>& into) override;
  Status end(const FrameHeader& header) override;
  Status greet();
  Status send_greeting();
  Status introduce();
  Status ask_for_path();
  Status move_to_path(std::span<const std::byte> address);
  Status send_waiting();
  Status post(const FrameHeader& request, std::span<const std::byte> descriptor,
              std::vector<std::byte> payload);
  void note_acknowledged(std::uint64_t count);
  [[nodiscard]] const Forwarded* find(const FrameHeader& answer) const;

  // A request that waits for the connection.
  struct Waiting {
    FrameHeader request;
    std::vector<std::byte> descriptor;
    std::vector<std::byte> payload;
  };

  const Options options_;
  TrunkListener& listener_;
  BufferPool& pool_;
  State state_ = State::connecting;
  TimePoint begun_;
  std::unique_ptr<Channel> channel_;
  std::optional<HandshakeClient> handshake_;
  std::unique_ptr<detail::Path> path_;  // that was asked for
  std::optional<FrameWriter> writer_;
  std::optional<FrameReader> reader_;
  std::deque<Waiting> waiting_;
  std::deque<Forwarded> in_flight_;  // in the order in which they were taken
  std::size_t bytes_in_flight_ = 0;
  std::vector<std::byte> payload_;  // of the answer that comes
};

}  // namespace tessera::rma::server
