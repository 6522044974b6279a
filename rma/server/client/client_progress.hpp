// SPDX-License-Identifier: BSD-3-Clause
//
// ClientProgress: advances a client's links, and waits for them.
//
// Replies are read by whichever thread waits for one. While no thread waits and requests are
// outstanding, the progress thread reads them; otherwise it sleeps. It calls no MPI and receives no
// signals.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "rma/base/status.hpp"
#include "rma/progress/poller.hpp"
#include "rma/progress/waiter.hpp"
#include "rma/server/client/client_options.hpp"
#include "rma/server/client/links.hpp"
#include "rma/transport/completion.hpp"

namespace tessera::rma::server {

class ClientProgress {
 public:
  using Clock = std::chrono::steady_clock;

  ClientProgress(const ClientOptions& options, Links& links);
  ~ClientProgress();
  ClientProgress(const ClientProgress&) = delete;
  ClientProgress& operator=(const ClientProgress&) = delete;

  /// Whether the progress thread runs; if not, nothing else may be called. Errors: limit_exceeded.
  [[nodiscard]] const Status& started() const noexcept { return started_; }

  /// Reads what has come and sends what fits. Returns the number of replies.
  int advance();
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
  void wake_if_away();
  /// The same for long transfers: takes effect at once, even if a thread waited a moment ago.
  void wake_now();

  [[nodiscard]] const detail::WaitPolicy& wait_policy() const noexcept;
  /// From now on waits end when `descriptor` is readable. Errors: limit_exceeded.
  Status watch(int descriptor) const { return sockets_.watch(descriptor, EPOLLIN); }
  /// The connection of `link` is replaced: its descriptor `before` is no longer watched.
  void stop_watching(ClientConnection& link, int before) noexcept;

 private:
  [[nodiscard]] bool is_waited_for() const;
  [[nodiscard]] bool is_quiet() const noexcept;
  // The progress thread is asleep for longer than a thread that starts something may wait.
  [[nodiscard]] bool is_away() const noexcept {
    return is_asleep_.load() || is_waiting_long_.load();
  }
  [[nodiscard]] detail::Waiter waiter() const noexcept;
  void record_arrivals(detail::RdmaContext& rdma) const;
  void spin(const detail::Waiter& waiter, const Completion& done);
  void sleep_on_sockets(std::chrono::nanoseconds period) noexcept;
  void poll_sockets(std::chrono::nanoseconds period);
  bool watch_connections();
  void handle_path_events(detail::RdmaContext& rdma);
  void check_hosts();
  void communicate() noexcept;
  void wake();
  bool wait_for_request();
  void let_requests_accumulate() const;

  const ClientOptions& options_;
  Links& links_;
  std::mutex watch_mutex_;
  detail::Poller sockets_;  // what is watched changes only with watch_mutex_ locked
  std::atomic<int> waiting_{0};
  std::atomic<std::int64_t> last_waited_{0};  // nanoseconds of the steady clock
  std::atomic<std::int64_t> last_event_{0};   // same: a thread was last woken, or had its reply
  std::atomic<Clock::duration> checked_{};    // when check_hosts() last ran
  std::atomic<std::uint32_t> checks_{0};      // so far

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
bool ClientProgress::wait_until(Completion& done, GiveUp&& give_up, Clock::time_point deadline) {
  return detail::Waiter(wait_policy())
      .until(deadline)
      .sleep(
          detail::OnStep(detail::reply_waits,
                         [&](std::chrono::nanoseconds period) { wait(done, period); }),
          [&] { return done.done(); }, give_up);
}

template <class Ready, class GiveUp>
void ClientProgress::advance_until(Ready&& ready, GiveUp&& give_up) {
  detail::Waiter(wait_policy())
      .sleep(detail::OnStep(detail::reply_waits,
                            [&](std::chrono::nanoseconds period) { wait_briefly(period); }),
             ready, give_up);
}

}  // namespace tessera::rma::server
