// SPDX-License-Identifier: BSD-3-Clause
//
// Poller: waits for descriptors: for many at a time (epoll), or for one (poll). A descriptor of −1
// has no events: what it stands for is polled, between sleeps of polling_pause().
//
// Threads: one at a time, except that take() and has_any() may run concurrently with any function.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "rma/base/fd_passing.hpp"
#include "rma/base/result.hpp"

namespace tessera::rma::server {

class Poller {
 public:
  /// Errors: limit_exceeded if no descriptor is free.
  Status open();

  /// From now on take() reports `fd` when one of `events` (epoll flags) occurs. Errors:
  /// limit_exceeded.
  Status watch(int fd, std::uint32_t events) const {
    return fd < 0 ? Status() : control(EPOLL_CTL_ADD, fd, events);
  }
  /// Replaces the events that are watched for `fd`.
  Status change(int fd, std::uint32_t events) const { return control(EPOLL_CTL_MOD, fd, events); }
  void leave(int fd) const;

  /// Stores the events that are ready now, as many as fit in `into`. Returns the part that it
  /// filled.
  std::span<epoll_event> take(std::span<epoll_event> into) const;
  /// Sleeps until an event is ready, for at most `longest`. The event stays in the queue for
  /// take().
  [[nodiscard]] bool has_any(std::chrono::nanoseconds longest) const;

  /// The longest sleep while something without a descriptor has to be polled, from which nothing
  /// has come for `idle`: an eighth of that, from 50 us to 1 ms.
  [[nodiscard]] static std::chrono::nanoseconds polling_pause(
      std::chrono::nanoseconds idle) noexcept;

  /// Sleeps until one of `events` occurs at `fd`, for at most `longest`; for at most a millisecond
  /// if `fd` is −1. Needs no descriptor.
  static void wait_for(int fd, std::uint32_t events, std::chrono::milliseconds longest);

 private:
  Status control(int operation, int fd, std::uint32_t events) const;

  detail::Descriptor epoll_{-1};
};

/// The error for a descriptor, or another resource named by `what`, that the system refuses; built
/// from errno.
Status no_descriptor(const char* what);

}  // namespace tessera::rma::server
