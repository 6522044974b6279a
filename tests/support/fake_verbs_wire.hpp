// SPDX-License-Identifier: BSD-3-Clause
//
// Wire: the thread that executes posted requests, one piece at a time.
//
// Threads: its own, which holds the network's mutex while it moves a piece. Other threads call its
// functions with that mutex held.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "tests/support/fake_verbs_objects.hpp"

namespace tessera::rma::test::fake {

class Network;

class Wire {
 public:
  Wire(Network& network, std::uint64_t seed);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Call it when there may be work.
  void wake();
  /// Stops or resumes all requests.
  void hold(bool is_held);
  /// Delays each message by that time.
  void slow_down(Clock::duration each_message);

  /// Completes the pieces of relaxed writes that are still under way.
  void land_pending_parts(QueuePair& queue);
  /// Removes the queue pair from the list of those with work.
  void forget(QueuePair& queue);
  /// Adds it to that list.
  void remember(QueuePair& queue);

 private:
  /// Whether a step moved data or completed a request.
  enum class Step : bool { idle, moved };

  void run();
  /// Sleeps until wake(), or until some work is due.
  void sleep(std::unique_lock<std::mutex>& lock);
  Step step();
  Step advance(QueuePair& queue);
  /// Writes a random pending part of the relaxed writes to memory.
  Step land(QueuePair& queue);
  /// Moves a piece of the first pending reply, of a read or an atomic.
  Step answer(QueuePair& queue);
  /// Executes a piece of the next request, if ordering and depth allow it.
  Step start(QueuePair& queue);
  bool may_start(const QueuePair& queue, Request& request);
  Step execute(QueuePair& queue, QueuePair& peer, Request& request);
  Step execute_write(QueuePair& queue, QueuePair& peer, Request& request);
  Step execute_read(QueuePair& queue, QueuePair& peer, Request& request);
  Step execute_atomic(QueuePair& queue, QueuePair& peer, Request& request);
  Step execute_send(QueuePair& queue, QueuePair& peer, Request& request);
  /// Whether the peer has room for one more read or atomic.
  bool may_answer(QueuePair& queue, QueuePair& peer, const Request& request);
  Step wait_for_peer(QueuePair& queue, Request& request);
  Step wait_for_receive(QueuePair& queue, Request& request);
  /// Completes the peer's first posted receive.
  void receive(QueuePair& peer, const Request& request, ibv_wc_status status);
  /// Divides a write into pieces that land in any order.
  void split_relaxed_write(QueuePair& queue, std::byte* target);

  /// The error of the request on this side, if any.
  std::optional<ibv_wc_status> local_error(const QueuePair& queue, const Request& request);
  /// The request fails on this side.
  Step fail(QueuePair& queue, ibv_wc_status status);
  /// The peer rejects the request: both queue pairs enter the error state.
  Step refuse(QueuePair& queue, QueuePair& peer, ibv_wc_status status);
  void finish(QueuePair& queue);
  void retire(QueuePair& queue);
  void wake_at(Clock::time_point when);
  std::uint64_t random_below(std::uint64_t limit);

  Network& network_;
  std::mt19937_64 random_;
  std::vector<QueuePair*> busy_;
  std::vector<std::byte> in_transit_;  // data between their two locations
  std::condition_variable work_available_;
  std::optional<Clock::time_point> next_due_;
  Clock::duration delay_{};
  bool has_landed_ = false;  // a part of a relaxed write landed in this step
  bool is_held_ = false;
  bool is_stopping_ = false;
  bool is_awake_ = false;
  std::thread thread_;
};

}  // namespace tessera::rma::test::fake
