// SPDX-License-Identifier: BSD-3-Clause
//
// Wire: the thread that carries out what was posted, a piece at a time.
//
// Threads: one of its own, which holds the network's mutex while it moves a piece. The others call
// its functions with that mutex held.
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

  /// There may be something to do.
  void wake();
  void hold(bool is_held);
  void slow_down(Clock::duration each_message);

  /// Lets the pieces of relaxed writes land that are still under way.
  void settle(QueuePair& queue);
  /// Takes the queue pair off the list of those with work.
  void forget(QueuePair& queue);
  /// Puts it there.
  void remember(QueuePair& queue);

 private:
  /// What became of an attempt to move something.
  enum class Step : bool { nothing, something };

  void run();
  /// Until wake(), or until something is due.
  void sleep(std::unique_lock<std::mutex>& lock);
  Step step();
  Step advance(QueuePair& queue);
  Step land(QueuePair& queue);
  Step answer(QueuePair& queue);
  Step start(QueuePair& queue);
  bool may_start(const QueuePair& queue, Request& request);
  Step carry(QueuePair& queue, QueuePair& peer, Request& request);
  Step carry_write(QueuePair& queue, QueuePair& peer, Request& request);
  Step carry_read(QueuePair& queue, QueuePair& peer, Request& request);
  Step carry_atomic(QueuePair& queue, QueuePair& peer, Request& request);
  Step carry_send(QueuePair& queue, QueuePair& peer, Request& request);
  /// Whether the peer has room for one more read or atomic.
  bool may_answer(QueuePair& queue, QueuePair& peer, const Request& request);
  Step wait_for_peer(QueuePair& queue, Request& request);
  Step wait_for_receive(QueuePair& queue, Request& request);
  /// Takes a receive of the peer's, and completes it.
  void receive(QueuePair& peer, const Request& request, ibv_wc_status status);
  /// Cuts what is passing into pieces that land when they like.
  void loosen(QueuePair& queue, std::byte* target);

  /// What is wrong with the request on this side.
  std::optional<ibv_wc_status> local_error(const QueuePair& queue, const Request& request);
  /// The request fails on this side.
  Step fail(QueuePair& queue, ibv_wc_status status);
  /// The other side refuses it, and fails as well.
  Step refuse(QueuePair& queue, QueuePair& peer, ibv_wc_status status);
  void finish(QueuePair& queue);
  void retire(QueuePair& queue);
  void wake_at(Clock::time_point when);
  std::uint64_t random_below(std::uint64_t limit);

  Network& network_;
  std::mt19937_64 random_;
  std::vector<QueuePair*> busy_;
  std::vector<std::byte> passing_;  // what is between its two places
  std::condition_variable something_to_do_;
  std::optional<Clock::time_point> next_due_;
  Clock::duration delay_{};
  bool has_landed_ = false;  // a part of a relaxed write, in this step
  bool is_held_ = false;
  bool is_stopping_ = false;
  bool is_awake_ = false;
  std::thread thread_;
};

}  // namespace tessera::rma::test::fake
