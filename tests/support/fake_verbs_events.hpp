// SPDX-License-Identifier: BSD-3-Clause
//
// EventQueue: events behind a file descriptor that is readable while there are some; what lies
// under a completion channel and under a device's async_fd.
//
// Threads: all functions from any thread.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <mutex>

namespace tessera::rma::test {

template <class Event>
class EventQueue {
 public:
  EventQueue() : fd_(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {}
  ~EventQueue() { close(fd_); }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  /// Negative, with errno, when there was none left.
  int fd() const noexcept { return fd_; }

  void push(const Event& event) {
    const std::lock_guard guard(mutex_);
    events_.push_back(event);
    const std::uint64_t one = 1;
    if (write(fd_, &one, sizeof one) < 0) {
      events_.pop_back();
    }
  }

  /// The oldest one. Waits if the user left the descriptor blocking; else -1, errno EAGAIN.
  int pop(Event& event) {
    for (;;) {
      std::uint64_t one = 0;
      if (read(fd_, &one, sizeof one) < 0) {
        return -1;
      }
      const std::lock_guard guard(mutex_);
      if (!events_.empty()) {  // else it was withdrawn meanwhile
        event = events_.front();
        events_.pop_front();
        return 0;
      }
    }
  }

  /// Takes back events that nobody fetched. The descriptor may stay readable, for nothing.
  template <class Condition>
  void withdraw(Condition&& is_withdrawn) {
    const std::lock_guard guard(mutex_);
    std::erase_if(events_, is_withdrawn);
  }

 private:
  const int fd_;
  std::mutex mutex_;
  std::deque<Event> events_;
};

}  // namespace tessera::rma::test
