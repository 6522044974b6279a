// SPDX-License-Identifier: BSD-3-Clause
//
// AgentThread: one thread of a node's agent: when it works, naps and sleeps, and what it then looks
// at. The first one takes peers on, and gives each to the thread that serves the fewest.
//
// Threads: take_on(), load() and the four of help may be called from any; all else belongs to the
// thread itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "rma/engine/fabric.hpp"
#include "rma/node/linger.hpp"
#include "rma/node/node.hpp"
#include "rma/result.hpp"
#include "rma/server/agent_shared.hpp"
#include "rma/server/conversations.hpp"
#include "rma/server/event_queue.hpp"
#include "rma/server/relief.hpp"

namespace tessera::rma::server {

class AgentThread {
 public:
  /// The thread of that number; 0 takes peers on. Errors: limit_exceeded.
  static Result<std::unique_ptr<AgentThread>> create(AgentShared& shared, int number);
  /// Requires: is_ending is set, or it was never started.
  ~AgentThread();
  AgentThread(const AgentThread&) = delete;
  AgentThread& operator=(const AgentThread&) = delete;

  /// Errors: limit_exceeded.
  Status start();
  /// Wakes it, to look whether it shall end.
  void wake() const noexcept;
  /// Serves that peer from now on.
  void take_on(std::unique_ptr<Channel> channel);
  /// Between these somebody else calls help() again and again, and the thread naps.
  void begin_help() noexcept { relief_.begin(); }
  void end_help() noexcept { relief_.end(); }
  /// One turn of its work, unless somebody does it just now.
  void help() noexcept;
  /// Who has helped falls asleep: the thread naps no more, unless another helps.
  void take_back() noexcept { relief_.take_back(); }

  /// How many peers and strangers it serves.
  [[nodiscard]] int load() const noexcept { return conversations_.load(); }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  AgentThread(AgentShared& shared, int number);
  Status open();
  Status open_fabric();

  void run() noexcept;
  bool take_turn();
  bool look_around();
  bool take_arrivals();
  bool take_events();
  bool take_event(int fd);
  void look_after_all(TimePoint now);
  void answer_locks();

  [[nodiscard]] bool stays_awake() const;
  void note_turn(bool is_busy);
  void sleep();
  [[nodiscard]] bool may_sleep();
  [[nodiscard]] bool was_rung() const noexcept;
  [[nodiscard]] std::chrono::milliseconds longest_sleep() const;

  void accept_some();
  void give_to_idlest(std::unique_ptr<Channel> channel);
  void begin_with_new();
  void note_strangers(std::uint64_t gone);
  void stop_listening(const Status& why);
  void stop_listening(TimePoint until);
  void listen_again(TimePoint now);

  AgentShared& shared_;
  const int number_;
  detail::Node& node_;
  Relief relief_;
  std::mutex turn_;  // all below but what take_on() and load() use
  EventQueue events_;
  detail::Descriptor waking_{-1};  // an eventfd
  std::mutex new_mutex_;
  std::vector<std::unique_ptr<Channel>> new_;
  std::unique_ptr<detail::Fabric> fabric_;  // null: there is none
  Conversations conversations_;

  std::atomic<std::uint32_t> heard_rings_{0};
  std::atomic<bool> has_events_{false};     // the queue was seen not to be empty
  std::atomic<std::int64_t> sleeps_ms_{0};  // at most, when it sleeps
  int looks_ = 0;
  bool are_put_off_ = false;                            // all but the active one: once
  TimePoint heard_ = std::chrono::steady_clock::now();  // when something came
  TimePoint asked_ = heard_;                            // when all were asked
  TimePoint looked_;                                    // when locks were

  bool is_listening_ = true;
  bool is_short_of_descriptors_ = false;  // and has said so
  TimePoint listens_again_;               // when it isn't listening, at the latest
  std::uint64_t ended_before_ = 0;        // conversations, when it stopped listening
  std::uint64_t strangers_before_ = 0;    // that were thrown out when it last accepted

  bool was_away_ = false;  // for as long as a slice
  detail::Crowd crowd_;
  std::thread thread_;
};

}  // namespace tessera::rma::server
