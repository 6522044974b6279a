// SPDX-License-Identifier: BSD-3-Clause
//
// Client: a process's side of its conversations with the agents of other nodes: one link a node,
// made when it is first needed.
//
// Answers are read by whichever thread waits for one. While nobody waits and something is
// outstanding, the communication thread reads them; else it sleeps. It calls no MPI and takes no
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

#include "rma/completion.hpp"
#include "rma/engine/channel.hpp"
#include "rma/engine/long_wait.hpp"
#include "rma/engine/node_link.hpp"
#include "rma/engine/node_map.hpp"
#include "rma/node/node.hpp"
#include "rma/rank.hpp"
#include "rma/result.hpp"
#include "rma/server/clusters.hpp"
#include "rma/server/handshake.hpp"
#include "rma/server/link.hpp"
#include "rma/server/parts.hpp"
#include "rma/server/tcp.hpp"

namespace tessera::rma::server {

using detail::Channel;

struct ClientOptions {
  WorldRank rank;
  std::uint64_t job = 0;
  Secret secret;
  std::vector<TcpAddress> agents;   ///< by node
  std::vector<WorldRank> carriers;  ///< by node: the rank in whose process the agent is; or empty
  std::string congestion = "auto";  ///< control of the connections: TESSERA_TCP_CONGESTION
  /// True when that node has left the job in good order.
  std::function<bool(NodeId)> has_left = [](NodeId) { return false; };
  std::chrono::milliseconds connect_timeout{10'000};
  /// After a node could not be reached, before it is tried again; twice as long each time, up to
  /// longest_pause.
  std::chrono::milliseconds first_pause = longest_silence;
  std::chrono::milliseconds longest_pause = 16 * longest_silence;
  std::chrono::nanoseconds spin{0};        ///< that a waiting thread stays awake
  std::chrono::nanoseconds least_help{0};  ///< at least, if it helps
  detail::Linger linger{};                 ///< the same behind it, while nobody else needs the core
  std::function<detail::Helper*()> helper = [] { return nullptr; };  ///< of waiting threads
  std::size_t kept_bytes = 4U << 20U;  ///< copied and unsent at one link before posting waits
  PackingLimits limits{};
  PartSizes parts{};               ///< of what is packed
  std::size_t gathered_bytes = 0;  ///< of the largest operations that go as lists
  std::shared_ptr<detail::FabricSource> fabrics = nullptr;  ///< null: there is TCP only
  std::string required;  ///< TESSERA_TRANSPORT where it doesn't name TCP: what `fabrics` can't
                         ///< reach is an error then, and else goes over TCP
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  Log* log = nullptr;                         ///< of the lines of long waits; null: there are none
  std::chrono::milliseconds wait_warning{0};  ///< before the first warning; 0: there is none
  Clusters clusters;                          ///< of agents that share requests
  const detail::NodeMap* nodes = nullptr;     ///< of the job; null where no agents do
  std::int32_t ranks = 0;                     ///< of the job
  bool direct_replies = true;  ///< to what was passed on: over connections of their own
  std::chrono::milliseconds idle_connection{30'000};  ///< one of those is closed after so long
  std::function<void(Status)> stray_error;  ///< of requests that are not answered when they succeed
};

/// Other threads may take the answer that a sleeping one waits for, so it looks again this often at
/// first. Who has waited for some time sleeps longer (growing_nap.hpp).
inline constexpr std::chrono::nanoseconds longest_sleep = std::chrono::milliseconds(1);

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Whether its thread runs; without it nothing else may be called. Errors: limit_exceeded.
  [[nodiscard]] const Status& started() const noexcept { return started_; }

  /// The link to `node`; connects when there is none, while others go on with other nodes.
  /// Errors: unreachable, timed_out, protocol, limit_exceeded; and for ever after peer_lost for a
  /// node whose agent is gone, closed for one that has left. A node that was tried in vain is not
  /// tried again for a while, in which calls fail at once, with the same error.
  Result<Link*> link_to(NodeId node);
  /// The same for who doesn't want to wait as long for an answer as connect_timeout.
  Result<Link*> link_to(NodeId node, std::chrono::milliseconds timeout);
  /// A link beside those, for who has something to say to a node that nobody here has a link to and
  /// doesn't want to keep one. Nobody but the caller looks after it; whoever destroys it ends the
  /// conversation. Errors: as link_to(); timed_out, too, while another thread connects. That an
  /// attempt of a visit has failed keeps link_to() from nothing, unless the node is gone.
  Result<std::unique_ptr<Link>> visit(NodeId node, std::chrono::milliseconds timeout);
  /// What link_to() has made already; null when it hasn't.
  [[nodiscard]] Link* made_link(NodeId node) noexcept {
    return peer_at(node).ready.load(std::memory_order_acquire);
  }
  /// What is known of the link to a node.
  [[nodiscard]] detail::Contact contact(NodeId node) noexcept;
  /// For how long no attempt to connect to a node has succeeded, where the last one failed.
  [[nodiscard]] std::chrono::nanoseconds silence_of(NodeId node) noexcept;
  /// What to say of a node with which `reason` happened: names it, and the rank that carries it.
  [[nodiscard]] Status loss_of(NodeId node, const Status& reason) const noexcept;

  int progress();
  /// Sleeps until something came, or for `period` at most. Returns done.done(). Who gives a period
  /// of more than longest_sleep has waited long, and sleeps at once if nothing comes at present.
  bool wait(Completion& done, std::chrono::nanoseconds period);
  /// Sees to it that what is outstanding goes on without anybody waiting.
  void stir();
  /// The same for what is long: at once, also where somebody waited a moment ago.
  void bring_on();

  /// Ends all conversations in good order.
  void close() noexcept;

  // For links of which other agents pass the requests on:
  /// A connection for one that has none. Errors: as link_to().
  Result<std::unique_ptr<Channel>> open_again(NodeId node);
  [[nodiscard]] NodeId own_node() const noexcept { return own_node_; }
  [[nodiscard]] WorldRank first_rank_of(NodeId node) const noexcept {
    return options_.nodes->first_rank_of(node);
  }
  [[nodiscard]] std::int32_t ways_to(NodeId node) const noexcept {
    return options_.clusters.choices(own_node_, node);
  }
  [[nodiscard]] NodeId intermediary(NodeId node, std::int32_t turn) const noexcept {
    return options_.clusters.intermediary(options_.rank, own_node_, node, turn);
  }
  /// The link to the node of that rank, if others pass its requests on; else null.
  [[nodiscard]] Link* clustered_link_of(WorldRank rank) noexcept;
  /// A connection is lost: so is what goes by it to other nodes.
  void note_lost_way(const Link& way, const Status& reason);

  /// To be called now and then in a wait for the agent of `node`: if the line of a long wait is
  /// due, says what is waited for, as in "an answer of".
  void tell_of(detail::LongWait& wait, std::string_view what, NodeId node) const noexcept;

  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }

