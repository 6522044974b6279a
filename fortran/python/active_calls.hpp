// SPDX-License-Identifier: BSD-3-Clause
//
// Internal. ActiveCalls: the threads of this process that are in calls of the library, without the
// GIL. A job is stopped only while no other thread is in one.
//
// When the process ends, daemon threads still run. Those that are in a call then finish it; those
// that begin one stay there until the exit, since Python would end them by pthread_exit(), which
// the frames of C++ do not survive.
//
// Threads: the GIL guards all members. A thread that finished its call counts until it has the GIL.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>

namespace tessera::python {

class ActiveCalls {
 public:
  static ActiveCalls& of_process() noexcept;

  /// This thread's call begins. Waits while another thread stops a job; does not return if another
  /// thread ends the process.
  void begin() noexcept;
  void end() noexcept;
  /// Whether this thread is in a call: in a function of Python that the call runs.
  [[nodiscard]] static bool is_in_call() noexcept;

  /// Waits until no other thread is in a call. Until open(), no other thread begins one. Throws,
  /// and is open, if a handler of a signal raises an exception meanwhile.
  void close();
  void open() noexcept;

  /// The same for ever: this thread ends the process. Waits for at most `limit`, or until a handler
  /// of a signal sets an exception; returns false if other threads are still in calls.
  bool close_at_exit(std::chrono::milliseconds limit);
  /// Whether another thread ends the process: this thread's call should end soon. Needs no GIL.
  [[nodiscard]] bool must_end() const noexcept;
  /// Whether this thread ends the process.
  [[nodiscard]] bool is_ending() const noexcept { return is_exiting_ && !must_end(); }

  /// In a child made by fork(), which has only the thread that made it.
  void forget_other_threads() noexcept;

 private:
  [[nodiscard]] bool is_closed_to_this_thread() const noexcept;
  using Clock = std::chrono::steady_clock;
  bool wait_for_others(Clock::time_point deadline) const;

  int threads_ = 0;
  bool is_closed_ = false;
  std::atomic<pthread_t> closer_{};
  std::atomic<bool> is_exiting_ = false;
};

/// While it exists, this thread is the only one that may use the library. Throws InvalidArgument in
/// a function that a call of the library runs, and what a handler of a signal raises.
class OnlyCaller {
 public:
  /// `operation` is for the text: "job.stop()".
  explicit OnlyCaller(const char* operation);
  OnlyCaller(const OnlyCaller&) = delete;
  OnlyCaller& operator=(const OnlyCaller&) = delete;
  ~OnlyCaller() { ActiveCalls::of_process().open(); }
};

}  // namespace tessera::python
