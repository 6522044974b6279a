// SPDX-License-Identifier: BSD-3-Clause
//
// ServerThread: one thread of a node's agent. It decides when the thread polls, sleeps in timed
// waits or sleeps in the kernel, and what each iteration checks. Thread 0 accepts peers and gives
// each to the thread that serves the fewest.
//
// Threads: take_on(), load(), advance() and the functions for delegation may be called from any
// thread; everything else belongs to the thread itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "rma/base/result.hpp"
#include "rma/node/node.hpp"
#include "rma/progress/oversubscription_detector.hpp"
#include "rma/progress/poller.hpp"
#include "rma/progress/progress_handoff.hpp"
#include "rma/server/agent/agent_state.hpp"
#include "rma/server/agent/connection_table.hpp"
#include "rma/transport/rdma.hpp"

namespace tessera::rma::server {

class ServerThread {
 public:
  /// Creates the thread with that number; thread 0 accepts peers. Errors: limit_exceeded.
  static Result<std::unique_ptr<ServerThread>> create(AgentState& shared, int number);
  /// Requires: is_ending is set, or it was never started.
  ~ServerThread();
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  /// Errors: limit_exceeded.
  Status start();
  /// Wakes the thread so that it checks whether it should end.
  void wake() const noexcept;
  /// Hands over a peer, which this thread serves from now on.
  void take_on(std::unique_ptr<Channel> channel);
  /// Between these calls another thread calls advance() repeatedly, and this thread sleeps in timed
  /// waits.
  void begin_delegation() noexcept { handoff_.begin(); }
  void end_delegation() noexcept { handoff_.end(); }
  /// Runs one iteration of this thread's work, unless another thread is running one.
  void advance() noexcept;
  /// Called before the other thread sleeps: ends the agent's timed wait so that the agent resumes
  /// polling, unless a further thread calls advance().
  void take_back() noexcept { handoff_.take_back(); }

  /// The number of peers and unauthenticated peers that it serves.
  [[nodiscard]] int load() const noexcept { return connections_.load(); }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  ServerThread(AgentState& shared, int number);
  Status open();
  Status open_rdma();

  void run() noexcept;
  bool poll_once() noexcept;
  bool poll_peers();
  bool serve_rdma_peers();
  bool take_events();
  void maintain(TimePoint now);
  void answer_locks();

  [[nodiscard]] bool stays_awake() const;
  void record_iteration(bool is_busy);
  void sleep();
  [[nodiscard]] bool was_rung() const noexcept;
  [[nodiscard]] std::chrono::milliseconds max_sleep() const;

  void accept_some();
  void assign_to_least_loaded(std::unique_ptr<Channel> channel);
  void begin_with_new();
  void check_for_flood(std::uint64_t gone);
  void stop_listening(TimePoint until);
  void listen_again(TimePoint now);

  AgentState& shared_;
  const int number_;
  detail::Node& node_;
  detail::ProgressHandoff handoff_;
  std::mutex iteration_mutex_;  // protects everything below except what take_on() and load() use
  detail::Poller events_;
  detail::Descriptor waking_{-1};  // an eventfd
  std::mutex new_mutex_;
  std::vector<std::unique_ptr<Channel>> new_;
  std::unique_ptr<detail::RdmaContext> rdma_;  // null: TCP only
  ConnectionTable connections_;

  std::atomic<std::uint32_t> seen_rings_{0};
  std::atomic<bool> has_events_{false};     // the event queue was last seen not empty
  std::atomic<std::int64_t> sleeps_ms_{0};  // the longest sleep
  int poll_count_ = 0;
  bool are_others_deferred_ = false;  // all peers except the active one, for one iteration
  TimePoint last_arrival_ = std::chrono::steady_clock::now();  // when something last came
  TimePoint last_poll_all_ = last_arrival_;                    // when all peers were last polled
  TimePoint last_lock_check_;                                  // when the locks were last checked

  bool is_listening_ = true;
  bool is_short_of_descriptors_ = false;  // and has warned about it
  TimePoint listens_again_;         // when it isn't listening: when it listens again at the latest
  std::uint64_t ended_before_ = 0;  // connections that had ended when it stopped listening
  // Unauthenticated peers dropped by the time of the last accept.
  std::uint64_t dropped_before_ = 0;

  bool was_preempted_ = false;  // it lost the core for a scheduler time slice
  detail::OversubscriptionDetector oversubscription_;
  std::thread thread_;
};

}  // namespace tessera::rma::server
