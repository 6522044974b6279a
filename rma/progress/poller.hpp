// SPDX-License-Identifier: BSD-3-Clause
//
// Poller: a set of descriptors, and the events that threads wait for at them (epoll). An agent's
// thread has one for its peers, and a client one for its connections. A descriptor of −1 has no
// events: what it stands for is polled, between sleeps of polling_pause().
//
// Threads: one at a time, except that take() and wait() may run concurrently with any function.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "rma/base/fd_passing.hpp"
#include "rma/base/result.hpp"

namespace tessera::rma::detail {

class Poller {
 public:
  /// `what` names it in the error. Errors: limit_exceeded if no descriptor is free.
  Status open(const char* what);

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
  /// Sleeps until an event is ready, for at most `longest`; true if one is. The event stays in the
  /// queue for take(). Wakes all threads that sleep here.
  [[nodiscard]] bool wait(std::chrono::nanoseconds longest) const noexcept;

  /// The longest sleep while something without a descriptor has to be polled, from which nothing
  /// has come for `idle`: an eighth of that, from 50 us to 1 ms.
  [[nodiscard]] static std::chrono::nanoseconds polling_pause(
      std::chrono::nanoseconds idle) noexcept;

 private:
  Status control(int operation, int fd, std::uint32_t events) const;

  Descriptor epoll_{-1};
};

/// The error for a descriptor, or another resource named by `what`, that the system refuses; built
/// from errno.
Status no_descriptor(const char* what);

}  // namespace tessera::rma::detail
