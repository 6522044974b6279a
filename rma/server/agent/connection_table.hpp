// SPDX-License-Identifier: BSD-3-Clause
//
// ConnectionTable: the connections of one thread of an agent, with authenticated and
// unauthenticated peers. They are independent: a faulty peer does not affect the others.
// Unauthenticated peers are limited in number and in time.
//
// Threads: announce() and load() may be called from any thread; the rest by one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/progress/poller.hpp"
#include "rma/server/agent/agent_state.hpp"
#include "rma/server/agent/lock_server.hpp"
#include "rma/server/agent/server_connection.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

class ConnectionTable final : private ForwardRequesters {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// The connections of the agent thread with that number. `events` watches their descriptors. Both
  /// arguments outlive the object.
  ConnectionTable(AgentState& shared, const detail::Poller& events, int number);

  /// Lets peers continue over `rdma`, which outlives the connections.
  void offer(detail::RdmaContext& rdma) noexcept {
    rdma_ = &rdma;
    if (forwarder_) {
      forwarder_->offer(rdma);
    }
  }

  /// Announces that a connection will begin.
  void announce() noexcept { load_.fetch_add(1, std::memory_order_relaxed); }
  /// The number of connections, including announced ones.
  [[nodiscard]] int load() const noexcept { return load_.load(std::memory_order_relaxed); }
  /// Begins a connection that was announced, with the peer at the other end of `channel`.
  void begin(std::unique_ptr<Channel> channel);

  /// Serves the peer that sent something last. It is the most likely to send again, and reading its
  /// socket costs less than polling all. Returns whether anything came.
  bool serve_active();
  [[nodiscard]] bool has_active() const noexcept { return active_ >= 0; }
  /// Handles an event of a connection's descriptor: readable, or writable. Returns true if the peer
  /// is authenticated; other peers do not keep the agent awake.
  bool handle_event(int fd);
  /// Handles arrivals on the connection with that descriptor.
  void serve(int fd);
  /// Whether, since the last call, the active connection received something that a rank of this
  /// node may wait for.
  bool take_latency_critical() noexcept { return std::exchange(is_latency_critical_, false); }
  /// Whether, since the last call, requests came that a peer, or a rank in a collective, waits for.
  bool take_urgent() noexcept { return std::exchange(was_urgent_, false); }

  /// Notifies peers of the locks that they have obtained since.
  void answer_locks();
  /// How long answer_locks() may be deferred.
  [[nodiscard]] std::chrono::milliseconds max_lock_delay() const { return locks_.max_delay(); }
  /// Ends connections whose peers do not authenticate themselves in time or whose machines do not
  /// respond; each check has its own period.
  void maintain(TimePoint now);
  /// The number of ended connections; each frees a descriptor.
  [[nodiscard]] std::uint64_t ended() const noexcept { return ended_; }
  /// How many of those had unauthenticated peers.
  [[nodiscard]] std::uint64_t dropped_unauthenticated() const noexcept {
    return dropped_unauthenticated_;
  }
  /// Notifies all peers that the agent shuts down properly.
  void send_bye();

 private:
  struct Served {
    std::unique_ptr<ServerConnection> connection;
    std::uint32_t events = 0;  // that are watched
    TimePoint since;
    bool is_counted = false;   // among authenticated_
    bool is_excluded = false;  // the agent does not wait for it: it is another agent's
  };
  void send_reply(int requester_fd, const FrameHeader& answer,
                  std::vector<std::byte> payload) override;
  void resume(int requester_fd) override { resumed_.push_back(requester_fd); }
  void settle();
  void serve_one(int fd);
  void update(ServerConnection& connection);
  void count(Served& served);
  void finish(int fd, const Status& why);
  template <class Describe>
  void drop(int fd, bool is_stranger, Describe&& describe);
  void remove(int fd);
  [[nodiscard]] std::size_t max_unauthenticated(int newest) const noexcept;
  void drop_silent(TimePoint now);
  void drop_oldest_unauthenticated(int newest);

  AgentState& shared_;
  const detail::Poller& events_;
  const int number_;
  detail::RdmaContext* rdma_ = nullptr;  // null: TCP only
  RemoteLockServer locks_;
  BufferPool buffers_{FrameReader::buffer_bytes};  // outlives the connections
  std::optional<Forwarder> forwarder_;             // if the agent is in a cluster
  ReplyConnections replies_;
  std::vector<int> resumed_;  // connections that may continue
  std::unordered_map<int, Served> served_;
  std::size_t authenticated_ = 0;  // authenticated ones among served_
  std::uint64_t ended_ = 0;
  std::uint64_t dropped_unauthenticated_ = 0;
  std::atomic<int> load_{0};
  int active_ = -1;  // the descriptor that something came from last; −1: none
  bool is_latency_critical_ = false;
  bool was_urgent_ = false;
  TimePoint dropped_;         // when silent peers were last checked
  TimePoint checked_;         // when unresponsive machines were last checked
  std::uint32_t checks_ = 0;  // so far
};

}  // namespace tessera::rma::server
