// SPDX-License-Identifier: BSD-3-Clause
//
// Client: a process's connections to the agents of other nodes, one link a node, made when it is
// first needed.
//
// Replies are read by whichever thread waits for one. While no thread waits and requests are
// outstanding, the progress thread reads them; otherwise it sleeps. It calls no MPI and receives no
// signals.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "rma/base/rank.hpp"
#include "rma/base/result.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/node/node.hpp"
#include "rma/progress/long_wait.hpp"
#include "rma/progress/poller.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/server/client/client_connection.hpp"
#include "rma/server/client/connector.hpp"
#include "rma/server/client/packing_model.hpp"
#include "rma/server/connection/clusters.hpp"
#include "rma/server/wire/handshake.hpp"
#include "rma/server/wire/parts.hpp"
#include "rma/transport/channel.hpp"
#include "rma/transport/completion.hpp"
#include "rma/transport/control_channel.hpp"
#include "rma/transport/tcp/tcp.hpp"

namespace tessera::rma::server {

using detail::Channel;

struct ClientOptions {
  WorldRank rank;
  std::uint64_t job = 0;
  Secret secret;
  std::vector<TcpAddress> agents;  ///< by node
  std::vector<WorldRank>
      agent_hosts;                  ///< by node: the rank whose process hosts the agent; or empty
  std::string congestion = "auto";  ///< TESSERA_TUNE=tcp_congestion
  /// True if that node has left the job properly.
  std::function<bool(NodeId)> has_left = [](NodeId) { return false; };
  std::chrono::milliseconds connect_timeout{10'000};
  /// After a node could not be reached: the pause before the next attempt. It doubles each time, up
  /// to max_pause.
  std::chrono::milliseconds first_pause = longest_silence;
  std::chrono::milliseconds max_pause = 16 * longest_silence;
  /// Says how threads wait, and what they advance meanwhile; null: they sleep at once.
  std::shared_ptr<const detail::Node> node = nullptr;
  std::size_t kept_bytes = 4U << 20U;  ///< unsent copies at one link before a post waits
  PackingLimits limits{};
  PartSizes parts{};               ///< of packed transfers
  std::size_t gathered_bytes = 0;  ///< the largest operation that may travel in a list
  std::shared_ptr<detail::RdmaProvider> rdma_provider = nullptr;  ///< null: TCP only
  std::string required;  ///< TESSERA_TRANSPORT if it does not name TCP: a node that `rdma_provider`
                         ///< cannot reach is an error then, and otherwise goes over TCP
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  Log* log = nullptr;                         ///< receives the lines about long waits; null: none
  std::chrono::milliseconds wait_warning{0};  ///< before the first warning; 0: no warnings
  Clusters clusters;                          ///< the agents that share requests
  const detail::NodeMap* nodes = nullptr;     ///< of the job; null without clusters
  std::int32_t ranks = 0;                     ///< of the job
  /// Whether replies to forwarded requests use connections of their own.
  bool direct_replies = true;
  std::chrono::milliseconds idle_connection{30'000};  ///< such a connection is closed if unused
  std::function<void(Status)> stray_error;  ///< receives errors of requests without a reply
};

class Client {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Whether the progress thread runs; if not, nothing else may be called. Errors: limit_exceeded.
  [[nodiscard]] const Status& started() const noexcept { return started_; }

  /// Returns the link to `node`, and connects if necessary; other nodes can be used meanwhile.
  /// Errors: unreachable, timed_out, protocol, limit_exceeded. Two errors are permanent: peer_lost
  /// if the node's agent is gone, closed if the node has left. After a failed attempt, calls fail
  /// at once with the same error until a pause has passed.
  Result<ClientConnection*> link_to(NodeId node);
  /// The same with another timeout than connect_timeout.
  Result<ClientConnection*> link_to(NodeId node, std::chrono::milliseconds timeout);
  /// Returns a separate link that is not kept: for one exchange with a node to which this process
  /// has no link. Only the caller drives it, and destroying it ends the connection. A failed
  /// attempt does not keep link_to() from trying, unless the node is gone. Errors: as link_to();
  /// also timed_out while another thread connects.
  Result<std::unique_ptr<ClientConnection>> open_transient(NodeId node,
                                                           std::chrono::milliseconds timeout);
  /// The link that link_to() made; null if it has made none.
  [[nodiscard]] ClientConnection* existing_link(NodeId node) noexcept {
    return peer_at(node).ready.load(std::memory_order_acquire);
  }
  /// What is known of the connection to a node.
  [[nodiscard]] detail::ConnectionLoss contact(NodeId node) noexcept;
  /// How long attempts to connect to a node have failed; 0 if the last one succeeded.
  [[nodiscard]] std::chrono::nanoseconds silence_of(NodeId node) noexcept;
  /// The error to report when `reason` happened to a node; it names the node and the rank that
  /// hosts its agent.
  [[nodiscard]] Status loss_of(NodeId node, const Status& reason) const noexcept {
    return connector_.loss_of(node, reason);
  }

  int progress();
  /// Sleeps until something comes, for at most `period`. Returns done.done(). A period above
  /// reply_waits.first means that the caller has waited long: it then sleeps at once if nothing is
  /// arriving.
  bool wait(Completion& done, std::chrono::nanoseconds period);
  /// Waits until `done` has ended, or `give_up()` returns true, which is called once per liveness
  /// interval, or until the deadline. Returns done.done().
  template <class GiveUp>
  bool wait_until(Completion& done, GiveUp&& give_up,
                  Clock::time_point deadline = Clock::time_point::max());
  /// Lets what is under way advance, for at most `period`.
  void wait_briefly(std::chrono::nanoseconds period);
  /// The same until `ready()`, or until `give_up()` returns true.
  template <class Ready, class GiveUp>
  void advance_until(Ready&& ready, GiveUp&& give_up);
  /// Wakes the progress thread so that outstanding requests progress while no thread waits.
  void wake_progress();
  /// The same for long transfers: takes effect at once, even if a thread waited a moment ago.
  void wake_now();

  /// Closes all connections properly.
  void close() noexcept;

  // For links whose requests are passed on by other agents:
  /// Opens a connection for a link that has none. Errors: as link_to().
  Result<std::unique_ptr<Channel>> open_again(NodeId node);
  [[nodiscard]] NodeId own_node() const noexcept { return own_node_; }
  [[nodiscard]] WorldRank first_rank_of(NodeId node) const noexcept {
    return options_.nodes->first_rank_of(node);
  }
  [[nodiscard]] std::int32_t route_count(NodeId node) const noexcept {
    return options_.clusters.choices(own_node_, node);
  }
  [[nodiscard]] NodeId intermediary(NodeId node, std::int32_t choice) const noexcept {
    return options_.clusters.intermediary(options_.rank, own_node_, node, choice);
  }
  /// The link to the node of that rank if other agents pass on its requests; else null.
  [[nodiscard]] ClientConnection* clustered_link_of(WorldRank rank) noexcept;
  /// The connection of `way` is lost, and so are the requests that it carried for other nodes.
  void note_lost_way(const ClientConnection& way, const Status& reason);

  /// To be called now and then while waiting for the agent of `node`. If a line about a long wait
  /// is due, logs what is waited for, as in "a reply from".
  void report_long_wait(detail::LongWait& wait, std::string_view what, NodeId node) const noexcept;

  [[nodiscard]] const detail::WaitPolicy& wait_policy() const noexcept;
  /// The connection of `link` is replaced: its descriptor `before` is no longer watched.
  void stop_watching(ClientConnection& link, int before) noexcept;

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }

 private:
  // One for each node.
  struct Peer {
    std::atomic<ClientConnection*> ready{nullptr};
    std::mutex connecting;
    std::unique_ptr<ClientConnection> link;
    Connector::Contact contact;  // changes only with `connecting` locked
  };
  Peer& peer_at(NodeId node) noexcept { return by_node_[static_cast<std::size_t>(node.value)]; }
  [[nodiscard]] bool is_clustered(NodeId node) const noexcept {
    return options_.clusters.are_on() && node != own_node_ && intermediary(node, 0) != node;
  }
  Result<std::unique_ptr<ClientConnection>> open_link(NodeId node, Peer& peer,
                                                      std::chrono::milliseconds timeout,
                                                      Status& refusal);
  void keep_link(Peer& peer, std::unique_ptr<ClientConnection> link, bool is_usable);
  Status move_to_fabric(ClientConnection& link, NodeId node, std::chrono::milliseconds timeout);
  Status check_tcp_allowed(NodeId node, const Status& reason);
  Status make_fabric();
  void note_arrivals(detail::RdmaContext& fabric) const;
  [[nodiscard]] std::span<ClientConnection* const> links() const noexcept {
    return std::span(active_).first(active_count_.load(std::memory_order_acquire));
  }
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool is_waited_for() const;
  [[nodiscard]] bool is_quiet() const noexcept;
  // The progress thread is asleep for longer than a thread that starts something may wait.
  [[nodiscard]] bool is_away() const noexcept {
    return is_asleep_.load() || is_waiting_long_.load();
  }
  [[nodiscard]] bool is_streaming() const;
  [[nodiscard]] detail::Waiter waiter() const noexcept;
  void spin(const detail::Waiter& waiter, const Completion& done);
  void flush();
  void sleep_on_sockets(std::chrono::nanoseconds period) noexcept;
  void poll_sockets(std::chrono::nanoseconds period);
  bool watch_connections();
  void handle_path_events(detail::RdmaContext& fabric);
  Result<ClientConnection*> make_link(NodeId node, std::chrono::milliseconds timeout);
  void check_hosts();
  void communicate() noexcept;
  void wake();
  bool wait_for_request();
  void let_requests_accumulate() const;

  ClientOptions options_;
  Connector connector_{options_};
  NodeId own_node_{-1};
  std::once_flag fabric_made_;
  std::unique_ptr<detail::RdmaContext> own_fabric_;    // outlives the links
  std::atomic<detail::RdmaContext*> fabric_{nullptr};  // the same, once it is made
  std::vector<Peer> by_node_;
  mutable std::mutex links_mutex_;
  std::string last_reason_;  ///< why a node is reached over TCP, as last logged
  std::vector<ClientConnection*>
      active_;  ///< in the order of connecting; active_count_ entries are valid
  std::atomic<std::size_t> active_count_{0};
  std::mutex watch_mutex_;
  detail::Poller sockets_;  // what is watched changes only with watch_mutex_ locked
  std::atomic<int> waiting_{0};
  std::atomic<std::int64_t> last_waited_{0};  // nanoseconds of the steady clock
  std::atomic<std::int64_t> last_event_{0};   // same: a thread was last woken, or had its reply
  std::atomic<std::chrono::steady_clock::duration> checked_{};  ///< when check_hosts() last ran

  std::atomic<std::uint32_t> checks_{0};  ///< so far

  std::mutex sleep_mutex_;
  std::condition_variable work_;
  bool is_wake_requested_ = false;
  std::atomic<bool> is_asleep_{false};
  std::atomic<bool> is_waiting_{false};
  std::atomic<bool> is_waiting_long_{false};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
  Status started_;
};

template <class GiveUp>
bool Client::wait_until(Completion& done, GiveUp&& give_up, Clock::time_point deadline) {
  return detail::Waiter(wait_policy())
      .until(deadline)
      .sleep(
          detail::OnStep(detail::reply_waits,
                         [&](std::chrono::nanoseconds period) { wait(done, period); }),
          [&] { return done.done(); }, give_up);
}

template <class Ready, class GiveUp>
void Client::advance_until(Ready&& ready, GiveUp&& give_up) {
  detail::Waiter(wait_policy())
      .sleep(detail::OnStep(detail::reply_waits,
                            [&](std::chrono::nanoseconds period) { wait_briefly(period); }),
             ready, give_up);
}

}  // namespace tessera::rma::server
