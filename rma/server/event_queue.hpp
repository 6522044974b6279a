// SPDX-License-Identifier: BSD-3-Clause
//
// EventQueue: the descriptors that a thread of the agent waits for, by epoll.
//
// Threads: one at a time, but take() and has_any() may run beside each other and beside the rest.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "rma/node/fd_passing.hpp"
#include "rma/result.hpp"

namespace tessera::rma::server {

class EventQueue {
 public:
  /// Errors: limit_exceeded, without a descriptor.
  Status open();

  /// From now on take() gives `fd` when it has one of `events` (of epoll). Errors: limit_exceeded.
  Status watch(int fd, std::uint32_t events) const { return control(EPOLL_CTL_ADD, fd, events); }
  /// Other events than before.
  Status change(int fd, std::uint32_t events) const { return control(EPOLL_CTL_MOD, fd, events); }
  void leave(int fd) const;

  /// What there is now, as much as fits `into`. Returns that part of it.
  std::span<epoll_event> take(std::span<epoll_event> into) const;
  /// Sleeps for up to `longest` until there is something, which stays for take().
  [[nodiscard]] bool has_any(std::chrono::milliseconds longest) const;

 private:
  Status control(int operation, int fd, std::uint32_t events) const;

  detail::Descriptor epoll_{-1};
};

/// The error of a descriptor, or of what else `what` takes, that the system doesn't give; by errno.
Status no_descriptor(const char* what);

}  // namespace tessera::rma::server