 private:
  // To connect to a node.
  struct Attempts {
    Status failure;  // of the last attempt, which is the answer before `again`
    std::chrono::steady_clock::time_point again;
    [[nodiscard]] bool are_paused() const noexcept {
      return !failure.ok() && std::chrono::steady_clock::now() < again;
    }
  };
  using Pause = std::chrono::duration<std::int32_t, std::milli>;
  // One for each node.
  struct Peer {
    std::atomic<Link*> ready{nullptr};
    std::mutex connecting;
    std::unique_ptr<Link> link;
    Attempts of_links;
    Attempts of_visits;
    Pause pause{0};                             // after the last attempt; 0: it succeeded
    std::atomic<int> error{0};                  // of the last attempt
    std::atomic<std::int64_t> silent_since{0};  // nanoseconds of the steady clock; 0: it answered
  };
  Peer& peer_at(NodeId node) noexcept { return by_node_[static_cast<std::size_t>(node.value)]; }
  [[nodiscard]] bool is_clustered(NodeId node) const noexcept {
    return options_.clusters.are_on() && node != own_node_ && intermediary(node, 0) != node;
  }
  Result<std::unique_ptr<Link>> open_link(NodeId node, Peer& peer,
                                          std::chrono::milliseconds timeout, Status& refusal);
  void keep_link(Peer& peer, std::unique_ptr<Link> link, bool is_usable);
  Status leave_tcp(Link& link, NodeId node, std::chrono::milliseconds timeout);
  Status refuse_tcp(NodeId node, const Status& reason);
  Status make_fabric();
  void note_arrivals(detail::Fabric& fabric) const;
  Result<std::unique_ptr<Channel>> open(NodeId node, Peer& peer, Attempts& attempts,
                                        std::chrono::milliseconds timeout);
  Result<std::unique_ptr<Channel>> try_to_open(NodeId node, Peer& peer,
                                               std::chrono::milliseconds timeout) const;
  void note_outcome(Peer& peer, Attempts& attempts, const Status& outcome,
                    std::chrono::steady_clock::time_point begun) const;
  Result<std::unique_ptr<Channel>> reach(NodeId node, Peer& peer,
                                         std::chrono::milliseconds timeout) const;
  Result<std::unique_ptr<Channel>> introduce(NodeId node, Peer& peer,
                                             std::chrono::milliseconds timeout) const;
  Status shake_hands(Channel& channel, NodeId node,
                     std::chrono::steady_clock::time_point deadline) const;
  [[nodiscard]] std::span<Link* const> links() const noexcept {
    return std::span(active_).first(active_count_.load(std::memory_order_acquire));
  }
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool is_waited_for() const;
  [[nodiscard]] bool is_quiet() const noexcept;
  // The communication thread looks at nothing for longer than who starts something may wait.
  [[nodiscard]] bool is_away() const noexcept {
    return is_asleep_.load() || is_napping_long_.load();
  }
  [[nodiscard]] bool is_streaming() const;
  void spin(const Completion& done);
  void hand_back_help() const;
  void flush();
  void sleep_on_sockets(std::chrono::nanoseconds period) noexcept;
  void poll_sockets(std::chrono::nanoseconds period);
  Result<Link*> make_link(NodeId node, std::chrono::milliseconds timeout);
  [[nodiscard]] Status describe_loss_of(NodeId node, const Status& reason) const;
  void check_hosts();
  void communicate() noexcept;
  void wake();
  bool nap();
  void wait_for_waiters() const;

