// SPDX-License-Identifier: BSD-3-Clause
//
// AgentThread: one thread of a node's agent, with the conversations that it serves. The first one
// takes peers on, and gives each to the thread that serves the fewest.
//
// Threads: take_on() may be called from any; all else belongs to the thread itself.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "rma/engine/fabric.hpp"
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

/// Of an agent's thread, while another does its work and a moment longer. Waking takes some 18 us
/// from the core that they are on, so it naps long where nobody waits for what it would do.
struct Naps {
  std::chrono::microseconds waited_for{50};  ///< the first one, where somebody may wait for it
  std::chrono::microseconds by_itself{300};  ///< the first one elsewhere
  std::chrono::microseconds longest{500};    ///< while helpers come again and again
};

struct AgentOptions {
  Secret secret;
  std::uint64_t job = 0;
  std::int32_t ranks = 1;  ///< of the job
  NodeId node;
  StayAwake stay_awake{0};
  Naps naps{};
  int threads = 1;
  PackingLimits limits{};
  std::size_t answer_bytes = 1U << 20U;  ///< that may wait for a peer before it is heard no more
  std::chrono::milliseconds patience{10'000};    ///< with those who do not introduce themselves
  std::function<void(const std::string&)> warn;  ///< of what went wrong; called by the agent
  std::shared_ptr<detail::FabricSource> fabrics = nullptr;  ///< null: there is TCP only
};

class AgentThread;

/// What the threads of an agent share.
struct AgentShared {
  AgentShared(std::shared_ptr<detail::Node> its_node, TcpListener its_listener,
              AgentOptions its_options)
      : node(std::move(its_node)),
        listener(std::move(its_listener)),
        options(std::move(its_options)) {}

  /// A connection of `origin` has introduced itself.
  void enter(WorldRank origin);
  /// A connection of `origin` has ended. True when it was the rank's last one: it counts as gone
  /// until it comes back (visit.hpp), and its locks pass to others.
  bool leave(WorldRank origin, detail::GuestFate fate);
  /// The cleaning up behind a leave() is complete.
  void note_left();
  /// Returns when this was noted of all who entered.
  void wait_until_alone() const;

  std::shared_ptr<detail::Node> node;
  TcpListener listener;
  AgentOptions options;
  std::atomic<bool> is_ending{false};
  /// Of all threads; as they are when the first one starts.
  std::vector<AgentThread*> threads;

 private:
  std::mutex mutex_;
  std::unordered_map<std::int32_t, int> conversations_of_;
  std::atomic<int> conversations_{0};
};

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
  void begin_help() noexcept { helpers_.fetch_add(1); }
  void end_help() noexcept;
  /// One turn of its work, unless somebody does it just now.
  void help() noexcept;
  /// Who has helped falls asleep: the thread naps no more, unless another helps.
  void take_back() noexcept;

  /// How many peers and strangers it serves.
  [[nodiscard]] int load() const noexcept { return load_.load(std::memory_order_relaxed); }

 private:
  struct Served;
  AgentThread(AgentShared& shared, int number);
  Status open();
  Status open_fabric();
  void run() noexcept;
  [[nodiscard]] std::chrono::microseconds first_nap() const noexcept;
  [[nodiscard]] bool is_helped() const noexcept;
  void nap(std::uint32_t before, std::chrono::microseconds time) noexcept;
  bool take_turn();
  [[nodiscard]] bool stays_awake() const;
  bool take_events();
  bool take_arrivals();
  void heed(int fd);
  [[nodiscard]] bool may_sleep();
  void note_turn(bool is_busy);
  void sleep();
  [[nodiscard]] std::chrono::milliseconds longest_sleep() const;
  void listen_again(std::chrono::steady_clock::time_point now);
  bool look_at_active();
  void note_pressing(Conversation& conversation) noexcept;
  void accept_all();
  void begin_with_new();
  void begin(std::unique_ptr<Channel> channel);
  void serve(int fd);
  void expect(Conversation& conversation);
  void count(Served& served);
  void finish(int fd, const Status& why);
  void answer_locks();
  [[nodiscard]] bool was_rung() const noexcept;
  void look_after_all(std::chrono::steady_clock::time_point now);
  void drop_silent(std::chrono::steady_clock::time_point now);
  void drop_one_of_many();
  void drop_dead(std::chrono::steady_clock::time_point now);
  void drop(int fd, const std::string& why);
  Status watch(int fd, std::uint32_t events, int operation) const;

  AgentShared& shared_;
  const int number_;
  std::atomic<int> helpers_{0};
  std::atomic<std::int64_t> helped_until_{0};  // nanoseconds of the steady clock
  std::atomic<std::int64_t> pressed_{0};       // likewise: when a request that presses came last
  detail::FutexWord handed_back_{0};           // how often; the thread naps on it
  std::atomic<bool> is_napping_{false};
  std::mutex turn_;  // all below but what take_on() and load() use
  detail::Node& node_;
  detail::Descriptor events_{-1};  // of epoll
  detail::Descriptor waking_{-1};  // an eventfd
  std::mutex new_mutex_;
  std::vector<std::unique_ptr<Channel>> new_;
  std::atomic<int> load_{0};
  std::unique_ptr<detail::Fabric> fabric_;  // null: there is none
  struct Served {
    std::unique_ptr<Conversation> conversation;
    std::uint32_t expected = 0;  // events that epoll reports
    std::chrono::steady_clock::time_point since;
    bool is_counted = false;  // among introduced_
  };
  std::unordered_map<int, Served> served_;
  std::size_t introduced_ = 0;  // of them
  LockKeeper locks_;
  std::atomic<std::uint32_t> heard_rings_{0};
  int active_ = -1;  // the connection that was heard last
  bool is_listening_ = true;
  int looks_ = 0;
  std::atomic<bool> has_events_{false};  // the queue was seen not to be empty
  std::chrono::steady_clock::time_point heard_ =
      std::chrono::steady_clock::now();                   // when something came
  std::chrono::steady_clock::time_point asked_ = heard_;  // when all were asked
  std::atomic<std::int64_t> sleeps_ms_{0};                // at most, when it sleeps
  bool is_awaited_ = false;                               // what came last, by a rank
  bool are_put_off_ = false;                              // the others: once, for that
  bool is_short_of_descriptors_ = false;                  // and has said so
  std::chrono::steady_clock::time_point listens_again_;   // when it isn't listening
  std::chrono::steady_clock::time_point dropped_;         // when silent ones were looked for last
  std::chrono::steady_clock::time_point checked_;         // likewise machines that don't answer
  std::chrono::steady_clock::time_point looked_;          // likewise locks
  bool was_away_ = false;                                 // for as long as a slice
  detail::Crowd crowd_;
  std::thread thread_;
};

}  // namespace tessera::rma::server
