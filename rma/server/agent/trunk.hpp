// SPDX-License-Identifier: BSD-3-Clause
//
// Trunk: an agent's connection to another agent of its cluster, over which it forwards requests of
// processes. The first such request opens it.
//
// Flow control: a request is in flight from the time the agent accepts it until the other agent
// acknowledges its execution. Limits bound the number of requests in flight and their bytes, those
// of replies included; one request is always allowed. The other agent sends replies directly to the
// origin, or over this connection. It does not matter if a reply arrives before the
// acknowledgement.
//
// If agents can use RDMA, trunks continue over it, as processes' connections do
// (rma/transport/rdma.hpp).
//
// Order: requests are forwarded in the order of arrival, so those of one process to a node stay in
// order.
//
// Threads: the agent's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/server/connection/buffer_pool.hpp"
#include "rma/server/connection/frame_reader.hpp"
#include "rma/server/connection/send_queue.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/wire.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/rdma.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma::server {

/// A request of a process that was forwarded and is not yet acknowledged.
struct ForwardedRequest {
  FrameHeader request;
  int requester_fd = -1;  ///< descriptor of the connection over which it arrived
  std::size_t bytes = 0;  ///< of the request and its reply
};

/// The callbacks of a trunk.
class TrunkListener {
 public:
  virtual ~TrunkListener() = default;
  /// A reply, with its payload, for the process that sent the request.
  virtual void send_reply(const ForwardedRequest& forwarded, FrameHeader answer,
                          std::vector<std::byte> payload) = 0;
  /// There is room for further requests.
  virtual void notify_room() = 0;
};

class Trunk final : private FrameSink {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Options {
    NodeId own;            ///< node of this agent
    WorldRank agent_host;  ///< rank whose process hosts it
    NodeId other;          ///< node at the other end
    TcpAddress address;    ///< of its agent
    std::uint64_t job = 0;
    Secret secret;
    std::string congestion = "auto";
    std::size_t window = 32;                    ///< requests in flight
    std::size_t bytes = 1U << 20U;              ///< bytes of those requests
    std::chrono::milliseconds timeout{10'000};  ///< for connecting
    detail::RdmaContext* rdma = nullptr;        ///< to continue over; outlives the trunk
  };

  /// `pool` provides the receive buffers. `pool` and `listener` outlive the trunk.
  Trunk(Options options, BufferPool& pool, TrunkListener& listener);
  ~Trunk() override;

  /// Connects. Errors: limit_exceeded, unreachable, peer_lost.
  Status open();
  /// What the event queue has to watch.
  [[nodiscard]] int descriptor() const noexcept { return channel_->descriptor(); }
  [[nodiscard]] bool waits_for_room() const noexcept {
    return state_ == State::connecting || (!queue_->is_empty() && channel_->shows_room());
  }

  /// Whether a request may be forwarded now; `bytes` includes its reply.
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
    return in_flight_.empty() ||
           (in_flight_.size() < options_.window && bytes_in_flight_ + bytes <= options_.bytes);
  }
  /// Forwards a request, or keeps it until the connection is established. Requires: has_room().
  /// Errors: as advance().
  Status forward(const ForwardedRequest& forwarded, std::span<const std::byte> descriptor,
                 std::vector<std::byte> payload);

  /// As Channel::on_readable.
  Status on_readable() { return channel_->on_readable(); }
  /// Receives what has arrived and sends as much as fits. Errors: peer_lost, closed (the other
  /// agent has shut down in order), timed_out, protocol. The trunk is unusable afterwards.
  Status advance();
  Status flush();
  /// To be called about once a second. Errors: as advance().
  [[nodiscard]] Status check(TimePoint now) const;
  void send_bye();
  /// Returns the requests in flight on a trunk that is lost.
  [[nodiscard]] std::deque<ForwardedRequest> take_in_flight() { return std::move(in_flight_); }

 private:
  enum class State : std::uint8_t { connecting, handshake, requesting_rdma, open };

  Status begin(const FrameHeader& header, std::span<const std::byte> descriptor,
               std::span<const std::byte> payload, std::vector<iovec>& into) override;
  Status end(const FrameHeader& header) override;
  Status continue_handshake();
  Status send_handshake();
  Status send_introduction();
  Status request_rdma();
  Status move_to_rdma(std::span<const std::byte> address);
  Status send_waiting();
  Status post(const FrameHeader& request, std::span<const std::byte> descriptor,
              std::vector<std::byte> payload);
  void record_acknowledged(std::uint64_t count);
  [[nodiscard]] const ForwardedRequest* find(const FrameHeader& answer) const;

  // A request that waits until the connection is established.
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
  std::unique_ptr<detail::RdmaConnection> path_;  // the RDMA connection that was requested
  std::optional<SendQueue> queue_;
  std::optional<FrameReader> reader_;
  std::deque<Waiting> waiting_;
  std::deque<ForwardedRequest> in_flight_;  // in the order in which they were taken
  std::size_t bytes_in_flight_ = 0;
  std::vector<std::byte> payload_;  // of the reply that is arriving
};

}  // namespace tessera::rma::server
