// SPDX-License-Identifier: BSD-3-Clause
//
// EventQueue: events with a file descriptor that is readable while the queue isn't empty; the
// implementation of a completion channel and of a device's async_fd.
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

  /// Negative, with errno, if the descriptor could not be created.
  int fd() const noexcept { return fd_; }

  void push(const Event& event) {
    const std::lock_guard guard(mutex_);
    events_.push_back(event);
    const std::uint64_t one = 1;
    if (write(fd_, &one, sizeof one) < 0) {
      events_.pop_back();
    }
  }

  /// The oldest event. Waits if the user left the descriptor blocking; otherwise returns -1 with
  /// errno EAGAIN.
  int pop(Event& event) {
    for (;;) {
      std::uint64_t one = 0;
      if (read(fd_, &one, sizeof one) < 0) {
        return -1;
      }
      const std::lock_guard guard(mutex_);
      if (!events_.empty()) {  // otherwise it was withdrawn meanwhile
        event = events_.front();
        events_.pop_front();
        return 0;
      }
    }
  }

  /// Removes events that were not fetched. The descriptor may stay readable with an empty queue.
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