  ClientOptions options_;
  NodeId own_node_{-1};
  std::once_flag fabric_made_;
  std::unique_ptr<detail::Fabric> own_fabric_;    // outlives the links
  std::atomic<detail::Fabric*> fabric_{nullptr};  // the same, when it is made
  std::vector<Peer> by_node_;
  mutable std::mutex links_mutex_;
  std::string last_reason_;    ///< why a node is reached over TCP, as it was logged
  std::vector<Link*> active_;  ///< in the order of connecting; as many as active_count_ says
  std::atomic<std::size_t> active_count_{0};
  std::atomic<int> waiting_{0};
  std::atomic<std::int64_t> last_waited_{0};  // nanoseconds of the steady clock
  std::atomic<std::int64_t> last_event_{0};   // likewise: when one was woken, or had its answer
  std::atomic<std::chrono::steady_clock::duration> checked_{};  ///< when check_hosts() looked last

  std::atomic<std::uint32_t> checks_{0};  ///< so far

  std::mutex sleep_mutex_;
  std::condition_variable work_;
  bool is_stirred_ = false;
  std::atomic<bool> is_asleep_{false};
  std::atomic<bool> is_napping_{false};
  std::atomic<bool> is_napping_long_{false};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
  Status started_;
};

}  // namespace tessera::rma::server
