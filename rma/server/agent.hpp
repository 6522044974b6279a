// SPDX-License-Identifier: BSD-3-Clause
//
// Agent: the thread that serves a node's memory to other nodes, whatever the node's ranks do
// meanwhile (the data server of seed 000 §5.1 and seed 001 §3).
//
// It lives in the process of the node's first rank, but knows nothing of that rank: all that it
// touches is the node's memory. It blocks all signals and calls no MPI.
//
// It lives whatever its peers do: what one of them sends, or doesn't, ends that conversation at
// most and costs the others nothing. Strangers, which have proven nothing yet, are bounded in
// number and time. Without a free descriptor it takes nobody on, says so once, and tries again.
//
// How it waits is a setting: asleep in the kernel until something comes, awake all the time, or
// (the default) awake for a while after the last request and asleep then.
//
// Threads: create and destroy by one thread; the rest is the agent's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "rma/node/fd_passing.hpp"
#include "rma/node/node.hpp"
#include "rma/result.hpp"
#include "rma/server/conversation.hpp"
#include "rma/server/handshake.hpp"
#include "rma/server/lock_keeper.hpp"
#include "rma/server/tcp.hpp"

namespace tessera::rma::server {

/// How long the agent stays awake after a request; max(): for ever.
using StayAwake = std::chrono::nanoseconds;

struct AgentOptions {
  Secret secret;
  std::uint64_t job = 0;
  std::int32_t ranks = 1;  ///< of the job
  NodeId node;
  StayAwake stay_awake{0};
  std::chrono::milliseconds patience{10'000};    ///< with those who do not introduce themselves
  std::function<void(const std::string&)> warn;  ///< of what went wrong; called by the agent
};

class Agent {
 public:
  /// Starts serving `node` to those who connect to `listener`. Errors: limit_exceeded,
  /// no_memory. Requires: the node had no agent yet.
  static Result<std::unique_ptr<Agent>> create(std::shared_ptr<detail::Node> node,
                                               TcpListener listener, AgentOptions options);
  /// Ends the thread and all conversations.
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Returns when all who had a conversation with it have ended theirs, or are gone. Strangers
  /// don't count.
  void wait_until_alone();

 private:
  Agent(std::shared_ptr<detail::Node> node, TcpListener listener, AgentOptions options);
  Status open();
  void run() noexcept;
  bool take_events(int timeout_ms);
  bool look_awake();
  bool sleep();
  [[nodiscard]] std::chrono::milliseconds longest_sleep() const;
  void listen_again(std::chrono::steady_clock::time_point now);
  bool look_at_active();
  void accept_all();
  void serve(int fd);
  void expect(Conversation& conversation);
  void finish(int fd, const Status& why);
  void answer_locks();
  [[nodiscard]] bool was_rung() const noexcept;
  void forget_locks_of(const Conversation& ended);
  void look_after_all(std::chrono::steady_clock::time_point now);
  void drop_silent(std::chrono::steady_clock::time_point now);
  void drop_one_of_many();
  void drop_dead(std::chrono::steady_clock::time_point now);
  void drop(int fd, const std::string& why);
  void count(int more);
  Status watch(int fd, std::uint32_t events, int operation) const;

  std::shared_ptr<detail::Node> node_;
  TcpListener listener_;
  AgentOptions options_;
  detail::Descriptor events_{-1};  // of epoll
  detail::Descriptor ending_{-1};  // an eventfd
  std::atomic<bool> is_ending_{false};
  struct Served {
    std::unique_ptr<Conversation> conversation;
    std::uint32_t expected = 0;  // events that epoll reports
    std::chrono::steady_clock::time_point since;
    bool is_counted = false;  // among conversations_
  };
  std::unordered_map<int, Served> served_;
  std::atomic<int> conversations_{0};  // with those who have introduced themselves
  LockKeeper locks_;
  std::uint32_t heard_rings_ = 0;
  int active_ = -1;  // the connection that was heard last
  bool is_listening_ = true;
  int looks_ = 0;                                        // while awake
  bool is_short_of_descriptors_ = false;                 // and has said so
  std::chrono::steady_clock::time_point listens_again_;  // when it isn't listening
  std::chrono::steady_clock::time_point dropped_;        // when silent ones were looked for last
  std::chrono::steady_clock::time_point checked_;        // likewise machines that don't answer
  std::chrono::steady_clock::time_point looked_;         // likewise locks
  std::thread thread_;
};

}  // namespace tessera::rma::server
