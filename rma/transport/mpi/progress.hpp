// SPDX-License-Identifier: BSD-3-Clause
//
// Progress: polls messages and operations, in waiting threads and in a thread of its own.
//
// The thread also lets MPI serve other ranks' one-sided operations while this rank computes. It
// runs with MPI_THREAD_MULTIPLE only. Between polls it sleeps, longer if less arrives, unless
// TESSERA_TUNE=mpi_progress is `poll`.
//
// Threads: all functions may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "rma/base/result.hpp"
#include "rma/node/node.hpp"
#include "rma/transport/completion.hpp"
#include "rma/transport/mpi/message_channel.hpp"
#include "rma/transport/mpi/message_server.hpp"
#include "rma/transport/mpi/operations.hpp"

namespace tessera::rma::mpi {

class Progress final : public detail::ProgressDelegate {
 public:
  /// How long the thread polls frequently after a message or operation, or after a thread went to
  /// sleep.
  static constexpr std::chrono::microseconds awake_time{5000};

  Progress(std::shared_ptr<World> world, std::shared_ptr<detail::Node> node);
  ~Progress() override { stop_thread(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Collective. Errors: unreachable, no_memory.
  Status start_messages();
  /// Errors: limit_exceeded.
  Status start_thread(bool stays_awake);
  void stop_thread() noexcept;
  [[nodiscard]] bool has_thread() const noexcept { return thread_.joinable(); }

  [[nodiscard]] MessageChannel& channel() noexcept { return *channel_; }
  /// As MessageChannel::send(), for callers outside of a message handler.
  Status send(WorldRank to, const MessageHeader& header, std::span<const std::byte> bytes = {});
  [[nodiscard]] MessageServer& server() noexcept { return server_; }
  [[nodiscard]] Operations& operations() noexcept { return operations_; }

  /// Returns the number of messages and completed operations. Never waits.
  int poll();
  /// Polls until `done` is complete, or for `period`. Returns done.done().
  bool wait(Completion& done, std::chrono::nanoseconds period);
  /// If the node has a processor for each rank, waiting threads poll for up to a second before they
  /// sleep: MPI completes other ranks' operations only while a thread of the target polls.
  void poll_while_waiting() noexcept;
  /// Makes the thread poll frequently for a while.
  void wake() noexcept;

  // Called by waiting threads.
  void begin() noexcept override {}
  void advance() noexcept override;
  void end() noexcept override {}
  void yield_progress() noexcept override { wake(); }
  [[nodiscard]] std::chrono::nanoseconds max_sleep() const noexcept override;
  [[nodiscard]] std::chrono::nanoseconds min_polling() const noexcept override {
    return min_polling_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  int try_to_poll() noexcept;
  void run(bool stays_awake);
  [[nodiscard]] bool has_sleeping_threads(Clock::time_point now) const noexcept;
  void timed_wait(std::chrono::nanoseconds period);

  std::shared_ptr<World> world_;
  std::shared_ptr<detail::Node> node_;
  Operations operations_;
  MessageServer server_;
  std::unique_ptr<MessageChannel> channel_;
  std::chrono::nanoseconds min_polling_{0};
  std::thread thread_;
  std::atomic<bool> is_stopped_{false};
  std::atomic<bool> is_woken_{false};
  mutable std::atomic<Clock::time_point> last_sleep_{Clock::time_point()};
  std::mutex wait_mutex_;
  std::condition_variable wake_condition_;
};

}  // namespace tessera::rma::mpi
